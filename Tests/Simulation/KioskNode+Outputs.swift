// SPDX-License-Identifier: Apache-2.0
import Bytes
import KioskEngine
import SIPEngine
import SIPWire

/// What the kiosk wants done.
extension KioskNode {
    // MARK: - Outputs

    func drain() {
        for _ in 0..<Self.outputsMax {
            guard let output = self.engine?.pollOutput() else { return }
            if case .wait(let until) = output {
                self.wakesAt = until
                return
            }
            self.carryOut(output)
        }
        self.world.violate("busy", "\(self.name) gives more than \(Self.outputsMax) outputs for one input")
    }

    private func carryOut(_ output: KioskOutput) {
        switch output {
        case .send(let bytes, let flow): self.send(bytes, on: flow)
        case .close(let flow): self.world.close(flow, of: self)
        case .ask(let id, _): self.knowNothing(id)
        case .route(let id, let remotes):
            self.pending.append(.routed(id, Array(repeating: self.address, count: remotes.count)))
        case .media(let order): self.order(order)
        case .event(let line): self.heard(line)
        case .collectCounters(let client):
            let local = LocalCounters(descriptors: 1, threads: 1, residentKiB: 1, framebuffers: 1)
            self.pending.append(.localCounters(client, local))
        case .readSecrets, .renewSecrets: self.pending.append(.secrets(self.credentials))
        case .readConfiguration: self.pending.append(self.changedConfiguration())
        case .exit: self.exit()
        default: break
        }
    }

    private func send(_ bytes: [UInt8], on flow: Flow) {
        let bytes = self.world.canary?.change(bytes, atMs: self.world.now.nanoseconds / 1_000_000) ?? bytes
        guard !bytes.isEmpty else { return }
        self.world.digest.mix(bytes)
        let (parcel, fault) = self.checks.sent(bytes, on: flow, now: self.world.now)
        if flow.remote.address == World.stranger.address, self.options.acceptFrom != "anyone" {
            self.world.violate("stranger", "\(self.name) answers a stranger: \(parcel.text)")
        }
        self.world.send(parcel, from: self, on: flow)
        if let fault { self.world.violate(fault.rule, "\(self.name): \(fault.text)") }
    }

    /// There are no names in this network, and it takes a while to learn that of one.
    private func knowNothing(_ id: QuestionID) {
        let life = self.life
        self.world.after(ms: Int(self.world.draw.below(3000))) { [unowned self] _ in
            if self.life == life { self.feed(.answer(id, .none)) }
        }
    }

    private func order(_ order: MediaOrder) {
        if self.world.canary == .keepMedia, order == .stop { return }
        if let fault = self.media.order(order) { self.world.violate("media", "\(self.name): \(fault)") }
    }

    /// A line of the log: those about calls tell where the kiosk is.
    private func heard(_ line: ByteString) {
        self.world.note("\(self.name)       \(line.string)")
        guard line.hasPrefix("{\"event\":\"call\","), let state = Self.word("\"state\":\"", in: line) else { return }
        if state == "ended" {
            if !self.isInCall { self.world.violate("story", "\(self.name): a call ended that never began") }
            self.isInCall = false
        } else {
            let isFirst = state == "dialling" || state == "alerting" || state == "connected"
            if !self.isInCall, !isFirst { self.world.violate("story", "\(self.name): \(state.string) out of nothing") }
            self.isInCall = true
        }
        self.state = state
    }

    private static func word(_ key: ByteString, in line: ByteString) -> ByteString? {
        let bytes = line.bytes
        var index = 0
        while index + key.count <= bytes.count {
            if bytes[index..<(index + key.count)].elementsEqual(key.bytes) {
                let rest = bytes[(index + key.count)...]
                return ByteString(rest[..<(rest.firstIndex(of: ASCII.quote) ?? rest.endIndex)])
            }
            index += 1
        }
        return nil
    }

    /// The service manager starts it again.
    private func exit() {
        if !self.wasTerminated { self.world.violate("exit", "\(self.name) left though nobody told it to") }
        self.world.note("\(self.name) exits")
        self.stop()
        self.world.after(ms: 500) { [unowned self] _ in self.start() }
    }
}
