// SPDX-License-Identifier: Apache-2.0

import Bytes

/// Which way media flows, in the eyes of whoever wrote the description (RFC 8866 section 6.7).
public enum Direction: Hashable, Sendable, CaseIterable {
    case sendrecv, sendonly, recvonly, inactive

    public init(sends: Bool, receives: Bool) {
        switch (sends, receives) {
        case (true, true): self = .sendrecv
        case (true, false): self = .sendonly
        case (false, true): self = .recvonly
        case (false, false): self = .inactive
        }
    }

    /// Reads the name of a direction attribute.
    public init?(_ name: ByteString) {
        guard let direction = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = direction
    }

    public var sends: Bool { self == .sendrecv || self == .sendonly }
    public var receives: Bool { self == .sendrecv || self == .recvonly }

    /// The same flow in the eyes of the other side.
    public var reversed: Direction { Direction(sends: self.receives, receives: self.sends) }

    /// What may flow when the other side's description says `self` and we want `wish`: our own direction, and the one
    /// our answer says (RFC 3264 section 6.1).
    public func answer(wish: Direction) -> Direction {
        Direction(sends: self.receives && wish.sends, receives: self.sends && wish.receives)
    }

    public var name: ByteString {
        switch self {
        case .sendrecv: return "sendrecv"
        case .sendonly: return "sendonly"
        case .recvonly: return "recvonly"
        case .inactive: return "inactive"
        }
    }
}
