// SPDX-License-Identifier: Apache-2.0

import H264
import RTPWire

/// Payloads one after another, as packets of a stream. Each stands behind a byte of how (marker, a new time, a gap,
/// long) and a byte of length. The whole is taken for a sequence parameter set as well.
func fuzzH264(_ input: [UInt8]) {
    var pieces = Pieces(input)
    var depacketizer = H264Depacketizer()
    let packetizers = [H264Packetizer.Mode.singleNAL, .nonInterleaved].map {
        H264Packetizer(mode: $0, maxPayloadSize: 100)
    }
    var sequence = SequenceNumber(65_530)
    var timestamp = RTPTimestamp(0xFFFF_F000)
    while !pieces.isEmpty {
        let how = pieces.byte()
        let length = Int(pieces.byte())
        if how & 2 != 0 { timestamp = timestamp.advanced(by: 3_000) }
        sequence = how & 4 != 0 ? sequence.next.next : sequence.next
        let payload = pieces.bytes(how & 8 != 0 ? length * 16 : length)
        let packet = RTPPacket(
            marker: how & 1 != 0, payloadType: PayloadType(96), sequence: sequence, timestamp: timestamp,
            ssrc: SSRC(1), payload: payload[...])
        for unit in depacketizer.take(packet) {
            check(unit)
            for packetizer in packetizers { check(packetizer.payloads(of: unit.nalUnits), packetizer) }
        }
    }
    checkParameterSet(input)
}

private func check(_ unit: AccessUnit) {
    require(!unit.nalUnits.contains { $0.isEmpty }, "no empty units")
    require(unit.nalUnits.count <= RTPLimits.nalUnitsMax + 2, "units are bounded")
    require(unit.annexB().count <= RTPLimits.accessUnitBytesMax + 8_192, "pictures are bounded")
    guard unit.isKeyFrame else { return }
    let types = unit.nalUnits.map { NALUnitType.of($0[0]) }
    require(types.contains(NALUnitType.sequenceParameterSet), "a key frame comes with its parameters")
    require(types.contains(NALUnitType.pictureParameterSet), "a key frame comes with both of them")
}

private func check(_ payloads: [H264Packetizer.Payload], _ packetizer: H264Packetizer) {
    require(payloads.allSatisfy { !$0.bytes.isEmpty }, "no empty payloads")
    require(payloads.dropLast().allSatisfy { !$0.marker }, "only the last packet of a picture is marked")
    guard packetizer.mode == .nonInterleaved else { return }
    require(payloads.allSatisfy { $0.bytes.count <= packetizer.maxPayloadSize }, "payloads fit their packets")
}

private func checkParameterSet(_ input: [UInt8]) {
    guard let set = SequenceParameterSet.parse(input) else { return }
    require((1...16_384).contains(set.width) && (1...16_384).contains(set.height), "pictures have a sane size")
}
