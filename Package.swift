// swift-tools-version: 6.0
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

// CALLBOX_EMBEDDED=1 builds what ships: Embedded Swift, no runtime. Without it the same sources build as ordinary
// Swift, so that `swift test` can run them.
let embedded = Context.environment["CALLBOX_EMBEDDED"] == "1"
// The multiarch name of the target, for the one include folder that depends on it.
let multiarch = Context.environment["CALLBOX_MULTIARCH"] ?? "x86_64-linux-gnu"

let swiftSettings: [SwiftSetting] =
    [
        .swiftLanguageMode(.v5),
        .unsafeFlags(["-warnings-as-errors"]),
    ] + (embedded ? [.enableExperimentalFeature("Embedded"), .unsafeFlags(["-wmo"])] : [])

// Empty for this machine; the root of the target's libraries when cross-building.
let sysroot = Context.environment["CALLBOX_SYSROOT"] ?? ""

let includes =
    [
        "libdrm", "cairo", "pango-1.0", "glib-2.0", "harfbuzz", "freetype2", "libpng16",
    ].map { "\(sysroot)/usr/include/\($0)" } + ["\(sysroot)/usr/lib/\(multiarch)/glib-2.0/include"]
let worldSettings = swiftSettings + [.unsafeFlags(includes.flatMap { ["-Xcc", "-isystem", "-Xcc", $0] })]
let cSettings: [CSetting] = [.unsafeFlags(includes.flatMap { ["-isystem", $0] } + ["-Wall", "-Werror"])]
// The one library without a C face (cecho.h).
let cxxSettings: [CXXSetting] = [
    .unsafeFlags(["-isystem", "\(sysroot)/usr/include/webrtc-audio-processing-1", "-Wall", "-Werror"]),
    .define("WEBRTC_POSIX"),
]

let libraries = [
    "drm", "cairo", "pango-1.0", "pangocairo-1.0", "gobject-2.0", "glib-2.0", "avcodec", "avutil", "swscale",
    "swresample",
    "asound", "webrtc-audio-processing-1", "stdc++", "gpiod", "systemd", "cares", "ssl", "crypto", "srtp2", "m",
]

/// A target without C, clock, randomness or socket.
func pure(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    // Unit tests play days, and read damaged messages by the thousand.
    let optimized: [SwiftSetting] = embedded ? [] : [.unsafeFlags(["-O"])]
    return .target(name: name, dependencies: dependencies, swiftSettings: swiftSettings + optimized)
}

/// A target that talks to the kernel or a C library.
func world(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: ["Bytes", "CPlatform"] + dependencies, swiftSettings: worldSettings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .testTarget(
        name: "\(name)Tests",
        dependencies: [.init(stringLiteral: name)] + (name == "Bytes" ? [] : ["Bytes"]) + dependencies,
        exclude: name == "SIPWire" ? ["RFC4475"] : [],
        // Those of sound compute rooms, sample by sample.
        swiftSettings: worldSettings + (name == "Sound" ? [.unsafeFlags(["-O"])] : []))
}

let package = Package(
    name: "callbox",
    products: [.executable(name: "callbox", targets: ["callbox"])],
    targets: [
        pure("Bytes", []),
        pure("PanelEngine", ["Bytes"]),
        pure("SIPWire", ["Bytes"]),
        pure("SDPWire", ["Bytes"]),
        pure("H264", ["Bytes"]),
        pure("RTPWire", ["Bytes", "H264"]),
        pure("SIPEngine", ["Bytes", "SIPWire"]),
        pure("MediaEngine", ["Bytes", "H264", "RTPWire"]),
        pure("KioskEngine", ["Bytes", "SIPWire", "SDPWire", "RTPWire", "SIPEngine", "MediaEngine"]),
        .target(
            name: "CPlatform", cSettings: cSettings, cxxSettings: cxxSettings,
            linkerSettings: libraries.map { .linkedLibrary($0) }),
        world("Loop", []),
        world("Secure", ["SIPWire", "SDPWire", "KioskEngine", "Loop"]),
        world("Reach", ["SDPWire", "KioskEngine", "MediaEngine", "Loop", "Secure"]),
        world("Display", ["KioskEngine"]),
        world("Sound", ["RTPWire", "MediaEngine", "KioskEngine"]),
        world("Picture", ["H264", "RTPWire"]),
        world("Panel", ["PanelEngine"]),
        .executableTarget(
            name: "callbox",
            dependencies: [
                "Bytes", "SIPWire", "SIPEngine", "SDPWire", "H264", "RTPWire", "MediaEngine", "KioskEngine",
                "CPlatform", "Loop", "Secure", "Reach", "Display", "Sound", "Picture", "Panel", "PanelEngine",
            ],
            swiftSettings: worldSettings),
        // Plays clips of the kernel's test codec, for board/tests/codec.py.
        .executableTarget(
            name: "Player", dependencies: ["Bytes", "CPlatform", "H264", "KioskEngine", "Loop", "Display", "Picture"],
            path: "Tests/Player", swiftSettings: worldSettings),
    ]
        + (embedded
            ? []
            : [
                tests("Bytes"),
                tests("Loop"),
                tests("Secure", ["SIPWire", "SDPWire", "KioskEngine", "Loop"]),
                tests("PanelEngine"),
                tests("SIPWire"),
                tests("SDPWire"),
                tests("H264"),
                tests("RTPWire", ["H264"]),
                tests("SIPEngine", ["SIPWire"]),
                tests("MediaEngine", ["RTPWire"]),
                tests("KioskEngine", ["SIPWire", "SDPWire", "SIPEngine", "RTPWire", "MediaEngine"]),
                tests("Display", ["KioskEngine", "MediaEngine", "SIPEngine", "SIPWire"]),
                tests("Picture", ["H264", "RTPWire"]),
                tests("Sound", ["RTPWire", "MediaEngine", "KioskEngine"]),
                // Two whole kiosks in virtual time, for board/simulate.
                .executableTarget(
                    name: "Simulation",
                    dependencies: ["Bytes", "SIPWire", "SIPEngine", "RTPWire", "MediaEngine", "KioskEngine"],
                    path: "Tests/Simulation", swiftSettings: swiftSettings),
                // What is read of a byte stream, element by element, for the checks `bitstream`.
                .executableTarget(
                    name: "Bitstream", dependencies: ["Bytes", "H264"], path: "Tests/Bitstream",
                    swiftSettings: swiftSettings),
            ]),
    cxxLanguageStandard: .cxx17
)
