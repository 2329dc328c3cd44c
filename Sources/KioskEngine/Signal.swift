// SPDX-License-Identifier: Apache-2.0
import Bytes

/// What lamps and relays can tell apart.
public enum Signal: UInt8, Hashable, Sendable {
    case idle
    /// Nobody can be called from here.
    case fault
    /// The call is placed, and nobody has been reached yet.
    case calling
    /// It rings at the far end.
    case ringing
    /// Somebody calls here.
    case alerting
    case connected
    /// The call has failed.
    case failed

    public static let all: [Signal] = [.idle, .fault, .calling, .ringing, .alerting, .connected, .failed]

    /// As in `[lamp.NAME]` and `[relay.N]`.
    public var text: ByteString {
        switch self {
        case .idle: return "idle"
        case .fault: return "fault"
        case .calling: return "calling"
        case .ringing: return "ringing"
        case .alerting: return "alerting"
        case .connected: return "connected"
        case .failed: return "failed"
        }
    }
}

extension LampName {
    /// What the lamp shows where the file does not say.
    func standard(_ signal: Signal) -> LampPattern {
        switch self {
        case .call:
            switch signal {
            case .idle: return .off
            case .calling, .ringing, .alerting: return .slow
            case .connected: return .on
            case .fault, .failed: return .fast
            }
        case .answered: return signal == .connected ? .on : .off
        case .ready: return signal == .fault ? .off : .on
        case .fault: return signal == .fault || signal == .failed ? .slow : .off
        }
    }
}
