// SPDX-License-Identifier: Apache-2.0

import Bytes
import SIPWire
import XCTest

final class SIPStreamFramerTests: XCTestCase {
    private let crlf: [UInt8] = [13, 10]

    private func message(_ number: Int, body: Int = 5) -> [UInt8] {
        let text = """
            OPTIONS sip:h SIP/2.0
            Via: SIP/2.0/TCP 192.0.2.1;branch=z9hG4bK\(number)
            From: <sip:a@h>;tag=1
            To: <sip:h>
            Call-ID: \(number)
            CSeq: 1 OPTIONS
            Content-Length: \(body)


            """.replacingLineEnds
        return Array(text.utf8) + [UInt8](repeating: 0x0A, count: body)
    }

    private func drain(_ framer: inout SIPStreamFramer) -> [SIPStreamFramer.Item] {
        var items: [SIPStreamFramer.Item] = []
        while let item = framer.next() { items.append(item) }
        return items
    }

    func testMessagesComeOutWholeInEveryCut() {
        let messages = [self.message(1), self.message(2, body: 0), self.message(3, body: 300)]
        let stream = self.crlf + messages[0] + self.crlf + messages[1] + messages[2]
        for size in 1...stream.count {
            var framer = SIPStreamFramer()
            var items: [SIPStreamFramer.Item] = []
            for start in stride(from: 0, to: stream.count, by: size) {
                framer.append(Array(stream[start..<min(start + size, stream.count)]))
                items += self.drain(&framer)
            }
            XCTAssertEqual(items, messages.map { .message($0) }, "pieces of \(size)")
        }
    }

    func testAPingIsSeenInEveryCutAndIsNotHalfAPong() {
        for cut in 1...3 {
            var framer = SIPStreamFramer()
            framer.append(Array(SIPStreamFramer.ping[..<cut]))
            XCTAssertNil(framer.next())
            framer.append(Array(SIPStreamFramer.ping[cut...]))
            XCTAssertEqual(self.drain(&framer), [.ping])
        }
    }

    func testALoneCRLFIsAPongOnlyWhereOneIsDue() {
        var framer = SIPStreamFramer()
        framer.pingSent()
        framer.append(self.crlf)
        XCTAssertEqual(self.drain(&framer), [.pong])
        framer.append(self.crlf)
        XCTAssertEqual(self.drain(&framer), [])
        framer.append(self.message(1))
        XCTAssertEqual(self.drain(&framer), [.message(self.message(1))], "a late CRLF never spoils the next message")
    }

    func testAPongAndAMessageInOnePiece() {
        var framer = SIPStreamFramer()
        framer.pingSent()
        framer.append(self.crlf + self.message(1))
        XCTAssertEqual(self.drain(&framer), [.pong, .message(self.message(1))])
    }

    func testAMissingLengthBreaksTheStreamForGood() {
        var framer = SIPStreamFramer()
        let text = String(decoding: self.message(1), as: UTF8.self).replacingOccurrences(
            of: "Content-Length", with: "X")
        framer.append(Array(text.utf8))
        guard case .broken(let error) = framer.next() else { return XCTFail("expected a broken stream") }
        XCTAssertEqual(error.verdict, .answer(.badRequest))
        XCTAssertEqual(error.reason, "Missing Content-Length")
        framer.append(self.message(2))
        XCTAssertNil(framer.next())
    }

    func testHugeLengthsAreRefusedBeforeTheBodyComes() {
        for length in ["65535", "65536", "4294967296", "99999999999999999999999"] {
            var framer = SIPStreamFramer()
            let text = String(decoding: self.message(1), as: UTF8.self)
                .replacingOccurrences(of: "Content-Length: 5", with: "Content-Length: \(length)")
            framer.append(Array(text.utf8))
            guard case .broken(let error) = framer.next() else { return XCTFail("expected a broken stream") }
            XCTAssertNotEqual(error.verdict, .drop, length)
        }
    }

    func testAnEndlessHeaderSectionBreaksTheStream() {
        var framer = SIPStreamFramer()
        var pieces = 0
        while framer.next() == nil, pieces < 1_000 {
            framer.append([UInt8](repeating: 0x41, count: 1_024))
            pieces += 1
        }
        XCTAssertEqual(pieces, 64)
    }

    func testBytesOfNoiseNeverTrapNorLinger() {
        var generator = Generator(seed: 7)
        for _ in 0..<300 {
            var framer = SIPStreamFramer()
            for _ in 0..<40 {
                let alphabet: [UInt8] = [13, 10, 13, 10, 0x41, 0x3A, 0x20, 0x6C]
                framer.append((0..<generator.below(60)).map { _ in alphabet[Int(generator.below(8))] })
                var count = 0
                while framer.next() != nil { count += 1 }
                XCTAssertLessThan(count, 61)
            }
        }
    }
}
