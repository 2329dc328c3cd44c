// SPDX-License-Identifier: Apache-2.0
import Bytes
import MediaEngine
import SIPEngine
import SIPWire

/// Buttons, the control socket, devices, and reports from the media threads.
extension KioskEngine {
    mutating func started(now: Instant) {
        self.chimeStatus(.ready)
        self.autoCall = AutoCall(self.configuration.autoCall, isStart: true, now: now)
        self.emit(Self.line("ready", now: now) { $0.put("version", self.world.version) })
        self.tellProblems(self.problems, now: now)
        if self.panel.wasTampered { self.device(.failed(.housing, Self.openedSentence), now: now) }
        self.trustServers(now: now)
        self.passwords.replace(with: self.configuration.credentials)
        self.settleAccounts(now: now)
    }

    // MARK: - Buttons

    mutating func button(_ button: ButtonName, _ edge: ButtonEdge, now: Instant) {
        self.told(button, edge, now: now)
        guard !self.isCallOver else { return }
        let settings = self.configuration[button]
        let rule = Gestures.Rule(
            holdMs: settings.holdSeconds * 1000,
            longMs: settings.long == .none ? nil : settings.longAfterSeconds * 1000)
        self.panel.gestures.chord = self.configuration.panel.healthChord
        for gesture in self.panel.gestures.edge(button, edge, rule, now: now) { self.act(gesture, now: now) }
    }

    /// A program's press is whole: it neither has to last nor means something else because nobody lets go.
    private mutating func pressByWord(_ button: ButtonName, now: Instant) {
        self.told(button, .pressed, now: now)
        if !self.isCallOver { self.pressed(button, now: now) }
    }

    private mutating func told(_ button: ButtonName, _ edge: ButtonEdge, now: Instant) {
        if button.isCall, edge == .pressed { self.postponeRestart() }
        self.emit("button", now: now) {
            $0.put("name", button.text)
            $0.put("edge", edge.text)
        }
        guard edge == .pressed, !self.isCallOver else { return }
        self.somebodyIsThere(now: now)
        self.put(.chime(.key))
    }

    mutating func gesturesTimePassed(now: Instant) {
        for gesture in self.panel.gestures.timePassed(now: now) where !self.isCallOver { self.act(gesture, now: now) }
    }

    private mutating func act(_ gesture: Gestures.Gesture, now: Instant) {
        switch gesture {
        case .press(let button): self.pressed(button, now: now)
        case .longPress(let button):
            self.put(.chime(.key))
            self.emit("long_press", now: now) { $0.put("name", button.text) }
            self.pressedLong(self.configuration[button].long, now: now)
        case .chord:
            self.put(.chime(.key))
            self.emit("chord", now: now) { _ in }
            self.nextServicePage(now: now)
        }
    }

    private mutating func pressed(_ button: ButtonName, now: Instant) {
        // Whoever wants to call is not kept from it; every other button has done what it was pressed for.
        if self.cancelAutoCall(now: now), !button.isCall { return }
        if self.scroll(by: button, now: now) { return }
        switch button {
        case .call, .further: self.pressedCall(by: button, now: now)
        case .hook: self.pressedHook(now: now)
        case .mute: self.toggleMute(now: now)
        case .video: self.toggleVideo(now: now)
        case .keypad: self.toggleKeypad(now: now)
        case .language: self.changeLanguage(now: now)
        }
    }

    private mutating func pressedLong(_ meaning: ButtonSettings.LongPress, now: Instant) {
        switch meaning {
        case .none: break
        case .hook: self.pressedHook(now: now)
        case .mute: self.toggleMute(now: now)
        case .video: self.toggleVideo(now: now)
        case .keypad: self.toggleKeypad(now: now)
        case .language: self.changeLanguage(now: now)
        case .health: self.nextServicePage(now: now)
        }
    }

    private mutating func changeLanguage(now: Instant) {
        self.speak(self.configuration.language.next(after: self.language), now: now)
    }

    /// A second press in a call does nothing: somebody in distress presses twice. Where the call button is the only
    /// one, the file says that it ends calls.
    mutating func pressedCall(by button: ButtonName, now: Instant) {
        if self.pickUp(now: now) || self.refusesPress(now: now) { return }
        if self.machine.state.facts != nil {
            if self.configuration[button].endsCall { self.hangUp(now: now) }
            return
        }
        self.notes.button = button.text
        if let order = self.configuration.order(for: button) {
            self.dial(order, now: now)
        } else {
            self.dialNobody(now: now)
        }
    }

    private mutating func pressedHook(now: Instant) {
        if case .idle = self.machine.state {
            self.notice = nil
            self.servicePage = nil
        }
        self.hangUp(now: now)
    }

    private mutating func toggleMute(now: Instant) {
        switch self.machine.toggleMute() {
        case .ignore: break
        case .apply(let wishes):
            if let sent = self.sentWishes { self.put(.media(.mute(sent.isMuted))) }
            self.emit("mute", now: now) { $0.put("on", wishes.isMuted) }
        }
    }

    private mutating func toggleVideo(now: Instant) {
        switch self.machine.toggleVideo() {
        case .ignore: break
        case .apply(let wishes):
            if let sent = self.sentWishes { self.put(.media(.sendVideo(!sent.isVideoOff))) }
            self.emit("video", now: now) { $0.put("on", !wishes.isVideoOff) }
        }
    }

    /// What is sent now. Nil before the answer, when nothing is sent anyway: the wishes are ordered when it comes.
    private var sentWishes: Wishes? {
        switch self.machine.state {
        case .connected(let state): return self.mediaRuns ? state.wishes : nil
        case .idle, .lookingUp, .calling, .ringing, .early, .alerting, .ending, .outcome, .stopping: return nil
        }
    }

    // MARK: - Control socket

    mutating func control(_ client: ClientID, _ line: ByteString, now: Instant) {
        do throws(BadValue) {
            self.control(client, try ControlWord.parse(line), now: now)
        } catch {
            self.put(.reply(client, Reply.refused(error.reason)))
        }
    }

    private mutating func control(_ client: ClientID, _ word: ControlWord, now: Instant) {
        switch word {
        case .call(let steps): self.put(.reply(client, self.controlCall(steps, now: now)))
        case .answer:
            let hasCaller = self.pickUp(now: now)
            self.put(.reply(client, hasCaller ? Reply.done : Reply.refused("nobody is calling")))
        case .digits(let keys): self.put(.reply(client, self.sendDigits(keys, now: now)))
        case .message(let target, let text): self.put(.reply(client, self.controlMessage(text, to: target, now: now)))
        case .change(let change): self.put(.reply(client, self.change(change, now: now)))
        case .hangUp:
            let hasCall = self.hangUp(now: now)
            self.put(.reply(client, hasCall ? Reply.done : Reply.refused("there is no call")))
        case .press(let button):
            self.pressByWord(button, now: now)
            self.put(.reply(client, Reply.done))
        case .release(let button):
            self.button(button, .released, now: now)
            self.put(.reply(client, Reply.done))
        case .pause: self.put(.reply(client, self.pause(now: now)))
        case .resume: self.put(.reply(client, self.resume(now: now)))
        case .clearTamper:
            let isClear = self.clearTamper(now: now)
            self.put(.reply(client, isClear ? Reply.done : Reply.refused("the housing is open")))
        case .language(let language):
            self.speak(language ?? self.configuration.language.next(after: self.language), now: now)
            self.put(.reply(client, Reply.done))
        case .page(let page):
            self.show(page, now: now)
            self.put(.reply(client, Reply.done))
        case .nextPage:
            self.nextServicePage(now: now)
            self.put(.reply(client, Reply.done))
        case .turnCamera(let degrees):
            self.put(.turnCamera(degrees: degrees))
            self.put(.reply(client, Reply.done))
        case .failback:
            self.comeBack(now: now)
            let hasChoice = self.policy.servers.count > 1
            self.put(.reply(client, hasChoice ? Reply.done : Reply.refused("the file lists no servers to choose from")))
        case .reload:
            self.put(.readConfiguration)
            self.put(.reply(client, Reply.done))
        case .log(let level, let part):
            self.log(level, of: part)
            self.put(.reply(client, Reply.done))
        case .doctor:
            let complaints = self.complaints
            self.put(.reply(client, Reply.lines(complaints.isEmpty ? [Self.nothingWrong] : complaints)))
        case .status: self.put(.collectCounters(client))
        case .healthy: self.put(.tellHealth(client))
        case .events: self.subscribe(client, now: now)
        case .screenshot(let path): self.put(.screenshot(client, path: path))
        case .trace(let withMessages):
            self.put(.reply(client, Reply.lines(self.sip.trace.lines(withMessages: withMessages))))
        }
    }

    /// - Parameter steps: nil for whom the file names.
    private mutating func controlCall(_ steps: [CallStep]?, now: Instant) -> ByteString {
        self.postponeRestart()
        guard !self.isCallOver else { return Reply.refused("the help point is being stopped") }
        guard !self.isPaused else { return Reply.refused("the help point is paused") }
        guard !self.panel[.inhibit] else { return Reply.refused("calls are inhibited at the help point") }
        if let steps, self.configuration.completed(steps) == nil {
            return Reply.refused(Self.needsDomain)
        }
        guard let order = self.configuration.order(steps ?? self.configuration.call.steps) else {
            return Reply.refused("the configuration names nobody to call")
        }
        guard self.machine.state.facts == nil else { return Reply.refused("there is a call already") }
        self.notes.button = nil
        return self.dial(order, now: now) ? Reply.done : Reply.refused("there is a call already")
    }

    /// - Parameter target: nil for the far end of the call.
    private mutating func controlMessage(_ text: ByteString, to target: CallTarget?, now: Instant) -> ByteString {
        guard let target else { return self.sendText(text, to: nil, now: now) }
        guard let steps = self.configuration.completed([CallStep([target])]) else {
            return Reply.refused(Self.needsDomain)
        }
        return self.sendText(text, to: steps[0].targets[0].uri, now: now)
    }

    private static let needsDomain: ByteString = "a name alone needs an [account] or [servers] whose domain it is in"

    // MARK: - Devices

    mutating func device(_ report: DeviceReport, now: Instant) {
        self.reportNumber &+= 1
        switch report {
        case .failed(let family, let text):
            if self.faults.failed(family, text, now: now) { self.tellLost(family) }
            self.somebodyIsThere(now: now)
            self.setFitted(family, false)
            self.emit(Self.faultLine(family, text, now: now))
        case .restored(let family):
            guard self.faults.restored(family) else { return }
            if self.faults.wasTold(family) { self.chimeStatus(.back) }
            self.setFitted(family, true)
            self.emit("restored", now: now) { $0.put("device", family.text) }
            self.offerReturned(now: now)
        }
    }

    /// A call goes on as it was agreed: it is sent a card in place of the camera's picture, and the screen shows the
    /// far end's as soon as it is back. The next call is offered what there is.
    private mutating func setFitted(_ family: DeviceFamily, _ isFitted: Bool) {
        switch family {
        case .camera: self.world.hasCamera = isFitted
        case .display: self.world.hasScreen = isFitted
        case .playback, .capture, .panel, .network, .storage, .housing, .supply, .safeMode, .bootPartition, .bootWrite,
            .dataLost, .dataPartition, .clock:
            break
        }
    }

    /// What was not there when the call was agreed upon is offered now.
    private mutating func offerReturned(now: Instant) {
        guard case .connected(let state) = self.machine.state, let session = self.session,
            self.configuration.video.mayUseH264, session.couldOfferMore(self.world)
        else { return }
        self.changeTakenLate(state.handle, now: now)
    }

    /// Whether a fault of that family stands.
    public func isFaulty(_ family: DeviceFamily) -> Bool { self.faults[family] != nil }

    /// The first problem of the file, then the faults that stand, then that nobody can call us.
    var banner: ByteString {
        let texts = Texts.of(self.language)
        var parts: [ByteString] = []
        if let problem = self.problems.first { parts.append(self.language.apart("callbox.conf: " + problem.sentence)) }
        for family in DeviceFamily.all {
            guard let text = self.faults[family] else { continue }
            parts.append(texts.fault(family) + ": " + self.language.apart(text))
        }
        if self.isCutOff {
            let isUntrusted = self.accounts.contains { $0.isUntrusted }
            parts.append(isUntrusted ? texts.faults.untrusted : texts.faults.cutOff)
        }
        var banner = ByteString()
        for part in parts { banner += banner.isEmpty ? part : " · " + part }
        return UTF8Text.displayable(banner, bytesMax: Self.bannerBytesMax)
    }

    private static let bannerBytesMax = 300

    // MARK: - Media

    mutating func media(_ report: MediaReport, now: Instant) {
        switch report {
        case .counters(let counters): self.count(counters, now: now)
        case .digit(let key):
            guard self.mediaRuns else { return }
            self.emitDigit(key, by: "rtp", now: now)
            self.confirm(now: now)
        case .keyFrameWanted: self.askForKeyFrame(now: now)
        case .secured(let kind): self.emit("secured", now: now) { $0.put("media", kind.text) }
        case .keysWearOut: self.renewKeys(now: now)
        case .notSecured(let kind, let text): return self.notSecured(kind, text, now: now)
        case .firstPacket, .firstFrameShown, .firstSoundPlayed, .silent, .resumed, .byeReceived: break
        }
        switch self.machine.media(report, now: now) {
        case .doNothing: break
        case .firstFrame(let after):
            self.notes.firstFrame = after
            self.emit("first_frame", now: now) { $0.put("ms_since_answer", msOf: after) }
        case .firstSound(let after):
            self.notes.firstSound = after
            self.emit("first_sound", now: now) { $0.put("ms_since_answer", msOf: after) }
        }
    }

    /// Whoever is there is not whom the description named, or cannot be told a secret: nothing was sent to them.
    private mutating func notSecured(_ kind: StreamKind, _ text: ByteString, now: Instant) {
        guard self.mediaRuns, let handle = self.machine.state.handle else { return }
        self.emit("not_secured", now: now) {
            $0.put("media", kind.text)
            $0.put("text", text)
            $0.put(.handshakeOfMedia)
        }
        self.fail(handle, .notPrivate, now: now)
    }

    private mutating func count(_ counters: MediaCounters, now: Instant) {
        guard self.mediaRuns else { return }
        if counters.reports > self.counters?.reports ?? 0 { self.machine.reported(now: now) }
        self.counters = counters
        self.notes.hasMedia = true
        self.emit("stats", now: now) { counters.write(to: &$0) }
    }
}

extension StreamKind {
    var text: ByteString {
        switch self {
        case .audio: return "audio"
        case .video: return "video"
        }
    }
}
