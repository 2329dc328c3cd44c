// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire

/// Why a call is over, as the person at the panel and the operator want to know it.
enum CallOutcome: Equatable {
    /// Ended here after the answer.
    case hungUp
    /// Ended here before the answer.
    case cancelled
    case remoteHungUp
    /// The person at the panel did not want a call from outside.
    case declined
    /// A call from outside that nobody here answered, or whose caller gave up.
    case missed
    /// A final answer other than yes, with the words the far end put beside it and the cause that a telephone network
    /// gave (ITU-T Q.850).
    case refused(StatusCode, phrase: ByteString, q850: Int?)
    /// Sent elsewhere in circles, too often, or only to where we cannot call.
    case misdirected(StatusCode)
    /// It rang for `ring_timeout`.
    case notAnswered
    /// Nothing at all came back (timer B).
    case noResponse
    /// The network says that nobody is there.
    case unreachable
    case unknownHost
    /// TLS with the server could not be had; the words say why. The reason is nil where it was not the certificate.
    case insecure(ByteString, CertificateReason? = nil)
    /// The server's certificate cannot be judged before somebody tells us the time.
    case waitsForTime
    /// Nothing was received for `media_timeout`.
    case vanished
    /// It lasted for `max_duration`.
    case timeLimit
    /// The far end answered with media that do not fit ours, or with something that is no session description.
    case unusableMedia
    /// What is said and shown would not have been secret, and has to be.
    case notPrivate
    case protocolFault(ByteString)
    /// The file names nobody to call.
    case noAddress
    /// Former calls are still ending in the background.
    case outOfRoom
    /// The program ends.
    case stopped

    /// `fault` is why the flow failed, where TLS says.
    init(_ reason: EndReason, wasAnswered: Bool, fault: TLSFault? = nil) {
        switch reason {
        case .localHangUp: self = wasAnswered ? .hungUp : .cancelled
        case .remoteHangUp: self = .remoteHungUp
        case .cancelled: self = .cancelled
        case .refused(let status, let phrase, let q850): self = .refused(status, phrase: phrase, q850: q850)
        case .replaced: self = .remoteHungUp
        case .redirected(let status, _): self = .misdirected(status)
        case .timedOut: self = wasAnswered ? .vanished : .noResponse
        case .flowFailed: self = wasAnswered ? .vanished : fault?.outcome ?? .unreachable
        case .protocolFault(let text): self = .protocolFault(text)
        case .tooManyCalls: self = .outOfRoom
        }
    }

    /// How an outcome is shown and heard.
    enum Manner: Equatable {
        /// Somebody here wanted it: back to idle at once.
        case silent
        /// Nothing is wrong: shown for a short while.
        case farewell(Tone)
        /// Shown for as long as it takes to read, with the fault lamp.
        case failure(Tone)
    }

    var manner: Manner {
        switch self {
        case .hungUp, .cancelled, .declined, .stopped: return .silent
        case .remoteHungUp, .timeLimit: return .farewell(.busy)
        case .missed: return .farewell(.none)
        case .refused(let status, _, let q850): return .failure(RefusalMeaning(status, q850: q850).tone)
        case .notAnswered, .noResponse: return .failure(.busy)
        case .misdirected, .unreachable, .unknownHost, .insecure, .waitsForTime, .vanished, .unusableMedia, .notPrivate,
            .protocolFault, .noAddress, .outOfRoom:
            return .failure(.error)
        }
    }

    /// The stable word for programs.
    var reason: ByteString {
        switch self {
        case .hungUp: return "hangup"
        case .cancelled: return "cancelled"
        case .remoteHungUp: return "remote-hangup"
        case .declined: return "declined"
        case .missed: return "missed"
        case .refused: return "refused"
        case .misdirected: return "misdirected"
        case .notAnswered: return "not-answered"
        case .noResponse: return "no-response"
        case .unreachable: return "unreachable"
        case .unknownHost: return "unknown-host"
        case .insecure: return "insecure"
        case .waitsForTime: return "waits-for-time"
        case .vanished: return "vanished"
        case .timeLimit: return "time-limit"
        case .unusableMedia: return "unusable-media"
        case .notPrivate: return "not-private"
        case .protocolFault: return "protocol-fault"
        case .noAddress: return "no-address"
        case .outOfRoom: return "out-of-room"
        case .stopped: return "stopped"
        }
    }

    /// The SIP status that ended the call, or the one that would say the same; 0 where there is none.
    var code: Int {
        switch self {
        case .refused(let status, _, _), .misdirected(let status): return status.value
        case .notAnswered, .noResponse: return 408
        case .declined: return 603
        case .missed: return 480
        case .unusableMedia, .notPrivate: return 488
        case .unreachable, .insecure, .waitsForTime, .outOfRoom: return 503
        case .unknownHost: return 404
        case .hungUp, .cancelled, .remoteHungUp, .vanished, .timeLimit, .protocolFault, .noAddress, .stopped:
            return 0
        }
    }

    /// What the far end or a parser said, for the log; empty where nobody said anything.
    var phrase: ByteString {
        switch self {
        case .refused(_, let phrase, _): return phrase
        case .protocolFault(let text), .insecure(let text, _): return text
        case .hungUp, .cancelled, .remoteHungUp, .declined, .missed, .misdirected, .notAnswered, .noResponse,
            .unreachable, .unknownHost, .waitsForTime, .vanished, .timeLimit, .unusableMedia, .notPrivate, .noAddress,
            .outOfRoom, .stopped:
            return ""
        }
    }
}
