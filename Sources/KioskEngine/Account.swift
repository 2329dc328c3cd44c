// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire

/// Where the registration of one account is. It is never given up: after a failure it is tried again after 1, 2, 4 …
/// 60 s, counted from the beginning of the try before, for as long as the kiosk runs.
struct Account {
    enum State: Equatable {
        /// Not wanted now.
        case off
        /// Where the registrar is, is asked. `held` is what was granted before, and still is.
        case lookingUp(ResolutionID, deadline: Instant, held: Registered?)
        /// REGISTER is out on `flow`; `left` are the ways to try after it.
        case registering(left: [Flow])
        /// SIP refreshes it by itself.
        case registered(Registered)
        case waiting(until: Instant)
        /// The binding is being removed.
        case leaving
    }

    /// What the engine around it is to do.
    enum Action: Equatable {
        case doNothing
        case lookUp
        case register(Flow)
        case unregister
    }

    let id: RegistrationID
    let settings: AccountSettings
    private(set) var state = State.off
    /// The way that was tried last.
    private(set) var flow: Flow?
    /// Whether the last try failed: others may stand in, and the screen says so.
    private(set) var isFailing = false
    /// A certificate of its servers was refused since it was registered last.
    var isUntrusted = false
    /// Where the servers of the account are, as far as that was ever found.
    private(set) var addresses: [IPAddress] = []
    private var failures = 0
    private var began = Instant.zero
    private var granted = Instant.zero

    /// Ways of one try.
    static let flowsMax = 4
    static let periodMsMax = 60_000
    /// What was granted so lately is not asked for again when the network changes and our way does not.
    static let freshMs = 30_000
    /// How soon after a failure the next try may begin.
    static let pauseMs = 500
    /// How long an answer is waited for, where there is another way to try, and on the last one. All ways of a try
    /// together take less than the longest period.
    static let answerLimitMs = 4_000
    static let lastAnswerLimitMs = 16_000

    init(_ id: RegistrationID, _ settings: AccountSettings) {
        self.id = id
        self.settings = settings
    }

    var registered: Registered? {
        switch self.state {
        case .registered(let registered): return registered
        case .lookingUp(_, deadline: _, let held): return held
        case .off, .registering, .waiting, .leaving: return nil
        }
    }

    var wakesAt: Instant? {
        switch self.state {
        case .lookingUp(_, let deadline, held: _): return deadline
        case .waiting(let until): return until
        case .off, .registering, .registered, .leaving: return nil
        }
    }

    /// For `status`.
    var text: ByteString {
        switch self.state {
        case .off: return "off"
        case .lookingUp, .registering: return self.registered == nil ? "trying" : "registered"
        case .registered: return "registered"
        case .waiting: return "failed"
        case .leaving: return "leaving"
        }
    }

    // MARK: - Inputs

    /// It is wanted, and not begun yet.
    mutating func start() -> Action {
        switch self.state {
        case .off: return .lookUp
        case .lookingUp, .registering, .registered, .waiting, .leaving: return .doNothing
        }
    }

    /// It is not wanted any more.
    mutating func leave() -> Action {
        switch self.state {
        case .off, .leaving: return .doNothing
        case .lookingUp, .registering, .registered, .waiting:
            self.state = self.flow == nil ? .off : .leaving
            self.isFailing = false
            self.failures = 0
            return self.flow == nil ? .doNothing : .unregister
        }
    }

    /// Addresses, routes or the link changed: what was on its way may have no way any more.
    mutating func networkChanged() -> Action {
        switch self.state {
        case .off, .leaving: return .doNothing
        case .lookingUp, .registering, .registered, .waiting:
            self.failures = 0
            return .lookUp
        }
    }

    mutating func lookUp(as question: ResolutionID, now: Instant) {
        self.began = now
        let deadline = now + .milliseconds(KioskTimes.lookUpMs)
        self.state = .lookingUp(question, deadline: deadline, held: self.registered)
    }

    func isOwn(_ question: ResolutionID) -> Bool {
        if case .lookingUp(question, deadline: _, held: _) = self.state { return true }
        return false
    }

    /// The ways to the registrar, best first; none where it was not found.
    mutating func found(_ flows: [Flow], now: Instant, _ generator: inout Generator) -> Action {
        guard case .lookingUp(_, deadline: _, let held) = self.state else { return .doNothing }
        guard let first = flows.first else {
            // What stands goes on as long as it does.
            if let held {
                self.state = .registered(held)
            } else {
                self.fail(afterSeconds: nil, now: now, &generator)
            }
            return .doNothing
        }
        self.addresses = flows.prefix(Self.flowsMax).map { $0.remote.address }
        if let held, let flow = self.flow, flows.contains(flow), now - self.granted < .milliseconds(Self.freshMs) {
            self.state = .registered(held)
            return .doNothing
        }
        self.state = .registering(left: Array(flows.dropFirst().prefix(Self.flowsMax - 1)))
        self.flow = first
        return .register(first)
    }

    /// What became of a REGISTER.
    mutating func heard(_ event: RegistrationEvent, now: Instant, _ generator: inout Generator) -> Action {
        switch (self.state, event) {
        case (.registering, .registered(let registered)), (.registered, .registered(let registered)):
            self.isUntrusted = false
            self.granted = now
            self.state = .registered(registered)
            self.isFailing = false
            self.failures = 0
        case (.lookingUp(let question, let deadline, held: _), .registered(let registered)):
            self.granted = now
            self.state = .lookingUp(question, deadline: deadline, held: registered)
        case (.lookingUp(let question, let deadline, held: _), .refused),
            (.lookingUp(let question, let deadline, held: _), .failed):
            self.state = .lookingUp(question, deadline: deadline, held: nil)
        case (.registering(let left), .failed): return self.tryNext(left, nil, now: now, &generator)
        case (.registering(let left), .refused(let status, let seconds)):
            return self.tryNext(status.mayBeElsewhere ? left : [], seconds, now: now, &generator)
        case (.registered, .failed), (.registered, .refused):
            self.began = now
            self.fail(afterSeconds: nil, now: now, &generator)
        case (.leaving, .unregistered): self.state = .off
        case (.off, _), (.waiting, _), (.leaving, _), (.lookingUp, .unregistered), (.registering, .unregistered),
            (.registered, .unregistered):
            break
        }
        return .doNothing
    }

    mutating func timePassed(now: Instant, _ generator: inout Generator) -> Action {
        switch self.state {
        case .waiting(let until): return now >= until ? .lookUp : .doNothing
        case .lookingUp(_, let deadline, held: _):
            return now >= deadline ? self.found([], now: now, &generator) : .doNothing
        case .off, .registering, .registered, .leaving: return .doNothing
        }
    }

    // MARK: - Failures

    private mutating func tryNext(
        _ left: [Flow], _ seconds: Int?, now: Instant, _ generator: inout Generator
    ) -> Action {
        guard let next = left.first else {
            self.fail(afterSeconds: seconds, now: now, &generator)
            return .doNothing
        }
        self.state = .registering(left: Array(left.dropFirst()))
        self.flow = next
        return .register(next)
    }

    private mutating func fail(afterSeconds seconds: Int?, now: Instant, _ generator: inout Generator) {
        self.isFailing = true
        var periodMs = Self.periodMsMax
        // Kiosks that lost their server together must not come back together. At the longest period they no longer do.
        if 1_000 << self.failures < periodMs {
            periodMs = (500 + Int(generator.below(501))) << self.failures
            self.failures += 1
        }
        var until = max(self.began + .milliseconds(periodMs), now + .milliseconds(Self.pauseMs))
        if let seconds { until = max(until, now + .seconds(seconds)) }
        self.state = .waiting(until: until)
    }
}

extension StatusCode {
    /// Another server of the same domain may say something else (RFC 3263 section 4.3).
    fileprivate var mayBeElsewhere: Bool {
        self == .requestTimeout || self.statusClass == .serverFailure
    }
}
