// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire
import XCTest

@testable import KioskEngine

/// What becomes of registrations when the file is read again, and when the program begins anew.
final class ReloadAccountTests: XCTestCase {
    private typealias Desk = RegistrationTests.Desk

    private static let gate = "[account]\nuri = sip:gate@pbx\n"
    private static let spare = "[account.2]\nuri = sip:spare@other\n"
    private static let all = "[sip]\naccounts = all\n"
    private static let otherPort = "[sip]\nlisten = any:5070\n"

    private func desk(_ settings: String, _ registrars: [String: RegistrationTests.Registrar]? = nil) -> Desk {
        let desk = Desk(settings)
        desk.registrars = registrars ?? ["pbx": .grants(600), "other": .grants(600)]
        desk.addresses = ["pbx": [0x0A00_0010], "other": [0x0A00_0020], "far": [0x0A00_0001]]
        desk.feed(.started)
        return desk
    }

    private func reload(_ desk: Desk, _ settings: String) {
        let (configuration, problems) = Scene.parse("[call]\nuri = sip:help@far\n\(settings)\n")
        XCTAssertEqual(problems.map { $0.sentence.string }, [])
        desk.feed(.reload(configuration, problems))
    }

    private func restarts(_ desk: Desk) -> Int {
        desk.outputs.reduce(0) { if case .restart = $1 { $0 + 1 } else { $0 } }
    }

    private func exits(_ desk: Desk) -> Int {
        desk.outputs.reduce(0) { if case .exit = $1 { $0 + 1 } else { $0 } }
    }

    /// `user seconds` of each REGISTER.
    private func registers(_ desk: Desk) -> [String] {
        desk.registers.map { register in
            guard case .sip(let address)? = register.message.to?.uri else { return "nobody" }
            return "\(address.user?.string ?? "") \(register.message.expiresSeconds ?? 1)"
        }
    }

    // MARK: - Accounts

    func testAccountThatDidNotChangeStaysRegistered() {
        let desk = self.desk(Self.all + Self.gate)
        desk.forget()
        self.reload(desk, Self.all + Self.gate + Self.spare + "[video]\nbitrate = 500\n")
        desk.pass(10_000)
        XCTAssertEqual(self.registers(desk), ["spare 600"])
        XCTAssertEqual(desk.story, ["spare registered"])
    }

    func testAccountThatIsGoneIsGivenBack() {
        let desk = self.desk(Self.all + Self.gate + Self.spare)
        desk.forget()
        self.reload(desk, Self.all + Self.gate)
        desk.pass(10_000)
        XCTAssertEqual(self.registers(desk), ["spare 0"])
        XCTAssertEqual(desk.story, ["spare unregistered"])
        XCTAssertEqual(desk.kiosk.accounts.count, 1)
    }

    /// An account stays the same wherever in the file it stands.
    func testAccountThatMovedInTheFileStaysRegistered() {
        let desk = self.desk(Self.all + Self.gate)
        desk.forget()
        self.reload(desk, Self.all + "[account.3]\nuri = sip:gate@pbx\n")
        desk.pass(10_000)
        XCTAssertEqual(self.registers(desk), [])
    }

    func testChangedAccountIsGivenBackAndThenRegisteredAnew() {
        let desk = self.desk(Self.gate)
        let before = desk.registers[0].message.callID
        desk.forget()
        self.reload(desk, Self.gate + "expires = 300\n")
        desk.pass(10_000)
        XCTAssertEqual(self.registers(desk), ["gate 0", "gate 300"])
        XCTAssertEqual(desk.registers.map { $0.message.callID == before }, [true, false])
        XCTAssertEqual(desk.story, ["gate unregistered", "gate registered"])
    }

    /// A removal that comes late would take the new binding with it.
    func testNewOnesWaitForAServerThatDoesNotLetGo() {
        let desk = self.desk(Self.gate)
        desk.registrars["pbx"] = .isSilent
        desk.forget()
        self.reload(desk, Self.spare)
        desk.pass(KioskTimes.unregisterMs - 100)
        XCTAssertEqual(Set(self.registers(desk)), ["gate 0"])
        desk.pass(200)
        XCTAssertEqual(desk.story, ["gate unregistered", "spare registered"])
    }

    func testAnotherUserIsAnotherAddressForAllAccounts() {
        let desk = self.desk(Self.gate)
        desk.forget()
        self.reload(desk, Self.gate + "[sip]\nuser = south\n")
        desk.pass(10_000)
        XCTAssertEqual(desk.story, ["gate unregistered", "gate registered"])
        guard case .sip(let contact)? = desk.registers.last?.message.contacts?.first?.uri else {
            return XCTFail("no Contact")
        }
        XCTAssertEqual(contact.user, "south")
    }

    /// However often it is read, there are never more registrations than accounts.
    func testReadingAgainAndAgainEndsWithTheLast() {
        let desk = self.desk(Self.gate, ["pbx": .isSilent, "other": .isSilent])
        for number in 0..<50 {
            let host = number % 2 == 0 ? "pbx" : "other"
            let accounts = (1...4).map { "[account\($0 == 1 ? "" : ".\($0)")]\nuri = sip:a\(number)x\($0)@\(host)\n" }
            self.reload(desk, Self.all + accounts.joined())
            desk.pass(300)
            XCTAssertLessThanOrEqual(desk.kiosk.formerAccounts.count, Configuration.accountsMax)
        }
        desk.registrars = ["pbx": .grants(600), "other": .grants(600)]
        desk.pass(65_000)
        XCTAssertEqual(desk.story.suffix(4).sorted(), (1...4).map { "a49x\($0) registered" })
        XCTAssertEqual(desk.kiosk.formerAccounts.count, 0)
    }

    func testCallsAreMadeInTheNameOfTheNewAccount() {
        let desk = self.desk(Self.gate)
        self.reload(desk, Self.spare)
        desk.feed(.button(.call, .pressed))
        XCTAssertEqual(desk.invite?.from?.uri.printed.string, "sip:spare@other")
    }

    // MARK: - Anew

    func testItBeginsAnewOnceAccountsAreGivenBack() {
        let desk = self.desk(Self.gate)
        desk.forget()
        self.reload(desk, Self.gate + Self.otherPort)
        XCTAssertEqual(self.registers(desk), ["gate 0"])
        XCTAssertEqual(self.restarts(desk), 1)
        XCTAssertEqual(self.exits(desk), 0)
    }

    func testWithoutAccountsItBeginsAnewAtOnce() {
        let desk = self.desk("")
        self.reload(desk, Self.otherPort)
        XCTAssertEqual(self.restarts(desk), 1)
        desk.forget()
        desk.feed(.button(.call, .pressed))
        XCTAssertEqual(desk.sent.count, 0, "nothing comes after it")
    }

    func testItWaitsThreeSecondsForAServerAndNoLonger() {
        let desk = self.desk(Self.gate)
        desk.registrars["pbx"] = .isSilent
        self.reload(desk, Self.gate + Self.otherPort)
        XCTAssertEqual(self.restarts(desk), 0)
        desk.pass(3_000)
        XCTAssertEqual(self.restarts(desk), 1)
    }

    func testPressMeanwhileIsDialledAndTheRestartComesAfterTheCall() {
        for isByWord in [false, true] {
            let desk = self.desk(Self.gate)
            desk.registrars["pbx"] = .isSilent
            self.reload(desk, Self.gate + Self.otherPort)
            desk.pass(500)
            desk.registrars["pbx"] = .grants(600)
            desk.feed(isByWord ? .control(ClientID(1), line: "call") : .button(.call, .pressed))
            XCTAssertNotNil(desk.invite)
            desk.pass(10_000)
            XCTAssertEqual(self.restarts(desk), 0)
            XCTAssertEqual(desk.story.last, "gate registered")
            desk.feed(.button(.hook, .pressed))
            desk.pass(10_000)
            XCTAssertEqual(desk.story.last, "gate unregistered")
            XCTAssertEqual(self.restarts(desk), 1)
        }
    }

    func testEndOfTheProgramMeanwhileIsTheEnd() {
        let desk = self.desk(Self.gate)
        desk.registrars["pbx"] = .isSilent
        self.reload(desk, Self.gate + Self.otherPort)
        desk.feed(.terminate)
        XCTAssertEqual(self.exits(desk), 0)
        desk.pass(3_000)
        XCTAssertEqual(self.exits(desk), 1)
        XCTAssertEqual(self.restarts(desk), 0)
    }

    func testWhoIsLeavingReadsNothing() {
        let desk = self.desk(Self.gate)
        desk.registrars["pbx"] = .isSilent
        desk.feed(.terminate)
        desk.forget()
        self.reload(desk, Self.otherPort)
        desk.pass(3_000)
        XCTAssertEqual(self.exits(desk), 1)
        XCTAssertEqual(self.restarts(desk), 0)
    }
}
