// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem
import CV4L2

/// Whether a camera is plugged in, as far as that can be seen without opening it: its light stays off.
public struct CameraWatch {
    private let name: ByteString
    /// Where it was found last, for names that only the devices themselves know.
    private var path: ByteString?

    /// `name` as `Camera` takes it.
    public init(_ name: ByteString) {
        self.name = name
    }

    /// Whether there is anything to look after.
    public var isNeeded: Bool { !self.name.isEmpty && self.name != "none" && !self.name.hasPrefix("file:") }

    /// What is to be said where it is not.
    public var sentence: ByteString { V4L2Names.absent(self.name) }

    public mutating func isThere() -> Bool {
        guard self.isNeeded else { return true }
        if self.name.bytes.first == ASCII.slash { return V4L2Names.exists(self.name) }
        if let path = V4L2Names.link(self.name) { return V4L2Names.exists(path) }
        if let path = self.path, V4L2Names.exists(path) { return true }
        self.path = V4L2Names.find(self.name)
        return self.path != nil
    }

    /// Where sysfs tells which device it is; nil where it is not there.
    public var systemEntry: ByteString? {
        guard self.isNeeded else { return nil }
        let named = self.name.bytes.first == ASCII.slash ? self.name : V4L2Names.link(self.name)
        guard let path = named ?? V4L2Names.find(self.name), let file = path.withCString({ realpath($0, nil) }) else {
            return nil
        }
        defer { free(file) }
        let node = ByteString(cString: file)
        guard let slash = node.bytes.lastIndex(of: ASCII.slash) else { return nil }
        return "/sys/class/video4linux" + node.slice(slash..<node.count) + "/device"
    }
}
