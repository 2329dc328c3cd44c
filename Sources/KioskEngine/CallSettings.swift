// SPDX-License-Identifier: Apache-2.0
import SIPWire

/// `[call]`
public struct CallSettings: Equatable, Sendable {
    public enum Incoming: Sendable {
        /// 480.
        case refuse
        /// The person at the panel answers or declines.
        case ring
        /// Answered by itself, once it was heard and seen here.
        case answer
    }

    public enum Transfer: Sendable {
        case follow
        /// 603.
        case refuse
    }

    /// Whom the call button calls, one step after the other; empty: nobody, which is itself a problem of the file.
    public var steps: [CallStep] = []
    /// How often all of them are called, at most.
    public var cycles = 1
    /// Between two cycles.
    public var pauseMs = 2_000
    /// Whoever answers has to press a key, or does not count.
    public var isConfirmed = false
    public var confirmTimeoutMs = 15_000
    /// Whoever answers is told so, over and over.
    public var tellsToConfirm = true
    /// Zero: as long as it likes.
    public var maxDurationMs = 0
    public var incoming = Incoming.refuse
    /// Who may call; empty where nobody is named.
    public var incomingFrom: [CallerPattern] = []
    /// For how long after a call whoever was called may call back; zero: not at all.
    public var callBackMs = 0
    /// What becomes of us when the far end asks us to call somebody else in its place.
    public var transfer = Transfer.follow
    /// From the first sign of the far end until we give up.
    public var ringTimeoutMs = 60_000
    /// How long a call goes on in which nothing at all is received.
    public var mediaTimeoutMs = 10_000

    /// The first of all targets, where there is only one as a rule.
    public var uri: SIPURI? {
        get { self.steps.first?.targets.first?.uri }
        set { self.steps = newValue.map { [CallStep($0)] } ?? [] }
    }
}
