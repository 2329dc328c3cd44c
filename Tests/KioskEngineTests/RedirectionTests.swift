// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire
import XCTest

@testable import KioskEngine

/// A far end that names others to be called in its place.
final class RedirectionTests: XCTestCase {
    private func uri(_ text: String) -> SIPURI {
        guard let uri = SIPURI(ByteString(utf8Of: text)) else { preconditionFailure("written by hand") }
        return uri
    }

    private func moved(_ uris: String...) -> CallEvent {
        .ended(.redirected(StatusCode(302), uris.map { self.uri($0) }))
    }

    private func busy(_ code: Int = 486) -> CallEvent {
        .ended(.refused(StatusCode(code), phrase: "", q850: nil))
    }

    // MARK: - Targets

    private func order(_ targets: Targets) -> [String] {
        var targets = targets
        var order = [targets.current.printed.string]
        while targets.next() { order.append(targets.current.printed.string) }
        return order
    }

    func testTheNewestAddressesAreTriedFirstAndNoneTwice() {
        var targets = Targets(self.uri("sip:a@x"))
        targets.redirect(to: [self.uri("sip:b@x"), self.uri("sip:c@x"), self.uri("sip:A@x"), self.uri("sip:a@X")])
        XCTAssertTrue(targets.next())
        targets.redirect(to: [self.uri("sip:d@x"), self.uri("sip:c@x"), self.uri("sip:a@x")])
        XCTAssertEqual(self.order(targets), ["sip:b@x", "sip:d@x", "sip:c@x", "sip:A@x"])
    }

    func testAtMostEightAddressesAndFiveRedirections() {
        var many = Targets(self.uri("sip:a@x"))
        many.redirect(to: (0..<20).map { self.uri("sip:\($0)@x") })
        XCTAssertEqual(self.order(many).count, 8)
        var chain = Targets(self.uri("sip:a@x"))
        for step in 0..<20 {
            chain.redirect(to: [self.uri("sip:\(step)@x")])
            guard chain.next() else { break }
        }
        XCTAssertEqual(chain.current.printed, "sip:4@x")
    }

    func testAddressesThatCannotBeCalledAreLeftOutAndHeadersAreNotTaken() {
        var targets = Targets(self.uri("sip:a@x"))
        targets.redirect(to: [
            self.uri("sips:b@x;transport=udp"), self.uri("sip:c@x;transport=sctp"),
            self.uri("sip:d@x?Replaces=1&Subject=x"),
            self.uri("sip:e@x;transport=tcp"),
        ])
        XCTAssertEqual(self.order(targets), ["sip:a@x", "sip:d@x", "sip:e@x;transport=tcp"])
    }

    func testWhatWasToBeEncryptedAllTheWayStaysSo() {
        var targets = Targets(self.uri("sips:a@x"))
        targets.redirect(to: [self.uri("sip:b@x;transport=tls"), self.uri("sips:c@x")])
        XCTAssertEqual(self.order(targets), ["sips:a@x", "sips:c@x"])
        targets = Targets(self.uri("sip:a@x"))
        targets.redirect(to: [self.uri("sips:c@x")])
        XCTAssertEqual(self.order(targets), ["sip:a@x", "sips:c@x"])
    }

    // MARK: - Calls

    private func invited(_ scene: Scene) -> [String] {
        scene.sent.filter { $0.hasPrefix("INVITE") }.map { $0.replacingOccurrences(of: " SIP/2.0", with: "") }
    }

    func testTheNextAddressIsDialledWithoutThePersonNoticing() {
        let scene = Scene()
        scene.press(.call)
        scene.forget()
        scene.sipTells(self.moved("sip:b@far", "sip:c@far"), of: scene.handle)
        XCTAssertEqual(scene.state, "calling")
        XCTAssertEqual(self.invited(scene), ["INVITE sip:b@far"])
        XCTAssertEqual(scene.events("redirected").first?["uri"] as? String, "sip:b@far")
        XCTAssertNil(scene.screen, "nothing new is drawn")
        XCTAssertEqual(scene.lampPatterns, [])
        XCTAssertEqual(scene.callStates, [])
        scene.farAnswers()
        XCTAssertEqual(scene.state, "connected")
        scene.press(.hook)
        XCTAssertEqual(scene.callStates, ["connected", "ending", "ended"])
    }

    func testWhereTheFirstDoesNotAnswerTheNextIsTried() {
        let endings: [CallEvent] = [self.busy(), self.busy(503), .ended(.timedOut), .ended(.flowFailed)]
        for ending in endings {
            let scene = Scene()
            scene.press(.call)
            scene.sipTells(self.moved("sip:b@far", "sip:c@far"), of: scene.handle)
            scene.sipTells(ending, of: scene.handle)
            XCTAssertEqual(self.invited(scene), ["INVITE sip:help@far", "INVITE sip:b@far", "INVITE sip:c@far"])
            scene.sipTells(self.busy(), of: scene.handle)
            XCTAssertEqual(scene.endReason, "refused")
            XCTAssertEqual(scene.events("call").last?["code"] as? Int, 486)
        }
    }

    func testAGlobalRefusalEndsTheSearch() {
        let scene = Scene()
        scene.press(.call)
        scene.sipTells(self.moved("sip:b@far", "sip:c@far"), of: scene.handle)
        scene.sipTells(self.busy(603), of: scene.handle)
        XCTAssertEqual(scene.endReason, "refused")
        XCTAssertEqual(self.invited(scene).count, 2)
    }

    func testCirclesEndInAPlainSentence() {
        let scene = Scene()
        scene.press(.call)
        scene.sipTells(self.moved("sip:b@far"), of: scene.handle)
        scene.sipTells(self.moved("sip:help@far", "sip:b@far"), of: scene.handle)
        XCTAssertEqual(scene.endReason, "misdirected")
        XCTAssertEqual(scene.events("call").last?["code"] as? Int, 302)
        XCTAssertEqual(scene.screen?.headline, "Not reachable")
        XCTAssertEqual(scene.lampPatterns.last, "fast")
        scene.press(.call)
        scene.farAnswers()
        XCTAssertEqual(scene.state, "connected")
    }

    func testAnAddressThatIsNotKnownIsPassedOver() {
        let scene = Scene()
        scene.press(.call)
        scene.resolver = .isSilent
        scene.sipTells(self.moved("sip:b@nowhere", "sip:c@nowhere", "sip:d@far"), of: scene.handle)
        scene.feed(.resolved(scene.lastQuestion, .failed("no such name")))
        XCTAssertEqual(scene.state, "lookingUp")
        scene.pass(9_900)
        scene.resolver = .answers
        scene.pass(200)
        XCTAssertEqual(self.invited(scene), ["INVITE sip:help@far", "INVITE sip:d@far"])
        XCTAssertEqual(scene.state, "calling")
    }

    func testThePersonMayGiveUpMeanwhile() {
        let scene = Scene()
        scene.press(.call)
        scene.resolver = .isSilent
        scene.sipTells(self.moved("sip:b@far"), of: scene.handle)
        scene.press(.hook)
        XCTAssertEqual(scene.endReason, "cancelled")
        XCTAssertEqual(scene.state, "idle")
        scene.feed(.resolved(scene.lastQuestion, .found([Scene.farAddress], local: Scene.kioskAddress)))
        XCTAssertEqual(self.invited(scene).count, 1)
    }

    func testTheTimeToRingIsThatOfThePressAndMediaBeforeTheRedirectionStop() {
        let scene = Scene()
        scene.press(.call)
        scene.farAnswers(.sessionProgress)
        scene.pass(40_000)
        scene.sipTells(self.moved("sip:b@far"), of: scene.handle)
        XCTAssertEqual(scene.orderNames.last, "stop")
        scene.farAnswers(.ringing)
        XCTAssertEqual(scene.state, "ringing")
        scene.pass(19_900)
        XCTAssertEqual(scene.state, "ringing")
        scene.pass(200)
        XCTAssertEqual(scene.endReason, "not-answered")
    }
}
