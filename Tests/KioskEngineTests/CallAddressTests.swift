// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import KioskEngine

/// Whom a file or a word names, in all forms.
final class CallAddressTests: XCTestCase {
    private func steps(_ text: String, _ rest: String = "") -> [[String]]? {
        let (conf, _) = Configuration.parse(Array("[call]\nuri = \(text)\n\(rest)\n".utf8))
        return conf.call.steps.isEmpty ? nil : conf.call.steps.map { $0.targets.map { $0.uri.printed.string } }
    }

    private static let account = "[account]\nuri = sip:door@example.com:5070;transport=tcp"

    func testCommasMeanOneAfterTheOtherAndAPlusAtTheSameTime() {
        XCTAssertEqual(self.steps("sip:a@x, sip:b@y"), [["sip:a@x"], ["sip:b@y"]])
        XCTAssertEqual(
            self.steps("sip:a@x + sip:b@y,sip:+49301@z  +  192.0.2.1"),
            [["sip:a@x", "sip:b@y"], ["sip:+49301@z", "sip:192.0.2.1"]])
        XCTAssertEqual(self.steps("sip:a@x+sip:b@y"), nil, "a plus without blanks is part of an address")
    }

    func testAtMostEightStepsOfFour() {
        let nine = (1...9).map { "sip:a\($0)@x" }
        XCTAssertEqual(self.steps(nine.dropLast().joined(separator: ","))?.count, 8)
        XCTAssertNil(self.steps(nine.joined(separator: ",")))
        XCTAssertEqual(self.steps(nine.prefix(4).joined(separator: " + "))?.first?.count, 4)
        XCTAssertNil(self.steps(nine.prefix(5).joined(separator: " + ")))
    }

    func testNamesAndNumbersAloneGetTheDomainOfTheAccount() {
        let cases = [
            ("help", "sip:help@example.com:5070;transport=tcp"), ("100", "sip:100@example.com:5070;transport=tcp"),
            ("*21", "sip:*21@example.com:5070;transport=tcp"), ("12#", "sip:12%23@example.com:5070;transport=tcp"),
            ("+49 (30) 123-4", "sip:+49301234@example.com:5070;transport=tcp"),
            ("tel:+49-30-1234", "sip:+49301234@example.com:5070;user=phone;transport=tcp"),
            ("TEL:100;phone-context=x", "sip:100@example.com:5070;user=phone;transport=tcp"),
        ]
        for (text, whole) in cases { XCTAssertEqual(self.steps(text, Self.account), [[whole]], text) }
    }

    func testTheDomainIsThatOfTheServersWhereThereIsNoAccountAndElseOfAnotherTarget() {
        XCTAssertEqual(self.steps("help", "[servers]\nproxies = sip:one.example.com"), [["sip:help@one.example.com"]])
        XCTAssertEqual(self.steps("help, sip:a@x"), [["sip:help@x"], ["sip:a@x"]])
        let secure = "[account]\nuri = sips:door@example.com"
        XCTAssertEqual(self.steps("help", secure), [["sips:help@example.com"]])
    }

    func testWithoutADomainTheLineIsAProblem() {
        let (conf, problems) = Configuration.parse(Array("# x\n[call]\nuri = help, 100\n".utf8))
        XCTAssertEqual(conf.call.steps, [])
        XCTAssertEqual(problems.map { $0.line }, [3])
        XCTAssertEqual(problems.first?.section, "call")
    }

    func testLinksLeadToTheirServer() {
        let cases = [
            ("callbox://pbx.example.com?uri=help", "sip:help@pbx.example.com"),
            ("callbox://192.0.2.1:5070/call?x=1&uri=100", "sip:100@192.0.2.1:5070"),
            ("CALLBOX://pbx?uri=sip%3Ahelp%40pbx", "sip:help@pbx"),
            ("callbox://pbx?uri=sip%3Ahelp%40example.com", "sip:help@example.com;maddr=pbx"),
            ("callbox://pbx:5070?uri=help@example.com", "sip:help@example.com:5070;maddr=pbx"),
            ("callbox://[2001:db8::1]?uri=tel:100", "sip:100@[2001:db8::1];user=phone"),
        ]
        for (text, whole) in cases { XCTAssertEqual(self.steps(text), [[whole]], text) }
        XCTAssertNil(self.steps("callbox://pbx?uri=sips%3Aa%40b"), "encrypted all the way leads over nobody else")
    }

    func testWhatIsForUsAloneIsTakenOut() {
        let (conf, problems) = Configuration.parse(
            Array("[call]\nuri = sip:a@x;ring=20;transport=tcp;postd=1p%23d + sip:b@x, sip:c;d@x;ring=600\n".utf8))
        XCTAssertEqual(problems.map { $0.sentence.string }, [])
        let targets = conf.call.steps.flatMap { $0.targets }
        XCTAssertEqual(
            targets.map { $0.uri.printed.string }, ["sip:a@x;transport=tcp", "sip:b@x", "sip:c;d@x"])
        XCTAssertEqual(targets.map { $0.ringTimeoutMs }, [20_000, nil, 600_000])
        XCTAssertEqual(targets.map { $0.postDial }, ["1p#D", "", ""])
        XCTAssertEqual(conf.call.steps.map { $0.ringTimeoutMs(60_000) }, [60_000, 600_000])
    }

    func testMadeUpTextNeverStopsTheReader() {
        var generator = Generator(seed: 11)
        let parts = [
            "sip:", "callbox://", "tel:", "?uri=", ";ring=", ";postd=", "%", "%4", "@", "+", " + ", ",", ";", "a", "1",
            "[",
            "]", "::", ".", "#", "&", "=", "/", "\u{e4}", "99999999999999999999",
        ]
        for _ in 0..<20_000 {
            var text = ""
            for _ in 0..<generator.below(12) { text += parts[Int(generator.below(UInt64(parts.count)))] }
            _ = try? ConfigurationValue.steps(ByteString(utf8Of: text))
            _ = try? ConfigurationValue.callers(ByteString(utf8Of: text))
        }
    }
}
