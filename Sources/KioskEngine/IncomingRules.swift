// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire

/// Who a caller has to be: `desk`, `desk@example.com`, `*@example.com`, `+4930*`. A star stands for any characters.
/// Without a host, any will do: behind a telephone server, callers have whatever host it gives them.
public struct CallerPattern: Equatable, Sendable {
    public var user: ByteString
    /// Nil for any.
    public var host: Host?

    /// `anyone`
    static let anyone = CallerPattern(user: "*", host: nil)

    func matches(_ caller: URI) -> Bool {
        guard let uri = caller.sip else { return self == Self.anyone }
        if let host = self.host, !host.matches(uri.host) { return false }
        return Self.matches((uri.decodedUser ?? ByteString()).bytes[...], self.user.bytes[...])
    }

    /// Each star is tried at every length once: at most the product of both lengths.
    private static func matches(_ text: ArraySlice<UInt8>, _ pattern: ArraySlice<UInt8>) -> Bool {
        var text = text
        var pattern = pattern
        var afterStar: (text: ArraySlice<UInt8>, pattern: ArraySlice<UInt8>)?
        while !text.isEmpty || !pattern.isEmpty {
            if pattern.first == ASCII.star {
                pattern = pattern.dropFirst()
                afterStar = (text, pattern)
            } else if let first = text.first, first == pattern.first {
                text = text.dropFirst()
                pattern = pattern.dropFirst()
            } else if let last = afterStar, !last.text.isEmpty {
                text = last.text.dropFirst()
                pattern = last.pattern
                afterStar = (text, pattern)
            } else {
                return false
            }
        }
        return true
    }
}

extension CallSettings {
    /// What becomes of a call from outside that is no call-back.
    /// - Parameter isOpen: everybody may talk to us, so that a name alone proves nothing.
    func treatment(of caller: URI, isOpen: Bool) -> Incoming {
        switch self.incoming {
        case .refuse: return .refuse
        case .ring:
            let isListed = self.incomingFrom.isEmpty || self.incomingFrom.contains { $0.matches(caller) }
            return isListed ? .ring : .refuse
        case .answer:
            // Nobody is listened to by mistake: without a list, it only rings.
            guard !self.incomingFrom.isEmpty else { return .ring }
            guard self.incomingFrom.contains(where: { $0.matches(caller) }) else { return .refuse }
            return isOpen && !self.incomingFrom.contains(.anyone) ? .ring : .answer
        }
    }
}

/// Who was called, and so may call back for a while: whoever was cut off, or has asked somebody and knows the answer.
struct CallBacks {
    private struct Entry {
        var uri: SIPURI
        /// Where the call went.
        var address: IPAddress
        var until: Instant
        /// The call that it was placed for still goes on.
        var isCalled = true
    }

    private var entries: [Entry] = []
    static let countMax = 16

    /// When the next one is over.
    var endsAt: Instant? { self.entries.lazy.filter { !$0.isCalled }.map { $0.until }.min() }

    /// They may talk to us.
    var addresses: [IPAddress] { self.entries.map { $0.address } }

    mutating func called(_ uri: SIPURI, at address: IPAddress, window: Duration, now: Instant) {
        guard window > .zero else { return }
        self.entries.removeAll { $0.address == address && $0.uri.isEquivalent(to: uri) }
        if self.entries.count == Self.countMax { self.entries.removeFirst() }
        self.entries.append(Entry(uri: uri, address: address, until: now + window))
    }

    /// A call of ours is over: from now on the time counts.
    mutating func finished(window: Duration, now: Instant) {
        for index in self.entries.indices where self.entries[index].isCalled {
            self.entries[index].until = now + window
            self.entries[index].isCalled = false
        }
    }

    /// True where somebody's time is over. Nobody's is while they are called.
    mutating func expire(now: Instant) -> Bool {
        let before = self.entries.count
        self.entries.removeAll { !$0.isCalled && now >= $0.until }
        return self.entries.count < before
    }

    /// Whether this is somebody who was called: by name, from the host that was called or where the call went.
    func contains(_ caller: URI, from address: IPAddress) -> Bool {
        guard let uri = caller.sip else { return false }
        return self.entries.contains { entry in
            guard entry.address == address || entry.uri.host.matches(uri.host) else { return false }
            guard let user = entry.uri.decodedUser else { return true }
            return user == uri.decodedUser
        }
    }
}
