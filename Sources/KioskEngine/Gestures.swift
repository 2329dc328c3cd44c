// SPDX-License-Identifier: Apache-2.0
import Bytes

/// What fingers mean by what they do to the buttons.
///
/// A button acts when it is pressed, or, where the file wants that, once it has been held for a while. It may have a
/// second meaning when it stays pressed. Two certain buttons that are held together are a sign of their own.
struct Gestures {
    /// What the file says about one button.
    struct Rule: Equatable {
        /// How long the button is held before it acts; 0: it acts when it is pressed.
        var holdMs = 0
        /// After how long it does something else; nil: never.
        var longMs: Int?
    }

    enum Gesture: Equatable {
        case press(ButtonName)
        case longPress(ButtonName)
        case chord
    }

    /// Something will happen if the finger stays where it is.
    struct Pending: Equatable {
        var gesture: Gesture
        var at: Instant
        /// A short press is not worth a word on what a long one would do.
        var shownFrom: Instant

        init(_ gesture: Gesture, at: Instant, shownFrom: Instant) {
            self.gesture = gesture
            self.at = at
            self.shownFrom = shownFrom
        }
    }

    private enum Stage: Equatable {
        /// The button acts then.
        case held(actsAt: Instant)
        /// It has acted, and has another meaning then.
        case acted(longAt: Instant?)
    }

    private struct Finger: Equatable {
        var button: ButtonName
        var stage: Stage
        var rule: Rule
        var since: Instant
    }

    static let chordMs = 3_000
    static let silentMs = 700

    /// Those that together are a sign; empty: none are.
    var chord: [ButtonName] = []
    private var fingers: [Finger] = []
    private var chordAt: Instant?
    /// What is counted down on the screen.
    private(set) var countdown: Pending?

    mutating func edge(_ button: ButtonName, _ edge: ButtonEdge, _ rule: Rule, now: Instant) -> [Gesture] {
        self.fingers.removeAll { $0.button == button }
        defer {
            self.watchChord(now: now)
            self.watchCountdown(now: now)
        }
        switch edge {
        case .released: return []
        case .pressed:
            let waits = rule.holdMs > 0
            let longAt = rule.longMs.map { now + .milliseconds($0) }
            let stage = waits ? Stage.held(actsAt: now + .milliseconds(rule.holdMs)) : .acted(longAt: longAt)
            self.fingers.append(Finger(button: button, stage: stage, rule: rule, since: now))
            return waits ? [] : [.press(button)]
        }
    }

    private mutating func watchChord(now: Instant) {
        let isWhole =
            !self.chord.isEmpty && self.chord.allSatisfy { name in self.fingers.contains { $0.button == name } }
        if !isWhole {
            self.chordAt = nil
        } else if self.chordAt == nil {
            self.chordAt = now + .milliseconds(Self.chordMs)
        }
    }

    mutating func timePassed(now: Instant) -> [Gesture] {
        var gestures: [Gesture] = []
        for index in self.fingers.indices {
            let finger = self.fingers[index]
            switch finger.stage {
            case .held(let actsAt):
                guard now >= actsAt else { continue }
                gestures.append(.press(finger.button))
                let longAt = finger.rule.longMs.map { actsAt + .milliseconds($0) }
                self.fingers[index].stage = .acted(longAt: longAt)
            case .acted(let longAt):
                guard let longAt, now >= longAt else { continue }
                gestures.append(.longPress(finger.button))
                self.fingers[index].stage = .acted(longAt: nil)
            }
        }
        if let chordAt = self.chordAt, now >= chordAt {
            gestures.append(.chord)
            // Once for as long as both are held.
            self.chordAt = Instant(nanoseconds: UInt64.max)
        }
        self.watchCountdown(now: now)
        return gestures
    }

    private mutating func watchCountdown(now: Instant) {
        self.countdown = self.pending.flatMap { now >= $0.shownFrom ? $0 : nil }
    }

    /// When something changes if no finger moves: what happens then, or that it is worth a word.
    var wakesAt: Instant? {
        guard let pending = self.pending else { return nil }
        return self.countdown == nil ? min(pending.at, pending.shownFrom) : pending.at
    }

    /// What comes next if no finger moves.
    var pending: Pending? {
        var next: Pending?
        for finger in self.fingers {
            let pending: Pending
            switch finger.stage {
            case .held(let actsAt): pending = Pending(.press(finger.button), at: actsAt, shownFrom: finger.since)
            case .acted(let longAt):
                guard let longAt else { continue }
                pending = Pending(
                    .longPress(finger.button), at: longAt, shownFrom: finger.since + .milliseconds(Self.silentMs))
            }
            if next.map({ pending.at < $0.at }) ?? true { next = pending }
        }
        if let chordAt = self.chordAt, chordAt.nanoseconds < UInt64.max, next.map({ chordAt < $0.at }) ?? true {
            let from = chordAt + .milliseconds(Self.silentMs - Self.chordMs)
            next = Pending(.chord, at: chordAt, shownFrom: from)
        }
        return next
    }
}
