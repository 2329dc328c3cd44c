// SPDX-License-Identifier: Apache-2.0
import Bytes

/// What went wrong before the kiosk was started: words that the start of the board left, one a line, in a file that
/// lasts until it is switched off. They stand until a start in which all is well.
public struct BootNotes: Equatable {
    /// No start was left in either root: this one is made with as little as can be.
    public private(set) var isSafe = false
    /// Each as the fault that it is.
    public private(set) var reports: [DeviceReport] = []

    public static let path: ByteString = "/run/callbox-boot"
    public static let fileBytesMax = 4096

    private static let known: [(word: ByteString, family: DeviceFamily, sentence: ByteString)] = [
        ("safe", .safeMode, "the board did not come up several times; settings are the last good ones."),
        ("boot-lost", .bootPartition, "there is no partition CALLBOX, or it cannot be read."),
        ("boot-readonly", .bootWrite, "the partition CALLBOX is read-only."),
        ("boot-full", .bootWrite, "the partition CALLBOX is full."),
        ("data-lost", .dataLost, "the data partition was beyond repair and was made anew."),
        ("data-none", .dataPartition, "there is no data partition; memory is used instead."),
        ("no-clock", .clock, "the clock stood before the time at which this program was made."),
    ]

    /// Words that are not known are left out: a newer start may know more of them.
    public init(_ file: [UInt8]) {
        for line in ByteString(file).split(on: ASCII.lineFeed) {
            let found = Self.known.first { $0.word == line.trimmed() }
            guard let found, !self.reports.contains(where: { $0.family == found.family }) else { continue }
            if found.family == .safeMode { self.isSafe = true }
            self.reports.append(.failed(found.family, found.sentence))
        }
    }
}

extension DeviceReport {
    public var family: DeviceFamily {
        switch self {
        case .failed(let family, _), .restored(let family): return family
        }
    }
}

extension Configuration {
    /// For a start that has to succeed: without what hangs most often, and is not needed to be heard.
    public var forSafeMode: Configuration {
        var configuration = self
        configuration.camera.device = .none
        configuration.ice.use = .off
        return configuration
    }
}
