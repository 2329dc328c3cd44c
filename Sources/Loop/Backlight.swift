// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem

/// The lights behind the screens (Documentation/ABI/stable/sysfs-class-backlight): dimmed while power is to be saved.
public final class Backlight {
    public static let systemFolder: ByteString = "/sys/class/backlight"
    /// Of the brightest: words can still be read.
    private static let dimmedPart: UInt64 = 5
    private static let fileBytesMax = 32

    private let folder: ByteString
    /// Those that were dimmed, and what they were before.
    private var former: [(path: ByteString, brightness: UInt64)] = []

    /// - Parameter folder: has one folder a light, with `brightness` and `max_brightness` in it.
    public init(folder: ByteString = Backlight.systemFolder) {
        self.folder = folder
    }

    /// Dims all lights that are brighter, or makes them again what they were. A light that cannot be written stays.
    public func dim(_ isOn: Bool) {
        guard isOn else {
            for light in self.former { Self.write(light.brightness, to: light.path) }
            self.former = []
            return
        }
        guard self.former.isEmpty else { return }
        for name in namesInFolder(self.folder) {
            let path = self.folder + "/" + name + "/brightness"
            guard let now = Self.read(path), let most = Self.read(self.folder + "/" + name + "/max_brightness"),
                case let dimmed = max(1, most / Self.dimmedPart), dimmed < now, Self.write(dimmed, to: path)
            else { continue }
            self.former.append((path, now))
        }
    }

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
