// SPDX-License-Identifier: Apache-2.0
import Bytes
import KioskEngine
import MediaEngine
import RTPWire

/// The media threads of a kiosk: its media engine, and of sound and picture only how often something comes. A packet of
/// sound a second and a picture every two stand for fifty and sixty.
final class MediaModel {
    static let audioPort: UInt16 = 40_000
    static let videoPort: UInt16 = 40_002
    private static let tickMs = 1000
    /// 640 × 360, constrained baseline.
    private static let keyFrame: [[UInt8]] = [
        [0x67, 0x42, 0xC0, 0x1F, 0xF4, 0x05, 0x01, 0x7F, 0xCA], [0x68, 0xC2], [0x65, 0x88, 0x80, 0xAB, 0xAB],
    ]

    private unowned let world: World
    unowned var kiosk: KioskNode!
    private var engine: MediaEngine
    private(set) var runs = false
    private var plan: MediaPlan?
    private var sendsVideo = false
    /// Counts the starts: what belongs to a former call is dropped.
    private var generation = 0
    private var ticks = 0
    private var hasSound = false
    private var hasPicture = false
    private var wakesAt: Instant?
    /// When a packet of any kind came last from a telephone.
    private var reachedAt = Instant.zero
    /// When a packet of sound came last.
    private(set) var heardAt: Instant?

    init(seed: UInt64, world: World) {
        self.engine = MediaEngine(seed: seed ^ 0x3ED1_A000)
        self.world = world
    }

    /// Sound goes both ways: nobody is on hold.
    var talks: Bool {
        guard self.runs, let stream = self.plan?.audio?.stream else { return false }
        return stream.sends && stream.receives
    }
    /// A telephone sends here.
    var isReached: Bool { self.reachedAt + .seconds(6) > self.world.now }
    var due: Instant? { self.wakesAt }

    /// The process is gone.
    func halt() {
        self.generation += 1
        self.runs = false
        self.wakesAt = nil
    }

    // MARK: - Orders

    /// Gives what is wrong with an order that makes no sense.
    func order(_ order: MediaOrder) -> String? {
        switch order {
        case .start(let plan, _, _):
            guard !self.runs else { return "media start while they run" }
            self.begin(plan)
        case .update(let plan, _, _):
            guard self.runs else { return "an update of media that do not run" }
            self.plan = plan
            self.feed(.update(plan))
        case .stop:
            guard self.runs else { return "media stop that do not run" }
            self.halt()
            self.feed(.stop)
        case .sendVideo(let isOn): self.sendsVideo = isOn
        default: break
        }
        return nil
    }

    private func begin(_ plan: MediaPlan) {
        self.generation += 1
        self.runs = true
        self.plan = plan
        (self.hasSound, self.hasPicture, self.heardAt) = (false, false, nil)
        self.ticks = 0
        self.feed(.start(plan))
        self.tick(self.generation)
    }

    /// The encoders have something; the counters are told.
    private func tick(_ generation: Int) {
        guard self.generation == generation, self.runs, let plan = self.plan else { return }
        if let audio = plan.audio {
            let samples = UInt32(audio.packetTimeMs) * UInt32(audio.codec.clockRate) / 1000
            self.feed(.audioEncoded([0xD5, 0xD5, 0xD5, 0xD5], samples: samples, captured: self.world.now))
        }
        if self.sendsVideo, plan.video != nil, self.ticks % 2 == 0 {
            self.feed(.videoEncoded(Self.keyFrame, isKeyFrame: true, captured: self.world.now))
        }
        if self.ticks > 0 {
            var counters = MediaCounters()
            counters.streams = self.engine.statistics
            self.tell(.counters(counters))
        }
        self.ticks += 1
        self.world.after(ms: Self.tickMs) { [weak self] _ in self?.tick(generation) }
    }

    // MARK: - Packets and time

    func received(_ bytes: [UInt8], _ kind: StreamKind, _ channel: Channel, from source: SocketAddress) {
        guard self.kiosk.isUp else { return }
        if !self.world.kiosks.contains(where: { $0.address.address == source.address }) {
            self.reachedAt = self.world.now
        }
        self.feed(.received(bytes, kind, channel, from: source))
    }

    func wake() {
        guard let due = self.wakesAt, due <= self.world.now else { return }
        self.feed(.timeout)
        if let again = self.wakesAt, again <= self.world.now {
            self.world.violate("busy", "the media of \(self.kiosk.name) want to be woken for ever")
        }
    }

    private func feed(_ input: MediaEngine.Input) {
        self.engine.handle(input, now: self.world.now)
        while true {
            switch self.engine.pollOutput() {
            case .send(let bytes, let kind, let channel, let remote): self.send(bytes, kind, channel, to: remote)
            case .audio: self.heard()
            case .video(let unit): self.seen(unit)
            case .encodeKeyFrame, .encodeRate: break
            case .event(let event): self.report(event)
            case .wait(let until):
                self.wakesAt = until
                return
            }
        }
    }

    private func send(_ bytes: [UInt8], _ kind: StreamKind, _ channel: Channel, to remote: SocketAddress) {
        self.world.digest.mix(bytes)
        let base = kind == .audio ? Self.audioPort : Self.videoPort
        let source = SocketAddress(self.kiosk.address.address, port: channel == .rtp ? base : base + 1)
        self.world.sendMedia(bytes, from: source, to: remote)
    }

    private func heard() {
        self.heardAt = self.world.now
        guard !self.hasSound else { return }
        self.hasSound = true
        self.tell(.firstSoundPlayed, afterMs: 40)
    }

    private func seen(_ unit: AccessUnit) {
        guard unit.isKeyFrame, !self.hasPicture else { return }
        self.hasPicture = true
        let generation = self.generation
        self.world.after(ms: 30) { [weak self] _ in
            guard let self, self.generation == generation else { return }
            self.feed(.keyFrameDecoded)
        }
        self.tell(.firstFrameShown, afterMs: 40)
    }

    private func report(_ event: MediaEvent) {
        switch event {
        case .firstPacket(let kind): self.tell(.firstPacket(kind))
        case .silent(let kind, let since): self.tell(.silent(kind, since: since))
        case .resumed(let kind): self.tell(.resumed(kind))
        case .byeReceived(let kind): self.tell(.byeReceived(kind))
        default: break
        }
    }

    /// Reports reach the control thread a little later, and only those of the running call count.
    private func tell(_ report: MediaReport, afterMs: Int = 1) {
        let generation = self.generation
        self.world.after(ms: afterMs) { [weak self] _ in
            guard let self, self.generation == generation, self.runs, self.kiosk.isUp else { return }
            self.kiosk.report(report)
        }
    }
}

extension World {
    func sendMedia(_ bytes: [UInt8], from source: SocketAddress, to remote: SocketAddress) {
        if self.hasFaults, self.network.draw.below(1000) < self.options.mediaLossPerMille { return }
        let delayMs = self.hasFaults ? 10 + Int(self.network.draw.below(40)) : 10
        self.after(ms: delayMs) { $0.deliverMedia(bytes, from: source, to: remote) }
    }

    private func deliverMedia(_ bytes: [UInt8], from source: SocketAddress, to remote: SocketAddress) {
        if let kiosk = self.kiosks.first(where: { $0.address.address == remote.address }) {
            switch remote.port {
            case MediaModel.audioPort: kiosk.media.received(bytes, .audio, .rtp, from: source)
            case MediaModel.audioPort + 1: kiosk.media.received(bytes, .audio, .rtcp, from: source)
            case MediaModel.videoPort: kiosk.media.received(bytes, .video, .rtp, from: source)
            case MediaModel.videoPort + 1: kiosk.media.received(bytes, .video, .rtcp, from: source)
            default: break
            }
        } else if let agent = self.agents.first(where: { $0.address.address == remote.address }) {
            agent.heard(from: source)
        }
    }
}
