// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire
import XCTest

@testable import KioskEngine

final class OutcomeTextTests: XCTestCase {
    private let others: [CallOutcome] = [
        .hungUp, .cancelled, .remoteHungUp, .declined, .missed, .notAnswered, .noResponse, .unreachable, .unknownHost,
        .insecure("x"), .waitsForTime, .vanished, .unusableMedia, .notPrivate, .protocolFault("x"), .noAddress,
        .outOfRoom, .stopped,
        .misdirected(StatusCode(302)),
    ]

    private func card(_ code: Int) -> Card {
        Texts.english.card(.refused(StatusCode(code), phrase: "Peer's own words", q850: nil))
    }

    func testEveryFinalStatusHasAPlainSentenceWithoutNumbersOrTheTermsOfTheTrade() {
        let terms = ["sip", "sdp", "rtp", "proxy", "server", "codec", "uri", "timeout", "invite", "peer"]
        let codes = Array(300...699)
        for outcome in codes.map({ CallOutcome.refused(StatusCode($0), phrase: "Busy 486 SIP", q850: nil) })
            + self.others
        {
            let card = Texts.english.card(outcome)
            let text = "\(card.headline.string) \(card.detail.string)"
            XCTAssertFalse(card.headline.isEmpty)
            XCTAssertFalse(Texts.english.sentence(outcome).isEmpty)
            XCTAssertNil(text.rangeOfCharacter(from: .decimalDigits), text)
            let words = text.lowercased().split { !$0.isLetter }.map(String.init)
            for term in terms { XCTAssertFalse(words.contains(term), text) }
            XCTAssertTrue(Texts.english.sentence(outcome).hasSuffix("."), text)
            XCTAssertLessThan(card.headline.count, 24, text)
        }
    }

    func testStatusesOfOneMeaningHaveOneSentence() {
        let meanings: [(String, [Int])] = [
            ("Line busy", [486, 600]), ("Declined", [603]), ("No answer", [408, 480, 487]),
            ("Not allowed", [401, 402, 403, 407]), ("Unknown address", [404, 410, 484, 485, 604]),
            ("Overloaded", [503]), ("Moved", [300, 301, 302, 305, 380, 399]),
            (
                "Call failed",
                [400, 405, 415, 420, 422, 481, 482, 483, 488, 493, 500, 501, 502, 504, 505, 580, 606, 699]
            ),
        ]
        for (headline, codes) in meanings {
            for code in codes { XCTAssertEqual(self.card(code).headline.string, headline, "\(code)") }
        }
    }

    /// Where the status says what it is, a telephone network behind it cannot unsay it.
    func testTheCauseOfATelephoneNetworkCountsWhereTheStatusSaysLess() {
        let causes: [(String, [Int])] = [
            ("Unknown address", [1, 3, 22, 28]), ("Line busy", [17]), ("No answer", [18, 19]), ("Declined", [21]),
            ("Overloaded", [34, 42]), ("Call failed", [27, 38, 41]),
        ]
        for (headline, codes) in causes {
            for cause in codes {
                for status in [480, 500, 503, 603] {
                    let card = Texts.english.card(.refused(StatusCode(status), phrase: "", q850: cause))
                    XCTAssertEqual(card.headline.string, headline, "\(status) \(cause)")
                }
                let card = Texts.english.card(.refused(.busyHere, phrase: "", q850: cause))
                XCTAssertEqual(card.headline.string, "Line busy", "\(cause)")
            }
        }
        for cause in [0, 16, 31, 127, 9_999, -1] {
            let card = Texts.english.card(.refused(.serviceUnavailable, phrase: "", q850: cause))
            XCTAssertEqual(card.headline.string, "Overloaded", "\(cause)")
        }
        XCTAssertEqual(CallOutcome.refused(.serviceUnavailable, phrase: "", q850: 17).manner, .failure(.busy))
        XCTAssertEqual(CallOutcome.refused(.temporarilyUnavailable, phrase: "", q850: 38).manner, .failure(.error))
    }

    func testEachClassHasItsOwnSentence() {
        let details = [399, 499, 599, 699].map { self.card($0).detail }
        XCTAssertEqual(Set(details).count, 4)
    }

    func testMannersFollowWhetherSomethingIsWrong() {
        XCTAssertEqual(CallOutcome.refused(.busyHere, phrase: "", q850: nil).manner, .failure(.busy))
        XCTAssertEqual(CallOutcome.refused(.notFound, phrase: "", q850: nil).manner, .failure(.error))
        XCTAssertEqual(CallOutcome.remoteHungUp.manner, .farewell(.busy))
        XCTAssertEqual(CallOutcome.missed.manner, .farewell(.none))
        for outcome in [CallOutcome.hungUp, .cancelled, .declined, .stopped] { XCTAssertEqual(outcome.manner, .silent) }
        for outcome in [CallOutcome.noResponse, .notAnswered] { XCTAssertEqual(outcome.manner, .failure(.busy)) }
        for outcome in [
            CallOutcome.unreachable, .unknownHost, .insecure(""), .waitsForTime, .vanished, .unusableMedia, .notPrivate,
            .noAddress, .outOfRoom,
        ] {
            XCTAssertEqual(outcome.manner, .failure(.error))
        }
    }

    func testReasonsAreStableAndAllDifferent() {
        let reasons = (self.others + [.refused(.busyHere, phrase: "", q850: nil)]).map { $0.reason.string }
        XCTAssertEqual(Set(reasons).count, reasons.count)
        XCTAssertEqual(
            reasons,
            [
                "hangup", "cancelled", "remote-hangup", "declined", "missed", "not-answered", "no-response",
                "unreachable", "unknown-host", "insecure", "waits-for-time", "vanished", "unusable-media",
                "not-private", "protocol-fault", "no-address", "out-of-room", "stopped", "misdirected", "refused",
            ])
    }

    func testWhatSIPSaysBecomesAnOutcome() {
        let cases: [(EndReason, before: CallOutcome, after: CallOutcome)] = [
            (.localHangUp, .cancelled, .hungUp),
            (.remoteHangUp(cause: nil, q850: nil, text: ""), .remoteHungUp, .remoteHungUp),
            (.cancelled, .cancelled, .cancelled), (.timedOut, .noResponse, .vanished),
            (.flowFailed, .unreachable, .vanished), (.protocolFault("x"), .protocolFault("x"), .protocolFault("x")),
            (
                .refused(.decline, phrase: "no", q850: 21), .refused(.decline, phrase: "no", q850: 21),
                .refused(.decline, phrase: "no", q850: 21)
            ),
            (.tooManyCalls, .outOfRoom, .outOfRoom),
            (.redirected(StatusCode(302), []), .misdirected(StatusCode(302)), .misdirected(StatusCode(302))),
        ]
        for (reason, before, after) in cases {
            XCTAssertEqual(CallOutcome(reason, wasAnswered: false), before)
            XCTAssertEqual(CallOutcome(reason, wasAnswered: true), after)
        }
    }
}
