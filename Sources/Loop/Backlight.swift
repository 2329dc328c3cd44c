// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem

/// The lights behind the screens (Documentation/ABI/stable/sysfs-class-backlight): dimmed while power is to be saved.
public final class Backlight {
    public static let systemFolder: ByteString = "/sys/class/backlight"
    /// Of the brightest: words can still be read.
    private static let dimmedPart: UInt64 = 5
    private static let fileBytesMax = 32
    /// A longer list of what they were is not ours.
    public static let keptBytesMax = 4096

    private let folder: ByteString
    /// Those that are dimmed, and what they were before.
    private var former: [(name: ByteString, brightness: UInt64, dimmed: UInt64)] = []

    /// - Parameter folder: has one folder a light, with `brightness` and `max_brightness` in it.
    public init(folder: ByteString = Backlight.systemFolder) {
        self.folder = folder
    }

    /// Dims all lights that are brighter, or makes them again what they were. A light that cannot be written stays.
    public func dim(_ isOn: Bool) {
        guard isOn else {
            for light in self.former { Self.write(light.brightness, to: self.path(light.name)) }
            self.former = []
            return
        }
        guard self.former.isEmpty else { return }
        for name in namesInFolder(self.folder) {
            let path = self.path(name)
            guard let now = Self.read(path), let most = Self.read(self.folder + "/" + name + "/max_brightness"),
                case let dimmed = max(1, most / Self.dimmedPart), dimmed < now, Self.write(dimmed, to: path)
            else { continue }
            self.former.append((name, now, dimmed))
        }
    }

    /// What is to outlive the program as long as lights are dimmed; nil where none is. A line a light: its former
    /// brightness, the present one, its name.
    public var kept: [UInt8]? {
        guard !self.former.isEmpty else { return nil }
        var text = ByteString()
        for light in self.former {
            text += ByteString(decimal: light.brightness) + " " + ByteString(decimal: light.dimmed)
            text += ByteString(" ") + light.name + "\n"
        }
        return text.bytes
    }

    /// The program ended while lights were dimmed: makes them what they were, by `kept` of then. One that is as bright
    /// as nobody has dimmed it has been set by somebody else meanwhile, and stays.
    public func restore(_ kept: [UInt8]) {
        let names = namesInFolder(self.folder)
        for line in ByteString(kept).split(on: ASCII.lineFeed) {
            let words = line.split(on: ASCII.space)
            guard words.count >= 3, let former = words[0].decimal(), let dimmed = words[1].decimal(),
                case let name = line.slice(words[0].count + words[1].count + 2..<line.count), names.contains(name),
                Self.read(self.path(name)) == dimmed
            else { continue }
            Self.write(former, to: self.path(name))
        }
    }

    private func path(_ name: ByteString) -> ByteString { self.folder + "/" + name + "/brightness" }

    private static func read(_ path: ByteString) -> UInt64? {
        readFile(path, sizeMax: self.fileBytesMax).flatMap { ByteString($0).trimmed().decimal() }
    }

    @discardableResult
    private static func write(_ brightness: UInt64, to path: ByteString) -> Bool {
        let descriptor = path.withCString { callbox_open_write($0) }
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        let bytes = ByteString(decimal: brightness).bytes + [ASCII.lineFeed]
        return bytes.withUnsafeBytes { CSystem.write(descriptor, $0.baseAddress, $0.count) } == bytes.count
    }
}
