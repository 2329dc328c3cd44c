// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// The addresses of the server that `[call] uri` names: they may talk to us, and so they are asked for before anybody
/// presses a button, and again now and then because servers move.
struct ServerAddresses {
    /// Nil where the file names nobody to call.
    private let host: Host?
    /// What SIP is to trust; the last that were found.
    private(set) var addresses: [IPAddress] = []
    private var question: ResolutionID?
    /// When to ask again; nil where there is nothing to ask.
    private(set) var asksAt: Instant?

    static let refreshMs = 600_000
    /// After a question that had no answer.
    static let retryMs = 60_000

    init(_ uri: SIPURI?, now: Instant) {
        self.host = uri.map { $0.maddr ?? $0.host }
        switch self.host {
        case nil: break
        case .address(let address): self.addresses = [address]
        case .name: self.asksAt = now
        }
    }

    /// Begins a question, which is taken for unanswered until `found`.
    mutating func ask(as id: ResolutionID, now: Instant) {
        self.question = id
        self.asksAt = now + .milliseconds(Self.retryMs)
    }

    func isOwn(_ id: ResolutionID) -> Bool { self.question == id }

    /// A look-up for a call to this URI answers the question too.
    func isNamed(by uri: SIPURI) -> Bool {
        self.host?.matches(uri.maddr ?? uri.host) ?? false
    }

    /// True where the addresses are others than before.
    mutating func found(_ addresses: [IPAddress], now: Instant) -> Bool {
        if case .name = self.host { self.asksAt = now + .milliseconds(Self.refreshMs) }
        self.question = nil
        guard addresses != self.addresses else { return false }
        self.addresses = addresses
        return true
    }
}
