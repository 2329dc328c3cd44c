// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

extension CallOutcome {
    /// Nil where nothing is wrong.
    var fault: Fault? {
        switch self {
        case .hungUp, .cancelled, .remoteHungUp, .declined, .missed, .timeLimit, .stopped: return nil
        case .refused(let status, _, let q850): return .refused(status, q850: q850)
        case .misdirected: return .misdirected
        case .notAnswered: return .notAnswered
        case .noResponse: return .noResponse
        case .unreachable: return .unreachable
        case .unknownHost: return .unknownHost
        case .insecure(_, let reason): return reason?.fault ?? .handshake
        case .waitsForTime: return .unknownTime
        case .vanished: return .vanished
        case .unusableMedia: return .unusableMedia
        case .notPrivate: return .notPrivate
        case .protocolFault: return .protocolFault
        case .noAddress: return .nobodyToCall
        case .outOfRoom: return .outOfRoom
        }
    }
}

// MARK: - Calls that fail without an answer of the other side's

extension Fault {
    static let misdirected = Fault(
        "CB-CALL-LOOP", .blinks, .failed,
        "The other side sent the call elsewhere in circles, too often, or only to where this help point cannot call.",
        "Have the forwarding of the called address looked at."
    )
    static let notAnswered = Fault(
        "CB-CALL-NOANSWER", .blinks, .noAnswer,
        "It rang for the whole time of `ring_timeout`, and nobody answered.",
        "See that somebody is there, or list further addresses to call."
    )
    static let noResponse = Fault(
        "CB-NET-SILENT", .blinks, .notReachable,
        "Nothing at all came back from the server.",
        "See that the server runs, and that no firewall drops SIP on the way. `callbox trace` shows what was sent."
    )
    static let unreachable = Fault(
        "CB-NET-REACH", .blinks, .notReachable,
        "The network says that there is no way to the server, or the server takes no connection.",
        "Look at the cable, the address of the help point, the router, and the port in `uri`."
    )
    static let unknownHost = Fault(
        "CB-NET-NAME", .blinks, .notReachable,
        "The name of the server in the address to call cannot be found.",
        "Look at the spelling of the address, and at the name server (`[network] dns`)."
    )
    static let vanished = Fault(
        "CB-CALL-LOST", .blinks, .failed,
        "Nothing was received in the call for `media_timeout`, or the connection of the call broke.",
        "Look at the network between here and the other side. Where it happens in every call, a firewall drops RTP."
    )
    static let unusableMedia = Fault(
        "CB-CALL-MEDIA", .blinks, .failed,
        "The other side answered with sound or pictures of a kind that was not offered.",
        "Compare `[audio] codecs` with what the other side knows."
    )
    static let notPrivate = Fault(
        "CB-SRTP-NONE", .blinks, .failed,
        "The call would not have been encrypted, and `[media] encryption` requires it.",
        "Switch encryption on at the other side, or write `optional`."
    )
    static let handshakeOfMedia = Fault(
        "CB-SRTP-KEYS", .blinks, .failed,
        "The handshake for the keys of sound or picture failed, or was with somebody else.",
        "Look for a device on the way that changes calls. The event `not_secured` has the words of the library."
    )
    static let protocolFault = Fault(
        "CB-SIP-FAULT", .blinks, .failed,
        "The other side sent something that is no SIP.",
        "`callbox trace --messages` shows it; tell the maker of the other side."
    )
    static let nobodyToCall = Fault(
        "CB-CFG-URI", .blinks, .outOfOrder,
        "`callbox.conf` names nobody to call, or a name that cannot be used.",
        "Write the address as `uri` into `[call]`."
    )
    static let outOfRoom = Fault(
        "CB-CALL-FULL", .blinks, .failed,
        "Former calls are still ending in the background.",
        "Wait half a minute. Where it comes again, a server does not answer the end of calls."
    )

    /// One outcome of each kind that is a fault, but for refusals and certificates.
    static let outcomes: [CallOutcome] = [
        .notAnswered, .noResponse, .unreachable, .unknownHost, .misdirected(.loopDetected), .vanished, .unusableMedia,
        .notPrivate,
        .protocolFault(""), .noAddress, .outOfRoom,
    ]
}
