// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire
import XCTest

@testable import KioskEngine

/// Passwords that servers take, and those that they do not.
final class PasswordTests: XCTestCase {
    private static let settings = "[sip]\nuser = door\nauth_user = door7\npassword = secret"
    private let credential = Credential(username: "door7", password: "secret")

    private func scene(_ settings: String = PasswordTests.settings) -> Scene {
        let scene = Scene(settings) { $0.hash = { _, bytes in [UInt8(truncatingIfNeeded: bytes.count)] } }
        // The far end's own engine has no part in this: what it says is written by hand.
        scene.isCut = true
        return scene
    }

    /// Answers the INVITE that the kiosk sent last.
    private func challenge(_ scene: Scene, _ nonce: Int) {
        guard let text = scene.offers.last, let invite = try? SIPMessage.parse(Array(text.utf8), framing: .datagram)
        else { return XCTFail("there is no INVITE") }
        var response = SIPMessage(respondingTo: invite, .unauthorized, toTag: "far")
        response.add(.wwwAuthenticate, ByteString(utf8Of: "Digest realm=\"far\", nonce=\"n\(nonce)\", qop=\"auth\""))
        scene.feed(.received(response.printed(), on: Scene.toFar))
    }

    /// A press, a challenge, and the same again to the answer.
    private func refusedCall(_ scene: Scene) {
        scene.forget()
        scene.press(.call)
        self.challenge(scene, 1)
        XCTAssertEqual(scene.offers.count, 2, "the challenge is answered")
        self.challenge(scene, 2)
    }

    private func asksForSecrets(_ scene: Scene) -> Bool {
        scene.outputs.contains { if case .readSecrets = $0 { return true } else { return false } }
    }

    func testThePasswordOfTheFileAnswersAChallenge() {
        let scene = self.scene()
        scene.press(.call)
        self.challenge(scene, 1)
        XCTAssertTrue(scene.offers.last?.contains("username=\"door7\"") ?? false)
        let without = self.scene("")
        without.press(.call)
        self.challenge(without, 1)
        XCTAssertEqual(without.offers.count, 1)
        XCTAssertEqual(without.endReason, "refused")
    }

    func testARefusedPasswordIsToldOnTheScreenAndInTheLog() {
        let scene = self.scene()
        self.refusedCall(scene)
        XCTAssertEqual(scene.state, "outcome")
        let event = scene.events("password_refused").last
        XCTAssertEqual(event?["realm"] as? String, "far")
        XCTAssertEqual(event?["user"] as? String, "door7")
        XCTAssertNil(event?["held_ms"])
        XCTAssertTrue(self.asksForSecrets(scene))
        let ended = scene.events("call").last
        XCTAssertEqual(
            ended?["text"] as? String,
            "The telephone system does not accept this help point's password. Please tell the staff.")
        for line in scene.outputs {
            if case .event(let text) = line { XCTAssertFalse(text.string.contains("secret\"")) }
        }
    }

    func testThirdRefusalHoldsItBackAndAPressTriesAllTheSame() {
        let scene = self.scene()
        for _ in 0..<2 { self.refusedCall(scene) }
        XCTAssertNil(scene.events("password_refused").last?["held_ms"])
        XCTAssertTrue(scene.kiosk.sip.usesPasswords)
        for heldMs in [60_000, 120_000, 240_000, 480_000, 600_000, 600_000] {
            self.refusedCall(scene)
            XCTAssertEqual(scene.events("password_refused").last?["held_ms"] as? Int, heldMs)
            XCTAssertFalse(scene.kiosk.sip.usesPasswords)
        }
        scene.pass(599_000)
        XCTAssertFalse(scene.kiosk.sip.usesPasswords)
        scene.pass(2_000)
        XCTAssertTrue(scene.kiosk.sip.usesPasswords)
    }

    func testNewSecretsAreUsedAndOldOnesKeepTheirCount() {
        let scene = self.scene()
        for _ in 0..<3 { self.refusedCall(scene) }
        scene.feed(.secrets([self.credential]))
        XCTAssertFalse(scene.kiosk.sip.usesPasswords, "nothing has changed")
        scene.feed(.secrets([Credential(username: "door7", password: "better")]))
        XCTAssertTrue(scene.kiosk.sip.usesPasswords)
        self.refusedCall(scene)
        XCTAssertNil(scene.events("password_refused").last?["held_ms"], "this one was refused once")
        scene.feed(.secrets([]))
        XCTAssertFalse(scene.kiosk.sip.usesPasswords)
    }

    func testAcceptanceEndsTheRow() {
        var passwords = Passwords()
        passwords.replace(with: [self.credential])
        XCTAssertEqual(passwords.news(), [self.credential])
        XCTAssertNil(passwords.news())
        for _ in 0..<2 { XCTAssertEqual(passwords.refused(self.credential, now: .zero), .goOn) }
        passwords.accepted(self.credential)
        for _ in 0..<2 { XCTAssertEqual(passwords.refused(self.credential, now: .zero), .goOn) }
        XCTAssertEqual(passwords.refused(self.credential, now: .zero), .hold(ms: 60_000))
        XCTAssertEqual(passwords.releasesAt, .zero + .milliseconds(60_000))
        XCTAssertEqual(passwords.news(), [])
        passwords.releaseAll()
        XCTAssertEqual(passwords.news(), [self.credential])
        let stranger = Credential(username: "x", password: "y")
        XCTAssertEqual(passwords.refused(stranger, now: .zero), .goOn)
        for _ in 0..<1_000 { _ = passwords.refused(self.credential, now: .zero) }
        XCTAssertEqual(passwords.refused(self.credential, now: .zero), .hold(ms: Passwords.holdMsMax))
    }
}
