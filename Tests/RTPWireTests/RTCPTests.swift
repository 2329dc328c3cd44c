// SPDX-License-Identifier: Apache-2.0

import Bytes
import RTPWire
import XCTest

final class RTCPTests: XCTestCase {
    private let block = ReportBlock(
        source: SSRC(0x0A0B_0C0D), fractionLost: 64, cumulativeLost: -2, highestSequence: 0x0001_FFFE, jitter: 7,
        lastSenderReport: 0x1111_2222, delaySinceLastSenderReport: 65_536)

    private func fault(_ bytes: [UInt8], reducedSize: Bool = false) -> RTPParseError? {
        do {
            _ = try RTCPCompound.parse(bytes, reducedSize: reducedSize)
            return nil
        } catch {
            return error
        }
    }

    private let emptyReport: [UInt8] = [0x80, 201, 0, 1, 0, 0, 0, 9]

    // MARK: Bytes as the RFCs draw them

    func testSenderReportBytes() throws {
        let bytes: [UInt8] = [
            0x81, 200, 0, 12, 0, 0, 0, 9,
            0x83, 0xAA, 0x7E, 0x80, 0x80, 0, 0, 0,
            0, 0, 0x1F, 0x40, 0, 0, 0, 50, 0, 0, 0x1F, 0x40,
            0x0A, 0x0B, 0x0C, 0x0D, 64, 0xFF, 0xFF, 0xFE, 0, 1, 0xFF, 0xFE, 0, 0, 0, 7,
            0x11, 0x11, 0x22, 0x22, 0, 1, 0, 0,
        ]
        let expected = RTCPPacket.senderReport(
            SenderReport(
                ssrc: SSRC(9), ntpTime: NTPTime(0x83AA_7E80_8000_0000), timestamp: RTPTimestamp(8000), packets: 50,
                payloadBytes: 8000, blocks: [self.block]))
        XCTAssertEqual(try RTCPCompound.parse(bytes), [expected])
        XCTAssertEqual(RTCPCompound.print([expected]), bytes)
    }

    func testSourceDescriptionBytes() throws {
        let bytes = self.emptyReport + [0x81, 202, 0, 3, 0, 0, 0, 9, 1, 4, 0x61, 0x40, 0x62, 0x63, 0, 0]
        let expected: [RTCPPacket] = [
            .receiverReport(SSRC(9), []),
            .sourceDescription([SourceDescription(ssrc: SSRC(9), cname: "a@bc")]),
        ]
        XCTAssertEqual(try RTCPCompound.parse(bytes), expected)
        XCTAssertEqual(RTCPCompound.print(expected), bytes)
    }

    func testPictureLossBytes() throws {
        let bytes: [UInt8] = [0x81, 206, 0, 2, 0, 0, 0, 9, 0, 0, 0, 8]
        let expected = RTCPPacket.pictureLoss(sender: SSRC(9), media: SSRC(8))
        XCTAssertEqual(try RTCPCompound.parse(bytes, reducedSize: true), [expected])
        XCTAssertEqual(RTCPCompound.print([expected]), bytes)
    }

    func testFullIntraBytes() throws {
        let bytes: [UInt8] = [0x84, 206, 0, 4, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 8, 3, 0, 0, 0]
        let expected = RTCPPacket.fullIntra(sender: SSRC(9), [FullIntraRequest(source: SSRC(8), commandSequence: 3)])
        XCTAssertEqual(try RTCPCompound.parse(bytes, reducedSize: true), [expected])
        XCTAssertEqual(RTCPCompound.print([expected]), bytes)
    }

    func testFullIntraOfRFC2032IsUnderstood() throws {
        let packets = try RTCPCompound.parse([0x80, 192, 0, 1, 0, 0, 0, 9], reducedSize: true)
        XCTAssertEqual(packets, [.fullIntra(sender: SSRC(9), [])])
    }

    func testNackBytes() throws {
        let bytes: [UInt8] = [0x81, 205, 0, 3, 0, 0, 0, 9, 0, 0, 0, 8, 0xFF, 0xFE, 0x80, 0x02]
        let lost = [0xFFFE, 0x0000, 0x000E].map { SequenceNumber($0) }
        let expected = RTCPPacket.nack(sender: SSRC(9), media: SSRC(8), lost)
        XCTAssertEqual(try RTCPCompound.parse(bytes, reducedSize: true), [expected])
        XCTAssertEqual(RTCPCompound.print([expected]), bytes)
    }

    func testByeBytes() throws {
        let bytes = self.emptyReport + [0x81, 203, 0, 2, 0, 0, 0, 9, 3, 0x65, 0x6E, 0x64]
        let expected: [RTCPPacket] = [.receiverReport(SSRC(9), []), .bye([SSRC(9)], reason: "end")]
        XCTAssertEqual(try RTCPCompound.parse(bytes), expected)
        XCTAssertEqual(RTCPCompound.print(expected), bytes)
    }

    func testOthersAreKeptRawOrPassedOver() throws {
        let packets: [RTCPPacket] = [
            .receiverReport(SSRC(1), [self.block]),
            .application(subtype: 5, body: [0, 0, 0, 1, 0x61, 0x62, 0x63, 0x64]),
            .feedback(isTransport: true, format: 5, sender: SSRC(1), media: SSRC(0), body: [1, 2, 3, 4]),
            .feedback(isTransport: false, format: 15, sender: SSRC(1), media: SSRC(0), body: [0x52, 0x45, 0x4D, 0x42]),
            .bye([], reason: nil),
        ]
        let bytes = RTCPCompound.print(packets)
        XCTAssertEqual(try RTCPCompound.parse(bytes), packets)
        let more = try RTCPCompound.parse(bytes + [0x80, 207, 0, 1, 0, 0, 0, 0])
        XCTAssertEqual(more, packets + [.unknown(type: 207)])
    }

    func testPaddingOfTheLastPacketIsTakenOff() throws {
        let bytes = self.emptyReport + [0xA1, 203, 0, 2, 0, 0, 0, 9, 0, 0, 0, 4]
        XCTAssertEqual(try RTCPCompound.parse(bytes).last, .bye([SSRC(9)], reason: nil))
    }

    func testLongTextsAreCutAtTheLengthByte() throws {
        let long = ByteString(Array(repeating: 0x61, count: 300))
        let packets: [RTCPPacket] = [
            .receiverReport(SSRC(1), []),
            .sourceDescription([SourceDescription(ssrc: SSRC(1), cname: long)]),
            .bye([SSRC(1)], reason: long),
        ]
        let parsed = try RTCPCompound.parse(RTCPCompound.print(packets))
        XCTAssertEqual(parsed[1], .sourceDescription([SourceDescription(ssrc: SSRC(1), cname: long.slice(0..<255))]))
        XCTAssertEqual(parsed[2], .bye([SSRC(1)], reason: long.slice(0..<255)))
    }

    // MARK: Hostile

    func testHostileCompoundsAreRefusedByName() {
        let table: [([UInt8], RTPParseError)] = [
            ([], .tooShort),
            ([0x80, 201, 0], .tooShort),
            // A length word of 0xFFFF in eight bytes.
            ([0x80, 201, 0xFF, 0xFF, 0, 0, 0, 9], .badLength),
            ([0x40, 201, 0, 1, 0, 0, 0, 9], .wrongVersion),
            // No room for the source.
            ([0x80, 201, 0, 0], .badLength),
            // Thirty-one blocks in none.
            ([0x9F, 201, 0, 1, 0, 0, 0, 9], .badLength),
            ([0x81, 200, 0, 6] + Array(repeating: 0, count: 24), .badLength),
            // Padding in a packet that is not the last; padding of nothing; padding beyond the packet.
            ([0xA0, 201, 0, 2, 0, 0, 0, 9, 0, 0, 0, 4] + self.emptyReport, .badPadding),
            ([0xA0, 201, 0, 1, 0, 0, 0, 0], .badPadding),
            ([0xA0, 201, 0, 1, 0, 0, 0, 200], .badPadding),
            ([0xA0, 201, 0, 0], .badPadding),
            // Three stray bytes behind a whole packet.
            (self.emptyReport + [0x80, 203, 0], .tooShort),
            // A description whose item reaches past the end, and one without an end.
            (self.emptyReport + [0x81, 202, 0, 2, 0, 0, 0, 9, 1, 200, 0x61, 0], .badLength),
            (self.emptyReport + [0x81, 202, 0, 2, 0, 0, 0, 9, 1, 2, 0x61, 0x62], .badLength),
            // More leaving sources than bytes; a reason that reaches past the end.
            (self.emptyReport + [0x9F, 203, 0, 1, 0, 0, 0, 9], .badLength),
            (self.emptyReport + [0x81, 203, 0, 2, 0, 0, 0, 9, 200, 0x61, 0, 0], .badLength),
            // Feedback without its two sources.
            (self.emptyReport + [0x81, 206, 0, 1, 0, 0, 0, 9], .badLength),
        ]
        for (bytes, expected) in table { XCTAssertEqual(self.fault(bytes), expected, "\(bytes)") }
    }

    func testOnlyReportsMayComeFirstUnlessReducedSizeIsAgreed() {
        let bye: [UInt8] = [0x81, 203, 0, 1, 0, 0, 0, 9]
        XCTAssertEqual(self.fault(bye), .badCompound)
        XCTAssertNil(self.fault(bye, reducedSize: true))
    }

    func testPacketsOfOneCompoundAreBounded() throws {
        let many = Array(repeating: self.emptyReport, count: 200).flatMap { $0 }
        XCTAssertEqual(try RTCPCompound.parse(many).count, RTPLimits.compoundPacketsMax)
    }

    func testNackedSequenceNumbersAreBounded() throws {
        let entries = Array(repeating: [0, 1, 0xFF, 0xFF] as [UInt8], count: 1000).flatMap { $0 }
        let bytes: [UInt8] = [0x81, 205, 0x03, 0xEA, 0, 0, 0, 9, 0, 0, 0, 8] + entries
        guard case .nack(_, _, let lost)? = try RTCPCompound.parse(bytes, reducedSize: true).first else {
            return XCTFail("a NACK is read as one")
        }
        XCTAssertLessThanOrEqual(lost.count, RTPLimits.nackedMax + 17)
    }

    func testRTCPIsToldFromRTPOnOnePort() {
        XCTAssertTrue(RTCPCompound.isRTCP([0x80, 200]))
        XCTAssertTrue(RTCPCompound.isRTCP([0x81, 206]))
        XCTAssertFalse(RTCPCompound.isRTCP([0x80, 96]))
        XCTAssertFalse(RTCPCompound.isRTCP([0x80, 0x80 | 96]))
        XCTAssertFalse(RTCPCompound.isRTCP([0x80]))
    }
}
