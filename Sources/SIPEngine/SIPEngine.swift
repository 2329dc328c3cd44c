// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// A SIP user agent without sockets, clock or randomness: calls, dialogs and transactions of RFC 3261.
///
/// One mutation, then drain, then the next mutation:
/// 1. something happens: bytes come, a flow fails, the user wants something, or the time of the last `wait` is there;
/// 2. `handle(_:now:)` takes it;
/// 3. `pollOutput()` is called until it says `.wait`; each output is carried out in order;
/// 4. the loop sleeps until that instant, or until 1.
public struct SIPEngine {
    /// Bytes of the longest text of a MESSAGE (RFC 3428 section 8: with its headers it fits in one datagram).
    public static let messageBytesMax = 1_000
    /// INFO requests of a call that may wait for their answers.
    public static let informsMax = 16
    /// Bytes of the largest request that goes in one datagram (RFC 3261 section 18.1.1).
    public static let datagramSizeSafe = 1_300
    /// Addresses of one 3xx that are told.
    public static let redirectsMax = 8
    /// Proxies that a request of ours is sent through on its first way.
    public static let routesMax = 8

    private(set) var configuration: SIPConfiguration
    public internal(set) var counters = SIPCounters()
    var calls: [Call] = []
    var clients: [ClientEntry] = []
    var servers: [ServerEntry] = []
    var referrals: [ReferralEntry] = []
    var registrations: [RegistrationEntry] = []
    var keepAlives: [KeepAliveEntry] = []
    /// Streams with bytes of a message, the one used last at the end.
    var streams: [Stream] = []
    /// The servers that we dial or register with: they may talk to us (`AccessPolicy`).
    var trusted: [IPAddress] = []
    var credentials: [Credential] = []
    /// Challenges that were answered, the newest at the end.
    var spaces: [ProtectionSpace] = []
    /// The last messages in and out, secrets removed.
    public internal(set) var trace: SIPTrace
    private var generator: Generator
    /// Makes the To tags of answers that keep no state: the same for copies of a request, and not to be guessed.
    let tagSecret: UInt64
    private var lastNumber: UInt64 = 0
    private var outputs: [Output] = []
    /// How many of `outputs` were taken.
    private var taken = 0

    public init(configuration: SIPConfiguration, seed: UInt64) {
        self.configuration = configuration
        self.trace = SIPTrace(isKept: configuration.keepsTrace)
        self.generator = Generator(seed: seed)
        self.tagSecret = self.generator.next()
    }

    /// A handle for a call to place, never given before.
    public mutating func newHandle() -> CallHandle {
        CallHandle(number: self.newNumber())
    }

    public mutating func handle(_ input: Input, now: Instant) {
        precondition(self.taken == self.outputs.count, "every output is taken before the next input")
        self.outputs.removeAll(keepingCapacity: true)
        self.taken = 0
        self.trace.now = now
        switch input {
        case .received(let bytes, let flow): self.received(bytes, on: flow, now: now)
        case .flowFailed(let flow): self.flowFailed(flow, now: now)
        case .invite(let handle, let request): self.placeCall(handle, request, now: now)
        case .respond(let handle, let status, let body): self.respond(handle, status, body: body, now: now)
        case .hangUp(let handle, let reason): self.hangUp(handle, reason, now: now)
        case .reoffer(let handle, let offer): self.reoffer(handle, offer, now: now)
        case .acknowledge(let handle, let answer): self.acknowledge(handle, answer, now: now)
        case .inform(let handle, let type, let body): self.inform(handle, type, body, now: now)
        case .followReferral(let handle, let other, let isLast):
            self.followReferral(handle, by: other, isLast: isLast, now: now)
        case .concludeReferral(let handle, let status): self.concludeReferral(handle, status)
        case .refuseReferral(let handle, let status): self.refuseReferral(handle, status, now: now)
        case .message(let id, let destination, let text): self.sendMessage(id, destination, text, now: now)
        case .move(let handle, let address): self.move(handle, to: address, now: now)
        case .register(let id, let request): self.register(id, request, now: now)
        case .unregister(let id, let limitMs): self.unregister(id, withinMs: limitMs, now: now)
        case .probe(let id, let target, let flow): self.probe(id, target, flow, now: now)
        case .trust(let addresses): self.trust(addresses)
        case .credentials(let credentials): self.setCredentials(credentials)
        case .configure(let configuration): self.configuration = configuration
        case .timeout: self.fireTimers(now: now)
        }
        self.settleReferrals(now: now)
        self.sendWaitingChanges(now: now)
        self.sweep()
        self.tendKeepAlives(now: now)
    }

    /// The next thing to do; `wait` when there is nothing more.
    public mutating func pollOutput() -> Output {
        guard self.taken < self.outputs.count else { return .wait(until: self.nextWakeUp?.at) }
        defer { self.taken += 1 }
        return self.outputs[self.taken]
    }

    /// When the engine wants to be called next, and why.
    public var nextWakeUp: WakeUp? {
        var next: WakeUp?
        for index in self.calls.indices { next = .sooner(next, self.calls[index].nextWakeUp) }
        for index in self.clients.indices { next = .sooner(next, self.clients[index].nextWakeUp) }
        for index in self.servers.indices { next = .sooner(next, self.servers[index].nextWakeUp) }
        for index in self.referrals.indices { next = .sooner(next, self.referrals[index].machine.timers.next) }
        for index in self.registrations.indices { next = .sooner(next, self.registrations[index].machine.timers.next) }
        for index in self.keepAlives.indices { next = .sooner(next, self.keepAlives[index].machine.timers.next) }
        return next
    }

    /// Nothing is left of any call: no call, no transaction, no timer. Registrations live on.
    public var isIdle: Bool {
        self.calls.isEmpty && self.clients.isEmpty && self.servers.isEmpty && self.referrals.isEmpty
    }

    /// Calls that are not over, the ones that are ending on the wire included.
    public var callCount: Int { self.calls.count }

    // MARK: - Time

    private mutating func fireTimers(now: Instant) {
        // What a timer starts is not due yet, so entries added meanwhile need no look.
        for index in self.clients.indices {
            while let timer = self.clients[index].expire(now: now) {
                self.clientFired(timer, at: index, now: now)
            }
        }
        for index in self.servers.indices {
            while let timer = self.servers[index].expire(now: now) {
                self.serverFired(timer, at: index, now: now)
            }
        }
        for index in self.referrals.indices {
            while let timer = self.referrals[index].machine.expire(now: now) {
                self.referralFired(timer, at: index, now: now)
            }
        }
        for index in self.registrations.indices {
            while let timer = self.registrations[index].machine.expire(now: now) {
                self.registrationFired(timer, at: index, now: now)
            }
        }
        for index in self.keepAlives.indices {
            while let timer = self.keepAlives[index].machine.expire(now: now) {
                self.keepAliveFired(timer, at: index, now: now)
            }
        }
        for index in self.calls.indices {
            while let timer = self.calls[index].expire(now: now) {
                self.callFired(timer, at: index, now: now)
            }
        }
    }

    /// Entries are only thrown away here, so that an index holds for the length of one input.
    private mutating func sweep() {
        self.calls.removeAll { $0.machine.state == .ended }
        self.clients.removeAll { $0.isTerminated }
        self.servers.removeAll { $0.isTerminated }
        self.referrals.removeAll { $0.machine.state == .ended }
        self.registrations.removeAll { $0.machine.state == .ended }
    }

    // MARK: - For the verbs

    mutating func send(_ bytes: [UInt8], on flow: Flow) {
        self.trace.record(bytes, on: flow, isSent: true)
        self.outputs.append(.send(bytes, on: flow))
    }

    mutating func close(_ flow: Flow) {
        self.outputs.append(.close(flow))
    }

    mutating func tell(_ handle: CallHandle, _ event: CallEvent) {
        self.put(.event(handle, event))
        self.noteProgress(of: handle, event)
    }

    mutating func put(_ output: Output) {
        self.outputs.append(output)
    }

    static let branchDigits = 16
    static let tagDigits = 16
    static let callIDDigits = 32

    mutating func newNumber() -> UInt64 {
        self.lastNumber &+= 1
        return self.lastNumber
    }

    mutating func newBranch() -> ByteString {
        Via.magicCookie + self.generator.token(digits: Self.branchDigits)
    }

    mutating func newTag() -> ByteString {
        self.generator.token(digits: Self.tagDigits)
    }

    mutating func newCallID() -> ByteString {
        self.generator.token(digits: Self.callIDDigits)
    }

    mutating func random(below bound: UInt64) -> UInt64 {
        self.generator.below(bound)
    }
}

extension WakeUp {
    static func sooner(_ left: WakeUp?, _ right: WakeUp?) -> WakeUp? {
        guard let left else { return right }
        guard let right else { return left }
        return right.at < left.at ? right : left
    }
}
