// SPDX-License-Identifier: Apache-2.0
import Bytes
import RTPWire
import SIPEngine
import SIPWire
import XCTest

@testable import KioskEngine

extension RegistrationTests {
    /// What a registrar does with a REGISTER.
    enum Registrar: Equatable {
        case grants(Int)
        case refuses(Int, retryAfter: Int?)
        case isSilent
    }

    final class Desk {
        var kiosk: KioskEngine
        private(set) var now = Instant(nanoseconds: 1_000_000_000)
        /// By host name; `addresses` of those that can be found.
        var registrars: [String: Registrar] = [:]
        var addresses: [String: [UInt32]] = [:]
        var local = SocketAddress(.v4(0x0A00_0002), port: 5060)
        private(set) var outputs: [KioskOutput] = []
        private(set) var registers: [(at: Instant, message: SIPMessage, flow: Flow)] = []
        var wakesAt: Instant?
        private(set) var exitedAt: Instant?

        init(_ settings: String, seed: UInt64 = 1) {
            let text = "[call]\nuri = sip:help@far\n\(settings)\n"
            let (configuration, problems) = Scene.parse(text)
            XCTAssertEqual(problems.map { $0.sentence.string }, [])
            let world = KioskWorld(
                hasCamera: false, hasScreen: true, buttons: [.call, .hook, .mute, .video],
                audioPorts: StreamPorts(rtp: 40_000, rtcp: 40_001), videoPorts: StreamPorts(rtp: 40_002, rtcp: 40_003),
                cameraSize: PictureSize(width: 640, height: 360), cameraFPS: 30, version: "1", ntpAtZero: NTPTime(0))
            self.kiosk = KioskEngine(
                configuration: configuration, problems: problems, world: world, seed: seed,
                makeSecret: { [UInt8](repeating: 7, count: $0) })
        }

        func feed(_ input: KioskInput) {
            self.kiosk.handle(input, now: self.now)
            var answers: [KioskInput] = []
            draining: while true {
                let output = self.kiosk.pollOutput()
                self.outputs.append(output)
                switch output {
                case .wait(let instant):
                    self.wakesAt = instant
                    break draining
                case .send(let bytes, let flow): answers += self.answer(bytes, flow)
                case .ask(let id, let question):
                    answers.append(.answer(id, self.answer(to: question)))
                case .route(let id, let remotes):
                    answers.append(.routed(id, remotes.map { _ in self.local }))
                case .exit: self.exitedAt = self.now
                default: break
                }
            }
            for answer in answers { self.feed(answer) }
        }

        private func answer(to question: NameQuestion) -> NameAnswer {
            guard case .addresses(let host) = question, let found = self.addresses[host.string], !found.isEmpty else {
                return .none
            }
            return .found(.addresses(found.map { .v4($0) }), ttlSeconds: 5)
        }

        private func answer(_ bytes: [UInt8], _ flow: Flow) -> [KioskInput] {
            guard let request = try? SIPMessage.parse(bytes, framing: .datagram), request.method == .register else {
                return []
            }
            self.registers.append((self.now, request, flow))
            guard case .v4(let bits) = flow.remote.address,
                let host = self.addresses.first(where: { $0.value.contains(bits) })?.key
            else { return [] }
            // A registrar at several addresses: `host` for the first, `host/2` for the second.
            let place = self.addresses[host]!.firstIndex(of: bits)! + 1
            var response: SIPMessage
            switch self.registrars["\(host)/\(place)"] ?? self.registrars[host] ?? .isSilent {
            case .isSilent: return []
            case .refuses(let code, let retryAfter):
                response = SIPMessage(respondingTo: request, StatusCode(code), toTag: "r")
                if let retryAfter { response.add(.retryAfter, ByteString(decimal: retryAfter)) }
            case .grants(let seconds):
                response = SIPMessage(respondingTo: request, .ok, toTag: "r")
                if request.expiresSeconds != 0 {
                    response.add(.contact, request.values(.contact)[0])
                    response.set(
                        .contact,
                        NameAddr(uri: request.contacts![0].uri).printed + ";expires="
                            + ByteString(decimal: seconds))
                }
            }
            return [.received(response.printed(), on: flow)]
        }

        func pass(_ ms: Int) {
            let end = self.now + .milliseconds(ms)
            while let next = self.wakesAt, next <= end, self.exitedAt == nil {
                self.now = max(self.now, next)
                self.feed(.timeout)
                if let again = self.wakesAt, again <= self.now { return XCTFail("woken for ever") }
            }
            self.now = end
        }

        func forget() {
            self.outputs = []
            self.registers = []
        }

        /// The codes of what was told as a fault that stands.
        var faults: [String] {
            self.outputs.compactMap { output in
                guard case .event(let line) = output else { return nil }
                let event = Scene.object(line)
                return event["event"] as? String == "fault" ? event["fault_code"] as? String : nil
            }
        }

        /// `account state code` of the events.
        var story: [String] {
            self.outputs.compactMap { output in
                guard case .event(let line) = output else { return nil }
                let event = Scene.object(line)
                guard event["event"] as? String == "registration" else { return nil }
                let account = (event["account"] as? String ?? "").dropFirst(4).prefix { $0 != "@" }
                let code = event["code"].map { " \($0)" } ?? ""
                return "\(account) \(event["state"] ?? "")\(code)"
            }
        }

        var banner: String {
            for output in self.outputs.reversed() {
                if case .screen(let screen) = output { return screen.banner.string }
            }
            return ""
        }

        var sent: [[UInt8]] {
            self.outputs.compactMap { if case .send(let bytes, _) = $0 { bytes } else { nil } }
        }

        var invite: SIPMessage? {
            for output in self.outputs.reversed() {
                if case .send(let bytes, _) = output, bytes.starts(with: Array("INVITE".utf8)) {
                    return try? SIPMessage.parse(bytes, framing: .datagram)
                }
            }
            return nil
        }
    }
}
