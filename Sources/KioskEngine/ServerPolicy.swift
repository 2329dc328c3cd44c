// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// The servers that the file lists, and which of them is in use. All that we send outside of calls goes to them,
/// whatever host it is for (RFC 3261 section 8.1.2: local policy may name another place to send to). The one in use
/// stays until another has taken a call in its place; `failback` says how the first comes back.
struct ServerPolicy {
    /// How often a probe is sent to the server in use, and to the first where that may come back.
    static let probeMs = 20_000
    /// So long the first server answers every probe before it is used again.
    static let steadyMs = 60_000

    enum Health: Equatable {
        case unknown
        case good
        case bad

        var text: ByteString {
            switch self {
            case .unknown: return "unknown"
            case .good: return "ok"
            case .bad: return "bad"
            }
        }
    }

    let servers: [SIPURI]
    private let failback: ServerSettings.Failback
    private(set) var current = 0
    private(set) var health: [Health]
    /// The hops of each, as they were found last.
    private var hops: [[Hop]] = []
    /// The first and the last probe in a row that the first server has answered while it was not in use.
    private var steady: ClosedRange<Instant>?
    /// When the next probes are due; nil where there is nothing to choose.
    private(set) var probesAt: Instant?

    init(_ settings: ServerSettings, now: Instant) {
        self.servers = settings.proxies
        self.failback = settings.failback
        self.health = settings.proxies.map { _ in .unknown }
        if settings.proxies.count > 1 { self.probesAt = now + .milliseconds(Self.probeMs) }
    }

    // MARK: - Using them

    /// What was found of each server, as one list: the one in use first, then those after it in the order of the file,
    /// then those before it. None has so many hops that another gets none.
    mutating func found(_ hops: [[Hop]]) -> [Hop] {
        // Looked for when the file listed others.
        guard hops.count == self.servers.count else { return hops.flatMap { $0 } }
        self.hops = hops
        let share = max(2, ServerSearch.hopsMax / max(1, hops.count))
        let order = hops.indices.map { (self.current + $0) % hops.count }
        return order.flatMap { hops[$0].prefix(share) }
    }

    /// A server has answered. True where it is now the one in use, and was not before.
    mutating func worked(_ hop: Hop) -> Bool {
        guard let server = self.hops.firstIndex(where: { $0.contains(hop) }) else { return false }
        self.health[server] = .good
        guard server != self.current, !self.hops[self.current].contains(hop) else { return false }
        self.use(server)
        return true
    }

    mutating func failed(_ hop: Hop) {
        guard let server = self.hops.firstIndex(where: { $0.contains(hop) }) else { return }
        self.health[server] = .bad
    }

    // MARK: - Coming back

    /// Whom to probe now: the one in use, and apart from it the one that is waited for.
    mutating func probe(now: Instant) -> [Int] {
        guard let due = self.probesAt, now >= due else { return [] }
        self.probesAt = now + .milliseconds(Self.probeMs)
        return self.failback == .auto && self.current != 0 ? [self.current, 0] : [self.current]
    }

    /// True where this is news.
    mutating func probed(_ server: Int, isGood: Bool, now: Instant) -> Bool {
        let before = self.health[server]
        self.health[server] = isGood ? .good : .bad
        if server == 0, self.current != 0 { self.steady = isGood ? (self.steady?.lowerBound ?? now)...now : nil }
        return before != self.health[server]
    }

    /// Whether the first server has proved itself.
    var mayComeBack: Bool {
        guard let steady = self.steady, self.failback == .auto else { return false }
        return steady.upperBound - steady.lowerBound >= .milliseconds(Self.steadyMs)
    }

    /// False where the first is in use already.
    mutating func comeBack() -> Bool {
        guard self.current != 0 else { return false }
        self.use(0)
        return true
    }

    private mutating func use(_ server: Int) {
        self.current = server
        self.steady = nil
    }
}
