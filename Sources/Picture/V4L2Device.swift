// SPDX-License-Identifier: Apache-2.0

import Bytes
import CCodec
import CSystem
import CV4L2

/// An open codec (a "memory-to-memory" device of Video4Linux 2), found by what it can do and never by its number.
///
/// It is closed with the last reference: by then nobody reads its memory through it.
final class V4L2Device {
    /// What the device is wanted for. The coded format is one of V4L2_PIX_FMT_*.
    enum Work: Equatable {
        case decode(UInt32)
        /// By a decoder that is told of each picture in a request.
        case decodeSlices(UInt32)
        case encode(UInt32)
    }

    let fd: Int32
    /// The type of the queue that takes what is to be worked on, and of the one that gives what came of it.
    let output: UInt32
    let capture: UInt32
    /// What the driver calls itself, for the log.
    let name: ByteString

    /// Device files looked at.
    private static let devicesMax = 64
    /// Formats of a queue looked at: a driver that never ends its list is cut short.
    private static let formatsMax: UInt32 = 128

    private init(_ fd: Int32, isMultiplanar: Bool, name: ByteString) {
        self.fd = fd
        self.name = name
        self.output =
            isMultiplanar ? V4L2_BUF_TYPE_VIDEO_OUTPUT_MPLANE.rawValue : V4L2_BUF_TYPE_VIDEO_OUTPUT.rawValue
        self.capture =
            isMultiplanar ? V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE.rawValue : V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
    }

    deinit {
        close(self.fd)
    }

    /// The first device that does this work.
    static func find(_ work: Work) throws(HardwareCodecError) -> V4L2Device {
        for number in 0..<self.devicesMax {
            if let device = self.open(number), device.does(work) { return device }
        }
        throw HardwareCodecError(.missing, "This board has no video codec in hardware for this.")
    }

    private static func open(_ number: Int) -> V4L2Device? {
        let path: ByteString = ByteString("/dev/video") + ByteString(decimal: number)
        let fd = path.withCString { callbox_v4l2_open($0) }
        guard fd >= 0 else { return nil }
        var capability = v4l2_capability()
        guard callbox_v4l2_capability(fd, &capability) == 0 else {
            close(fd)
            return nil
        }
        let able = V4L2Names.abilities(capability)
        let isMultiplanar = able & UInt32(V4L2_CAP_VIDEO_M2M_MPLANE) != 0
        guard able & UInt32(V4L2_CAP_STREAMING) != 0, isMultiplanar || able & UInt32(V4L2_CAP_VIDEO_M2M) != 0 else {
            close(fd)
            return nil
        }
        let name = withUnsafeBytes(of: capability.driver) { ByteString(Array($0.prefix { $0 != 0 })) }
        return V4L2Device(fd, isMultiplanar: isMultiplanar, name: name)
    }

    private func does(_ work: Work) -> Bool {
        switch work {
        case .decode(let coded):
            return self.formats(self.output).contains(coded)
                && callbox_codec_subscribe(self.fd, UInt32(V4L2_EVENT_SOURCE_CHANGE)) == 0
        case .decodeSlices(let coded):
            return self.formats(self.output).contains(coded)
        case .encode(let coded):
            return self.formats(self.capture).contains(coded)
        }
    }

    /// The pixel formats that a queue has now, in the driver's order.
    func formats(_ queue: UInt32) -> [UInt32] {
        var found: [UInt32] = []
        for index in 0..<Self.formatsMax {
            var (code, flags): (UInt32, UInt32) = (0, 0)
            guard callbox_codec_format_at(self.fd, queue, index, &code, &flags) == 0 else { break }
            found.append(code)
        }
        return found
    }

    /// The formats of a queue that anything here could use.
    func rawFormats(_ queue: UInt32) -> [V4L2RawFormat] {
        self.formats(queue).compactMap { V4L2RawFormat.named($0) }
    }

    /// The sizes of coded pictures that it takes of this format, in samples; nil where it does not say.
    func sizes(_ coded: UInt32) -> (widths: ClosedRange<Int>, heights: ClosedRange<Int>)? {
        var (least, most): ((width: Int, height: Int)?, (width: Int, height: Int)) = (nil, (0, 0))
        for index in 0..<UInt32(16) {
            var size = v4l2_frmsizeenum()
            guard callbox_v4l2_size_at(self.fd, index, coded, &size) == 0 else { break }
            let one = (size.discrete.width, size.discrete.height)
            var (from, to) = (one, one)
            if size.type != V4L2_FRMSIZE_TYPE_DISCRETE.rawValue {
                from = (size.stepwise.min_width, size.stepwise.min_height)
                to = (size.stepwise.max_width, size.stepwise.max_height)
            }
            let smallest = least ?? (.max, .max)
            least = (min(smallest.width, Int(clamping: from.0)), min(smallest.height, Int(clamping: from.1)))
            most = (max(most.width, Int(clamping: to.0)), max(most.height, Int(clamping: to.1)))
        }
        guard let least, least.width <= most.width, least.height <= most.height else { return nil }
        return (least.width...most.width, least.height...most.height)
    }

    /// The value of a control; nil where the device has none such.
    func control(_ id: Int) -> Int32? {
        var value: Int32 = 0
        return callbox_codec_get_control(self.fd, UInt32(id), &value) == 0 ? value : nil
    }

    /// False where the device has no such control, or refuses the value.
    @discardableResult
    func set(_ id: Int, _ value: Int32) -> Bool {
        callbox_codec_set_control(self.fd, UInt32(id), value) == 0
    }
}
