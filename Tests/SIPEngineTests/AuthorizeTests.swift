// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import SIPEngine

/// Challenges to an INVITE, and what we remember of them.
final class AuthorizeTests: XCTestCase {
    private let server = DigestServer()

    func testAChallengedInviteGoesOutAgainAsTheNextRequest() throws {
        let script = Script.withPassword()
        let handle = script.call()
        let first = script.next()
        XCTAssertEqual(first.credentials, [], "nobody has asked yet")
        script.answer(first, 100)
        script.answer(first, 401, headers: [(.wwwAuthenticate, self.server.challenge)])
        let sent = script.expect("ACK", "INVITE")
        XCTAssertEqual(sent[0].cseq, CSeq(1, .ack))
        let again = sent[1]
        XCTAssertEqual(again.callID, first.callID)
        XCTAssertEqual(again.from, first.from)
        XCTAssertEqual(again.to, first.to)
        XCTAssertEqual(again.cseq, CSeq(2, .invite))
        XCTAssertNotEqual(again.topVia?.branch, first.topVia?.branch)
        XCTAssertEqual(again.body, first.body)
        XCTAssertEqual(self.server.count(in: again), "00000001")
        // A copy of the 401 is acknowledged, and answered by nothing else.
        script.answer(first, 401, headers: [(.wwwAuthenticate, self.server.challenge)])
        script.expect("ACK")
        script.answer(again, 200, body: Script.description)
        let ack = script.expect("ACK")[0]
        XCTAssertEqual(ack.credentials, again.credentials, "RFC 3261 section 13.2.2.4")
        XCTAssertEqual(ack.cseq, CSeq(2, .ack))
        script.expectEvents("trying", "answered")
        XCTAssertEqual(script.verdicts, ["accepted Mufasa"])
        script.input(.hangUp(handle, .normal))
        let bye = script.expect("BYE")[0]
        XCTAssertEqual(bye.cseq, CSeq(3, .bye))
        XCTAssertEqual(self.server.count(in: bye), "00000002", "not asked again")
    }

    func testTheFirstChallengeThatCanBeAnsweredIs() {
        let script = Script.withPassword()
        _ = script.call()
        let again = script.challenge(
            script.next(), "Basic realm=\"example.com\"",
            "Digest realm=\"example.com\", nonce=\"n1\", algorithm=SHA-512-256, qop=\"auth\"",
            "Digest realm=\"example.com\", nonce=\"n1\", algorithm=foo, qop=\"auth\"",
            "Digest realm=\"example.com\", nonce=\"n1\", algorithm=MD5, qop=\"auth\"",
            "Digest realm=\"example.com\", nonce=\"n1\", algorithm=SHA-256, qop=\"auth\"")
        XCTAssertEqual(again.fields(.authorization).count, 1)
        XCTAssertEqual(self.server.answer(in: again)?.algorithm, "MD5")
        XCTAssertEqual(self.server.count(in: again), "00000001")
        let other = Script.withPassword()
        _ = other.call()
        let strong = other.challenge(
            other.next(), "Digest realm=\"example.com\", nonce=\"n1\", algorithm=SHA-256, qop=\"auth,auth-int\"")
        XCTAssertEqual(self.server.answer(in: strong)?.algorithm, "SHA-256")
        XCTAssertEqual(self.server.answer(in: strong)?.parameters.text(of: "qop"), "auth")
    }

    func testProxyAndServerAreAnsweredInOneRequest() {
        let script = Script.withPassword()
        _ = script.call()
        let proxy = DigestServer(realm: "proxy", nonce: "p1")
        var invite = script.challenge(script.next(), proxy.challenge, code: 407)
        XCTAssertEqual(proxy.count(in: invite, .proxyAuthorization), "00000001")
        invite = script.challenge(invite, self.server.challenge)
        XCTAssertEqual(invite.cseq, CSeq(3, .invite))
        XCTAssertEqual(proxy.count(in: invite, .proxyAuthorization), "00000002")
        XCTAssertEqual(self.server.count(in: invite), "00000001")
        script.answer(invite, 200, body: Script.description)
        XCTAssertEqual(script.expect("ACK")[0].credentials.count, 2)
        XCTAssertEqual(script.verdicts, ["accepted Mufasa", "accepted Mufasa"])
    }

    func testAForkedRequestAnswersEveryRealm() {
        let script = Script.withPassword()
        _ = script.call()
        let other = DigestServer(realm: "other", nonce: "o1")
        let again = script.challenge(script.next(), self.server.challenge, other.challenge)
        XCTAssertEqual(self.server.count(in: again), "00000001")
        XCTAssertEqual(other.count(in: again), "00000001")
    }

    // MARK: - No for an answer

    func testAWrongPasswordIsToldOnceAndEndsTheCall() {
        for (stale, code) in [("", 401), (", stale=false", 407)] {
            let script = Script.withPassword()
            _ = script.call()
            let again = script.challenge(script.next(), self.server.challenge, code: code)
            let second = ByteString(utf8Of: "Digest realm=\"example.com\", nonce=\"n2\", qop=\"auth\"\(stale)")
            script.answer(
                again, code, headers: [(code == 401 ? .wwwAuthenticate : .proxyAuthenticate, second)])
            script.expect("ACK")
            XCTAssertEqual(script.events.last?.event.name.hasPrefix("ended refused \(code)"), true)
            XCTAssertEqual(script.verdicts, ["refused Mufasa example.com"])
            XCTAssertEqual(script.engine.counters[.credentialsRefused], 1)
            XCTAssertEqual(script.engine.spaces.count, 0, "they are not said unasked again")
        }
    }

    func testAStaleNonceIsNoRefusal() {
        let script = Script.withPassword()
        _ = script.call()
        let again = script.challenge(script.next(), self.server.challenge)
        let fresh = DigestServer(nonce: "n2", more: ", qop=\"auth\", stale=TRUE")
        let last = script.challenge(again, fresh.challenge)
        XCTAssertEqual(fresh.count(in: last), "00000001")
        script.answer(last, 200, body: Script.description)
        XCTAssertEqual(script.verdicts, ["accepted Mufasa"])
    }

    func testANonceThatChangesEveryTimeComesToAnEnd() {
        let script = Script.withPassword()
        _ = script.call()
        var invite = script.next()
        for round in 1...10 {
            let server = DigestServer(nonce: "n\(round)", more: ", stale=true")
            script.answer(invite, 401, headers: [(.wwwAuthenticate, server.challenge)])
            guard script.outbox.count == 2 else { break }
            invite = script.expect("ACK", "INVITE")[1]
        }
        script.expect("ACK")
        XCTAssertEqual(invite.cseq?.number, UInt32(Limits.challengesAnsweredMax + 1))
        script.expectEvents("ended refused 401 Unauthorized")
        XCTAssertEqual(script.verdicts, [])
        XCTAssertEqual(script.engine.counters[.challengedTooOften], 1)
        _ = script.call()
        XCTAssertEqual(script.expect("INVITE")[0].cseq, CSeq(1, .invite), "the next call works")
    }

    func testWhatCannotBeAnsweredIsNotAnswered() {
        for challenge: ByteString in [
            "Basic realm=\"example.com\"", "Digest realm=\"elsewhere\", nonce=\"n\"",
            "Digest realm=\"example.com\", nonce=\"n\", algorithm=SHA-512-256", "Digest realm=\"example.com\"", "x",
        ] {
            let script = Script.withPassword(
                .udp, [Credential(username: "Mufasa", password: "Circle", realm: "example.com")])
            _ = script.call()
            script.answer(script.next(), 401, headers: [(.wwwAuthenticate, challenge)])
            script.expect("ACK")
            script.expectEvents("ended refused 401 Unauthorized")
            XCTAssertEqual(script.verdicts, [])
        }
    }

    func testOnlyOurServersGetAnAnswer() {
        let script = Script.withPassword()
        script.input(.trust([.v4(0xC000_0299)]))
        _ = script.call()
        script.answer(script.next(), 401, headers: [(.wwwAuthenticate, self.server.challenge)])
        script.expect("ACK")
        script.expectEvents("ended refused 401 Unauthorized")
    }

    func testNobodyCallsAgainAfterHangingUp() {
        let script = Script.withPassword()
        let handle = script.call()
        let invite = script.next()
        script.input(.hangUp(handle, .normal))
        script.answer(invite, 401, headers: [(.wwwAuthenticate, self.server.challenge)])
        script.expect("ACK")
        script.expectEvents("ended cancelled")
    }

    // MARK: - What is remembered

    func testTheNextCallIsNotAskedAgain() {
        let script = Script.withPassword()
        _ = script.call()
        let again = script.challenge(script.next(), self.server.challenge)
        script.answer(again, 486)
        script.expect("ACK")
        _ = script.call()
        let next = script.next()
        XCTAssertEqual(self.server.count(in: next), "00000002")
        // The nonce has become too old, and this server does not know of `stale`.
        let renewed = DigestServer(nonce: "n2")
        let last = script.challenge(next, renewed.challenge)
        XCTAssertEqual(renewed.count(in: last), "00000001")
        XCTAssertEqual(last.fields(.authorization).count, 1)
    }

    func testOtherHopsAreToldNothing() {
        let script = Script.withPassword()
        _ = script.call()
        _ = script.challenge(script.next(), self.server.challenge)
        let other = Flow(transport: .udp, local: Script.here, remote: SocketAddress(.v4(0xC000_0203), port: 5060))
        let target = SIPURI("sip:desk@192.0.2.3")!
        script.input(.message(MessageID(1), .address(target, other), text: "hello"))
        XCTAssertEqual(script.expect("MESSAGE")[0].credentials, [])
    }

    func testNewCredentialsTakeThePlaceOfTheOld() {
        let script = Script.withPassword()
        _ = script.call()
        _ = script.challenge(script.next(), self.server.challenge)
        XCTAssertEqual(script.engine.spaces.count, 1)
        script.input(.credentials([Script.credential]))
        XCTAssertEqual(script.engine.spaces.count, 1)
        script.input(.credentials([Credential(username: "Mufasa", password: "Square")]))
        XCTAssertEqual(script.engine.spaces.count, 0)
        let many = (0..<100).map { Credential(username: "u", password: "p", realm: ByteString(decimal: $0)) }
        script.input(.credentials(many))
        XCTAssertEqual(script.engine.credentials.count, Limits.credentialsMax)
    }

    func testOnlySoManySpacesAreRemembered() {
        let script = Script.withPassword()
        for number in 0..<40 {
            _ = script.call()
            let server = DigestServer(realm: "r\(number)")
            let again = script.challenge(script.next(), server.challenge)
            XCTAssertEqual(server.count(in: again), "00000001")
            script.answer(again, 486)
            script.outbox = []
            XCTAssertLessThanOrEqual(script.engine.spaces.count, Limits.protectionSpacesMax)
        }
    }

    func testTheServerNamesTheNextNonce() {
        let script = Script.withPassword()
        let handle = script.call()
        let again = script.challenge(script.next(), self.server.challenge)
        let next: [(HeaderName, ByteString)] = [(.authenticationInfo, "nextnonce=\"n2\", qop=auth")]
        script.answer(again, 200, body: Script.description, headers: next)
        script.answer(again, 200, body: Script.description, headers: next)
        script.outbox = []
        script.input(.inform(handle, contentType: "text/plain", body: []))
        XCTAssertEqual(DigestServer(nonce: "n2").count(in: script.next()), "00000001")
        script.input(.hangUp(handle, .normal))
        let bye = script.next()
        XCTAssertEqual(DigestServer(nonce: "n2").count(in: bye), "00000002", "a copy of the 200 changed nothing")
    }

    func testTheAccountOfFromIsUsed() {
        let accounts = [
            Credential(username: "gate", password: "a", realm: "example.com"),
            Credential(username: "lift", password: "b", realm: "example.com"),
            Credential(username: "lift", password: "c"),
        ]
        for (user, realm, name, password) in [
            ("sip:gate@example.com", "example.com", "gate", "a"), ("sip:lift@example.com", "example.com", "lift", "b"),
            ("sip:lift@example.com", "other", "lift", "c"), ("sip:door@example.com", "example.com", "gate", "a"),
        ] {
            let script = Script.withPassword(.udp, accounts, identity: SIPURI(ByteString(utf8Of: user)))
            _ = script.call()
            let server = DigestServer(realm: realm, password: password)
            let again = script.challenge(script.next(), server.challenge)
            XCTAssertEqual(server.count(in: again), "00000001", user)
            XCTAssertEqual(server.answer(in: again)?.parameters.text(of: "username")?.string, name)
        }
    }

    func testTheSizeOfAnInviteHasRoomForCredentials() {
        let script = Script.withPassword()
        let uri = SIPURI("sip:desk@192.0.2.2:5070")!
        let request = InviteRequest(target: uri, flow: script.flow, offer: Array(Script.description.utf8))
        let size = script.engine.size(of: request)
        _ = script.call()
        let server = DigestServer(realm: "a realm of some length", nonce: String(repeating: "n", count: 60))
        let again = script.challenge(script.next(), server.challenge)
        XCTAssertLessThanOrEqual(again.printed().count, size)
        script.input(.credentials([]))
        XCTAssertEqual(script.engine.size(of: request), size - Limits.credentialsBytes)
    }

    func testNoSecretGetsIntoTheTrace() {
        let script = Script.withPassword()
        _ = script.call()
        let again = script.challenge(script.next(), self.server.challenge)
        script.answer(again, 200, body: Script.description, headers: [(.authenticationInfo, "nextnonce=\"n2\"")])
        let response = self.server.answer(in: again)?.parameters.text(of: "response")?.string ?? "missing"
        let clientNonce = self.server.answer(in: again)?.parameters.text(of: "cnonce")?.string ?? "missing"
        for entry in script.engine.trace.entries {
            let text = String(decoding: entry.text, as: UTF8.self)
            for secret in [response, clientNonce, "Mufasa", "Circle", "n1", "n2"] {
                XCTAssertFalse(text.contains(secret), text)
            }
        }
        XCTAssertTrue(script.engine.trace.entries.contains { ByteString($0.text).containsIgnoringCase("digest ***") })
    }
}
