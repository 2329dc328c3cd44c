// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire

/// Whom one press has tried, and who is left to try: a far end may name others in its place (3xx, RFC 3261 section
/// 8.1.3.4), these again others, and some of them may lead in circles.
struct Targets: Equatable {
    /// How often one press may be sent elsewhere.
    static let redirectionsMax = 5
    /// How many addresses one press may try.
    static let targetsMax = 8

    private(set) var current: SIPURI
    /// The ways to it, the one in use first and then those that are left (RFC 3263 section 4.3). Empty until they are
    /// found.
    private(set) var ways: [Flow] = []
    /// What the INVITE to each of them has beside what every INVITE has.
    let headers: [Header]
    /// Best first.
    private(set) var left: [SIPURI] = []
    private var tried: [SIPURI]
    private var redirections = 0
    /// The current target refused the newer profile of what we offer.
    private(set) var wantsOlderOffer = false

    init(_ uri: SIPURI, headers: [Header] = []) {
        self.current = uri
        self.headers = headers
        self.tried = [uri]
    }

    /// The current target named others, best first: they go before those that are left. Nothing comes of it where that
    /// is one time too many, and of those that were tried already or that cannot be called.
    mutating func redirect(to uris: [SIPURI]) {
        guard self.redirections < Self.redirectionsMax else { return }
        self.redirections += 1
        var fresh: [SIPURI] = []
        for uri in uris {
            guard self.tried.count + self.left.count + fresh.count < Self.targetsMax else { break }
            // What was to be encrypted all the way stays so.
            guard let plain = uri.callable, plain.isSecure || !self.current.isSecure,
                !(self.tried + self.left + fresh).contains(where: { $0.isEquivalent(to: plain) })
            else {
                continue
            }
            fresh.append(plain)
        }
        self.left = fresh + self.left
    }

    /// Moves on to the best that is left; false where there is none.
    mutating func next() -> Bool {
        guard !self.left.isEmpty else { return false }
        self.current = self.left.removeFirst()
        self.tried.append(self.current)
        self.ways = []
        self.wantsOlderOffer = false
        return true
    }

    mutating func found(_ ways: [Flow]) {
        self.ways = ways
    }

    /// Tries the same way once more with the older offer; false where that was done.
    mutating func offerAgain() -> Bool {
        guard !self.wantsOlderOffer else { return false }
        self.wantsOlderOffer = true
        return true
    }

    /// Moves on to the next way to the current target; false where there is none.
    mutating func nextWay() -> Bool {
        guard self.ways.count > 1 else { return false }
        self.ways.removeFirst()
        return true
    }
}

extension SIPURI {
    /// As an address that a peer names may be called: without headers, which are not its to choose (RFC 3261 section
    /// 19.1.5). Nil where we cannot call it.
    var callable: SIPURI? {
        guard self.port != 0 else { return nil }
        if let name = self.transport {
            guard let transport = SIPTransport(name), transport != .udp || !self.isSecure else { return nil }
        }
        var uri = self
        uri.headers = []
        return uri
    }
}
