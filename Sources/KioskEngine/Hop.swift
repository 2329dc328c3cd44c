// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire

/// One way to a server: where a request goes first.
struct Hop: Hashable {
    var transport: SIPTransport
    var remote: SocketAddress
    /// TLS: whom the certificate must name, the host of the URI before any look-up (RFC 5922 section 4). Else empty.
    var name: ByteString

    init(_ transport: SIPTransport, _ remote: SocketAddress, name: ByteString) {
        self.transport = transport
        self.remote = remote
        self.name = transport == .tls ? name : ByteString()
    }

    init(_ flow: Flow) {
        self.init(flow.transport, flow.remote, name: flow.name)
    }

    func flow(from local: SocketAddress) -> Flow {
        Flow(transport: self.transport, local: local, remote: self.remote, name: self.name)
    }
}

/// The hops that failed lately. They are tried last, and never left out: what is tried last may be all there is.
struct HopMemory {
    static let entriesMax = 32
    /// How long the first failure counts. Each one after it that no success came between counts twice as long as the
    /// one before.
    static let firstMs = 120_000
    static let longestMs = 1_800_000

    private struct Entry {
        let hop: Hop
        var lengthMs: Int
        var until: Instant
    }

    private var entries: [Entry] = []

    mutating func failed(_ hop: Hop, now: Instant) {
        var entry = Entry(hop: hop, lengthMs: Self.firstMs, until: now)
        if let known = self.entries.firstIndex(where: { $0.hop == hop }) {
            entry.lengthMs = min(self.entries.remove(at: known).lengthMs * 2, Self.longestMs)
        } else if self.entries.count >= Self.entriesMax {
            self.entries.removeFirst()
        }
        entry.until = now + .milliseconds(entry.lengthMs)
        self.entries.append(entry)
    }

    mutating func worked(_ hop: Hop) {
        self.entries.removeAll { $0.hop == hop }
    }

    func isBad(_ hop: Hop, now: Instant) -> Bool {
        self.entries.contains { $0.hop == hop && now < $0.until }
    }

    /// The same hops: the good ones first, in the order given, then the bad ones, the one first that soonest counts as
    /// good again.
    func sorted(_ hops: [Hop], now: Instant) -> [Hop] {
        var bad: [(hop: Hop, until: Instant)] = []
        var sorted: [Hop] = []
        for hop in hops {
            guard let entry = self.entries.first(where: { $0.hop == hop }), now < entry.until else {
                sorted.append(hop)
                continue
            }
            let place = bad.firstIndex { entry.until < $0.until } ?? bad.count
            bad.insert((hop, entry.until), at: place)
        }
        return sorted + bad.map { $0.hop }
    }
}
