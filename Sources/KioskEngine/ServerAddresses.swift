// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// The addresses of the servers that the file names: they may talk to us, and so they are asked for before anybody
/// presses a button, and again now and then because servers move.
struct ServerAddresses {
    /// Empty where the file names nobody to call.
    let hosts: [Host]
    /// What the file itself says.
    private let fixed: [IPAddress]
    /// What SIP is to trust; the last that were found.
    private(set) var addresses: [IPAddress]
    private var question: ResolutionID?
    /// When to ask again; nil where there is nothing to ask.
    private(set) var asksAt: Instant?

    static let addressesMax = 32
    static let refreshMs = 600_000
    /// After a question that had no answer.
    static let retryMs = 60_000

    init(_ uris: [SIPURI], now: Instant) {
        self.hosts = uris.map { $0.maddr ?? $0.host }
        self.fixed = self.hosts.compactMap {
            guard case .address(let address) = $0 else { return nil }
            return address
        }
        self.addresses = self.fixed
        if self.fixed.count < self.hosts.count { self.asksAt = now }
    }

    /// Begins a question, which is taken for unanswered until `found`.
    mutating func ask(as id: ResolutionID, now: Instant) {
        self.question = id
        self.asksAt = now + .milliseconds(Self.retryMs)
    }

    func isOwn(_ id: ResolutionID) -> Bool { self.question == id }

    /// A look-up for a call to this URI tells of one of them.
    func isNamed(by uri: SIPURI) -> Bool {
        self.hosts.contains { $0.matches(uri.maddr ?? uri.host) }
    }

    /// True where the addresses are others than before. `isComplete` where all hosts were asked for.
    mutating func found(_ addresses: [IPAddress], isComplete: Bool, now: Instant) -> Bool {
        if isComplete {
            if self.fixed.count < self.hosts.count { self.asksAt = now + .milliseconds(Self.refreshMs) }
            self.question = nil
        }
        var all = isComplete ? self.fixed : self.addresses
        for address in addresses where !all.contains(address) { all.append(address) }
        all = Array(all.prefix(Self.addressesMax))
        guard all != self.addresses else { return false }
        self.addresses = all
        return true
    }
}
