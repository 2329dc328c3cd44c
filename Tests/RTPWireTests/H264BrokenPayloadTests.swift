// SPDX-License-Identifier: Apache-2.0

import RTPWire
import XCTest

/// Payloads that RFC 6184 does not allow, or that were not agreed.
final class H264BrokenPayloadTests: XCTestCase {
    private var stream = PacketStream()
    private var depacketizer = H264Depacketizer()
    private let keyFrame = [NAL.sps(), NAL.pps(), NAL.slice(idr: true, size: 350)]

    override func setUp() {
        self.stream = PacketStream()
        self.depacketizer = H264Depacketizer()
    }

    private func take(_ payload: [UInt8], marker: Bool = false) -> [AccessUnit] {
        self.depacketizer.take(self.stream.packet(payload, marker: marker))
    }

    private func begin() {
        let packets = self.stream.picture(self.keyFrame, with: H264Packetizer(mode: .nonInterleaved))
        XCTAssertEqual(self.depacketizer.take(packets).map { $0.isKeyFrame }, [true])
    }

    func testKindsThatWereNotAgreedAreCounted() {
        self.begin()
        var unknown: UInt64 = 0
        for type in [0, 25, 26, 27, 29, 30, 31] as [UInt8] {
            _ = self.take([0x60 | type, 0x85, 1, 2, 3, 4, 5])
            unknown += 1
            XCTAssertEqual(self.depacketizer.counts.unknownPayloads, unknown, "\(type)")
        }
        XCTAssertEqual(self.take(NAL.slice(), marker: true).map { $0.isComplete }, [false])
    }

    func testBrokenPayloadsAreCountedAndSpoilTheirPicture() {
        let table: [(String, [UInt8])] = [
            ("forbidden bit", [0xE5, 1]),
            ("empty aggregate", [0x78]),
            ("one byte of length", [0x78, 0]),
            ("length past the end", [0x78, 0xFF, 0xFF, 0x41]),
            ("length zero", [0x78, 0, 0]),
            ("aggregate within", [0x78, 0, 2, 0x78, 0]),
            ("fragment within", [0x78, 0, 2, 0x7C, 0x85]),
            ("rest after the last", [0x78, 0, 1, 0x06, 9]),
            ("fragment without header", [0x7C]),
            ("fragment of nothing known", [0x7C, 0x80, 1]),
            ("fragment of a fragment", [0x7C, 0x9C, 1]),
            ("fragment of an aggregate", [0x7C, 0x98, 1]),
            ("middle without start", [0x7C, 0x05, 1]),
            ("end without start", [0x7C, 0x45, 1]),
        ]
        for (name, payload) in table {
            self.setUp()
            self.begin()
            _ = self.take(payload)
            XCTAssertEqual(self.depacketizer.counts.malformedPayloads, 1, name)
            XCTAssertEqual(self.take(NAL.slice(), marker: true).map { $0.isComplete }, [false], name)
        }
    }

    func testAggregateKeepsWhatCameBeforeTheBreak() {
        _ = self.take([0x78, 0, UInt8(NAL.sps().count)] + NAL.sps() + [0, 99, 1])
        XCTAssertEqual(self.depacketizer.parameterSets.sequence?.width, 640)
    }

    func testFragmentCutShortByAnotherUnitSpoilsThePicture() {
        for other in [NAL.slice(), [0x7C, 0x85, 1], [0x7C, 0x01, 1], [0x78, 0, 2, 0x06, 5]] {
            self.setUp()
            self.begin()
            _ = self.take([0x7C, 0x85, 0x88, 0x80])
            _ = self.take(other)
            XCTAssertEqual(self.depacketizer.counts.malformedPayloads, 1, "\(other.prefix(4))")
            XCTAssertEqual(self.take(NAL.slice(), marker: true).map { $0.isComplete }, [false])
        }
    }

    func testFragmentOpenAtTheMarkerSpoilsThePicture() {
        self.begin()
        _ = self.take(NAL.slice())
        XCTAssertEqual(self.take([0x5C, 0x81, 0x80], marker: true).map { $0.isComplete }, [false])
        self.stream.nextPicture()
        XCTAssertEqual(self.take([0x5C, 0x41, 0x80]).count, 0)
        XCTAssertEqual(self.take(NAL.slice(), marker: true).map { $0.isComplete }, [false])
    }

    func testPacketsWithoutPayloadDoNotBreakAPicture() {
        self.begin()
        _ = self.take([])
        XCTAssertEqual(self.take(NAL.slice(), marker: true).map { $0.isComplete }, [true])
    }

    func testEndlessPicturesStayWithinTheirBounds() {
        self.begin()
        let piece = Array(repeating: UInt8(0xAB), count: 60_000)
        _ = self.take([0x7C, 0x85, 0x88] + piece)
        for _ in 0..<50 { _ = self.take([0x7C, 0x05] + piece) }
        let access = self.take([0x7C, 0x45], marker: true)
        XCTAssertEqual(access.map { $0.isComplete }, [false])
        XCTAssertEqual(access.first?.nalUnits.count, 0)
        XCTAssertEqual(self.depacketizer.counts.oversizedUnits, 1)

        self.stream.nextPicture()
        for _ in 0..<RTPLimits.nalUnitsMax + 10 { _ = self.take(NAL.slice(firstMacroblock: 1)) }
        XCTAssertEqual(self.take(NAL.slice(firstMacroblock: 1), marker: true).map { $0.isComplete }, [false])
        XCTAssertEqual(self.depacketizer.counts.oversizedUnits, 2)

        self.stream.nextPicture()
        let packetizer = H264Packetizer(mode: .nonInterleaved)
        let next = self.depacketizer.take(self.stream.picture(self.keyFrame, with: packetizer))
        XCTAssertEqual(next.map { $0.isComplete }, [true], "the next key frame is unharmed")
    }
}
