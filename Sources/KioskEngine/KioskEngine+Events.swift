// SPDX-License-Identifier: Apache-2.0
import Bytes
import MediaEngine
import SIPEngine

/// What the kiosk tells programs: events, and the answer to `status`. One JSON object a line, its members listed in
/// `docs/protocol/control.md`.
extension KioskEngine {
    // MARK: - Events

    /// Tells the log and everybody who asked. `t` is the monotonic clock in milliseconds.
    mutating func emit(_ event: ByteString, now: Instant, _ fill: (inout JSON) -> Void) {
        self.emit(Self.line(event, now: now, fill))
    }

    mutating func emit(_ line: ByteString) {
        self.put(.event(line))
        for client in self.subscribers { self.put(.reply(client, line)) }
    }

    static func line(_ event: ByteString, now: Instant, _ fill: (inout JSON) -> Void) -> ByteString {
        JSON.object {
            $0.put("event", event)
            $0.put("t", msOf: now.nanoseconds)
            fill(&$0)
        }
    }

    mutating func emit(_ problem: ConfigurationProblem, now: Instant) {
        self.reportNumber &+= 1
        self.emit("problem", now: now) { problem.write(to: &$0) }
    }

    /// The state that the call has just reached.
    mutating func emitCall(now: Instant) {
        let state = self.machine.state
        let session = self.session
        self.emit("call", now: now) {
            $0.put("state", state.text)
            state.current?.write(to: &$0)
            session?.writeSecurity(to: &$0)
            if case .ringing(let outgoing) = state {
                if outgoing.stage == .queued { $0.put("queued", true) }
                if outgoing.stage == .forwarded { $0.put("forwarded", true) }
            }
        }
    }

    /// The end of a call. `detail` is what is known beyond the outcome's own words.
    mutating func emit(_ ended: EndedCall, detail: ByteString = "", now: Instant) {
        let phrase = detail.isEmpty ? ended.outcome.phrase : detail
        self.emit("call", now: now) {
            $0.put("state", "ended")
            ended.facts.write(to: &$0)
            $0.put("reason", ended.outcome.reason)
            $0.put("code", ended.outcome.code)
            $0.put("text", Texts.english.sentence(ended.outcome))
            $0.put(ended.outcome.fault)
            $0.put("by", ended.outcome.side.text)
            if !phrase.isEmpty { $0.put("phrase", phrase) }
            if case .refused(_, _, let q850?) = ended.outcome { $0.put("q850", q850) }
            let tried = ended.facts.plan.failures
            if tried.count > 1 { $0.put("tried", tried.map { $0.peer + " " + $0.outcome.reason }) }
            $0.put("duration_ms", msOf: ended.length)
        }
        self.record(ended)
    }

    /// From here on the client gets every event. First it is told what it has missed and what still holds.
    mutating func subscribe(_ client: ClientID, now: Instant) {
        if !self.subscribers.contains(client) {
            guard self.subscribers.count < Self.subscribersMax else {
                return self.put(.reply(client, Reply.refused("too many clients follow the events already")))
            }
            self.subscribers.append(client)
        }
        for line in self.standing(now: now) { self.put(.reply(client, line)) }
    }

    private func standing(now: Instant) -> [ByteString] {
        var lines = [Self.line("ready", now: now) { $0.put("version", self.world.version) }]
        for problem in self.problems { lines.append(Self.line("problem", now: now) { problem.write(to: &$0) }) }
        for family in DeviceFamily.all {
            guard let text = self.faults[family] else { continue }
            lines.append(Self.faultLine(family, text, now: now))
        }
        if self.wasCutOff { lines.append(self.accountsLine(now: now)) }
        lines.append(Self.line("lamp", now: now) { $0.put("pattern", self.lampPattern.text) })
        if let current = self.machine.state.current {
            lines.append(
                Self.line("call", now: now) {
                    $0.put("state", self.machine.state.text)
                    current.write(to: &$0)
                    self.session?.writeSecurity(to: &$0)
                })
        }
        return lines
    }

    static func faultLine(_ family: DeviceFamily, _ text: ByteString, now: Instant) -> ByteString {
        self.line("fault", now: now) {
            $0.put("device", family.text)
            $0.put("text", text)
            $0.put(family.fault)
        }
    }

    /// Whether all accounts together are of any use, told as a device is.
    func accountsLine(now: Instant) -> ByteString {
        let isCutOff = self.wasCutOff
        return Self.line(isCutOff ? "fault" : "restored", now: now) {
            $0.put("device", "accounts")
            guard isCutOff else { return }
            $0.put("text", Texts.english.faults.cutOff)
            $0.put(.notRegistered)
        }
    }

    // MARK: - Status

    func status(_ local: LocalCounters, now: Instant) -> ByteString {
        JSON.object {
            $0.put("state", self.machine.state.text)
            $0.put("t", msOf: now.nanoseconds)
            $0.put("version", self.world.version)
            self.writeCall(to: &$0, now: now)
            self.writeServer(to: &$0)
            var counters = JSON()
            self.counters?.write(to: &counters)
            $0.put("counters", object: counters)
            self.writeAccounts(to: &$0)
            $0.put("paused", self.isPaused)
            $0.put("calls", self.sip.callCount)
            $0.put("strangers", self.sip.counters[.stranger])
            $0.put("problems", self.problems.count)
            self.writeScreen(to: &$0)
            var faults = JSON()
            for family in DeviceFamily.all {
                if let text = self.faults[family] { faults.put(family.text, text) }
            }
            $0.put("faults", object: faults)
            $0.put("fds", local.descriptors)
            $0.put("threads", local.threads)
            $0.put("rss_kb", local.residentKiB)
            $0.put("framebuffers", local.framebuffers)
            $0.put("drawings", local.drawings)
        }
    }

    /// The words that are shown now.
    private func writeScreen(to json: inout JSON) {
        guard let shown = self.shown?.screen else { return json.putNull("screen") }
        var screen = JSON()
        screen.put("headline", shown.headline)
        screen.put("detail", shown.detail)
        screen.put("banner", shown.banner)
        screen.put("code", shown.code)
        json.put("screen", object: screen)
    }

    private func writeCall(to json: inout JSON, now: Instant) {
        guard let facts = self.machine.state.current else { return json.putNull("call") }
        var call = JSON()
        facts.write(to: &call)
        self.session?.writeSecurity(to: &call)
        call.put("muted", facts.wishes.isMuted)
        call.put("video", !facts.wishes.isVideoOff)
        if case .connected(let state) = self.machine.state {
            call.put("held", state.isHeld)
            call.put("holding", state.intent.isHolding)
            call.put("duration_ms", msOf: now - state.answered)
        }
        json.put("call", object: call)
    }
}

// MARK: - Parts of objects

extension KioskState {
    /// The call that is made, held or being ended.
    fileprivate var current: CallFacts? {
        switch self {
        case .ending(let state): return state.ended.facts
        case .stopping(let state): return state.ended?.facts
        case .idle, .lookingUp, .calling, .ringing, .early, .alerting, .connected, .outcome: return self.facts
        }
    }
}

extension CallFacts {
    fileprivate func write(to json: inout JSON) {
        json.put("uri", self.peer)
        json.put("direction", self.direction.text)
        if !self.name.isEmpty { json.put("name", self.name) }
    }
}

extension ConfigurationProblem {
    fileprivate func write(to json: inout JSON) {
        json.put("section", self.section)
        json.put("key", self.key)
        json.put("line", self.line)
        json.put("text", self.text)
        json.put(self.kind.fault)
    }
}

extension JSON {
    /// The code of the table of faults; nothing where nothing is wrong.
    mutating func put(_ fault: Fault?) {
        if let fault { self.put("fault_code", fault.code) }
    }
}
