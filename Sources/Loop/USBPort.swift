// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem

/// A device on USB, which can be made to begin anew as if its plug had been pulled.
public struct USBPort: Equatable {
    /// Its folder in sysfs, whose last part is the port, as in `1-1.2`.
    public let path: ByteString
    private static let numberBytesMax = 16
    /// Between taking the device from its drivers and giving it back; it notices within some milliseconds.
    private static let pauseUs: UInt32 = 200_000
    private static let foldersMax = 64

    /// The device that something in sysfs belongs to, as `/sys/class/sound/card1/device` does; nil where that is not
    /// on USB.
    public init?(of entry: ByteString) {
        guard let found = entry.withCString({ realpath($0, nil) }) else { return nil }
        defer { free(found) }
        var folder = ByteString(cString: found)
        for _ in 0..<Self.foldersMax {
            // A device's interfaces have no bus of their own.
            if fileExists(folder + "/authorized"), fileExists(folder + "/busnum") {
                self.path = folder
                return
            }
            guard let slash = folder.bytes.lastIndex(of: ASCII.slash), slash > 0 else { return nil }
            folder = folder.slice(0..<slash)
        }
        return nil
    }

    /// As in `1-1.2`.
    public var name: ByteString {
        let slash = self.path.bytes.lastIndex(of: ASCII.slash) ?? -1
        return self.path.slice(slash + 1..<self.path.count)
    }

    /// Resets the port; where that is not allowed, takes the device away and gives it back. False where neither can be
    /// done. Takes up to some seconds.
    public func reset() -> Bool {
        if let node = self.node, node.withCString({ callbox_reset_usb($0) }) == 0 { return true }
        guard self.authorize("0") else { return false }
        usleep(Self.pauseUs)
        return self.authorize("1")
    }

    private var node: ByteString? {
        guard let bus = self.number("busnum"), let device = self.number("devnum") else { return nil }
        return "/dev/bus/usb/" + Self.padded(bus) + "/" + Self.padded(device)
    }

    private func number(_ name: ByteString) -> Int? {
        guard let bytes = readFile(self.path + "/" + name, sizeMax: Self.numberBytesMax) else { return nil }
        return ByteString(bytes).trimmed().decimal(max: 999).map { Int($0) }
    }

    private static func padded(_ number: Int) -> ByteString {
        ByteString(number < 10 ? "00" : number < 100 ? "0" : "") + ByteString(decimal: number)
    }

    private func authorize(_ digit: ByteString) -> Bool {
        (self.path + "/authorized").withCString { path in digit.withCString { callbox_write_once(path, $0) } } == 0
    }
}
