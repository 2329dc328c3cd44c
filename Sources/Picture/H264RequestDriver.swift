// SPDX-License-Identifier: Apache-2.0

import Bytes
import CCodec
import CStateless
import CSystem
import CV4L2
import H264

/// How a device wants to be told of pictures, and the media device that its requests come from.
final class H264RequestDriver {
    let media: Int32
    let decodesSlices: Bool
    /// NAL units are to have start codes in front of them.
    let wantsStartCodes: Bool
    let takesMatrix: Bool

    init(_ device: V4L2Device, prefersSlices: Bool) throws(HardwareCodecError) {
        let slices = Int32(V4L2_STATELESS_H264_DECODE_MODE_SLICE_BASED.rawValue)
        let frames = Int32(V4L2_STATELESS_H264_DECODE_MODE_FRAME_BASED.rawValue)
        let mode = Int(V4L2_CID_STATELESS_H264_DECODE_MODE)
        // The device does one of the two, or both.
        for wish in prefersSlices ? [slices, frames] : [frames, slices] where device.set(mode, wish) { break }
        self.decodesSlices = device.control(mode) == slices
        let codes = Int(V4L2_CID_STATELESS_H264_START_CODE)
        let annexB = Int32(V4L2_STATELESS_H264_START_CODE_ANNEX_B.rawValue)
        device.set(codes, annexB)
        self.wantsStartCodes = device.control(codes) == annexB
        self.takesMatrix = callbox_codec_has_control(device.fd, UInt32(V4L2_CID_STATELESS_H264_SCALING_MATRIX)) != 0
        let media = callbox_stateless_open_media(device.fd)
        guard media >= 0 else { throw HardwareCodecError(.missing, "takes no requests", code: media) }
        self.media = media
    }

    deinit {
        close(self.media)
    }

    func request() throws(HardwareCodecError) -> Int32 {
        let request = callbox_stateless_new_request(self.media)
        guard request >= 0 else { throw HardwareCodecError(.noBuffers, "takes no requests", code: request) }
        return request
    }

    /// The controls that go with a picture, or with one of its slices.
    func which(_ slice: CodedPicture.Slice) -> Int32 {
        var which = Int32(CALLBOX_H264_SPS | CALLBOX_H264_PPS | CALLBOX_H264_PICTURE)
        if self.takesMatrix { which |= Int32(CALLBOX_H264_MATRIX) }
        if self.decodesSlices {
            which |= Int32(CALLBOX_H264_SLICE)
            if slice.header.weights != nil { which |= Int32(CALLBOX_H264_WEIGHTS) }
        }
        return which
    }

    /// Writes slices one after the other; the bytes used, or nil where there is no room.
    func write(_ units: [[UInt8]], to room: UnsafeMutableRawBufferPointer) -> Int? {
        var used = 0
        for unit in units {
            let code: [UInt8] = self.wantsStartCodes ? [0, 0, 1] : []
            guard unit.count + code.count <= room.count - used else { return nil }
            for part in [code, unit] {
                part.withUnsafeBytes { bytes in
                    guard let from = bytes.baseAddress, let start = room.baseAddress else { return }
                    (start + used).copyMemory(from: from, byteCount: bytes.count)
                }
                used += part.count
            }
        }
        return used
    }
}

extension V4L2Device {
    /// What a decoder that is told of each picture says it takes.
    func acceptance(_ coded: UInt32, allowsReordering: Bool) -> H264Acceptance {
        var acceptance = H264Acceptance(allowsReordering: allowsReordering)
        if let (widths, heights) = self.sizes(coded) { (acceptance.widths, acceptance.heights) = (widths, heights) }
        let highest = callbox_codec_control_max(self.fd, UInt32(V4L2_CID_MPEG_VIDEO_H264_LEVEL))
        if highest >= 0 { acceptance.levelMax = Self.levels[min(Int(highest), Self.levels.count - 1)] }
        return acceptance
    }

    /// level_idc by V4L2_MPEG_VIDEO_H264_LEVEL_*, from 1 on; 1b, the second, has 9 there or 11.
    private static let levels: [UInt8] = [
        10, 11, 11, 12, 13, 20, 21, 22, 30, 31, 32, 40, 41, 42, 50, 51, 52, 60, 61, 62,
    ]
}
