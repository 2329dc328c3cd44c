// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// What the person at the panel is heard and seen with at first.
public enum CallStart: Sendable {
    case normal
    case muted
    /// The own camera is not sent; the far end's picture is shown.
    case noVideo
    /// No pictures either way.
    case audio
}

/// How one press calls: whom, in which order, for how long, and what makes an answer one.
struct CallOrder: Equatable {
    var steps: [CallStep]
    /// How often all of them are called, at most.
    var cycles = 1
    /// Between two cycles.
    var pause = Duration.zero
    /// For targets without one of their own.
    var ringTimeout: Duration
    /// So long whoever answers has to press a key, which no machine does; nil where every answer counts.
    var confirmTimeout: Duration?
    var start = CallStart.normal
    /// Which button it was; nil where it was none.
    var button: ButtonName?

    init(_ steps: [CallStep], ringTimeout: Duration) {
        self.steps = steps
        self.ringTimeout = ringTimeout
    }
}

extension Configuration {
    /// What a press of this button asks for; nil where nobody is named.
    func order(for button: ButtonName) -> CallOrder? {
        let settings = self[button]
        let steps = settings.steps.isEmpty ? self.call.steps : settings.steps
        guard var order = self.order(steps) else { return nil }
        order.button = button
        order.start = settings.start
        if let ms = settings.ringTimeoutMs { order.ringTimeout = .milliseconds(ms) }
        return order
    }

    /// As every call is placed; nil where nobody is named, or where a domain is missing.
    func order(_ steps: [CallStep]) -> CallOrder? {
        guard !steps.isEmpty, let steps = self.completed(steps) else { return nil }
        var order = CallOrder(steps, ringTimeout: .milliseconds(self.call.ringTimeoutMs))
        order.cycles = self.call.cycles
        order.pause = .milliseconds(self.call.pauseMs)
        if self.call.isConfirmed { order.confirmTimeout = .milliseconds(self.call.confirmTimeoutMs) }
        return order
    }
}

extension CallSettings {
    /// Nil for as long as it likes.
    var maxDuration: Duration? { self.maxDurationMs > 0 ? .milliseconds(self.maxDurationMs) : nil }
}

/// Where one press is in its order, and what came of the targets before.
struct CallPlan: Equatable {
    /// A target that did not answer.
    struct Failure: Equatable {
        var peer: ByteString
        var outcome: CallOutcome
    }

    /// What comes next.
    enum Next: Equatable {
        case step(CallStep)
        /// Then `begin`.
        case pause(Duration)
        case over
    }

    let order: CallOrder?
    private var step = 0
    private(set) var cycle = 1
    /// The newest of them.
    private(set) var failures: [Failure] = []
    /// How many are kept.
    static let failuresMax = 16

    /// Of a call that nothing comes after.
    init() {
        self.order = nil
    }

    init(_ order: CallOrder) {
        self.order = order
    }

    var current: CallStep? {
        guard let order = self.order, self.step < order.steps.count else { return nil }
        return order.steps[self.step]
    }

    /// How long the current step may ring; nil where the call has no plan.
    var ringTimeout: Duration? {
        guard let order = self.order, let step = self.current else { return nil }
        return .milliseconds(step.ringTimeoutMs(order.ringTimeout.milliseconds))
    }

    /// Whether anybody is left after the current step.
    var hasNext: Bool {
        guard let order = self.order else { return false }
        return self.step + 1 < order.steps.count || self.cycle < order.cycles
    }

    /// Moves on to the next step, or to the first one of the next cycle.
    mutating func next() -> Next {
        guard let order = self.order, self.hasNext else { return .over }
        self.step += 1
        if self.step < order.steps.count { return .step(order.steps[self.step]) }
        self.step = 0
        self.cycle += 1
        return order.pause > .zero ? .pause(order.pause) : .step(order.steps[0])
    }

    mutating func note(_ peer: ByteString, _ outcome: CallOutcome) {
        if self.failures.count == Self.failuresMax { self.failures.removeFirst() }
        self.failures.append(Failure(peer: peer, outcome: outcome))
    }

    /// The failure that says most to the person at the panel, the last of those that say as much.
    var mostTelling: Failure? {
        var best: Failure?
        for failure in self.failures where failure.outcome.weight >= best?.outcome.weight ?? 0 { best = failure }
        return best
    }
}

extension CallOutcome {
    /// How much it says of somebody rather than of machines.
    fileprivate var weight: Int {
        switch self {
        case .refused(let status, _, let q850):
            switch RefusalMeaning(status, q850: q850) {
            case .busy, .declined: return 4
            case .noAnswer: return 3
            case .notAllowed, .wrongPassword, .unknownAddress, .doesNotFit, .overloaded, .moved, .notAccepted, .faulty,
                .impossible:
                return 2
            }
        case .notAnswered: return 3
        case .misdirected, .insecure, .waitsForTime, .unusableMedia, .notPrivate, .protocolFault: return 2
        case .noResponse, .unreachable, .unknownHost, .outOfRoom: return 1
        case .hungUp, .cancelled, .remoteHungUp, .declined, .missed, .vanished, .timeLimit, .noAddress, .stopped:
            return 0
        }
    }
}
