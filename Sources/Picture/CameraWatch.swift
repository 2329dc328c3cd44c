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
}
