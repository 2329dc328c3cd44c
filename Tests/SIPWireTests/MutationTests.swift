// SPDX-License-Identifier: Apache-2.0

import Bytes
import SIPWire
import XCTest

/// Messages damaged at random, from a seed: nothing traps, and whatever is taken can be printed and taken again.
final class MutationTests: XCTestCase {
    private func damaged(_ bytes: [UInt8], _ generator: inout Generator) -> [UInt8] {
        var bytes = bytes
        for _ in 0...generator.below(4) where !bytes.isEmpty {
            let index = Int(generator.below(UInt64(bytes.count)))
            let delimiters = Array(" \t\r\n:;,<>\"\\/@?&=%[]()*0123456789zZ\u{00}\u{7F}".utf8) + [0x80, 0xFF]
            switch generator.below(5) {
            case 0: bytes[index] = UInt8(truncatingIfNeeded: generator.next())
            case 1: bytes[index] = delimiters[Int(generator.below(UInt64(delimiters.count)))]
            case 2: bytes.remove(at: index)
            case 3: bytes.insert(delimiters[Int(generator.below(UInt64(delimiters.count)))], at: index)
            default:
                let end = min(bytes.count, index + Int(generator.below(40)))
                bytes.insert(contentsOf: bytes[index..<end], at: Int(generator.below(UInt64(bytes.count))))
            }
        }
        return bytes
    }

    /// Touches every view, as an engine would.
    private func look(at message: SIPMessage) -> Int {
        [
            message.vias?.count, message.routes?.count, message.recordRoutes?.count, message.contacts?.count,
            message.allow?.count, message.supported.count, message.reasons.count, message.contentEncodings.count,
            message.maxForwards, message.expiresSeconds.map { Int($0) }, message.retryAfter.map { Int($0.seconds) },
            message.contentType?.printed.count, message.replyVia?.printed.count, message.envelope?.callID.text.count,
            message.requestURI?.printed.count, message.from?.printed.count,
        ].reduce(0) { $0 &+ ($1 ?? 0) }
    }

    private func check(_ bytes: [UInt8], framing: SIPFraming) {
        do {
            let message = try SIPMessage.parse(bytes, framing: framing)
            _ = self.look(at: message)
            XCTAssertNotNil(message.envelope, "a message from the parser has its envelope")
            let printed = message.printed()
            let again = try? SIPMessage.parse(printed, framing: .stream)
            if printed.count <= SIPLimits.messageBytes {
                XCTAssertEqual(again?.body, message.body, String(decoding: bytes, as: UTF8.self))
                XCTAssertEqual(again?.envelope, message.envelope)
            }
        } catch {
            guard let message = error.message else { return XCTAssertEqual(error.verdict, .drop) }
            _ = self.look(at: message)
            if error.verdict != .drop { XCTAssertNotNil(message.replyVia) }
            _ = SIPMessage(respondingTo: message, .badRequest, toTag: "t").printed()
        }
    }

    func testDamagedTortureMessagesNeverTrap() throws {
        var generator = Generator(seed: 4_475)
        for name in try TortureMessage.names {
            let bytes = try TortureMessage.bytes(name)
            for round in 0..<120 {
                self.check(self.damaged(bytes, &generator), framing: round % 4 == 0 ? .stream : .datagram)
            }
        }
    }

    func testEveryPrefixOfAMessageIsHandled() throws {
        for name in ["wsinv", "intmeth", "longreq"] {
            let bytes = try TortureMessage.bytes(name)
            for end in stride(from: 0, through: bytes.count, by: 3) {
                self.check(Array(bytes[..<end]), framing: .datagram)
            }
        }
    }

    func testDamagedValuesNeverTrapTheirViews() {
        var generator = Generator(seed: 3_261)
        let seeds: [ByteString] = [
            "\"A \\\" b\" <sip:u:p@[2001:db8::1]:5060;lr;x=%41?h=v&i=j>;tag=x;q=\"0\\\"\"", "sip:a@h;tag=1",
            "SIP/2.0/UDP [::1]:5060;branch=z9hG4bK;rport=;received=1.2.3.4", "314159 INVITE", "a@b",
            "multipart/mixed;boundary=\"x\"", "Q.850;cause=16;text=\"t\"", "18000 (c);duration=1", "*", "a, b,c",
        ]
        for _ in 0..<8_000 {
            let seed = seeds[Int(generator.below(UInt64(seeds.count)))]
            let value = ByteString(self.damaged(seed.bytes, &generator))
            if let address = NameAddr(value) {
                XCTAssertEqual(NameAddr(address.printed)?.uri, address.uri, value.string)
            }
            if let via = Via(value) { XCTAssertEqual(Via(via.printed), via, value.string) }
            if let uri = SIPURI(value) {
                XCTAssertEqual(SIPURI(uri.printed), uri, value.string)
                XCTAssertTrue(uri.isEquivalent(to: uri), value.string)
            }
            if let cseq = CSeq(value) { XCTAssertEqual(CSeq(cseq.printed), cseq) }
            if let type = ContentType(value) { XCTAssertEqual(ContentType(type.printed), type) }
            if let reason = Reason(value) { _ = reason.printed }
            _ = (CallID(value), RetryAfter(value), Method(value), HeaderName(value), URI(value), Host(value))
            _ = HeaderList.split(value)
        }
    }
}
