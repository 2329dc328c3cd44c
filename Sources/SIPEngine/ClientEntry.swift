// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// One request of ours that may still be sent again, or be answered.
struct ClientEntry {
    enum Machine {
        case invite(InviteClientTransaction)
        case other(ClientTransaction)
    }

    /// Whose request it is.
    enum Purpose: Equatable {
        case invite(CallHandle)
        case cancel
        case bye(CallHandle)
        case reinvite(CallHandle)
        /// The UPDATE that keeps a session alive.
        case refresh(CallHandle)
        case prack
        /// The BYE for a branch of a fork that was too slow, or whose call is gone.
        case discard
        /// A BYE that is said once more (`sayByeAgain`).
        case lastBye
        case inform(CallHandle)
        case message(MessageID)
        case probe(ProbeID)
        /// About the REFER of this number.
        case notify(UInt64)
        case register(RegistrationID)
    }

    /// The number of our last request in the early dialog of a tag.
    struct EarlyNumber {
        let remoteTag: ByteString?
        var number: UInt32
    }

    struct UnheardBye {
        let request: SIPMessage
        /// As that of the entry.
        var lastNumber: UInt32
    }

    /// A 2xx that was acknowledged, so that its copies are, too.
    struct Acknowledged {
        let remoteTag: ByteString?
        /// The ACK, without its Via and with it.
        let request: SIPMessage
        var bytes: [UInt8]
        var flow: Flow
        /// As that of the entry.
        var insteadOf: Flow?
        /// The BYE that ended this dialog and reached nobody, as it was sent.
        var unheardBye: UnheardBye?
    }

    let purpose: Purpose
    let request: SIPMessage
    let method: Method
    /// CSeq.
    let number: UInt32
    /// BYE only: the number of our last request in its dialog; NOTIFYs may come after it.
    var lastNumber: UInt32
    let branch: ByteString
    let bytes: [UInt8]
    let flow: Flow
    /// The way of datagrams that a request too large for one was meant to go.
    let insteadOf: Flow?
    var machine: Machine
    /// Re-INVITE only: what its ACK needs where the call is over.
    let dialog: Dialog?
    /// INVITE only: the dialogs that its 2xx made, the call's own among them.
    var acknowledged: [Acknowledged] = []
    /// INVITE only: the last numbers that we used in its early dialogs, which a 2xx goes on from; the call may be over
    /// by then.
    var earlyNumbers: [EarlyNumber] = []
    /// INVITE only: the ACK for its 300–699.
    var acknowledgement: [UInt8]?
    var authorization: Authorization

    var nextWakeUp: WakeUp? {
        switch self.machine {
        case .invite(let machine): return machine.timers.next
        case .other(let machine): return machine.timers.next
        }
    }

    /// One timer that is due; nil when none is left.
    mutating func expire(now: Instant) -> SIPTimer? {
        switch self.machine {
        case .invite(var machine):
            defer { self.machine = .invite(machine) }
            return machine.expire(now: now)
        case .other(var machine):
            defer { self.machine = .other(machine) }
            return machine.expire(now: now)
        }
    }

    var isTerminated: Bool {
        switch self.machine {
        case .invite(let machine): return machine.state == .terminated
        case .other(let machine): return machine.state == .terminated
        }
    }

    /// Takes note of a number used in an early dialog. The call bounds how many there are.
    mutating func noteEarly(_ number: UInt32, _ remoteTag: ByteString?) {
        if let known = self.earlyNumbers.firstIndex(where: { $0.remoteTag == remoteTag }) {
            self.earlyNumbers[known].number = number
        } else {
            self.earlyNumbers.append(EarlyNumber(remoteTag: remoteTag, number: number))
        }
    }

    /// The way that a dialog goes which this request makes.
    var dialogFlow: Flow { self.insteadOf ?? self.flow }

    /// Whether it only waits for copies of an answer that was used.
    var isLingering: Bool {
        switch self.machine {
        case .invite(let machine):
            switch machine.state {
            case .accepted, .completed, .abandoned: return true
            case .calling, .proceeding, .terminated: return false
            }
        case .other(let machine): return machine.state == .completed
        }
    }
}
