// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire
import XCTest

@testable import KioskEngine

/// A kiosk with accounts and their registrars, in virtual time.
final class RegistrationTests: XCTestCase {
    private static let one = "[account]\nuri = sip:gate@pbx\n"
    private static let two = one + "[account.2]\nuri = sip:spare@other\n"

    private func desk(_ registrars: [String: Registrar]) -> Desk { self.desk(Self.one, registrars) }

    private func desk(_ settings: String, _ registrars: [String: Registrar]) -> Desk {
        let desk = Desk(settings)
        desk.registrars = registrars
        desk.addresses = ["pbx": [0x0A00_0010], "other": [0x0A00_0020], "far": [0x0A00_0001]]
        desk.feed(.started)
        return desk
    }

    // MARK: - One account

    func testRegistersFromTheStart() {
        let desk = self.desk(["pbx": .grants(600)])
        XCTAssertEqual(desk.story, ["gate registered"])
        XCTAssertEqual(desk.registers.first?.message.to?.uri.printed.string, "sip:gate@pbx")
        XCTAssertEqual(desk.banner, "")
        desk.pass(3_600_000)
        XCTAssertEqual(desk.story, ["gate registered"])
        XCTAssertGreaterThanOrEqual(desk.registers.count, 7)
    }

    func testWithoutAnAccountNothingIsRegistered() {
        let desk = self.desk("", ["pbx": .grants(600)])
        desk.pass(600_000)
        XCTAssertEqual(desk.registers.count, 0)
        let unregistered = self.desk(Self.one + "register = no", ["pbx": .grants(600)])
        unregistered.pass(600_000)
        XCTAssertEqual(unregistered.registers.count, 0)
        unregistered.feed(.button(.call, .pressed))
        XCTAssertEqual(unregistered.invite?.from?.uri.printed.string, "sip:gate@pbx")
    }

    /// Two hours of silence: a try a minute, and no more than a minute until the server is found again.
    func testServerSilentForTwoHoursIsNeverGivenUp() {
        for seed in 1...5 as ClosedRange<UInt64> {
            let desk = Desk(Self.one, seed: seed)
            desk.addresses = ["pbx": [0x0A00_0010]]
            desk.registrars = ["pbx": .isSilent]
            desk.feed(.started)
            desk.pass(7_200_000)
            var tries: [Instant] = []
            var seen: UInt32 = 0
            for register in desk.registers where register.message.cseq!.number > seen {
                seen = register.message.cseq!.number
                tries.append(register.at)
            }
            XCTAssertTrue((115...130).contains(tries.count), "\(tries.count)")
            for (earlier, later) in zip(tries.dropFirst(10), tries.dropFirst(11)) {
                XCTAssertGreaterThanOrEqual(later - earlier, .milliseconds(60_000))
            }
            XCTAssertEqual(Set(desk.registers.map { $0.message.callID }).count, 1)
            XCTAssertEqual(desk.banner, "Not connected to the telephone server. Calls may still work.")
            XCTAssertEqual(desk.faults, ["CB-REG-NONE"], "once")
            desk.forget()
            desk.registrars = ["pbx": .grants(600)]
            desk.pass(60_000)
            XCTAssertEqual(desk.story, ["gate registered"])
            XCTAssertEqual(desk.banner, "")
        }
    }

    func testWhereTheServersCertificateIsRefusedTheBannerSaysSoUntilItIsTaken() throws {
        let desk = Desk("[account]\nuri = sip:gate@pbx;transport=tls")
        desk.addresses = ["pbx": [0x0A00_0010]]
        desk.registrars = ["pbx": .isSilent]
        desk.feed(.started)
        let flow = try XCTUnwrap(
            desk.outputs.lazy.compactMap { output -> Flow? in
                if case .send(_, let flow) = output { return flow }
                return nil
            }.first)
        let record = CertificateRecord(
            name: "pbx", fingerprint: "AB", subject: "CN=x", issuer: "CN=y", notBefore: "", notAfter: "",
            reasons: [.unknownAuthority])
        desk.feed(.insecure(flow, .refused(record)))
        XCTAssertEqual(desk.banner, "The telephone server cannot be trusted. Calls may not work.")
        desk.registrars = ["pbx": .grants(600)]
        desk.pass(60_000)
        XCTAssertEqual(desk.banner, "")
    }

    func testServerWithoutANameIsAskedForAgain() {
        let desk = self.desk(["pbx": .grants(600)])
        let lost = Desk(Self.one)
        lost.feed(.started)
        lost.pass(600_000)
        XCTAssertEqual(lost.registers.count, 0)
        lost.addresses = desk.addresses
        lost.registrars = ["pbx": .grants(600)]
        lost.pass(60_000)
        XCTAssertEqual(lost.story, ["gate registered"])
    }

    func testNextAddressIsTriedWhereTheFirstIsSilentOrBusy() {
        for first in [Registrar.isSilent, .refuses(503, retryAfter: 300)] {
            let desk = Desk(Self.one)
            desk.addresses = ["pbx": [0x0A00_0010, 0x0A00_0011]]
            desk.registrars = ["pbx/1": first, "pbx/2": .grants(600)]
            desk.feed(.started)
            desk.pass(Account.answerLimitMs)
            XCTAssertEqual(desk.story.last, "gate registered", "\(first)")
        }
    }

    func testRetryAfterIsHonouredWhereThereIsNobodyElse() {
        let desk = self.desk(["pbx": .refuses(503, retryAfter: 4_000)])
        XCTAssertEqual(desk.story, ["gate refused 503"])
        desk.pass(299_000)
        XCTAssertEqual(desk.registers.count, 1)
        desk.registrars = ["pbx": .grants(600)]
        desk.pass(1_001)
        XCTAssertEqual(desk.story.last, "gate registered")
    }

    // MARK: - Several

    func testAllAreRegisteredWhereTheFileSaysSo() {
        let desk = self.desk(
            "[sip]\naccounts = all\n" + Self.two, ["pbx": .isSilent, "other": .grants(600)])
        desk.pass(40_000)
        XCTAssertTrue(desk.story.contains("spare registered"))
        // One that is registered is enough for the screen.
        XCTAssertEqual(desk.banner, "")
        desk.feed(.button(.call, .pressed))
        XCTAssertEqual(desk.invite?.from?.uri.printed.string, "sip:spare@other")
    }

    func testSpareIsRegisteredWhileTheFirstFailsAndGivenBackAfterwards() {
        let desk = self.desk(Self.two, ["pbx": .isSilent, "other": .grants(600)])
        desk.pass(Account.lastAnswerLimitMs + 1)
        XCTAssertEqual(desk.story, ["gate failed 408", "spare registered"])
        desk.forget()
        desk.registrars["pbx"] = .grants(600)
        desk.pass(60_000)
        XCTAssertEqual(desk.story, ["gate registered", "spare unregistered"])
        XCTAssertEqual(desk.registers.last?.message.expiresSeconds, 0)
        desk.forget()
        desk.pass(200_000)
        XCTAssertEqual(desk.story, [])
    }

    // MARK: - Calls

    /// A registrar may be several servers, and each of them may call.
    func testEveryServerOfAnAccountMayTalkToUs() {
        let desk = Desk("[call]\nincoming = ring\n" + Self.one)
        desk.addresses = ["pbx": [0x0A00_0010, 0x0A00_0011]]
        desk.registrars = ["pbx": .grants(600)]
        desk.feed(.started)
        for (address, isAnswered) in [(0x0A00_0011, true), (0x0A00_0012, false)] as [(UInt32, Bool)] {
            desk.forget()
            let text =
                "OPTIONS sip:callbox@10.0.0.2 SIP/2.0\r\nVia: SIP/2.0/UDP 10.0.0.17:5060;branch=z9hG4bK1\r\n"
                + "From: <sip:a@b>;tag=1\r\nTo: <sip:callbox@10.0.0.2>\r\nCall-ID: 1\r\nCSeq: 1 OPTIONS\r\n\r\n"
            let remote = SocketAddress(.v4(address), port: 5060)
            desk.feed(.received(Array(text.utf8), on: Flow(transport: .udp, local: desk.local, remote: remote)))
            XCTAssertEqual(desk.sent.count, isAnswered ? 1 : 0)
        }
    }

    func testPressDoesNotWaitForARegistration() {
        let desk = self.desk(["pbx": .isSilent])
        desk.feed(.button(.call, .pressed))
        XCTAssertEqual(desk.invite?.from?.uri.printed.string, "sip:gate@pbx")
    }

    // MARK: - The network

    func testNewAddressIsRegisteredAtOnceAndTheOldOneRemoved() {
        let desk = self.desk(["pbx": .grants(600)])
        desk.pass(10_000)
        desk.forget()
        desk.feed(.networkChanged)
        XCTAssertEqual(desk.registers.count, 0, "nothing changed for the way to the registrar")
        desk.pass(Account.freshMs)
        desk.feed(.networkChanged)
        XCTAssertEqual(desk.registers.count, 1, "but the link may have been away")
        XCTAssertEqual(desk.registers.last?.message.values(.contact).count, 1)
        desk.local = SocketAddress(.v4(0xC000_0207), port: 5060)
        desk.feed(.networkChanged)
        let register = desk.registers.last?.message
        XCTAssertEqual(register?.values(.contact).count, 2)
        XCTAssertEqual(register?.topVia?.host, .address(desk.local.address))
        XCTAssertEqual(register?.cseq?.number, 3)
    }

    func testLinkThatComesBackIsUsedAtOnce() {
        let desk = self.desk(["pbx": .grants(60)])
        desk.registrars = ["pbx": .isSilent]
        desk.addresses["pbx"] = nil
        desk.feed(.networkChanged)
        desk.pass(90_000)
        desk.forget()
        desk.addresses["pbx"] = [0x0A00_0010]
        desk.registrars = ["pbx": .grants(60)]
        desk.local = SocketAddress(.v4(0xC000_0207), port: 5060)
        desk.feed(.networkChanged)
        XCTAssertEqual(desk.story, ["gate registered"])
    }

    /// The far end is told in the call where sound and requests are to go now.
    func testCallMovesWithTheAddress() {
        let scene = Scene.inCall()
        scene.forget()
        scene.feed(.networkChanged)
        let here = SocketAddress(.v4(0x0A00_0063), port: 5060)
        XCTAssertEqual(scene.offers, [], "nothing changed for the call")
        scene.address = here
        scene.feed(.networkChanged)
        let offer = scene.offers.last ?? ""
        XCTAssertTrue(offer.contains("c=IN IP4 10.0.0.99"), offer)
        XCTAssertTrue(offer.contains("Contact: <sip:callbox@10.0.0.99:5060>"), offer)
        XCTAssertTrue(offer.contains("Via: SIP/2.0/UDP 10.0.0.99:5060"), offer)
        XCTAssertFalse(offer.contains("10.0.0.2:"), "nothing of the old address")
        scene.farAnswers()
        XCTAssertEqual(scene.state, "connected")
        XCTAssertEqual(scene.events("change").last?["code"] as? Int, 200)
    }

    /// Ninety seconds without a link, then another address: the call is still there, and moves.
    func testCallOutlivesACutCable() {
        let scene = Scene.inCall()
        scene.unreachable = [Scene.farAddress.address]
        scene.forget()
        scene.feed(.networkChanged)
        scene.hearsNothing()
        scene.pass(90_000)
        XCTAssertEqual(scene.offers, [])
        XCTAssertEqual(scene.state, "connected")
        XCTAssertEqual(scene.screen?.detail, Texts.english.states.interrupted.detail)
        scene.unreachable = []
        scene.address = SocketAddress(.v4(0x0A00_0063), port: 5060)
        scene.feed(.networkChanged)
        XCTAssertTrue(scene.offers.last?.contains("c=IN IP4 10.0.0.99") ?? false)
        scene.farAnswers()
        scene.pass(9_000)
        XCTAssertEqual(scene.state, "connected", "it is waited for anew")
        scene.pass(2_000)
        XCTAssertNotEqual(scene.state, "connected", "but not for ever")
    }

    func testACableThatStaysCutEndsTheCall() {
        let scene = Scene.inCall()
        scene.unreachable = [Scene.farAddress.address]
        scene.feed(.networkChanged)
        scene.hearsNothing()
        scene.pass(119_000)
        XCTAssertEqual(scene.state, "connected")
        scene.pass(2_000)
        XCTAssertNotEqual(scene.state, "connected")
    }

    // MARK: - The end

    func testEveryAccountIsGivenBackBeforeTheEnd() {
        let desk = self.desk("[sip]\naccounts = all\n" + Self.two, ["pbx": .grants(600), "other": .grants(600)])
        desk.forget()
        desk.feed(.terminate)
        XCTAssertEqual(desk.registers.map { $0.message.expiresSeconds }, [0, 0])
        XCTAssertNotNil(desk.exitedAt)
    }

    func testEndComesInThreeSecondsAndAtOnceWhenAskedAgain() {
        for isHasty in [false, true] {
            let desk = self.desk("[sip]\naccounts = all\n" + Self.two, ["pbx": .grants(600), "other": .grants(600)])
            desk.registrars = [:]
            let begin = desk.now
            desk.feed(.terminate)
            XCTAssertNil(desk.exitedAt)
            desk.feed(.button(.call, .pressed))
            XCTAssertNil(desk.invite)
            desk.pass(1_000)
            if isHasty { desk.feed(.terminate) }
            desk.pass(2_000)
            XCTAssertNotNil(desk.exitedAt)
            XCTAssertLessThanOrEqual(desk.exitedAt! - begin, .milliseconds(isHasty ? 1_000 : 3_000))
        }
    }

    func testEndOfACallThatHasAnAccountEndsBoth() {
        let desk = self.desk(["pbx": .grants(600)])
        desk.feed(.button(.call, .pressed))
        desk.registrars = [:]
        desk.feed(.terminate)
        desk.pass(3_000)
        XCTAssertNotNil(desk.exitedAt)
    }
}
