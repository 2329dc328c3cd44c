// SPDX-License-Identifier: Apache-2.0
import Bytes
import KioskEngine
import RTPWire
import SIPEngine
import SIPWire

/// One kiosk with what its process has around the engine: sockets, resolver, media thread, service manager.
final class KioskNode: Node {
    let index: Int
    let name: String
    let address: SocketAddress
    let readsBytes = true
    unowned let world: World
    var engine: KioskEngine?
    private(set) var media: MediaModel
    var checks = WireChecks()
    /// Counts the starts: what was meant for a former life is dropped.
    private(set) var life = 0
    var wakesAt: Instant?
    /// When the kiosk or its media must be woken.
    var due: Instant? {
        guard let media = self.media.due else { return self.wakesAt }
        return min(media, self.wakesAt ?? media)
    }
    /// The word of the last `call` event.
    var state: ByteString = "idle"
    /// A call began and did not end, as the events tell it.
    var isInCall = false
    var wasTerminated = false
    /// Of `callbox.conf`.
    private(set) var revision = 0
    private(set) var credentials: [Credential] = []
    /// Answers that are known at once: put in when the outputs before them are drained.
    var pending: [KioskInput] = []
    static let outputsMax = 500

    init(index: Int, world: World) {
        self.index = index
        self.name = "k\(index + 1)"
        self.address = SocketAddress(.v4(0xC000_0201 + UInt32(index)), port: 5060)
        self.world = world
        self.media = MediaModel(seed: world.options.seed, world: world)
        self.media.kiosk = self
    }

    var isUp: Bool { self.engine != nil }
    var options: KioskOptions { self.world.options.kiosks[self.index] }
    var census: SIPCensus { self.engine?.census ?? SIPCensus() }

    // MARK: - Life

    func start() {
        self.life += 1
        let seed = self.world.options.seed &* 1000 &+ UInt64(self.index * 100 + self.life)
        let (configuration, problems) = Configuration.parse(Array(self.configurationText.utf8))
        precondition(problems.isEmpty, "the simulation writes a file without mistakes")
        self.credentials = configuration.sip.credentials
        var kioskWorld = KioskWorld(
            hasCamera: self.options.hasCamera, hasScreen: self.options.hasScreen,
            buttons: [.call, .hook, .mute, .video],
            audioPorts: StreamPorts(rtp: MediaModel.audioPort, rtcp: MediaModel.audioPort + 1),
            videoPorts: StreamPorts(rtp: MediaModel.videoPort, rtcp: MediaModel.videoPort + 1),
            cameraSize: PictureSize(width: 640, height: 360), cameraFPS: 30, version: "1", ntpAtZero: NTPTime(0))
        kioskWorld.hash = { _, bytes in Self.hash(bytes) }
        var keys = Generator(seed: seed &+ 1)
        self.engine = KioskEngine(
            configuration: configuration, problems: problems, world: kioskWorld, seed: seed,
            makeSecret: { count in (0..<count).map { _ in UInt8(truncatingIfNeeded: keys.next()) } })
        self.media = MediaModel(seed: seed, world: self.world)
        self.media.kiosk = self
        self.checks = WireChecks()
        self.state = "idle"
        self.isInCall = false
        self.wasTerminated = false
        self.world.note("\(self.name) starts")
        self.feed(.started)
    }

    /// Anything that tells bytes apart will do: the registrar believes every answer.
    private static func hash(_ bytes: [UInt8]) -> [UInt8] {
        var sum: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { sum = (sum ^ UInt64(byte)) &* 0x0100_0000_01B3 }
        return (0..<16).map { UInt8(truncatingIfNeeded: sum >> UInt64(4 * $0)) }
    }

    /// The file as it is by now: somebody changes it before each reading.
    func changedConfiguration() -> KioskInput {
        self.revision += 1
        // Sometimes there is no file, or one that makes no sense.
        if self.revision % 3 == 2 { return .reload(nil, []) }
        let (configuration, problems) = Configuration.parse(Array(self.configurationText.utf8))
        return .reload(configuration, problems)
    }

    private var account: String {
        guard self.options.registers else { return "" }
        return """
            auth_user = \(self.name)
            password = secret
            [account]
            uri = sip:\(self.name)@192.0.2.10
            expires = \(self.revision % 2 == 0 ? 600 : 900)
            """
    }

    private var configurationText: String {
        let transport = self.options.usesTCP ? "tcp" : "udp"
        return """
            [call]
            uri = \(self.options.targets)
            cycles = \(self.options.cycles)
            pause = 1
            incoming = \(self.options.incoming)
            incoming_from = anyone
            transfer = \(self.options.followsTransfers ? "follow" : "refuse")
            ring_timeout = \(self.revision % 2 == 0 ? self.options.ringTimeoutMs / 1000 : 5)
            media_timeout = \(self.options.mediaTimeoutMs / 1000)
            [sip]
            listen = \(self.address.text.string)
            transport = \(transport)
            user = \(self.name)\(self.options.isWordy ? String(repeating: "-help-point", count: 5) : "")
            name = \(self.options.isWordy ? String(repeating: "Help point ", count: 5) : "Callbox")
            offerless = \(self.options.isOfferless ? "yes" : "no")
            accept_from = \(self.options.acceptFrom)
            auto_answer_from = 192.0.2.24
            \(self.account)
            [video]
            h264_licence = own
            [button.call]
            ends_call = \(self.options.endsCall ? "yes" : "no")
            """
    }

    /// Power is cut; comes back after a while with the same address and without any memory.
    func restart(downMs: Int) {
        guard self.isUp else { return }
        self.world.note("\(self.name) loses power for \(downMs) ms")
        self.stop()
        self.world.after(ms: downMs) { [unowned self] _ in self.start() }
    }

    func stop() {
        self.engine = nil
        self.wakesAt = nil
        self.pending = []
        self.media.halt()
        self.state = "idle"
        self.world.closeAll(of: self)
        for agent in self.world.agents { agent.forgetGhosts(of: self.index) }
    }

    // MARK: - Inputs

    func receive(_ parcel: Parcel, on flow: Flow) {
        if let message = parcel.message { self.checks.delivered(message, now: self.world.now) }
        self.world.digest.mix(parcel.bytes)
        self.feed(.received(parcel.bytes, on: flow))
    }

    func receive(_ bytes: [UInt8], ending parcels: [Parcel], on flow: Flow) {
        for message in parcels.compactMap({ $0.message }) { self.checks.delivered(message, now: self.world.now) }
        self.world.digest.mix(bytes)
        self.feed(.received(bytes, on: flow))
    }

    func failed(_ flow: Flow) {
        self.world.note("\(self.name) is told that \(flow.remote.text.string) failed")
        self.checks.failed(flow)
        self.feed(.flowFailed(flow))
    }

    func press(_ button: ButtonName) {
        guard self.isUp else { return }
        self.world.note("\(self.name): somebody presses \(button.text.string)")
        self.feed(.button(button, .pressed))
        self.feed(.button(button, .released))
    }

    func say(_ line: ByteString) {
        guard self.isUp else { return }
        self.world.note("\(self.name): control \(line.string)")
        self.feed(.control(ClientID(1), line: line))
    }

    func terminate() {
        guard self.isUp else { return }
        self.world.note("\(self.name): SIGTERM")
        self.wasTerminated = true
        self.feed(.terminate)
    }

    func hangUp() {
        guard self.state != "idle" else { return }
        self.press(.hook)
    }

    func report(_ report: MediaReport) {
        self.feed(.media(report))
    }

    func wake() {
        self.media.wake()
        guard let due = self.wakesAt, due <= self.world.now else { return }
        if self.world.canary == .deafClock, self.index == 1 {
            self.wakesAt = nil
            return
        }
        self.feed(.timeout)
        if let again = self.wakesAt, again <= self.world.now {
            self.world.violate("busy", "\(self.name) wants to be woken for ever")
        }
    }

    /// One input and all that it leads to.
    func feed(_ input: KioskInput) {
        self.pending.append(input)
        while !self.pending.isEmpty, self.isUp {
            self.world.digest.mix(self.world.now.nanoseconds)
            self.engine?.handle(self.pending.removeFirst(), now: self.world.now)
            self.drain()
            if self.isUp { self.checkStep() }
        }
    }

    // MARK: - After each step

    private func checkStep() {
        if let fault = self.checks.endStep() { self.world.violate(fault.rule, "\(self.name): \(fault.text)") }
        if self.media.runs, self.state != "connected", self.state != "early" {
            self.world.violate("media", "\(self.name): media run while \(self.state.string)")
        }
        let census = self.census
        if census.calls > 8 || census.clientTransactions > 96 || census.serverTransactions > 64 {
            self.world.violate("bounds", "\(self.name): \(census)")
        }
    }
}
