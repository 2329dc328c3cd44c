// SPDX-License-Identifier: Apache-2.0

import Bytes
import KioskEngine
import Loop
import MediaEngine
import SIPEngine
import SIPWire

/// Carries out what the kiosk wants.
extension ControlThread {
    /// Carries out what the kiosk wants, until it has nothing more to say; returns what it waits for.
    func drain() -> Instant? {
        while true {
            let output = self.kiosk.pollOutput()
            if case .wait(let deadline) = output {
                if !self.pending.isEmpty, self.ending == nil {
                    self.put(self.pending.removeFirst())
                    continue
                }
                self.unhurried.forEach { self.carryOut($0) }
                self.unhurried.removeAll(keepingCapacity: true)
                self.records.noteReport(self.kiosk.reportNumber, now: Clock.now())
                return deadline
            }
            switch output {
            case .screen, .tone, .chime, .say, .hush, .announce, .event, .record: self.unhurried.append(output)
            case .send, .close, .ask, .route, .media, .lamp, .relay, .remember, .savePower, .turnCamera, .reply,
                .screenshot, .collectCounters, .tellHealth, .readClock, .readSecrets, .renewSecrets,
                .readConfiguration, .log, .exit, .restart, .wait:
                self.carryOut(output)
            }
        }
    }

    private func carryOut(_ output: KioskOutput) {
        switch output {
        case .send(let bytes, let flow):
            self.pending += self.signalling.send(bytes, on: flow, now: Clock.now(), poller: self.poller)
        case .close(let flow):
            self.closed = flow
            self.signalling.close(flow, now: Clock.now(), poller: self.poller)
        case .ask(let id, let question): self.resolver.ask(id, question)
        case .route(let id, let remotes):
            self.pending.append(.routed(id, remotes.map { self.signalling.local(toward: $0) }))
        case .media(let order): self.carryOut(order)
        case .lamp(let name, let isOn): self.panel.set(name, on: isOn, now: Clock.now())
        case .relay(let index, let isOn): self.panel.set(relay: index, on: isOn, now: Clock.now())
        case .remember(let isTampered): self.tamperMark.set(isTampered)
        case .screen(let state):
            self.wires.camera.order(.preview(state.selfView == .shown))
            self.wires.display.order(.draw(state))
        case .tone(let tone): self.wires.sound.order(.tone(tone))
        case .chime(let chime): self.wires.sound.order(.chime(chime))
        case .savePower(let isOn):
            self.wires.camera.order(.rest(isOn))
            self.wires.display.order(.dim(isOn))
        case .turnCamera(let degrees): self.wires.camera.order(.turn(degrees: degrees))
        case .say(let prompt, let language):
            self.wires.sound.order(.awaitPrompt(self.nextPrompt()))
            self.wires.prompts.order(.read(prompt, language, self.promptNumber))
        case .hush: self.wires.sound.order(.awaitPrompt(self.nextPrompt()))
        case .announce(let prompt, let language):
            self.wires.sound.order(.awaitAnnouncement(self.nextPrompt()))
            if let prompt { self.wires.prompts.order(.readForFarEnd(prompt, language, self.promptNumber)) }
        case .reply(let client, let line): self.reply(client, line)
        case .event(let line): Log.write(line)
        case .record(let call): self.records.append(call, now: Clock.now())
        case .log(let policy): self.records.set(policy)
        case .screenshot(let client, let path): self.wires.display.order(.screenshot(client, path: path))
        case .collectCounters(let client): self.pending.append(.localCounters(client, self.localCounters()))
        case .tellHealth(let client): self.reply(client, self.wires.vitals.reply)
        case .readClock: self.pending.append(.clock(self.time.localTime))
        case .readSecrets: self.pending.append(.secrets(self.secrets.read()))
        case .renewSecrets(let settings):
            self.secrets = self.file.readSecrets(settings, self.wires)
            self.pending.append(.secrets(self.secrets.read()))
        case .readConfiguration: self.pending.append(self.readConfiguration())
        case .exit(let code): self.ending = .exit(code)
        case .restart: self.ending = .restart
        case .wait: break
        }
    }

    private func nextPrompt() -> PromptNumber {
        self.promptNumber &+= 1
        return self.promptNumber
    }

    func readConfiguration() -> KioskInput {
        let (configuration, problems) = self.file.read()
        return .reload(configuration, problems)
    }

    private func localCounters() -> LocalCounters {
        let process = ProcessCounters.read()
        let display = self.wires.counters.display
        return LocalCounters(
            descriptors: UInt64(process.fileDescriptors), threads: UInt64(process.threads),
            residentKiB: UInt64(process.residentKB), framebuffers: display.framebuffers,
            drawings: display.drawings)
    }

    func reply(_ client: ClientID, _ line: ByteString) {
        self.control?.send(line, to: client.number, poller: self.poller)
    }

    private func carryOut(_ order: MediaOrder) {
        let wires = self.wires
        switch order {
        case .start(let plan, let encoder, let protection):
            self.generation &+= 1
            wires.counters.reset()
            wires.decoder.order(.start(self.generation))
            wires.display.order(.start(self.generation))
            wires.media.order(.start(plan, protection, self.generation))
            wires.sound.order(.start(plan.audio, self.generation))
            wires.camera.order(.encode(encoder))
        case .update(let plan, let encoder, let protection):
            wires.media.order(.update(plan, protection))
            wires.sound.order(.update(plan.audio))
            wires.camera.order(.encode(encoder))
        case .stop:
            wires.media.order(.stop)
            wires.sound.order(.stop)
            wires.camera.order(.encode(nil))
            wires.decoder.order(.stop)
            wires.display.order(.stop)
        case .mute(let isOn): wires.sound.order(.mute(isOn))
        case .deafen(let isOn): wires.sound.order(.deafen(isOn))
        case .sendVideo(let isOn): wires.camera.order(.send(isOn))
        case .encodeKeyFrame: wires.camera.order(.encodeKeyFrame)
        case .sendDigit(let key, let durationMs): wires.media.order(.sendDigit(key, durationMs: durationMs))
        case .findWays(let search): wires.media.order(.findWays(search))
        case .forgetWays: wires.media.order(.forgetWays)
        case .playDigit(let key, let durationMs): wires.sound.order(.digit(key, durationMs: durationMs))
        }
    }
}
