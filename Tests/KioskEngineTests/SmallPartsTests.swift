// SPDX-License-Identifier: Apache-2.0
import Bytes
import Foundation
import SIPWire
import XCTest

@testable import KioskEngine

final class JSONTests: XCTestCase {
    private func object(_ text: ByteString) -> [String: Any]? {
        (try? JSONSerialization.jsonObject(with: Data(text.bytes))) as? [String: Any]
    }

    func testMembersOfEveryKindAreWritten() {
        var inner = JSON()
        inner.put("x", 1)
        let text = JSON.object {
            $0.put("text", "a")
            $0.put("yes", true)
            $0.put("number", -5)
            $0.put("t", msOf: 1_234_005_678)
            $0.put("d", msOf: Duration(nanoseconds: -1))
            $0.put("inner", object: inner)
            $0.putNull("nothing")
        }
        XCTAssertEqual(
            text.string,
            #"{"text":"a","yes":true,"number":-5,"t":1234.005,"d":0.000,"inner":{"x":1},"nothing":null}"#)
        XCTAssertEqual(JSON().text, "{}")
    }

    func testAnyBytesBecomeValidJSONAndValidTextComesBackAsItWas() {
        let good = "quote \" backslash \\ line\n tab\t nul\u{0} del\u{7F} ü € \u{1F6AA}"
        let line = JSON.object { $0.put("x", ByteString(utf8Of: good)) }
        XCTAssertEqual(self.object(line)?["x"] as? String, good)
        XCTAssertFalse(line.contains(ASCII.lineFeed))
        var generator = Generator(seed: 5)
        for _ in 0..<2000 {
            let bytes = (0..<Int(generator.below(20))).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
            let line = JSON.object { $0.put("x", ByteString(bytes)) }
            XCTAssertNotNil(self.object(line)?["x"] as? String, "\(bytes)")
        }
    }

    func testFalseUTF8IsReplacedByteByByte() {
        let cases: [[UInt8]] = [
            [0xC0, 0x80], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0x80], [0xC3], [0xFF],
        ]
        for bytes in cases {
            let text = self.object(JSON.object { $0.put("x", ByteString(bytes)) })?["x"] as? String
            XCTAssertEqual(text, String(repeating: "\u{FFFD}", count: bytes.count))
        }
    }
}

final class LampTests: XCTestCase {
    private func at(_ ms: Int) -> Instant { Instant.zero + .milliseconds(ms) }

    func testPatternsBlinkAndNoneFasterThanThreeTimesASecond() {
        for (pattern, flashes) in [
            (LampPattern.slow, 10), (.fast, 25), (.flash, 5), (.blink(onMs: 34, offMs: 300), 30),
        ] {
            var lamp = Lamp()
            XCTAssertTrue(lamp.show(pattern, now: self.at(0)))
            XCTAssertTrue(lamp.isOn, "the press is answered with light at once")
            var edges = 1
            for ms in 1..<10_000 {
                let wasOn = lamp.isOn
                lamp.advance(now: self.at(ms))
                if lamp.isOn && !wasOn { edges += 1 }
            }
            XCTAssertEqual(edges, flashes)
            XCTAssertLessThanOrEqual(edges, 30)
        }
    }

    func testOffAndOnStandStill() {
        for (pattern, isOn) in [(LampPattern.off, false), (.on, true)] {
            var lamp = Lamp()
            _ = lamp.show(pattern, now: self.at(0))
            lamp.advance(now: self.at(100_000))
            XCTAssertEqual(lamp.isOn, isOn)
            XCTAssertNil(lamp.changesAt)
        }
    }

    func testShowingThePatternThatRunsDoesNotRestartIt() {
        var lamp = Lamp()
        XCTAssertTrue(lamp.show(.slow, now: self.at(0)))
        lamp.advance(now: self.at(500))
        XCTAssertFalse(lamp.show(.slow, now: self.at(600)))
        XCTAssertFalse(lamp.isOn)
        XCTAssertEqual(lamp.changesAt, self.at(1000))
    }

    func testALateWakeUpKeepsTheRhythm() {
        var lamp = Lamp()
        _ = lamp.show(.slow, now: self.at(0))
        lamp.advance(now: self.at(1_700))
        XCTAssertFalse(lamp.isOn, "off from 1500 to 2000")
        XCTAssertEqual(lamp.changesAt, self.at(2_000))
    }
}

final class ControlWordTests: XCTestCase {
    private func parse(_ text: String) -> ControlWord? {
        try? ControlWord.parse(ByteString(utf8Of: text))
    }

    func testEveryWordIsRead() {
        let words: [(String, ControlWord)] = [
            ("call", .call(nil)), ("answer", .answer), ("hold", .change(.hold)), ("resume", .resume), ("pause", .pause),
            ("video add", .change(.addVideo)), ("digits 12#*d", .digits(Array("12#*D".utf8))),
            ("message Hello, you", .message(nil, "Hello, you")), ("message sips", .message(nil, "sips")),
            ("video remove", .change(.removeVideo)), ("hangup", .hangUp),
            ("press call", .press(.call)),
            ("press hook", .press(.hook)),
            ("press mute", .press(.mute)), ("press video", .press(.video)), ("release call", .release(.call)),
            ("reload", .reload), ("status", .status), ("events", .events),
            ("screenshot /a b.png", .screenshot(path: "/a b.png")),
            ("  status  ", .status), ("press   hook", .press(.hook)),
        ]
        for (text, word) in words { XCTAssertEqual(self.parse(text), word, text) }
        guard case .call(let steps?) = self.parse("call sip:x@192.0.2.9"), let uri = steps.first?.targets.first?.uri
        else { return XCTFail("no address") }
        XCTAssertEqual(uri.printed, "sip:x@192.0.2.9")
        guard case .message(let other?, let text) = self.parse("message sip:x@y  two words ") else {
            return XCTFail("no address")
        }
        XCTAssertEqual(other.uri.printed, "sip:x@y")
        XCTAssertEqual(text, "two words")
    }

    func testWhatIsNoWordIsRefusedWithWhatThereIs() {
        for text in [
            "", "dance", "press", "press door", "video", "video x", "hold it", "digits",
            "digits 1 2", "digits 12345678901234567", "digits x", "message", "message sip:a@b", "message sip: x",
            "message a\u{1}b", "release", "screenshot", "status now",
            "events all", "hangup x",
            "call help@", "call sip:a@b, http://x", "CALL", String(repeating: "x", count: 1025),
        ] { XCTAssertNil(self.parse(text), text) }
        do throws(BadValue) {
            _ = try ControlWord.parse("dance")
        } catch {
            XCTAssertTrue(error.reason.string.contains("hangup"))
        }
    }

    func testGarbageNeverTraps() {
        var generator = Generator(seed: 9)
        for _ in 0..<5000 {
            let bytes = (0..<Int(generator.below(60))).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
            _ = try? ControlWord.parse(ByteString(bytes))
        }
    }
}
