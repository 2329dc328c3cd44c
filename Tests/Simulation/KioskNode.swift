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
    private unowned let world: World
    private var engine: KioskEngine?
    private(set) var media: MediaModel
    private var checks = WireChecks()
    /// Counts the starts: what was meant for a former life is dropped.
    private(set) var life = 0
    private(set) var wakesAt: Instant?
    /// When the kiosk or its media must be woken.
    var due: Instant? {
        guard let media = self.media.due else { return self.wakesAt }
        return min(media, self.wakesAt ?? media)
    }
    /// The word of the last `call` event.
    private(set) var state: ByteString = "idle"
    /// A call began and did not end, as the events tell it.
    private var isInCall = false
    private var wasTerminated = false
    /// Answers that are known at once: put in when the outputs before them are drained.
    private var pending: [KioskInput] = []
    private static let outputsMax = 500

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
        let kioskWorld = KioskWorld(
            hasCamera: self.options.hasCamera, hasScreen: self.options.hasScreen, buttons: ButtonName.all,
            audioPorts: StreamPorts(rtp: MediaModel.audioPort, rtcp: MediaModel.audioPort + 1),
            videoPorts: StreamPorts(rtp: MediaModel.videoPort, rtcp: MediaModel.videoPort + 1),
            cameraSize: PictureSize(width: 640, height: 360), cameraFPS: 30, version: "1", ntpAtZero: NTPTime(0))
        self.engine = KioskEngine(configuration: configuration, problems: problems, world: kioskWorld, seed: seed)
        self.media = MediaModel(seed: seed, world: self.world)
        self.media.kiosk = self
        self.checks = WireChecks()
        self.state = "idle"
        self.isInCall = false
        self.wasTerminated = false
        self.world.note("\(self.name) starts")
        self.feed(.started)
    }

    private var configurationText: String {
        let transport = self.options.usesTCP ? "tcp" : "udp"
        return """
            [call]
            uri = sip:desk@192.0.2.10
            incoming = \(self.options.incoming)
            transfer = \(self.options.followsTransfers ? "follow" : "refuse")
            ring_timeout = \(self.options.ringTimeoutMs / 1000)
            media_timeout = \(self.options.mediaTimeoutMs / 1000)
            [sip]
            listen = \(self.address.text.string)
            transport = \(transport)
            user = \(self.name)
            offerless = \(self.options.isOfferless ? "yes" : "no")
            accept_from = \(self.options.acceptFrom)
            auto_answer_from = 192.0.2.21
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

    private func stop() {
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
    private func feed(_ input: KioskInput) {
        self.pending.append(input)
        while !self.pending.isEmpty, self.isUp {
            self.world.digest.mix(self.world.now.nanoseconds)
            self.engine?.handle(self.pending.removeFirst(), now: self.world.now)
            self.drain()
            if self.isUp { self.checkStep() }
        }
    }

    // MARK: - Outputs

    private func drain() {
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
        case .resolve(let id, let host, let port, _): self.resolve(id, host, port)
        case .media(let order): self.order(order)
        case .event(let line): self.heard(line)
        case .collectCounters(let client):
            let local = LocalCounters(descriptors: 1, threads: 1, residentKiB: 1, framebuffers: 1)
            self.pending.append(.localCounters(client, local))
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

    private func resolve(_ id: ResolutionID, _ host: ByteString, _ port: UInt16) {
        let life = self.life
        guard let address = IPAddress(host) else {
            return self.world.after(ms: Int(self.world.draw.below(3000))) { [unowned self] _ in
                if self.life == life { self.feed(.resolved(id, .failed("no such name"))) }
            }
        }
        let result = ResolutionResult.found([SocketAddress(address, port: port)], local: self.address)
        self.pending.append(.resolved(id, result))
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
