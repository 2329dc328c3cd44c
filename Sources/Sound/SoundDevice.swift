// SPDX-License-Identifier: Apache-2.0

import Bytes
import CALSA
import CSystem

/// One direction of the sound card as the sound loop sees it: frames come and go at 48 kHz whatever happens.
///
/// Without a device, or while it is lost, silence comes and what goes is dropped, at the pace of the clock; a lost device
/// is opened again every two seconds. Owned by one thread.
final class SoundDevice {
    private enum State {
        /// No device is wished for.
        case null
        case stopped(PCM)
        case running(PCM)
        /// Gone, or never there.
        case lost(retryAt: Instant)
    }

    /// News for whoever runs the loop.
    enum Event {
        case failed(ByteString)
        case restored
    }

    let direction: SoundDirection
    private let name: ByteString
    private var state = State.null
    private var isOn = false
    private var events = BoundedQueue<Event>(capacity: 4)
    /// When the next 10 ms are due by the clock; used without a device.
    private var paceAt = Instant.zero
    private var progressAt = Instant.zero
    private var checkAt = Instant.zero
    private var buffer = [Int16](repeating: 0, count: 2 * SoundFormat.periodFrames)
    /// Frames kept queued in the loudspeaker; grows when they prove too few.
    private var targetFrames = SoundDevice.targetFramesStart
    private(set) var xruns: UInt64 = 0

    private static let targetFramesStart = 3 * SoundFormat.periodFrames
    private static let retryMs = 2000
    private static let checkMs = 1000
    /// A running device without any progress for this long counts as lost.
    private static let stallMs = 1000
    /// Behind the clock by more than this, time is given up rather than made up.
    private static let paceLagMs = 100

    init(_ name: ByteString, direction: SoundDirection, now: Instant) {
        self.name = name
        self.direction = direction
        guard !PCMName.isNull(name) else { return }
        self.open(now)
    }

    /// Whether there is a device that works.
    var isPresent: Bool {
        switch self.state {
        case .stopped, .running: return true
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
        self.paceAt = now
        if case .stopped(let pcm) = self.state { self.start(pcm, now) }
    }

    func turnOff() {
        self.isOn = false
        // What one bad moment asked for is not kept for ever.
        self.targetFrames = max(Self.targetFramesStart, self.targetFrames - SoundFormat.periodFrames)
        guard case .running(let pcm) = self.state else { return }
        pcm.stop()
        self.state = .stopped(pcm)
    }

    func appendDescriptors(to list: inout [pollfd]) {
        if case .running(let pcm) = self.state { pcm.appendDescriptors(to: &list) }
    }

    /// When to look again, besides what the descriptors say.
    var deadline: Instant? {
        switch self.state {
        case .null: return self.isOn ? self.paceAt : nil
        case .lost(let retryAt): return self.isOn ? min(self.paceAt, retryAt) : retryAt
        case .stopped: return self.checkAt
        case .running: return self.progressAt + .milliseconds(Self.stallMs)
        }
    }
}

// MARK: - Frames

extension SoundDevice {
    /// Whole periods of 10 ms that can be read, or are to be written, now.
    func periodsReady(_ now: Instant) -> Int {
        self.maintain(now)
        guard self.isOn else { return 0 }
        guard case .running(let pcm) = self.state else { return self.periodsDue(now) }
        let available = pcm.available()
        guard available >= 0 else {
            self.recover(pcm, Int32(clamping: available), now)
            return 0
        }
        let frames: Int
        switch self.direction {
        case .capture: frames = available
        case .playback: frames = self.targetFrames - (pcm.bufferFrames - available)
        }
        if frames >= SoundFormat.periodFrames {
            self.progressAt = now
        } else if now - self.progressAt > .milliseconds(Self.stallMs) {
            self.lose("stopped", now)
        }
        return max(frames, 0) / SoundFormat.periodFrames
    }

    /// Frames waiting to be read, or to be heard.
    var queuedFrames: Int {
        guard case .running(let pcm) = self.state else { return 0 }
        let available = max(pcm.available(), 0)
        return self.direction == .capture ? available : max(pcm.bufferFrames - available, 0)
    }

    /// Reads one period; silence where the device fails.
    func read(into samples: inout [Int16], _ now: Instant) {
        self.paceAt = self.paceAt + .milliseconds(SoundFormat.periodMs)
        guard case .running(let pcm) = self.state else { return self.silence(&samples) }
        let result = self.buffer.withUnsafeMutableBufferPointer {
            pcm.read($0.baseAddress!, count: SoundFormat.periodFrames)
        }
        guard result == SoundFormat.periodFrames else {
            if result < 0 { self.recover(pcm, Int32(clamping: result), now) }
            return self.silence(&samples)
        }
        for index in 0..<SoundFormat.periodFrames {
            guard pcm.channels == 2 else {
                samples[index] = self.buffer[index]
                continue
            }
            let sum = Int(self.buffer[2 * index]) + Int(self.buffer[2 * index + 1])
            samples[index] = Int16(clamping: sum / 2)
        }
    }

    /// Writes one period, to both channels where there are two.
    func write(_ samples: [Int16], _ now: Instant) {
        self.paceAt = self.paceAt + .milliseconds(SoundFormat.periodMs)
        guard case .running(let pcm) = self.state else { return }
        for index in 0..<SoundFormat.periodFrames {
            guard pcm.channels == 2 else {
                self.buffer[index] = samples[index]
                continue
            }
            self.buffer[2 * index] = samples[index]
            self.buffer[2 * index + 1] = samples[index]
        }
        let result = self.buffer.withUnsafeBufferPointer {
            pcm.write($0.baseAddress!, count: SoundFormat.periodFrames)
        }
        if result < 0 && result != -Int(EAGAIN) { self.recover(pcm, Int32(clamping: result), now) }
    }

    private func silence(_ samples: inout [Int16]) {
        for index in 0..<samples.count { samples[index] = 0 }
    }

    private func periodsDue(_ now: Instant) -> Int {
        if now - self.paceAt > .milliseconds(Self.paceLagMs) { self.paceAt = now }
        guard now >= self.paceAt else { return 0 }
        return (now - self.paceAt).milliseconds / SoundFormat.periodMs + 1
    }
}

// MARK: - Faults

extension SoundDevice {
    /// Opens again what was lost, and looks after what stands still.
    private func maintain(_ now: Instant) {
        switch self.state {
        case .lost(let retryAt) where now >= retryAt:
            self.open(now)
        case .stopped(let pcm) where now >= self.checkAt:
            self.checkAt = now + .milliseconds(Self.checkMs)
            if !pcm.isPresent { self.lose("went away", now) }
        case .null, .stopped, .running, .lost:
            break
        }
    }

    private func open(_ now: Instant) {
        let wasLost: Bool
        if case .lost = self.state { wasLost = true } else { wasLost = false }
        do {
            let pcm = try self.firstThatOpens()
            self.state = .stopped(pcm)
            self.checkAt = now + .milliseconds(Self.checkMs)
            if wasLost { self.events.push(.restored) }
            if self.isOn { self.start(pcm, now) }
        } catch {
            self.state = .lost(retryAt: now + .milliseconds(Self.retryMs))
            if !wasLost { self.events.push(.failed(error.text)) }
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
            self.targetFrames = min(max(self.targetFrames, least), pcm.bufferFrames)
            pcm.wake(atFrames: pcm.bufferFrames - self.targetFrames + SoundFormat.periodFrames)
        }
        let result = pcm.start(silence: self.direction == .playback ? self.targetFrames : 0)
        guard result >= 0 else { return self.lose("does not start", now) }
        self.progressAt = now
        self.state = .running(pcm)
    }

    /// After an overrun or underrun the device starts anew; the loudspeaker with more in hand than before.
    private func recover(_ pcm: PCM, _ code: Int32, _ now: Instant) {
        switch -code {
        case EAGAIN:
            break
        case EPIPE:
            self.xruns &+= 1
            self.targetFrames = min(self.targetFrames + SoundFormat.periodFrames, pcm.bufferFrames)
            self.start(pcm, now)
        case ESTRPIPE:
            let result = pcm.resume()
            if result < 0 && result != -Int(EAGAIN) { self.start(pcm, now) }
        default:
            self.lose("went away", now)
        }
    }

    private func lose(_ what: ByteString, _ now: Instant) {
        self.state = .lost(retryAt: now + .milliseconds(Self.retryMs))
        self.paceAt = now
        self.events.push(.failed(ByteString("The ") + self.direction.name + " \"" + self.name + "\" " + what + "."))
    }
}
