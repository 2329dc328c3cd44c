// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import SIPEngine

// The registrar's side.

extension RegisterRequest {
    mutating func setOutbound() {
        self.instanceID = "urn:uuid:0001"
        self.regID = 1
    }
}

extension Script {
    func register(_ id: RegistrationID = RegistrationID(1), edit: (inout RegisterRequest) -> Void = { _ in }) {
        var request = RegisterRequest(
            registrar: SIPURI("sip:gate@example.com")!, address: SIPURI("sip:gate@example.com")!, flow: self.flow)
        edit(&request)
        self.input(.register(id, request))
    }

    func passUntilSent() {
        while self.outbox.isEmpty, let wakeUp = self.engine.nextWakeUp {
            self.pass(ms: max((wakeUp.at - self.now).milliseconds, 1))
        }
    }

    /// A 200 that lists what was registered.
    func grant(_ register: SIPMessage, _ seconds: Int, headers: [(HeaderName, ByteString)] = []) {
        var contact = register.contacts!.first!
        contact.parameters.set("expires", ByteString(decimal: seconds))
        self.answer(register, 200, headers: [(.contact, contact.printed)] + headers)
    }

    func expectRegistrations(_ names: String..., file: StaticString = #filePath, line: UInt = #line) {
        XCTAssertEqual(self.registrations.map { $0.event.name }, names, file: file, line: line)
        self.registrations = []
    }
}

extension RegistrationEvent {
    var name: String {
        switch self {
        case .registered(let registered): return "registered \(registered.expiresSeconds)"
        case .refused(let status, let after): return "refused \(status.value)" + (after.map { " after \($0)" } ?? "")
        case .failed(let failure): return "failed \(failure)"
        case .unregistered: return "unregistered"
        }
    }
}
