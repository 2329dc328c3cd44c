// SPDX-License-Identifier: Apache-2.0
import Bytes
import KioskEngine
import SIPEngine
import SIPWire

/// What people, power cuts and strangers do in the safety act: all drawn when it begins.
extension World {
    private static let lastAttemptMs = 35_000

    private func drawn(_ bound: Int) -> Int { Int(self.draw.below(UInt64(bound))) }

    func schedulePeople() {
        var ms = 100
        for _ in 0..<self.options.attempts {
            ms += self.drawn(min(9000, Self.lastAttemptMs / self.options.attempts))
            self.scheduleAttempt(atMs: ms)
        }
        self.scheduleReloads()
        for _ in 0..<self.options.strangers {
            let kiosk = self.kiosks[self.drawn(2)]
            let roll = self.drawn(4)
            self.after(ms: self.drawn(30_000)) { $0.intrude(kiosk, roll) }
        }
    }

    private func scheduleReloads() {
        for kiosk in self.kiosks {
            for _ in 0..<kiosk.options.reloads {
                self.after(ms: self.drawn(Self.safetyMs)) { _ in kiosk.say("reload") }
            }
        }
    }

    private func scheduleAttempt(atMs ms: Int) {
        let kiosk = self.kiosks[self.drawn(2)]
        switch self.drawn(10) {
        case 0...5: self.after(ms: ms) { $0.press(kiosk) }
        case 6: self.after(ms: ms) { $0.dial(kiosk, "call sip:desk@192.0.2.10;transport=tcp") }
        case 7:
            let others: [any Node] = [self.kiosks[1 - kiosk.index]] + self.agents
            let other = others[self.drawn(others.count)]
            let way = self.drawn(3) == 0 ? ";transport=tcp" : ""
            let uri = "call sip:\(other.name)@\(other.address.text.string)\(way)"
            self.after(ms: ms) { $0.dial(kiosk, ByteString(utf8Of: uri)) }
        default:
            guard !self.agents.isEmpty else { return self.after(ms: ms) { $0.press(kiosk) } }
            let agent = self.agents[self.drawn(self.agents.count)]
            self.after(ms: ms) { _ in agent.place(to: kiosk) }
            return self.after(ms: ms + self.drawn(4000)) { _ in kiosk.say("answer") }
        }
        self.scheduleFollowing(kiosk, atMs: ms)
    }

    /// What the same person does after the press.
    private func scheduleFollowing(_ kiosk: KioskNode, atMs ms: Int) {
        switch self.drawn(10) {
        case 0...2: self.after(ms: ms + self.drawn(11)) { _ in kiosk.press(.hook) }
        case 3, 4: self.after(ms: ms + self.drawn(3000)) { _ in kiosk.press(.hook) }
        case 5: self.after(ms: ms + self.drawn(12_000)) { _ in kiosk.press(.hook) }
        default: break
        }
        for _ in 0..<self.drawn(3) {
            let roll = self.drawn(20)
            self.after(ms: ms + self.drawn(8000)) { $0.fiddle(kiosk, roll) }
        }
    }

    private func press(_ kiosk: KioskNode) {
        self.attempts += 1
        kiosk.press(.call)
    }

    private func dial(_ kiosk: KioskNode, _ line: ByteString) {
        self.attempts += 1
        kiosk.say(line)
    }

    private func fiddle(_ kiosk: KioskNode, _ roll: Int) {
        switch roll {
        case 0...2: kiosk.press(.call)
        case 3, 4: kiosk.press(.mute)
        case 5, 6: kiosk.press(.video)
        case 7: kiosk.say("status")
        case 8: kiosk.say("hangup")
        case 9, 10: kiosk.say("hold")
        case 11, 12: kiosk.say("resume")
        case 13: kiosk.say("digits 12#")
        case 14: kiosk.say("message hello")
        case 15: kiosk.say("call sip:nobody@nowhere.invalid")
        case 16: kiosk.say("video remove")
        case 17: kiosk.say("video add")
        case 18: kiosk.say("trace")
        default: if self.drawn(3) == 0 { kiosk.terminate() }
        }
    }

    // MARK: - Faults

    func scheduleFaults() {
        for _ in 0..<self.options.partitions {
            let from = self.drawn(self.network.nodes.count)
            let to = self.drawn(self.network.nodes.count)
            let lengthMs = 500 + self.drawn(20_000)
            let isMutual = self.drawn(2) == 0
            self.after(ms: self.drawn(Self.safetyMs)) { world in
                let end = world.now + .milliseconds(lengthMs)
                let names = world.network.nodes[from].name + " to " + world.network.nodes[to].name
                world.note("---- \(names) cut for \(lengthMs) ms")
                world.network.cut(from: from, to: to, until: end)
                if isMutual { world.network.cut(from: to, to: from, until: end) }
            }
        }
        for _ in 0..<self.options.restarts {
            let kiosk = self.kiosks[self.drawn(2)]
            let downMs = 100 + self.drawn(3000)
            self.after(ms: self.drawn(Self.safetyMs - 4000)) { _ in kiosk.restart(downMs: downMs) }
        }
        for _ in 0..<self.options.resets {
            self.after(ms: self.drawn(Self.safetyMs)) { $0.resetAny() }
        }
        if self.options.isForgetful {
            self.after(ms: self.drawn(Self.safetyMs)) { $0.proxy.forget() }
        }
    }

    // MARK: - Strangers

    static let stranger = SocketAddress(.v4(0xC633_6409), port: 5060)

    private func intrude(_ kiosk: KioskNode, _ roll: Int) {
        guard kiosk.isUp else { return }
        let method = ["OPTIONS", "INVITE", "REGISTER", "MESSAGE"][roll]
        let lines = [
            "\(method) sip:\(kiosk.name)@\(kiosk.address.text.string) SIP/2.0",
            "Via: SIP/2.0/UDP 198.51.100.9:5060;branch=z9hG4bK\(self.drawn(1_000_000))", "Max-Forwards: 70",
            "From: <sip:x@198.51.100.9>;tag=x", "To: <sip:\(kiosk.name)@\(kiosk.address.text.string)>",
            "Call-ID: x\(self.drawn(1_000_000))", "CSeq: 1 \(method)", "Contact: <sip:x@198.51.100.9>",
            "Content-Length: 0", "", "",
        ]
        let message = try? SIPMessage.parse(Array(lines.joined(separator: "\r\n").utf8), framing: .datagram)
        let flow = Flow(transport: .udp, local: kiosk.address, remote: Self.stranger)
        kiosk.receive(Parcel(message), on: flow)
    }
}
