// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem
import KioskEngine
import Loop

/// What the control thread and the watch tell each other of the parts that have to go on.
final class Vitals {
    private var signallingTurns: UInt64 = 0
    private var panelTurns: UInt64 = 0
    private var away: [VitalPart] = []
    private var answer = Reply.refused("the parts were not looked at yet")
    private let lock = Lock()
    /// What is so late was due and is not being done.
    private static let lateLimit = Duration.seconds(2)

    /// Of the control thread, each time before it waits: when the two are to be called again (nil: not by themselves),
    /// and whose device is away.
    func note(signallingDue: Instant?, panelDue: Instant?, away: [VitalPart], now: Instant) {
        self.lock.locked {
            if signallingDue.map({ now - $0 < Self.lateLimit }) ?? true { self.signallingTurns &+= 1 }
            if panelDue.map({ now - $0 < Self.lateLimit }) ?? true { self.panelTurns &+= 1 }
            self.away = away
        }
    }

    /// Nil of a part that others know of.
    func sign(_ part: VitalPart) -> Heartbeats.Sign? {
        self.lock.locked {
            if self.away.contains(part) { return .away }
            switch part {
            case .signalling: return .turns(self.signallingTurns)
            case .panel: return .turns(self.panelTurns)
            case .loop, .media, .sound, .decoder, .display: return nil
            }
        }
    }

    /// What the word `healthy` is answered.
    var reply: ByteString {
        get { self.lock.locked { self.answer } }
        set { self.lock.locked { self.answer = newValue } }
    }
}

/// Looks whether every part goes on, and feeds the service manager's watchdog only then. A thread of its own, so that
/// it can name whoever stands still, the control thread too, before the service manager ends the program.
final class WatchThread {
    private let wires: Wires
    private let interval = watchdogInterval()
    private var heartbeats = Heartbeats()
    /// Between looks where no service manager says how long is too long.
    private static let ownPeriod = Duration.seconds(60)
    private static let firstPeriod = Duration.milliseconds(500)
    private static let periodMin = Duration.milliseconds(100)

    init(_ wires: Wires) {
        self.wires = wires
    }

    /// Four looks in the time after which the program is ended, so that a part may take three quarters of it.
    private var period: Duration {
        guard let interval = self.interval else { return Self.ownPeriod }
        return max(Self.periodMin, Duration(nanoseconds: interval.nanoseconds / 4))
    }

    func run() {
        while true {
            self.look()
            let pause = self.heartbeats.verdict == .unknown ? Self.firstPeriod : self.period
            usleep(UInt32(clamping: pause.nanoseconds / 1000))
        }
    }

    private func look() {
        let now = Clock.now()
        let hasChanged = self.heartbeats.look({ self.sign($0) }, now: now)
        switch self.heartbeats.verdict {
        case .unknown: break
        case .alive:
            if self.interval != nil { notifyServiceManager("WATCHDOG=1") }
            self.wires.vitals.reply = Reply.done
            if hasChanged { Log.write("callbox: all parts go on") }
        case .still:
            guard let complaint = self.heartbeats.complaint(now: now) else { break }
            self.wires.vitals.reply = Reply.refused(complaint)
            if hasChanged { Log.write("callbox: " + complaint + "; the watchdog is not fed") }
        }
        self.nudge()
    }

    private func sign(_ part: VitalPart) -> Heartbeats.Sign {
        if let sign = self.wires.vitals.sign(part) { return sign }
        switch part {
        case .loop, .signalling, .panel: return .turns(self.wires.reports.turns)
        case .media: return .turns(self.wires.media.turns)
        case .sound: return .turns(self.wires.sound.turns)
        case .decoder: return .turns(self.wires.decoder.turns)
        case .display: return .turns(self.wires.display.turns)
        }
    }

    private func nudge() {
        self.wires.reports.nudge()
        self.wires.media.nudge()
        self.wires.sound.nudge()
        self.wires.decoder.nudge()
        self.wires.display.nudge()
    }
}
