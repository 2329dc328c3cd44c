// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire

/// A change of the session that we ask for ourselves.
enum MediaChange: Equatable {
    /// The far end waits.
    case hold
    case resume
    case addVideo
    case removeVideo

    func applied(to intent: MediaIntent) -> MediaIntent {
        var intent = intent
        switch self {
        case .hold: intent.isHolding = true
        case .resume: intent.isHolding = false
        case .addVideo: intent.hasVideo = true
        case .removeVideo: intent.hasVideo = false
        }
        return intent
    }
}

/// Changes of the session within a call: hold and resume, pictures added and removed, by either side.
extension KioskMachine {
    // MARK: - By the far end

    enum OnReoffer: Equatable {
        /// The session may change.
        case negotiate
        /// The same before the answer (UPDATE, RFC 3311).
        case negotiateEarly
        /// Not in this state.
        case refuse(StatusCode)
    }

    /// Decides; the state stays until `renegotiated`.
    func reoffered(_ handle: CallHandle) -> OnReoffer {
        if self.state.transferHandle == handle || self.state.other(handle) != nil { return .refuse(.requestPending) }
        guard self.state.handle == handle else { return .refuse(.callOrTransactionDoesNotExist) }
        switch self.state {
        case .connected: return .negotiate
        case .calling, .ringing, .early: return .negotiateEarly
        case .alerting: return .refuse(.requestPending)
        case .idle, .lookingUp, .ending, .outcome, .stopping: return .refuse(.callOrTransactionDoesNotExist)
        }
    }

    enum OnRenegotiated: Equatable {
        /// True where the far end has just put us on hold, false where it takes us back, nil where neither. An offer of
        /// ours that had to wait for this is to be made anew.
        case updateMedia(hold: Bool?, waiting: MediaIntent?)
        case ignore
    }

    mutating func renegotiated(_ handle: CallHandle, _ shape: MediaShape, now: Instant) -> OnRenegotiated {
        guard self.state.handle == handle else { return .ignore }
        switch self.state {
        case .connected(var state):
            let wasHeld = state.isHeld
            state.isMisunderstood = false
            state.take(shape, now: now)
            self.move(to: .connected(state))
            return .updateMedia(hold: wasHeld == state.isHeld ? nil : state.isHeld, waiting: state.change)
        case .idle, .lookingUp, .calling, .ringing, .early, .alerting, .ending, .outcome, .stopping:
            return .ignore
        }
    }

    // MARK: - By us

    enum OnChange: Equatable {
        /// Offer this.
        case offer(CallHandle, MediaIntent)
        case alreadySo
        /// A change before this one is not answered yet, or the call is being handed over.
        case busy
        case noCall
    }

    mutating func change(_ change: MediaChange) -> OnChange {
        switch self.state {
        case .connected(var state):
            guard state.change == nil, state.transfer == nil, state.confirmBy == nil else { return .busy }
            let intent = change.applied(to: state.intent)
            guard intent != state.intent else { return .alreadySo }
            state.change = intent
            self.move(to: .connected(state))
            return .offer(state.handle, intent)
        case .idle, .lookingUp, .calling, .ringing, .early, .alerting, .ending, .outcome, .stopping:
            return .noCall
        }
    }

    enum OnChanged: Equatable {
        /// `intent` is nil where nobody here asked for anything: the session was only refreshed.
        case updateMedia(intent: MediaIntent?)
        case ignore
    }

    /// Our offer was answered.
    mutating func changed(_ handle: CallHandle, _ shape: MediaShape, now: Instant) -> OnChanged {
        guard self.state.handle == handle else { return .ignore }
        switch self.state {
        case .connected(var state):
            let change = state.change
            state.intent = change ?? state.intent
            state.change = nil
            state.isMisunderstood = false
            state.take(shape, now: now)
            self.move(to: .connected(state))
            return .updateMedia(intent: change)
        case .idle, .lookingUp, .calling, .ringing, .early, .alerting, .ending, .outcome, .stopping:
            return .ignore
        }
    }

    enum OnChangeRefused: Equatable {
        /// Everything stands as it was. Whether the far end has to be told so (`changeTakenLate`).
        case rollBack(MediaIntent, isMisunderstood: Bool)
        case ignore
    }

    mutating func changeRefused(_ handle: CallHandle) -> OnChangeRefused {
        guard self.state.handle == handle else { return .ignore }
        switch self.state {
        case .connected(var state):
            guard state.change != nil else { return .ignore }
            state.change = nil
            self.move(to: .connected(state))
            return .rollBack(state.intent, isMisunderstood: state.isMisunderstood)
        case .idle, .lookingUp, .calling, .ringing, .early, .alerting, .ending, .outcome, .stopping:
            return .ignore
        }
    }

    /// The network changed: whether a way still leads to the far end of the call. One that is back begins to be waited
    /// for anew.
    mutating func foundWay(_ isThere: Bool, now: Instant) {
        guard case .connected(var state) = self.state else { return }
        if isThere, state.cutOffSince != nil { state.reported = now }
        state.cutOffSince = isThere ? nil : state.cutOffSince ?? now
        self.move(to: .connected(state))
    }

    enum OnTakenLate: Equatable {
        /// Say again what stands.
        case offer(MediaIntent)
        case ignore
    }

    /// The far end took an offer that we had given up.
    mutating func changeTakenLate(_ handle: CallHandle) -> OnTakenLate {
        guard self.state.handle == handle else { return .ignore }
        switch self.state {
        case .connected(var state):
            let isNewerOut = state.change != nil
            state.isMisunderstood = isNewerOut
            state.change = state.change ?? state.intent
            self.move(to: .connected(state))
            return isNewerOut ? .ignore : .offer(state.intent)
        case .idle, .lookingUp, .calling, .ringing, .early, .alerting, .ending, .outcome, .stopping:
            return .ignore
        }
    }
}

extension KioskState.Connected {
    /// Streams that begin anew get their time anew.
    fileprivate mutating func take(_ shape: MediaShape, now: Instant) {
        let wasWaiting = self.shape.isHeld
        let isHeard = !shape.isHeld
        if shape.receivesAudio, !self.shape.receivesAudio || wasWaiting && isHeard && self.audio != .hearing {
            self.audio = .awaiting(since: now)
        }
        if shape.receivesVideo, !self.shape.receivesVideo || wasWaiting && isHeard && self.video != .hearing {
            self.video = .awaiting(since: now)
        }
        self.shape = shape
    }
}
