// SPDX-License-Identifier: Apache-2.0
import Bytes
import Foundation
import MediaEngine
import RTPWire
import SDPWire
import SIPEngine
import SIPWire
import XCTest

@testable import KioskEngine

/// A kiosk, a far end, and the wire between them, in virtual time. The far end is a bare SIP engine that tests steer by
/// hand.
final class Scene {
    static let kioskAddress = SocketAddress(.v4(0x0A00_0002), port: 5060)
    static let farAddress = SocketAddress(.v4(0x0A00_0001), port: 5060)
    static let client = ClientID(1)
    /// Where routes to everybody lead from.
    var address = Scene.kioskAddress

    var kiosk: KioskEngine
    var far: SIPEngine
    private(set) var now = Instant(nanoseconds: 1_000_000_000)
    /// What the wire does with what the kiosk sends, and with what it is sent.
    var isCut = false
    var resolver: Resolver
    /// What every name stands for, best first.
    var addresses = [Scene.farAddress.address]
    /// No route leads there.
    var unreachable: [IPAddress] = []
    /// Nothing that is sent there arrives.
    var dead: [IPAddress] = []
    /// Everything the kiosk ordered, oldest first.
    private(set) var outputs: [KioskOutput] = []
    private(set) var cameToFar: CallHandle?
    /// What the kiosk asked the name service and was not answered yet.
    private(set) var questions: [(id: QuestionID, question: NameQuestion)] = []
    private(set) var farEvents: [(handle: CallHandle, event: CallEvent)] = []
    private var kioskWakesAt: Instant?
    private var farWakesAt: Instant?

    enum Resolver {
        case answers
        case knowsNothing
        case isSilent
    }

    /// `settings` are lines of a configuration file after its `[call]` section with the address.
    init(
        _ settings: String = "", address: String = "uri = sip:help@far", resolver: Resolver = .answers,
        _ edit: (inout KioskWorld) -> Void = { _ in }
    ) {
        self.resolver = resolver
        let text = "[call]\n\(address)\n\(settings)\n"
        let (configuration, problems) = Self.parse(text)
        var world = KioskWorld(
            hasCamera: true, hasScreen: true, buttons: [.call, .hook, .mute, .video],
            audioPorts: StreamPorts(rtp: 40_000, rtcp: 40_001),
            videoPorts: StreamPorts(rtp: 40_002, rtcp: 40_003), cameraSize: PictureSize(width: 640, height: 360),
            cameraFPS: 30, version: "1", ntpAtZero: NTPTime(0))
        edit(&world)
        self.kiosk = KioskEngine(
            configuration: configuration, problems: problems, world: world, seed: 1,
            makeSecret: Self.secrets(seed: 3))
        var user = SIPConfiguration(userAgent: "", displayName: "Far End", identity: nil, contactUser: "far")
        user.access.isOpen = true
        self.far = SIPEngine(configuration: user, seed: 2)
        self.feed(.started)
    }

    /// A configuration file. Its owner has the licence for pictures, unless it says otherwise.
    static func parse(_ text: String) -> (Configuration, [ConfigurationProblem]) {
        var (configuration, problems) = Configuration.parse(Array(text.utf8))
        if !text.contains("h264_licence") { configuration.video.h264Licence = .own }
        return (configuration, problems)
    }

    /// Bytes for keys, the same in each run.
    static func secrets(seed: UInt64) -> (Int) -> [UInt8] {
        var generator = Generator(seed: seed)
        return { count in (0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) } }
    }

    // MARK: - Time and wire

    /// As if SIP told this.
    func sipTells(_ event: CallEvent, of handle: CallHandle) {
        self.kiosk.call(handle, event, now: self.now)
        self.drainKiosk()
        self.feed(.timeout)
    }

    /// The call in SIP that the kiosk has now.
    var handle: CallHandle { self.kiosk.machine.state.handle ?? CallHandle(number: 0) }

    func feed(_ input: KioskInput) {
        self.kiosk.handle(input, now: self.now)
        self.drainKiosk()
    }

    func press(_ button: ButtonName) {
        self.feed(.button(button, .pressed))
        self.feed(.button(button, .released))
    }

    func farDoes(_ input: SIPEngine.Input) {
        self.far.handle(input, now: self.now)
        self.drainFar()
    }

    private func drainKiosk() {
        var sent: [[UInt8]] = []
        var routes: [(ResolutionID, [SocketAddress?])] = []
        var asked = 0
        while true {
            let output = self.kiosk.pollOutput()
            if case .wait(let instant) = output {
                self.kioskWakesAt = instant
                break
            }
            if case .send(let bytes, let flow) = output {
                if !self.dead.contains(flow.remote.address) { sent.append(bytes) }
                self.rememberInvitation(bytes)
            }
            if case .ask(let id, let question) = output {
                asked += 1
                self.questions.append((id, question))
            }
            if case .route(let id, let remotes) = output {
                routes.append(
                    (id, remotes.map { self.unreachable.contains($0.address) ? nil : self.address }))
            }
            self.outputs.append(output)
        }
        for (id, locals) in routes { self.feed(.routed(id, locals)) }
        if asked > 0 { self.answerQuestions() }
        for bytes in sent where !self.isCut {
            let flow = Flow(transport: .udp, local: Self.farAddress, remote: Self.kioskAddress)
            self.farDoes(.received(bytes, on: flow))
        }
    }

    private func answerQuestions() {
        switch self.resolver {
        case .answers: self.resolves(to: self.addresses)
        case .knowsNothing: self.resolves(to: [])
        case .isSilent: break
        }
    }

    func answers(_ id: QuestionID, _ answer: NameAnswer) {
        self.questions.removeAll { $0.id == id }
        self.feed(.answer(id, answer))
    }

    func resolves(to address: IPAddress?) {
        self.resolves(to: address.map { [$0] } ?? [])
    }

    /// Answers every open question: each name has these addresses, or is not known, and no services.
    func resolves(to addresses: [IPAddress]) {
        let open = self.questions
        self.questions = []
        for (id, question) in open {
            if case .addresses = question, !addresses.isEmpty {
                self.feed(.answer(id, .found(.addresses(addresses), ttlSeconds: 60)))
            } else {
                self.feed(.answer(id, .none))
            }
        }
    }

    private func drainFar() {
        var sent: [[UInt8]] = []
        while true {
            switch self.far.pollOutput() {
            case .send(let bytes, _): sent.append(bytes)
            case .close, .message, .messageFinished, .registration, .credentialsRefused, .credentialsAccepted, .probed:
                break
            case .event(let handle, let event):
                if case .incoming = event { self.cameToFar = handle }
                self.farEvents.append((handle, event))
            case .wait(let instant):
                self.farWakesAt = instant
                for bytes in sent { self.remember(bytes) }
                for bytes in sent where !self.isCut { self.feed(.received(bytes, on: Self.toFar)) }
                return
            }
        }
    }

    static let toFar = Flow(transport: .udp, local: kioskAddress, remote: farAddress)

    /// Lets time pass, with every wake-up at its instant. A wake-up that asks for that instant again fails the test.
    func pass(_ ms: Int, file: StaticString = #filePath, line: UInt = #line) {
        let end = self.now + .milliseconds(ms)
        while true {
            let next = [self.kioskWakesAt, self.farWakesAt].compactMap { $0 }.min() ?? end
            guard next < end else { break }
            self.now = max(self.now, next)
            if let due = self.farWakesAt, due <= self.now { self.farDoes(.timeout) }
            if let due = self.kioskWakesAt, due <= self.now { self.feed(.timeout) }
            if let again = self.kioskWakesAt, again <= self.now {
                XCTFail("the kiosk wants to be woken for ever", file: file, line: line)
                break
            }
        }
        self.now = end
        if let due = self.kioskWakesAt, due <= end { self.feed(.timeout) }
    }

    // MARK: - What was seen

    func forget() {
        self.outputs = []
        self.farEvents = []
    }

    var state: String { States.name(self.kiosk.machine.state) }

    /// Events of the log, as objects.
    var events: [[String: Any]] {
        self.outputs.compactMap { output in
            guard case .event(let line) = output else { return nil }
            return Self.object(line)
        }
    }

    static func object(_ line: ByteString) -> [String: Any] {
        (try? JSONSerialization.jsonObject(with: Data(line.bytes))) as? [String: Any] ?? ["bad": line.string]
    }

    func events(_ name: String) -> [[String: Any]] {
        self.events.filter { $0["event"] as? String == name }
    }

    /// The states of `call` events.
    var callStates: [String] { self.events("call").compactMap { $0["state"] as? String } }

    /// The reason of the last `ended`.
    var endReason: String? { self.events("call").last { $0["state"] as? String == "ended" }?["reason"] as? String }

    /// Both streams of the far end's stopped just now.
    func hearsNothing() {
        self.feed(.media(.silent(.audio, since: self.now)))
        self.feed(.media(.silent(.video, since: self.now)))
    }

    var screen: ScreenState? {
        self.outputs.reversed().lazy.compactMap { output -> ScreenState? in
            guard case .screen(let screen) = output else { return nil }
            return screen
        }.first
    }

    // MARK: - The far end by hand

    /// The call that came to the far end last.
    var atFar: CallHandle {
        guard let handle = self.cameToFar else { preconditionFailure("no call came to the far end") }
        return handle
    }

    /// The description that the kiosk sent last.
    var offerAtFar: String {
        for (_, event) in self.farEvents.reversed() {
            if case .incoming(let call) = event { return String(decoding: call.offer ?? [], as: UTF8.self) }
        }
        return ""
    }

    func farEnd(of handle: CallHandle) -> EndReason? {
        for (other, event) in self.farEvents.reversed() where other == handle {
            if case .ended(let reason) = event { return reason }
        }
        return nil
    }

    func farAnswers(_ status: StatusCode = .ok, _ body: [UInt8]? = nil) {
        let hasBody = status == .ok || status == .sessionProgress
        self.farDoes(.respond(self.atFar, status, body: body ?? (hasBody ? Self.description() : [])))
    }

    /// A description with sound and picture. As an answer it fits every offer of a kiosk with camera or screen.
    static func description(
        audio: String = "sendrecv", video: String = "sendrecv", videoPort: Int = 20_002, version: Int = 1,
        address: String = "10.0.0.1"
    ) -> [UInt8] {
        let lines = [
            "v=0", "o=- 1 \(version) IN IP4 10.0.0.1", "s=-", "c=IN IP4 \(address)", "t=0 0",
            "m=audio 20000 RTP/AVP 0", "a=\(audio)", "m=video \(videoPort) RTP/AVP 102", "a=rtpmap:102 H264/90000",
            "a=fmtp:102 profile-level-id=42e01f;packetization-mode=1", "a=rtcp-fb:* nack pli", "a=\(video)",
        ]
        return Array((lines.joined(separator: "\r\n") + "\r\n").utf8)
    }

    /// A connected call from here to the far end, with sound and picture shown.
    static func inCall(_ settings: String = "", _ edit: (inout KioskWorld) -> Void = { _ in }) -> Scene {
        let scene = Scene(settings, edit)
        scene.press(.call)
        scene.farAnswers()
        scene.feed(.media(.firstPacket(.audio)))
        scene.feed(.media(.firstPacket(.video)))
        scene.feed(.media(.firstFrameShown))
        scene.feed(.media(.firstSoundPlayed))
        return scene
    }

    /// A call from outside that is answered by itself is announced before.
    func passAnnouncement() { self.pass(KioskTimes.announcedMs + 1) }

    // MARK: - Requests in the call, written by hand

    /// A request of the far end in the dialog of the call that the kiosk placed.
    private func request(
        _ method: String, cseq: Int, branch: String, headers: [String] = [], _ body: [UInt8] = []
    ) -> [UInt8] {
        guard let invite = self.invitation, let callID = invite.first(.callID), let from = invite.first(.from) else {
            preconditionFailure("the kiosk placed a call, and it has an INVITE")
        }
        let tagged = self.answerTo ?? ""
        let lines =
            [
                "\(method) sip:callbox@10.0.0.2:5060 SIP/2.0", "Via: SIP/2.0/UDP 10.0.0.1:5060;branch=z9hG4bK\(branch)",
                "Max-Forwards: 70", "From: \(tagged)", "To: \(from.string)", "Call-ID: \(callID.string)",
                "CSeq: \(cseq) \(method)", "Contact: <sip:far@10.0.0.1:5060>", "Content-Type: application/sdp",
                "Content-Length: \(body.count)",
            ] + headers + ["", ""]
        return Array(lines.joined(separator: "\r\n").utf8) + body
    }

    /// The INVITE of the call that the kiosk placed last.
    private var invitation: SIPMessage?

    private func rememberInvitation(_ bytes: [UInt8]) {
        guard bytes.starts(with: Array("INVITE".utf8)),
            let message = try? SIPMessage.parse(bytes, framing: .datagram), message.to?.tag == nil
        else { return }
        self.invitation = message
    }

    /// The To of the far end's 200.
    private var answerTo: String?

    private func remember(_ bytes: [UInt8]) {
        guard let message = try? SIPMessage.parse(bytes, framing: .datagram), message.status == .ok else { return }
        self.answerTo = message.first(.to)?.string
    }

    func farReinvites(_ body: [UInt8], cseq: Int = 1000) {
        self.feed(.received(self.request("INVITE", cseq: cseq, branch: "re\(cseq)", body), on: Self.toFar))
    }

    func farRefers(to target: String, headers: [String] = [], cseq: Int = 1000) {
        let request = self.request("REFER", cseq: cseq, branch: "ref", headers: ["Refer-To: \(target)"] + headers)
        self.feed(.received(request, on: Self.toFar))
    }

    func farAcknowledges(_ body: [UInt8] = [], cseq: Int = 1000) {
        self.feed(.received(self.request("ACK", cseq: cseq, branch: "ack\(cseq)", body), on: Self.toFar))
    }

    /// An INVITE or ACK of a caller whose every message the test writes. Its ACK needs the kiosk's answer.
    func callerSends(_ method: String, _ body: [UInt8] = []) {
        let answer = self.answers.last.flatMap { try? SIPMessage.parse(Array($0.utf8), framing: .datagram) }
        let to = method == "ACK" ? answer?.first(.to)?.string ?? "" : "<sip:callbox@10.0.0.2>"
        let lines = [
            "\(method) sip:callbox@10.0.0.2:5060 SIP/2.0",
            "Via: SIP/2.0/UDP 10.0.0.1:5060;branch=z9hG4bKcaller\(method)",
            "Max-Forwards: 70", "From: <sip:caller@10.0.0.1>;tag=c1", "To: \(to)", "Call-ID: caller-1",
            "CSeq: 1 \(method)", "Contact: <sip:caller@10.0.0.1:5060>", "Content-Type: application/sdp",
            "Content-Length: \(body.count)", "", "",
        ]
        self.feed(.received(Array(lines.joined(separator: "\r\n").utf8) + body, on: Self.toFar))
    }

    /// The final answers that the kiosk sent, as text with their bodies.
    var answers: [String] {
        self.outputs.compactMap { output in
            guard case .send(let bytes, _) = output, bytes.starts(with: Array("SIP/2.0 ".utf8)) else { return nil }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    /// The far end calls. Nil offer: it wants the kiosk's.
    @discardableResult
    func farCalls(_ offer: [UInt8]? = Scene.description()) -> CallHandle {
        let handle = self.far.newHandle()
        let target = SIPURI(user: "callbox", host: .address(Self.kioskAddress.address))
        let flow = Flow(transport: .udp, local: Self.farAddress, remote: Self.kioskAddress)
        self.farDoes(.invite(handle, InviteRequest(target: target, flow: flow, offer: offer ?? [])))
        return handle
    }
}
