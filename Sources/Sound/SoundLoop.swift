// SPDX-License-Identifier: Apache-2.0

import Bytes
import CALSA
import CSystem
import KioskEngine
import MediaEngine

/// Microphone to packets and packets to loudspeaker, in periods of 10 ms.
///
/// Everything happens in `turn`, which the sound thread calls for ever. It waits for the sound card (or for the clock
/// where there is none), never longer than a second, and does what is due.
public final class SoundLoop {
    private let clock: () -> Instant
    private let wakeDescriptor: Int32
    private let nextOrder: () -> SoundOrder?
    private let emit: (SoundOutput) -> Void
    private let capture: SoundDevice
    private let playback: SoundDevice
    private var plan: AudioPlan?
    private var isMuted = false
    private var sender = SoundSender()
    private var receiver = SoundReceiver()
    private var mix: LoudspeakerMix
    private let canceller: EchoCanceller?
    private var period = [Int16](repeating: 0, count: SoundFormat.periodFrames)
    private var descriptors: [pollfd] = []
    private var quietAt: Instant?
    private var statisticsAt = Instant.zero
    private var idleTurns = 0

    /// Silence played after the last sound, so that devices do not cut it off or click.
    private static let quietMs = 200
    private static let idleWaitMs = 10_000
    private static let activeWaitMs = 20
    private static let statisticsMs = 1000
    /// After a hold-up, so much is caught up in one turn; a bound on its length.
    private static let periodsATurn = 8

    /// - Parameters:
    ///   - capture: as `PCMName` reads it; `none` for no microphone, which sends silence.
    ///   - playback: the same for the loudspeaker.
    ///   - levels: how loud what is.
    ///   - tones: whose telephone tones are heard.
    ///   - care: what is done to the microphone's sound.
    ///   - clock: the monotonic clock.
    ///   - wakeDescriptor: becomes readable when there is an order; −1 for none. `nextOrder` has to clear it.
    ///   - nextOrder: the next order, or nil.
    public init(
        capture: ByteString, playback: ByteString, levels: SoundLevels = SoundLevels(), tones: ToneCountry = .etsi,
        care: CaptureCare = CaptureCare(), clock: @escaping () -> Instant, wakeDescriptor: Int32,
        nextOrder: @escaping () -> SoundOrder?, emit: @escaping (SoundOutput) -> Void
    ) {
        self.mix = LoudspeakerMix(levels, tones)
        self.canceller = EchoCanceller(care)
        self.clock = clock
        self.wakeDescriptor = wakeDescriptor
        self.nextOrder = nextOrder
        self.emit = emit
        let now = clock()
        self.capture = SoundDevice(capture, direction: .capture, now: now)
        self.playback = SoundDevice(playback, direction: .playback, now: now)
    }

    /// Whether the device of that direction was found.
    public func isPresent(_ direction: SoundDirection) -> Bool {
        direction == .capture ? self.capture.isPresent : self.playback.isPresent
    }

    /// Waits for what is next and does it.
    public func turn() {
        self.tellEvents()
        self.wait()
        while let order = self.nextOrder() { self.obey(order, self.clock()) }
        let now = self.clock()
        self.turnDevices(now)
        // The loudspeaker first: it runs dry sooner, and after a gap the canceller has to know of it before it listens.
        let done = self.playbackDue(now) + self.captureDue(now)
        // A descriptor that is ready without frames would make this spin.
        self.idleTurns = done == 0 ? self.idleTurns + 1 : 0
        if self.idleTurns > 2, self.isBusy { _ = poll(nil, 0, 2) }
        self.tellStatistics(now)
    }

    private var isBusy: Bool { self.plan != nil || self.mix.isActive || self.quietAt != nil }

    private func wait() {
        let now = self.clock()
        self.descriptors.removeAll(keepingCapacity: true)
        if self.wakeDescriptor >= 0 {
            self.descriptors.append(pollfd(fd: self.wakeDescriptor, events: Int16(POLLIN), revents: 0))
        }
        self.capture.appendDescriptors(to: &self.descriptors)
        self.playback.appendDescriptors(to: &self.descriptors)
        var limit = now + .milliseconds(self.isBusy ? Self.activeWaitMs : Self.idleWaitMs)
        for deadline in [self.capture.deadline, self.playback.deadline] {
            if let deadline { limit = min(limit, deadline) }
        }
        // Rounded up, so that a deadline has passed when poll comes back.
        let milliseconds = limit <= now ? 0 : (limit - now).milliseconds + 1
        _ = poll(&self.descriptors, nfds_t(self.descriptors.count), Int32(clamping: milliseconds))
    }

    private func tellEvents() {
        for device in [self.capture, self.playback] {
            while let event = device.takeEvent() {
                self.beginCancelling()
                switch event {
                case .failed(let text): self.emit(.failed(device.direction, text))
                case .restored: self.emit(.restored(device.direction))
                case .broken(let workedMs):
                    if let card = device.card {
                        self.emit(.broken(device.direction, card: card, workedMs: workedMs))
                    }
                }
            }
        }
    }
}

// MARK: - Orders

extension SoundLoop {
    private func obey(_ order: SoundOrder, _ now: Instant) {
        switch order {
        case .start(let plan):
            self.plan = plan
            self.receiver.reset()
            self.sender.use(plan)
            self.beginCancelling()
            self.statisticsAt = now + .milliseconds(Self.statisticsMs)
        case .update(let plan):
            self.plan = plan
            self.sender.use(plan)
        case .stop:
            self.plan = nil
            self.receiver.reset()
            self.sender.digits.stop()
        case .mute(let isOn):
            self.isMuted = isOn
        case .deafen(let isOn):
            self.receiver.isDeaf = isOn
        case .announce(let samples):
            self.sender.announcement.say(samples)
        case .digit(let key, let milliseconds):
            if self.plan != nil { self.sender.digits.play(key, milliseconds: milliseconds) }
        case .tone(let tone):
            self.mix.tones.play(tone)
        case .chime(let chime):
            let isFirst = !self.mix.chimes.isActive
            self.mix.chimes.play(chime)
            // Not behind the sound that is in hand.
            if isFirst { self.playback.amend(now) { self.mix.addChime(to: &$0) } }
        case .speak(let samples):
            self.mix.speak(samples)
        case .hush:
            self.mix.prompt.stop()
        case .packet(let packet):
            guard let plan = self.plan, plan.stream.receives else { return }
            self.receiver.insert(packet, now)
        }
    }

    /// The microphone is open in calls only; the loudspeaker as long as there is something to hear.
    private func turnDevices(_ now: Instant) {
        if self.plan == nil { self.capture.turnOff() } else { self.capture.turnOn(now) }
        if self.plan != nil || self.mix.isActive {
            self.quietAt = now + .milliseconds(Self.quietMs)
            self.playback.turnOn(now)
        } else if let quietAt = self.quietAt, now >= quietAt {
            self.quietAt = nil
            self.playback.turnOff()
        }
    }
}

// MARK: - Frames

extension SoundLoop {
    private func captureDue(_ now: Instant) -> Int {
        let periods = min(self.capture.periodsReady(now), Self.periodsATurn)
        guard periods > 0 else { return 0 }
        // Of the first sample; without a device a period is as old as it is long.
        let frames = max(self.capture.queuedFrames, periods * SoundFormat.periodFrames)
        var age = SoundFormat.duration(frames: frames)
        self.hearLoudspeaker()
        for _ in 0..<periods {
            let delayMs = self.playback.delayMs + self.capture.delayMs
            self.capture.read(into: &self.period, now)
            self.canceller?.process(&self.period, delayMs: delayMs)
            let captured = now + Duration(nanoseconds: 0 - age.nanoseconds)
            age = age - .milliseconds(SoundFormat.periodMs)
            // The far end is not to hear by the microphone what only the person here is told.
            let isMuted = self.isMuted || self.mix.prompt.isAudible && self.canceller?.cancelsEcho != true
            if let packet = self.sender.encode(&self.period, isMuted: isMuted, captured: captured) {
                self.emit(.encoded(packet))
            }
        }
        return periods
    }

    /// Another call, or another device: the room is learned anew.
    private func beginCancelling() {
        self.canceller?.reset()
        self.playback.skipCommitted()
    }

    /// What the loudspeaker is about to play, for the canceller: all of it, tones and prompts too.
    private func hearLoudspeaker() {
        guard let canceller = self.canceller else { return }
        while self.playback.takeCommitted(into: &self.period) { canceller.render(self.period) }
    }

    private func playbackDue(_ now: Instant) -> Int {
        let periods = min(self.playback.periodsReady(now), Self.periodsATurn)
        for _ in 0..<periods {
            let isFirst = self.receiver.next(into: &self.period, now)
            if isFirst {
                // Whoever answers is not talked over.
                self.mix.prompt.stop()
                self.emit(.firstSoundPlayed(now + SoundFormat.duration(frames: self.playback.queuedFrames)))
            }
            self.mix.mix(into: &self.period)
            self.playback.write(self.period, now)
        }
        return periods
    }

    private func tellStatistics(_ now: Instant) {
        guard self.plan != nil, now >= self.statisticsAt else { return }
        self.statisticsAt = now + .milliseconds(Self.statisticsMs)
        var statistics = SoundStatistics()
        statistics.overruns = self.capture.xruns
        statistics.underruns = self.playback.xruns
        statistics.capturePeak = self.sender.meter.take()
        statistics.playbackQueuedMs = self.playback.queuedFrames * 1000 / SoundFormat.rate
        self.receiver.fill(&statistics)
        self.emit(.statistics(statistics))
    }
}
