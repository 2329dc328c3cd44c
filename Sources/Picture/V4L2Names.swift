// SPDX-License-Identifier: Apache-2.0

import Bytes
import CAV
import CSystem
import CV4L2

/// From the name in the configuration to the device file.
///
/// A name is one of
/// - a path that begins with `/`,
/// - a name under `/dev/v4l/by-path` or `/dev/v4l/by-id`,
/// - what the driver says of its place, as `v4l2-ctl --list-devices` shows in brackets (`usb-0000:00:14.0-1`,
///   `platform:vivid-000`): this works where nothing makes the links under `/dev/v4l`,
/// - `auto`: the first that delivers pictures.
enum V4L2Names {
    /// Device files looked at, in order of their number.
    private static let devicesMax = 64

    /// An open descriptor and what the device says of itself.
    struct Opened {
        let fd: Int32
        let capability: v4l2_capability
    }

    static func open(_ name: ByteString) throws(CameraError) -> Opened {
        if name.bytes.first == ASCII.slash { return try self.openPath(name, name: name) }
        if let path = self.link(name), self.exists(path) { return try self.openPath(path, name: name) }
        for number in 0..<self.devicesMax {
            guard let opened = self.opened(number) else { continue }
            let isMeant = name == "auto" || self.place(opened.capability) == name
            if isMeant, self.canCapture(opened.capability) { return opened }
            close(opened.fd)
        }
        throw CameraError(.missing, self.absent(name))
    }

    static func absent(_ name: ByteString) -> ByteString {
        name == "auto" ? "No camera was found." : "The camera \"" + name + "\" is not there."
    }

    /// Of the two or more device files of one camera only some deliver pictures.
    static func canCapture(_ capability: v4l2_capability) -> Bool {
        let able = self.abilities(capability)
        let streams = able & UInt32(V4L2_CAP_STREAMING) != 0
        return streams && able & UInt32(V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_VIDEO_CAPTURE_MPLANE) != 0
    }

    static func isMultiplanar(_ capability: v4l2_capability) -> Bool {
        self.abilities(capability) & UInt32(V4L2_CAP_VIDEO_CAPTURE) == 0
    }

    static func abilities(_ capability: v4l2_capability) -> UInt32 {
        // Bit 31, V4L2_CAP_DEVICE_CAPS: the node says what it can do itself, besides the whole device.
        capability.capabilities & 0x8000_0000 != 0 ? capability.device_caps : capability.capabilities
    }

    private static func openPath(_ path: ByteString, name: ByteString) throws(CameraError) -> Opened {
        let fd = path.withCString { callbox_v4l2_open($0) }
        switch -fd {
        case ..<1: break
        case ENOENT, ENODEV, ENXIO, ENOTDIR:
            throw CameraError(.missing, self.absent(name))
        case EBUSY: throw CameraError(.busy, "The camera \"" + name + "\" is used by another program.")
        case EACCES, EPERM: throw CameraError(.unusable, "No permission to open the camera \"" + name + "\".")
        case let code:
            throw CameraError(
                .unusable, "The camera \"" + name + "\" cannot be opened (errno " + ByteString(decimal: code) + ").")
        }
        var capability = v4l2_capability()
        guard callbox_v4l2_capability(fd, &capability) == 0 else {
            close(fd)
            throw CameraError(.unusable, "\"" + name + "\" is not a camera.")
        }
        return Opened(fd: fd, capability: capability)
    }

    private static func opened(_ number: Int) -> Opened? {
        let fd = self.path(number).withCString { callbox_v4l2_open($0) }
        guard fd >= 0 else { return nil }
        var capability = v4l2_capability()
        guard callbox_v4l2_capability(fd, &capability) == 0 else {
            close(fd)
            return nil
        }
        return Opened(fd: fd, capability: capability)
    }

    static func exists(_ path: ByteString) -> Bool {
        path.withCString { access($0, F_OK) } == 0
    }

    /// The link of that name under `/dev/v4l`, whether or not it leads anywhere.
    static func link(_ name: ByteString) -> ByteString? {
        for folder: ByteString in ["/dev/v4l/by-path/", "/dev/v4l/by-id/"] {
            var status = stat()
            if (folder + name).withCString({ lstat($0, &status) }) == 0 { return folder + name }
        }
        return nil
    }

    /// The device file that `open` would take for a name that is no path and no link.
    static func find(_ name: ByteString) -> ByteString? {
        for number in 0..<self.devicesMax {
            guard let opened = self.opened(number) else { continue }
            close(opened.fd)
            if name == "auto" || self.place(opened.capability) == name, self.canCapture(opened.capability) {
                return self.path(number)
            }
        }
        return nil
    }

    private static func path(_ number: Int) -> ByteString {
        ByteString("/dev/video") + ByteString(decimal: number)
    }

    private static func place(_ capability: v4l2_capability) -> ByteString {
        withUnsafeBytes(of: capability.bus_info) { ByteString(Array($0.prefix { $0 != 0 })) }
    }
}
