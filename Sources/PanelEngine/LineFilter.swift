// SPDX-License-Identifier: Apache-2.0
import Bytes

/// Makes presses and releases of what the level of one line really does: contacts bounce, cables pick up interference,
/// and edges get lost.
///
/// Time at the other level counts for a change, time back at the former one against it, and the change is taken once
/// enough is left. A level that simply stands is taken after just that time; a contact that chatters is not taken
/// before it settles; pulses much shorter than the pauses between them neither make a change nor keep one away.
/// A release needs longer than a press: it locks the line against whatever the contact does as it opens.
public struct LineFilter {
    public struct Settings: Equatable, Sendable {
        public var pressMs: Int
        public var releaseMs: Int
        /// Pressed for longer is a fault; 0 for lines that may stay so.
        public var stuckMs: Int

        public init(pressMs: Int, releaseMs: Int, stuckMs: Int) {
            self.pressMs = max(1, pressMs)
            self.releaseMs = max(1, releaseMs)
            self.stuckMs = stuckMs
        }
    }

    public enum Input: Equatable, Sendable {
        /// The kernel saw the level change then. Edges come in the order of their time.
        case edge(isActive: Bool, at: Instant)
        /// The level as it is now: makes up for edges that were lost, and tells that time has passed.
        case level(isActive: Bool)
    }

    public enum Event: Equatable, Sendable {
        case pressed
        case released
        /// It has been pressed for too long. It is still watched, and its release is told.
        case stuck
        /// It changes too often to be a finger; nothing is told of it until it has calmed down.
        case noisy
        /// What was wrong is over.
        case healed
    }

    private enum Trust: Equatable {
        case good
        case stuck
        /// Edges are not even looked at until then.
        case deaf(until: Instant)
        /// Looked at again, and believed from then on if it stays calm.
        case onTrial(until: Instant)
    }

    /// Within a window of time. A contact that chatters makes some hundred edges as it closes, and mains interference
    /// a few hundred a second.
    static let edgesMax = 700
    static let windowMs = 2_000
    static let deafMs = 4_000
    static let trialMs = 1_000
    /// How often the level is read: while a finger is there or the level has just changed, so that a release is not
    /// lost before the next press; while it stays pressed; and at rest.
    static let busyReadMs = 50
    static let heldReadMs = 1_000
    static let idleReadMs = 5_000
    /// Pressed for longer it is no finger that will soon let go.
    static let fingerMs = 10_000

    private let settings: Settings
    public private(set) var isPressed = false
    private var trust = Trust.good
    /// The level as last seen, since `seen`.
    private var isActive: Bool
    private var seen: Instant
    /// What speaks for a change.
    private var balance = Duration.zero
    private var pressedAt: Instant
    private var windowBegan: Instant
    private var edgesInWindow = 0
    private var readAt: Instant
    private var events: [Event] = []

    /// A line that is active from the beginning counts as pressed after the usual time: whoever was quicker than the
    /// program is not forgotten.
    public init(_ settings: Settings, isActive: Bool, isPressed: Bool = false, now: Instant) {
        self.settings = settings
        self.isPressed = isPressed
        self.isActive = isActive
        self.seen = now
        self.pressedAt = now
        self.windowBegan = now
        self.readAt = now
    }

    /// Whether edges are to be watched for.
    public var isListening: Bool {
        switch self.trust {
        case .good, .stuck, .onTrial: return true
        case .deaf: return false
        }
    }

    /// When the level has to be read at the latest.
    public var deadline: Instant {
        switch self.trust {
        case .deaf(let until): return until
        case .onTrial(let until): return min(until, self.changesAt ?? self.readAt, self.readAt)
        case .stuck: return min(self.changesAt ?? self.readAt, self.readAt)
        case .good:
            let next = min(self.changesAt ?? self.readAt, self.readAt)
            guard self.isPressed, self.settings.stuckMs > 0 else { return next }
            return min(next, self.pressedAt + .milliseconds(self.settings.stuckMs))
        }
    }

    public mutating func handle(_ input: Input, now: Instant) -> [Event] {
        self.events.removeAll(keepingCapacity: true)
        switch input {
        case .edge(let isActive, let at):
            // The kernel's time is believed as far as it can be true.
            let time = min(max(at, self.seen), max(now, self.seen))
            self.pass(until: time)
            if self.isListening { self.count(edgeAt: time) }
            self.isActive = isActive
        case .level(let isActive):
            // Where an edge was lost, nobody knows when: no time counts for it.
            if isActive == self.isActive { self.pass(until: max(now, self.seen)) }
            self.seen = max(now, self.seen)
            self.isActive = isActive
            self.readAt = now + .milliseconds(self.readInterval(now: now))
        }
        self.judge(now: max(now, self.seen))
        return self.events
    }

    private func readInterval(now: Instant) -> Int {
        guard self.isActive == self.isPressed, self.balance == .zero else { return Self.busyReadMs }
        guard self.isPressed else { return Self.idleReadMs }
        return now - self.pressedAt > .milliseconds(Self.fingerMs) ? Self.heldReadMs : Self.busyReadMs
    }

    // MARK: - Level

    private var needed: Duration {
        .milliseconds(self.isPressed ? self.settings.releaseMs : self.settings.pressMs)
    }

    /// When the level, should it stay as it is, has stood for long enough.
    private var changesAt: Instant? {
        self.isActive == self.isPressed ? nil : self.seen + (self.needed - self.balance)
    }

    /// The level stayed as it was until `time`.
    private mutating func pass(until time: Instant) {
        let length = time - self.seen
        self.seen = time
        guard self.isActive != self.isPressed else {
            self.balance = max(.zero, self.balance - length)
            return
        }
        self.balance = self.balance + length
        guard self.balance >= self.needed else { return }
        self.balance = .zero
        self.isPressed = self.isActive
        if self.isPressed { self.pressedAt = time }
        switch self.trust {
        case .good: self.events.append(self.isPressed ? .pressed : .released)
        case .stuck:
            self.trust = .good
            self.events += [.released, .healed]
        case .deaf, .onTrial: break
        }
    }

    // MARK: - Trust

    private mutating func count(edgeAt time: Instant) {
        if time - self.windowBegan >= .milliseconds(Self.windowMs) {
            self.windowBegan = time
            self.edgesInWindow = 0
        }
        self.edgesInWindow += 1
        guard self.edgesInWindow > Self.edgesMax else { return }
        self.edgesInWindow = 0
        switch self.trust {
        case .good, .stuck:
            if self.isPressed { self.events.append(.released) }
            self.events.append(.noisy)
        case .deaf, .onTrial: break
        }
        self.trust = .deaf(until: time + .milliseconds(Self.deafMs))
    }

    private mutating func judge(now: Instant) {
        switch self.trust {
        case .good:
            guard self.isPressed, self.settings.stuckMs > 0,
                now - self.pressedAt >= .milliseconds(self.settings.stuckMs)
            else { return }
            self.trust = .stuck
            self.events.append(.stuck)
        case .stuck: break
        case .deaf(let until):
            guard now >= until else { return }
            self.trust = .onTrial(until: now + .milliseconds(Self.trialMs))
            self.windowBegan = now
            self.edgesInWindow = 0
        case .onTrial(let until):
            guard now >= until else { return }
            self.trust = .good
            self.events.append(.healed)
            // Active all along since the noise, it was no finger that pressed it.
            self.isPressed = self.isActive
            self.pressedAt = now
            self.balance = .zero
        }
    }
}
