// SPDX-License-Identifier: Apache-2.0
import Bytes
import SDPWire
import SIPEngine
import SIPWire

/// Which of our ways are known, whose they are, and what waits for them.
struct ICEMachine {
    /// Ways that were found, under the credentials that they were looked for with.
    struct Found: Equatable {
        let number: UInt64
        var credentials: ICECredentials
        let ways: ICEWays

        func local(_ kind: MediaKind) -> LocalICE? {
            let candidates = kind == .video ? self.ways.video : self.ways.audio
            guard candidates.contains(where: { $0.component == 1 }) else { return nil }
            return LocalICE(credentials: self.credentials, candidates: candidates)
        }
    }

    /// What goes on once the ways are known.
    enum Waiting {
        /// A call is placed.
        case placing(ResolutionID, [Flow]?)
        /// A call from outside is answered.
        case accepting(CallHandle, IncomingCall)
        /// The far end of the call is told new ways.
        case moving(CallHandle)
    }

    enum State {
        case idle
        case searching(number: UInt64, ICECredentials, until: Instant, Waiting?)
        /// For the next call, or the next description of this one.
        case found(Found)
    }

    private(set) var state = State.idle
    /// The ways that the call uses.
    private(set) var inUse: UInt64?
    /// Searches since a way worked last.
    private var restarts = 0
    private var last: UInt64 = 0

    var wakesAt: Instant? {
        guard case .searching(_, _, let until, _) = self.state else { return nil }
        return until
    }

    /// A call from outside is to be answered, and is not yet.
    var isAnswerWaiting: Bool {
        guard case .searching(_, _, _, .accepting?) = self.state else { return false }
        return true
    }

    /// Something was asked of the media thread that it has to be told to forget.
    var isBusy: Bool {
        switch self.state {
        case .idle: return self.inUse != nil
        case .searching, .found: return true
        }
    }

    // MARK: - Searching

    /// A search begins, in place of any other; its number.
    mutating func begin(_ credentials: ICECredentials, now: Instant) -> UInt64 {
        self.last &+= 1
        self.state = .searching(
            number: self.last, credentials, until: now + .milliseconds(ICELimits.silenceMs), nil)
        return self.last
    }

    enum OnWait {
        /// `found` or `timePassed` gives it back.
        case waits
        /// The ways are known, as far as they can be.
        case goOn
        /// They are not being looked for.
        case search
    }

    mutating func wait(_ waiting: Waiting) -> OnWait {
        switch self.state {
        case .idle: return .search
        case .found: return .goOn
        case .searching(let number, let credentials, let until, _):
            self.state = .searching(number: number, credentials, until: until, waiting)
            return .waits
        }
    }

    enum OnFound {
        case ignore
        case goOn(Waiting?)
    }

    mutating func found(_ number: UInt64, _ ways: ICEWays) -> OnFound {
        guard case .searching(number, let credentials, _, let waiting) = self.state else { return .ignore }
        self.state = .found(Found(number: number, credentials: credentials, ways: ways))
        return .goOn(waiting)
    }

    mutating func timePassed(now: Instant) -> OnFound {
        guard case .searching(let number, _, let until, _) = self.state, now >= until else { return .ignore }
        return self.found(number, ICEWays())
    }

    /// Whoever waits for the ways of a call from outside needs them no more. True where somebody did.
    mutating func forget(_ handle: CallHandle) -> Bool {
        guard case .searching(_, _, _, .accepting(handle, _)?) = self.state else { return false }
        self.state = .idle
        return true
    }

    // MARK: - Using

    /// The ways for a description of ours; nil where there are none. Nobody else is given them.
    mutating func take() -> Found? {
        guard case .found(let found) = self.state else { return nil }
        self.state = .idle
        guard found.ways.isUsable else { return nil }
        self.inUse = found.number
        return found
    }

    mutating func selected(_ number: UInt64) -> Bool {
        guard number == self.inUse else { return false }
        self.restarts = 0
        return true
    }

    enum OnFailed {
        case ignore
        /// Look for other ways, and tell the far end.
        case restart
        case giveUp
    }

    mutating func failed(_ number: UInt64) -> OnFailed {
        guard number == self.inUse else { return .ignore }
        switch self.state {
        case .searching, .found: return .ignore
        case .idle:
            guard self.restarts < ICELimits.restartsMax else { return .giveUp }
            self.restarts += 1
            return .restart
        }
    }

    /// The call is over.
    mutating func reset() {
        self.state = .idle
        self.inUse = nil
        self.restarts = 0
    }
}
