// SPDX-License-Identifier: Apache-2.0

import Bytes

/// Where a stream comes from and goes to (symmetric RTP, RFC 4961; learning as RFC 7362 section 4 describes it).
///
/// The first valid source is learned once; another cannot take the stream over later. Only the announced address itself
/// always may: whoever was quicker than the peer loses the stream to it.
///
/// A source is learned from the host that was announced, or from the one that the signalling comes from. From anywhere
/// only where the announced address means nothing here: a private one, from a peer whose signalling comes from outside.
/// What is sent would else go to whoever sends to the port first, the party of a former call among them.
struct Latch {
    private enum State {
        /// Nothing came yet since the address was announced; before, `former` was the source.
        case open(former: SocketAddress?)
        /// The former source goes on. These may be its last packets, still under way, so that another may yet follow;
        /// after some it is the stream.
        case lingering(SocketAddress, packets: Int)
        /// Silent since; meanwhile what is sent still goes there.
        case reopened(SocketAddress)
        case latched(SocketAddress)
    }

    private var announced: SocketAddress
    private let signalling: IPAddress?
    private var state = State.open(former: nil)

    /// - Parameter signalling: the host that the peer's signalling comes from.
    init(announced: SocketAddress, signalling: IPAddress? = nil) {
        self.announced = announced
        self.signalling = signalling
    }

    /// Whether the stream may come from there.
    func mayLearn(_ source: SocketAddress) -> Bool {
        if source.address == self.announced.address { return true }
        guard let signalling = self.signalling else { return false }
        return source.address == signalling || self.announced.address.isPrivate && !signalling.isPrivate
    }

    /// The session description has another address: what was learned counts no more.
    mutating func follow(_ announced: SocketAddress) {
        guard announced != self.announced else { return }
        self.announced = announced
        switch self.state {
        case .open: break
        case .lingering(let source, _), .reopened(let source), .latched(let source): self.state = .open(former: source)
        }
    }

    /// Whether the peer gave an address at all: none means hold in the old style (RFC 3264 section 8.4).
    private var isAnnounced: Bool { !self.announced.address.isUnspecified && self.announced.port != 0 }

    /// Where to send; nil: nowhere.
    var target: SocketAddress? {
        guard self.isAnnounced else { return nil }
        switch self.state {
        case .open: return self.announced
        case .lingering(let source, _), .reopened(let source), .latched(let source): return source
        }
    }

    /// Whether a packet, found valid, is let in from `source`.
    mutating func admits(_ source: SocketAddress) -> Bool {
        switch self.state {
        case .open(let former):
            if source == former && source != self.announced {
                self.state = .lingering(source, packets: 1)
                return true
            }
            return self.learn(source)
        case .lingering(let known, let packets):
            guard source == known && packets < MediaLimits.lingeringPacketsMax else { return self.learn(source) }
            self.state = .lingering(source, packets: packets + 1)
            return true
        case .reopened:
            return self.learn(source)
        case .latched(let known):
            if source == known { return true }
            guard source == self.announced else { return false }
            self.state = .latched(source)
            return true
        }
    }

    private mutating func learn(_ source: SocketAddress) -> Bool {
        guard self.mayLearn(source) else { return false }
        self.state = .latched(source)
        return true
    }

    /// The source fell silent: the next may come from elsewhere.
    mutating func reopen() {
        switch self.state {
        case .open, .reopened: break
        case .lingering(let source, _), .latched(let source): self.state = .reopened(source)
        }
    }
}
