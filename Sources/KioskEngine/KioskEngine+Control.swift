// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine

/// Words of the control socket.
extension KioskEngine {
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
        case .doctorVideo:
            self.put(.reply(client, Reply.lines(self.chain.lines(level: self.world.decoderLevel))))
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
}
