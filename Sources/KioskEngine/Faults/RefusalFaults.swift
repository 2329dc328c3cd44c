// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

extension Fault {
    /// `CB-SIP-486`: a final answer of 300–699.
    static func refused(_ status: StatusCode, q850: Int?) -> Fault {
        RefusalMeaning(status, q850: q850).fault.coded("CB-SIP-" + ByteString(decimal: status.value))
    }

    /// `CB-REG-403`: a registration that was refused.
    static func registration(_ status: StatusCode) -> Fault {
        Self.registrationRefused.coded("CB-REG-" + ByteString(decimal: status.value))
    }
}

extension RefusalMeaning {
    static let all: [RefusalMeaning] = [
        .busy, .declined, .noAnswer, .notAllowed, .wrongPassword, .unknownAddress, .doesNotFit, .overloaded, .moved,
        .notAccepted, .faulty, .impossible,
    ]

    /// Without the number of its code.
    var fault: Fault {
        switch self {
        case .busy: return .busy
        case .declined: return .refusedByHand
        case .noAnswer: return .noAnswer
        case .notAllowed: return .notAllowed
        case .wrongPassword: return .wrongPassword
        case .unknownAddress: return .unknownAddress
        case .doesNotFit: return .doesNotFit
        case .overloaded: return .overloaded
        case .moved: return .moved
        case .notAccepted: return .notAccepted
        case .faulty: return .serverFault
        case .impossible: return .impossible
        }
    }
}

// MARK: - What answers mean

extension Fault {
    private static let code: ByteString = "CB-SIP"

    fileprivate static let busy = Fault(
        Self.code, .blinks, .busy, "The other side is in another call.",
        "List further addresses to call, or let the other side queue calls."
    )
    fileprivate static let refusedByHand = Fault(
        Self.code, .blinks, .declined, "Somebody, or a rule, declined the call.", "Ask the other side."
    )
    fileprivate static let noAnswer = Fault(
        Self.code, .blinks, .noAnswer, "Nobody answered, or nobody is logged in at the called address.",
        "See that a telephone is registered there, and list further addresses to call."
    )
    fileprivate static let notAllowed = Fault(
        Self.code, .blinks, .failed, "The server forbids this call to this help point.",
        "Look at the rights of the help point's account at the server."
    )
    fileprivate static let wrongPassword = Fault(
        Self.code, .blinks, .failed, "The server asks for a password; there is none, or it is wrong.",
        "Write `auth_user` and `password` into `[sip]` again. The event `password_refused` names the realm."
    )
    fileprivate static let unknownAddress = Fault(
        Self.code, .blinks, .notReachable, "The server does not know the address to call.",
        "Look at the spelling of `uri`."
    )
    fileprivate static let doesNotFit = Fault(
        Self.code, .blinks, .failed, "The other side takes none of the offered kinds of sound and picture.",
        "Compare `[audio] codecs` and `[media] encryption` with what the other side knows."
    )
    fileprivate static let overloaded = Fault(
        Self.code, .blinks, .failed, "The server has too much to do, or is being maintained.",
        "List further servers in `[servers] proxies`."
    )
    fileprivate static let moved = Fault(
        Self.code, .blinks, .failed, "The called address has moved, and no new one was given that can be called.",
        "Write the new address as `uri`."
    )
    fileprivate static let notAccepted = Fault(
        Self.code, .blinks, .failed, "The server did not accept the call.",
        "The log has the server's words; look the number up in RFC 3261 section 21."
    )
    fileprivate static let serverFault = Fault(
        Self.code, .blinks, .failed, "The server has a fault.", "Tell whoever looks after the server."
    )
    fileprivate static let impossible = Fault(
        Self.code, .blinks, .failed, "The called address takes no calls anywhere.", "Ask the other side."
    )
}
