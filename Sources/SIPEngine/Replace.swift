// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// One call takes another's place: Replaces (RFC 3891) as its target.
extension SIPEngine {
    enum Replacement: Equatable {
        case none
        case call(CallHandle)
        case refuse(StatusCode)
    }

    /// The call whose place an INVITE wants to take (section 3). Who may ask for that at all is the access policy's
    /// affair.
    func replacement(for invite: SIPMessage) -> Replacement {
        guard invite.contains(.replaces) else { return .none }
        guard let replaces = invite.replaces else { return .refuse(.badRequest) }
        let match = self.calls.firstIndex { $0.isNamed(by: replaces) }
        guard let match else { return .refuse(.callOrTransactionDoesNotExist) }
        let call = self.calls[match]
        switch call.machine.state {
        case .accepted, .answering, .connected, .changing, .deciding, .reaccepted:
            return replaces.isEarlyOnly ? .refuse(.busyHere) : .call(call.handle)
        case .calling, .proceeding, .decidingEarly:
            return .call(call.handle)
        case .offered:
            // An early dialog that the other side made is not to be replaced.
            return .refuse(.callOrTransactionDoesNotExist)
        case .cancelHeld, .cancelling, .closing, .ending, .ended:
            return .refuse(.decline)
        }
    }

    /// Our 2xx is out: the other call is over.
    mutating func takePlace(of other: CallHandle?, now: Instant) {
        guard let other, let index = self.callIndex(other) else { return }
        if self.calls[index].machine.isEstablished { self.drop(index, .replaced, .normal, now: now) }
        guard self.calls[index].machine.state != .ended else { return }
        self.hangUp(at: index, .normal, as: .replaced, now: now)
    }
}

extension Call {
    fileprivate func isNamed(by replaces: Replaces) -> Bool {
        guard self.callID == replaces.callID, self.localTag == replaces.toTag else { return false }
        // A peer of RFC 2543 has no tag; it is written as 0 (section 6.1).
        func matches(_ tag: ByteString?) -> Bool { tag.map { $0 == replaces.fromTag } ?? (replaces.fromTag == "0") }
        if let dialog = self.dialog { return matches(dialog.remoteTag) }
        return self.early.contains { matches($0.dialog.remoteTag) }
    }
}
