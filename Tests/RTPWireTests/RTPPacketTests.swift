// SPDX-License-Identifier: Apache-2.0

import RTPWire
import XCTest

final class RTPPacketTests: XCTestCase {
    /// Version 2, payload type 96 with marker, sequence 0x1234, timestamp 1, source 2.
    private let header: [UInt8] = [0x80, 0xE0, 0x12, 0x34, 0, 0, 0, 1, 0, 0, 0, 2]

    private func fault(_ bytes: [UInt8]) -> RTPParseError? {
        do {
            _ = try RTPPacket.parse(bytes)
            return nil
        } catch {
            return error
        }
    }

    private func changed(_ first: UInt8, _ rest: [UInt8]) -> [UInt8] {
        [first] + self.header.dropFirst() + rest
    }

    func testHeaderFieldsAreRead() throws {
        let packet = try RTPPacket.parse(self.header + [7, 8, 9])
        XCTAssertTrue(packet.marker)
        XCTAssertEqual(packet.payloadType, PayloadType(96))
        XCTAssertEqual(packet.sequence, SequenceNumber(0x1234))
        XCTAssertEqual(packet.timestamp, RTPTimestamp(1))
        XCTAssertEqual(packet.ssrc, SSRC(2))
        XCTAssertEqual(Array(packet.payload), [7, 8, 9])
    }

    func testPrintedIsWhatWasParsed() throws {
        let bytes = self.changed(0x82, [0, 0, 0, 3, 0, 0, 0, 4, 7, 8])
        let packet = try RTPPacket.parse(bytes)
        XCTAssertEqual(packet.contributors, [SSRC(3), SSRC(4)])
        XCTAssertEqual(packet.printed(), bytes)
    }

    func testExtensionAndPaddingAreTakenOff() throws {
        let packet = try RTPPacket.parse(self.changed(0xB0, [0xBE, 0xDE, 0, 1, 1, 2, 3, 4, 7, 8, 0, 2]))
        XCTAssertEqual(Array(packet.payload), [7, 8])
    }

    func testPayloadMayBeEmpty() throws {
        XCTAssertTrue(try RTPPacket.parse(self.header).payload.isEmpty)
        XCTAssertTrue(try RTPPacket.parse(self.changed(0xA0, [0, 0, 3])).payload.isEmpty)
    }

    func testHostileHeadersAreRefusedByName() {
        let table: [([UInt8], RTPParseError)] = [
            ([], .tooShort),
            (Array(self.header.dropLast()), .tooShort),
            (Array(repeating: 0x80, count: 65_536), .tooLong),
            (self.changed(0x00, []), .wrongVersion),
            (self.changed(0x40, []), .wrongVersion),
            (self.changed(0xC0, []), .wrongVersion),
            // Fifteen contributors in twelve bytes.
            (self.changed(0x8F, []), .badContributors),
            (self.changed(0x81, [1, 2, 3]), .badContributors),
            (self.changed(0x90, []), .badExtension),
            (self.changed(0x90, [0, 0, 0xFF, 0xFF]), .badExtension),
            (self.changed(0x90, [0, 0, 0, 1, 1, 2, 3]), .badExtension),
            (self.changed(0xA0, []), .badPadding),
            (self.changed(0xA0, [1, 2, 0]), .badPadding),
            (self.changed(0xA0, [1, 2, 255]), .badPadding),
            // Padding may not eat the extension.
            (self.changed(0xB0, [0, 0, 0, 1, 1, 2, 3, 5]), .badPadding),
        ]
        for (bytes, expected) in table {
            XCTAssertEqual(self.fault(bytes), expected, "\(bytes.prefix(24))")
        }
    }
}
