// SPDX-License-Identifier: Apache-2.0

import Bytes
import CALSA
import CSystem

/// One direction of the sound card as the sound loop sees it: frames come and go at 48 kHz whatever happens.
///
/// Without a device, or while it is lost, silence comes and what goes is dropped, at the pace of the clock; a lost
/// device is opened again every two seconds. Owned by one thread.
final class SoundDevice {
    enum State {
        /// No device is wished for.
        case null
        case stopped(PCM)
        /// The loudspeaker's buffer is being filled; it starts when enough is in it. What fills it is what there is to
        /// be heard, not silence: after an underrun the packets that came meanwhile are waiting.
        case priming(PCM)
        case running(PCM)
        /// Gone, or never there.
        case lost(retryAt: Instant)
    }

    /// News for whoever runs the loop.
    enum Event {
        case failed(ByteString)
        case restored
        /// It is there and does not work, after it had worked for so long.
        case broken(workedMs: Int)
    }

    let direction: SoundDirection
    private let name: ByteString
    private(set) var state = State.null
    private(set) var isOn = false
    private var events = BoundedQueue<Event>(capacity: 4)
    /// Used without a device.
    var pace = ClockPace()
    var progressAt = Instant.zero
    private var startedAt = Instant.zero
    /// The number of its card, as it was last known.
    private(set) var card: Int32?
    private var checkAt = Instant.zero
    /// Frames kept queued in the loudspeaker; grows when they prove too few.
    private(set) var targetFrames = SoundDevice.targetFramesStart
    private(set) var xruns: UInt64 = 0
    var history = PlaybackHistory(capacity: SoundDevice.targetFramesMax + SoundDevice.gapFramesMax)

    private static let targetFramesStart = 3 * SoundFormat.periodFrames
    private static let targetFramesMax = 6 * SoundFormat.periodFrames
    /// What the loudspeaker went without for so long, the microphone has not kept either.
    private static let gapFramesMax = 20 * SoundFormat.periodFrames
    private static let retryMs = 2000
    /// Between looks at one that stands still: each is a wake-up.
    private static let checkMs = 4000
    /// A running device without any progress for this long counts as lost.
    static let stallMs = 500

    init(_ name: ByteString, direction: SoundDirection, now: Instant) {
        self.name = name
        self.direction = direction
        guard !PCMName.isNull(name) else { return }
        self.open(now)
    }

    /// Whether there is a device that works.
    var isPresent: Bool {
        switch self.state {
        case .stopped, .priming, .running: return true
        case .null, .lost: return false
        }
    }

    func takeEvent() -> Event? {
        self.events.pop()
    }

    /// Lets frames flow.
    func turnOn(_ now: Instant) {
        guard !self.isOn else { return }
        self.isOn = true
        self.pace.start(now)
        if case .stopped(let pcm) = self.state { self.start(pcm, now) }
    }

    func turnOff() {
        guard self.isOn else { return }
        self.isOn = false
        // What one bad moment asked for is not kept for ever.
        self.targetFrames = max(Self.targetFramesStart, self.targetFrames - SoundFormat.periodFrames)
        guard let pcm = self.flowing else { return }
        pcm.stop()
        self.makeReady(pcm)
    }

    /// The loudspeaker is prepared as long as it rests, so that a key is heard at once: that can take a codec a while.
    private func makeReady(_ pcm: PCM) {
        if self.direction == .playback { _ = pcm.prepare() }
        self.state = .stopped(pcm)
    }

    /// The device, where frames go through it.
    var flowing: PCM? {
        switch self.state {
        case .priming(let pcm), .running(let pcm): return pcm
        case .null, .stopped, .lost: return nil
        }
    }

    func appendDescriptors(to list: inout [pollfd]) {
        if case .running(let pcm) = self.state { pcm.appendDescriptors(to: &list) }
    }

    /// When to look again, besides what the descriptors say.
    var deadline: Instant? {
        switch self.state {
        case .null: return self.isOn ? self.pace.due : nil
        case .lost(let retryAt): return self.isOn ? min(self.pace.due, retryAt) : retryAt
        case .stopped: return self.checkAt
        case .priming: return .zero
        case .running: return self.progressAt + .milliseconds(Self.stallMs)
        }
    }
}

// MARK: - Faults

extension SoundDevice {
    /// Opens again what was lost, and looks after what stands still.
    func maintain(_ now: Instant) {
        switch self.state {
        case .lost(let retryAt) where now >= retryAt:
            self.open(now)
        case .stopped(let pcm) where now >= self.checkAt:
            self.checkAt = now + .milliseconds(Self.checkMs)
            if !pcm.isPresent { self.lose("went away", now) }
        case .null, .stopped, .priming, .running, .lost:
            break
        }
    }

    private func open(_ now: Instant) {
        let wasLost: Bool
        if case .lost = self.state { wasLost = true } else { wasLost = false }
        do {
            let pcm = try self.firstThatOpens()
            self.card = pcm.card
            self.makeReady(pcm)
            self.checkAt = now + .milliseconds(Self.checkMs)
            if wasLost { self.events.push(.restored) }
            if self.isOn { self.start(pcm, now) }
        } catch {
            self.state = .lost(retryAt: now + .milliseconds(Self.retryMs))
            if !wasLost { self.events.push(.failed(error.text)) }
            if error.kind == .unusable { self.events.push(.broken(workedMs: 0)) }
        }
    }

    /// The fault that is told is that of the last name, which tries hardest.
    private func firstThatOpens() throws(SoundError) -> PCM {
        var fault = SoundError(.missing, ByteString("The ") + self.direction.name + " is not there.")
        for name in PCMName.candidates(self.name) {
            do {
                return try PCM(name: name, shown: self.name, direction: self.direction)
            } catch {
                fault = error
            }
        }
        throw fault
    }

    private func start(_ pcm: PCM, _ now: Instant) {
        if self.direction == .playback {
            // Devices with long periods take them whole.
            let least = max(Self.targetFramesStart, pcm.periodFrames + 2 * SoundFormat.periodFrames)
            self.aim(pcm, max(self.targetFrames, least))
        }
        guard pcm.isPrepared || pcm.prepare() >= 0 else { return self.loseBroken("does not start", now) }
        self.progressAt = now
        self.startedAt = now
        self.state = .priming(pcm)
        if self.direction == .capture { self.run(pcm, now) }
    }

    private func askForMore() {
        self.targetFrames = max(
            self.targetFrames, min(self.targetFrames + SoundFormat.periodFrames, Self.targetFramesMax))
    }

    private func aim(_ pcm: PCM, _ frames: Int) {
        self.targetFrames = min(frames, pcm.bufferFrames)
        pcm.wake(atFrames: pcm.bufferFrames - self.targetFrames + SoundFormat.periodFrames)
    }

    func run(_ pcm: PCM, _ now: Instant) {
        guard pcm.start() >= 0 else { return self.loseBroken("does not start", now) }
        self.state = .running(pcm)
    }

    /// The loudspeaker has played so much silence beyond what was written: that is past, and known to be silence. From
    /// here on it has more in hand than before.
    func closeGap(_ pcm: PCM, _ frames: Int, _ now: Instant) {
        self.xruns &+= 1
        guard pcm.skip(frames) == frames else { return self.loseBroken("fails", now) }
        self.history.appendSilence(frames)
        self.askForMore()
        self.aim(pcm, self.targetFrames)
    }

    /// After an overrun, or an underrun of one that stops all the same, the device starts anew; the loudspeaker with
    /// more in hand than before.
    func recover(_ pcm: PCM, _ code: Int32, _ now: Instant) {
        switch -code {
        case EAGAIN:
            break
        case EPIPE:
            self.xruns &+= 1
            self.askForMore()
            self.start(pcm, now)
        case ESTRPIPE:
            let result = pcm.resume()
            if result < 0 && result != -Int(EAGAIN) { self.start(pcm, now) }
        case ENODEV, ENOENT, ENXIO, EBADFD:
            self.lose("went away", now)
        default:
            self.loseBroken("fails", now)
        }
    }

    /// As `lose`, of a device that is still there.
    func loseBroken(_ what: ByteString, _ now: Instant) {
        let wasRunning: Bool
        if case .running = self.state { wasRunning = true } else { wasRunning = false }
        self.lose(what, now)
        self.events.push(.broken(workedMs: wasRunning ? (now - self.startedAt).milliseconds : 0))
    }

    private func lose(_ what: ByteString, _ now: Instant) {
        self.state = .lost(retryAt: now + .milliseconds(Self.retryMs))
        self.pace.start(now)
        self.events.push(.failed(ByteString("The ") + self.direction.name + " \"" + self.name + "\" " + what + "."))
    }
}
