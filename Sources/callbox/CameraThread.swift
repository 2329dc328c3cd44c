// SPDX-License-Identifier: Apache-2.0

import Bytes
import KioskEngine
import Loop
import Picture

/// What goes to the camera thread.
enum CameraMessage {
    /// Show the own picture, or do not.
    case preview(Bool)
    /// Encode like this for the call, or (nil) do not.
    case encode(EncoderPlan?)
    /// Send the camera in the call, or nothing.
    case send(Bool)
    /// Do without the camera, or with it again.
    case rest(Bool)
    /// The next picture must be an IDR.
    case encodeKeyFrame
    /// At most so much from the next picture on, whatever the plan allows.
    case encodeRate(kbps: Int)
    /// By these degrees clockwise from now on.
    case turn(degrees: Int)
    /// Who encodes.
    case verdict(EncoderVerdict)
}

/// One own picture for the screen.
struct SelfPicture {
    var frame: VideoFrame
}

/// Camera to encoder and to self view. The camera is open only while somebody looks: its own light tells the truth.
final class CameraThread {
    private enum Device {
        case closed
        case open(Camera)
        /// Lost or absent, and tried again at that time; nil while it rests to save power. A call is sent cards
        /// meanwhile, the next one at that time.
        case away(retryAt: Instant?, cardAt: Instant)
    }

    private let name: ByteString
    private let wish: CameraWish
    private var turner: PictureTurner
    /// What the camera gives before it is turned, and the size that the control thread knows of.
    private var mode: CameraMode
    private var told: (width: Int, height: Int)
    /// Pictures are of another size than before: none is sent until the plan fits it.
    private var awaitsPlan = false
    private let wires: Wires
    private var watch: CameraWatch
    private var stuck = StuckDevice("the camera")
    /// When the first picture came after the last failure.
    private var worksSince: Instant?
    /// To save power.
    private var isResting = false
    private var device = Device.closed
    private var previews = false
    private var sends = true
    private var plan: EncoderPlan?
    private let encoder: CallEncoder
    private var forceKeyFrame = false
    private var hasReportedFailure: Bool
    private static let pictureWaitMs = 100
    private static let retryMs = 2000
    /// Between looks at one that nobody uses: each is a wake-up.
    private static let lookMs = 4000
    private static let idleWait = Duration.seconds(3600)

    /// Where it is missing, the control thread has said so already.
    init(_ probe: CameraProbe, wires: Wires) {
        self.name = probe.name
        self.wish = probe.wish
        self.turner = probe.turner
        self.mode = probe.mode
        self.told = probe.turner.size(of: probe.mode)
        self.wires = wires
        self.encoder = CallEncoder(wires: wires)
        self.watch = CameraWatch(probe.name)
        self.hasReportedFailure = probe.isMissing
    }

    private var isWanted: Bool { self.previews || (self.plan != nil && self.sends) }

    func run() {
        while true {
            self.readInbox()
            guard self.isWanted else {
                self.device = .closed
                self.wires.camera.wait(limit: self.watch.isNeeded ? .milliseconds(Self.lookMs) : Self.idleWait)
                self.lookAfter()
                continue
            }
            switch self.device {
            case .closed:
                if self.isResting { self.device = .away(retryAt: nil, cardAt: Clock.now()) } else { self.open() }
            case .away(let retryAt, let cardAt):
                self.goOnWithout(retryAt, cardAt)
            case .open(let camera):
                self.turn(camera)
            }
        }
    }

    private func readInbox() {
        self.wires.camera.acknowledge()
        while let message = self.wires.camera.take() {
            switch message {
            case .preview(let isOn): self.previews = isOn
            case .encode(let plan):
                if plan == nil { self.encoder.endCall() }
                self.plan = plan
                self.awaitsPlan = false
            case .send(let isOn):
                // A picture that comes back after a pause has to stand on its own.
                if isOn && !self.sends { self.forceKeyFrame = true }
                self.sends = isOn
            case .encodeKeyFrame: self.forceKeyFrame = true
            case .encodeRate(let kbps): self.encoder.limit(kbps: kbps)
            case .turn(let degrees): self.turn(degrees: degrees)
            case .rest(let isOn): self.rest(isOn)
            case .verdict(let verdict): self.encoder.take(verdict)
            }
        }
    }

    private func turn(degrees: Int) {
        let turner = PictureTurner(degrees: degrees)
        guard turner.size(width: self.mode.width, height: self.mode.height) != nil else {
            return Log.write("callbox: pictures of this size are not turned: they would be too high")
        }
        self.turner = turner
        self.beginAnew()
        self.tellSize()
    }

    /// Where pictures have another size than those before.
    private func tellSize() {
        let size = self.turner.size(of: self.mode)
        guard size != self.told else { return }
        self.told = size
        self.awaitsPlan = self.plan != nil
        let fps = self.mode.rate?.framesPerSecond ?? self.wish.rate.framesPerSecond
        self.wires.reports.put(.camera(PictureSize(width: size.width, height: size.height), fps: fps))
    }

    /// In a call a card is sent as long as the camera rests.
    private func rest(_ isOn: Bool) {
        guard isOn != self.isResting else { return }
        self.isResting = isOn
        self.beginAnew()
        self.device = .closed
    }

    /// While nobody looks: whether it is plugged in; and one that failed is opened for a moment, until that works.
    private func lookAfter() {
        guard !self.isResting, !self.isWanted else { return }
        if !self.watch.isThere() {
            self.report(self.watch.sentence)
        } else if self.hasReportedFailure {
            self.open()
        }
    }

    private func open() {
        do {
            let camera = try Camera(self.name, wish: self.wish, clock: Clock.now)
            self.device = .open(camera)
            if self.hasReportedFailure { self.wires.report(.restored(.camera)) }
            self.hasReportedFailure = false
            // After a card the picture begins anew, and may have another format.
            self.beginAnew()
            if let mode = camera.mode {
                self.mode = mode
                self.tellSize()
                self.tell(camera, mode)
            }
        } catch {
            self.fail(error)
        }
    }

    private func tell(_ camera: Camera, _ mode: CameraMode) {
        self.wires.report(.link(.camera, mode.words(decoding: camera.decoding)))
    }

    private func beginAnew() {
        self.encoder.beginAnew()
        self.forceKeyFrame = true
    }

    /// Waits for, and does, what is due first: the next try to have the camera again, or the next card.
    private func goOnWithout(_ retryAt: Instant?, _ cardAt: Instant) {
        let now = Clock.now()
        if let retryAt, now >= retryAt { return self.open() }
        guard let plan = self.plan, self.sends else {
            return self.wires.camera.wait(limit: retryAt.map { $0 - now } ?? Self.idleWait)
        }
        guard now >= cardAt else {
            return self.wires.camera.wait(limit: min(retryAt ?? cardAt, cardAt) - now)
        }
        self.device = .away(retryAt: retryAt, cardAt: now + .milliseconds(1000 / AbsentCameraCard.framesPerSecond))
        guard let card = AbsentCameraCard.frame(width: plan.size.width, height: plan.size.height, at: now) else {
            return
        }
        self.encode(card, plan, format: .i420)
    }

    private func fail(_ error: CameraError) {
        let now = Clock.now()
        switch error.kind {
        case .unusable, .lost:
            let workedMs = self.worksSince.map { (now - $0).milliseconds } ?? 0
            self.stuck.failed(workedMs: workedMs, entry: self.watch.systemEntry, now: now, wires: self.wires)
        case .missing, .busy: break
        }
        self.worksSince = nil
        if case .open = self.device { self.beginAnew() }
        self.device = .away(retryAt: now + .milliseconds(Self.retryMs), cardAt: now)
        self.report(error.text)
    }

    private func report(_ sentence: ByteString) {
        if !self.hasReportedFailure { self.wires.report(.failed(.camera, sentence)) }
        self.hasReportedFailure = true
    }

    private func turn(_ camera: Camera) {
        do {
            guard let taken = try camera.next(timeLimitMs: Self.pictureWaitMs), let frame = self.turner.turn(taken)
            else { return }
            if self.worksSince == nil {
                // By now it is known who decodes.
                self.worksSince = Clock.now()
                if let mode = camera.mode { self.tell(camera, mode) }
            }
            self.wires.counters.update { $0.framesCaptured &+= 1 }
            if self.previews { self.wires.selfPictures.put(SelfPicture(frame: frame)) }
            if let plan = self.plan, self.sends, !self.awaitsPlan {
                self.encode(frame, plan, format: frame.format)
            }
        } catch {
            self.fail(error)
        }
    }

    private func encode(_ frame: VideoFrame, _ plan: EncoderPlan, format: PictureFormat) {
        let wantsKeyFrame = self.forceKeyFrame
        self.forceKeyFrame = false
        self.encoder.encode(frame, plan, format: format, forceKeyFrame: wantsKeyFrame)
    }
}
