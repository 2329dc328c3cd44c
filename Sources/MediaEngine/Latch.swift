// SPDX-License-Identifier: Apache-2.0

import Bytes

/// Where a stream comes from and goes to (symmetric RTP, RFC 4961; learning as RFC 7362 section 4 describes it).
///
/// The first valid source is learned once; another cannot take the stream over later. Only the announced address itself
/// always may: whoever was quicker than the peer loses the stream to it.
struct Latch {
    private enum State {
        /// Nothing came yet.
        case open
        /// Silent since; meanwhile what is sent still goes there.
        case reopened(SocketAddress)
        case latched(SocketAddress)
    }

    private let announced: SocketAddress
    private var state = State.open

    init(announced: SocketAddress) {
        self.announced = announced
    }

    /// Whether the peer gave an address at all: none means hold in the old style (RFC 3264 section 8.4).
    private var isAnnounced: Bool { !self.announced.address.isUnspecified && self.announced.port != 0 }

    /// Where to send; nil: nowhere.
    var target: SocketAddress? {
        guard self.isAnnounced else { return nil }
        switch self.state {
        case .open: return self.announced
        case .reopened(let source), .latched(let source): return source
        }
    }

    /// Whether a packet, found valid, is let in from `source`.
    mutating func admits(_ source: SocketAddress) -> Bool {
        switch self.state {
        case .open, .reopened:
            self.state = .latched(source)
            return true
        case .latched(let known):
            if source == known { return true }
            guard source == self.announced else { return false }
            self.state = .latched(source)
            return true
        }
    }

    /// The source fell silent: the next may come from elsewhere.
    mutating func reopen() {
        if case .latched(let source) = self.state { self.state = .reopened(source) }
    }
}
