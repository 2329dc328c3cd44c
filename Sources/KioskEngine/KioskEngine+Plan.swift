// SPDX-License-Identifier: Apache-2.0
import Bytes
import MediaEngine
import SDPWire
import SIPEngine
import SIPWire

/// Calls to several targets, one after the other or at the same time, and what is asked of whoever answers.
extension KioskEngine {
    /// A call that is placed at the same time as the one that leads.
    struct OtherCall {
        let handle: CallHandle
        let session: MediaSession
        /// The way by which it goes first.
        let way: Flow
    }

    mutating func find(_ questions: [KioskMachine.Question], now: Instant) {
        for question in questions { self.find(question.id, question.uri, now: now) }
    }

    /// Whoever was called does not answer. `detail` is what is known beyond the outcome's own words.
    mutating func failed(_ target: KioskMachine.FailedTarget, detail: ByteString = "", now: Instant) {
        for handle in target.dropped {
            self.otherCalls.removeAll { $0.handle == handle }
            self.tell(.hangUp(handle, HangUpReason(target.outcome)), now: now)
        }
        self.emit(target, now: now)
        switch target.onward {
        case .others: break
        case .lead(let handle):
            self.stopMedia()
            self.session = nil
            if let handle { self.takeLead(handle) }
            self.emitCall(now: now)
        case .step(let questions):
            self.leaveStep()
            self.find(questions, now: now)
            self.emitCall(now: now)
        case .pause:
            self.leaveStep()
            self.emitCall(now: now)
        case .over(let ended):
            self.finish(ended, detail: target.peers.contains(ended.facts.peer) ? detail : "", now: now)
        }
    }

    /// The pause between two cycles is over.
    mutating func beginStep(_ questions: [KioskMachine.Question], now: Instant) {
        self.find(questions, now: now)
        self.emitCall(now: now)
    }

    private mutating func leaveStep() {
        self.stopMedia()
        self.session = nil
        self.otherCalls = []
        self.awaitsAnswerInACK = false
    }

    private mutating func emit(_ target: KioskMachine.FailedTarget, now: Instant) {
        let next = self.machine.state.facts
        let cycle = next?.plan.cycle
        for peer in target.peers {
            self.emit("failed", now: now) {
                $0.put("uri", peer)
                $0.put("reason", target.outcome.reason)
                $0.put("code", target.outcome.code)
                $0.put(target.outcome.fault)
                if let next, let cycle {
                    $0.put("next", next.peer)
                    $0.put("cycle", cycle)
                } else {
                    $0.putNull("next")
                }
            }
        }
    }

    // MARK: - Who leads

    /// One of the others answers, or is the first to give a sign of life: the person is told of that one from now on.
    mutating func lead(_ handle: CallHandle, now: Instant) {
        let former = self.machine.state.handle
        let formerSession = self.session
        let formerWay = self.placedBy
        guard self.machine.lead(handle, now: now) else { return }
        self.stopMedia()
        self.session = nil
        self.takeLead(handle)
        if let former, let formerSession, let formerWay {
            self.otherCalls.append(OtherCall(handle: former, session: formerSession, way: formerWay))
        }
    }

    private mutating func takeLead(_ handle: CallHandle) {
        guard let index = self.otherCalls.firstIndex(where: { $0.handle == handle }) else { return }
        let call = self.otherCalls.remove(at: index)
        self.session = call.session
        self.placedBy = call.way
    }

    /// Somebody has answered, or nobody is to: nobody else need ring any longer.
    mutating func dropOthers(now: Instant) {
        for handle in self.machine.dropOthers() { self.tell(.hangUp(handle, .normal), now: now) }
        self.otherCalls = []
    }

    /// The leader's server was silent for too long, and so was that of these.
    mutating func failOverOthers(now: Instant) {
        for (id, handle) in self.machine.failOverOthers() {
            self.otherCalls.removeAll { $0.handle == handle }
            self.tell(.hangUp(handle, .normal), now: now)
            self.place(id, nil, now: now)
        }
    }

    // MARK: - After the answer

    /// What a call begins with once somebody is there.
    mutating func greet(now: Instant) {
        guard case .connected(let state) = self.machine.state else { return }
        if let deadline = state.confirmBy {
            self.announceToFarEnd(self.configuration.call.tellsToConfirm)
            return self.emit("confirm", now: now) {
                $0.put("state", "waiting")
                $0.put("uri", state.facts.peer)
                $0.put("ms", msOf: deadline - now)
            }
        }
        self.postDial = state.facts.target.flatMap { PostDial($0.postDial, now: now) }
    }

    /// A key of the far end's: a machine presses none.
    mutating func confirm(now: Instant) {
        guard let wishes = self.machine.confirmed() else { return }
        self.announceToFarEnd(false)
        self.order(wishes)
        let peer = self.machine.state.facts?.peer ?? ByteString()
        self.emit("confirm", now: now) {
            $0.put("state", "done")
            $0.put("uri", peer)
        }
        self.emitCall(now: now)
        self.greet(now: now)
    }

    /// The longest time of the call is nearly over.
    mutating func warn(now: Instant) {
        self.put(.chime(.warning))
        self.say(.timeNearlyOver)
        self.emit("time_limit", now: now) { $0.put("ms_left", msOf: Duration.milliseconds(KioskTimes.warningMs)) }
    }

    mutating func pressPostDial(now: Instant) {
        guard var postDial = self.postDial, now >= postDial.dueAt else { return }
        let keys = postDial.take(now: now)
        self.postDial = postDial.isOver ? nil : postDial
        if !keys.isEmpty { _ = self.sendDigits(keys, now: now) }
    }
}

extension HangUpReason {
    /// What a far end is told whom we give up.
    init(_ outcome: CallOutcome) {
        switch outcome {
        case .vanished: self = .fault(.requestTimeout, text: "No media received")
        case .unusableMedia: self = .fault(.notAcceptableHere, text: "Unusable session description")
        case .notPrivate: self = .fault(.notAcceptableHere, text: "Media have to be secure")
        case .hungUp, .cancelled, .remoteHungUp, .declined, .missed, .refused, .notAnswered, .noResponse, .unreachable,
            .unknownHost, .insecure, .waitsForTime, .timeLimit, .misdirected, .protocolFault, .noAddress, .outOfRoom,
            .stopped:
            self = .normal
        }
    }
}
