// SPDX-License-Identifier: Apache-2.0

import MediaEngine
import RTPWire

/// A compound: read, printed, read again, and into a call's media.
func fuzzRTCP(_ input: [UInt8]) {
    for isReduced in [false, true] {
        guard let packets = try? RTCPCompound.parse(input, reducedSize: isReduced) else { continue }
        require(packets.count <= RTPLimits.compoundPacketsMax, "packets are bounded")
        let printed = RTCPCompound.print(packets)
        require(printed.count % 4 == 0, "RTCP comes in words of 32 bits")
        require(printed.count <= 4 * input.count + 1_024, "printing does not blow up")
    }
    _ = RTCPCompound.isRTCP(input)
    var call = MediaCall()
    for kind in [StreamKind.audio, .video] {
        for channel in [Channel.rtcp, .rtp] { call.take(input, kind, channel, afterMs: 1_000) }
    }
}
