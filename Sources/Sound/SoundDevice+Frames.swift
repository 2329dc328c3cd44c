// SPDX-License-Identifier: Apache-2.0

import Bytes
import CALSA
import CSystem

/// Frames that come and go, a period of 10 ms at a time.
extension SoundDevice {
    /// Whole periods of 10 ms that can be read, or are to be written, now.
    func periodsReady(_ now: Instant) -> Int {
        self.maintain(now)
        guard self.isOn else { return 0 }
        guard let pcm = self.flowing else { return self.pace.periodsDue(now) }
        let available = pcm.isPresent ? pcm.available() : -Int(ENODEV)
        guard available >= 0 else {
            self.recover(pcm, Int32(clamping: available), now)
            return 0
        }
        let frames: Int
        switch self.direction {
        case .capture:
            frames = available
        case .playback:
            let queued = pcm.bufferFrames - available
            if queued < 0 { self.closeGap(pcm, 0 - queued, now) }
            frames = self.targetFrames - max(queued, 0)
        }
        if frames >= SoundFormat.periodFrames {
            self.progressAt = now
        } else if now - self.progressAt > .milliseconds(Self.stallMs) {
            self.loseBroken("stopped", now)
        }
        return max(frames, 0) / SoundFormat.periodFrames
    }

    /// Frames waiting to be read, or to be heard.
    var queuedFrames: Int {
        guard let pcm = self.flowing else { return 0 }
        let available = max(pcm.available(), 0)
        return self.direction == .capture ? available : max(pcm.bufferFrames - available, 0)
    }

    /// Reads one period; silence where the device fails.
    func read(into samples: inout [Int16], _ now: Instant) {
        self.pace.step()
        guard let pcm = self.flowing else { return self.silence(&samples) }
        let result = pcm.read(into: &samples)
        guard result != SoundFormat.periodFrames else { return }
        self.silence(&samples)
        if result < 0 { self.recover(pcm, Int32(clamping: result), now) }
    }

    /// Writes one period.
    func write(_ samples: [Int16], _ now: Instant) {
        self.pace.step()
        guard let pcm = self.flowing else {
            self.history.append([Int16](repeating: 0, count: samples.count))
            return
        }
        let result = pcm.write(samples)
        self.history.append(samples)
        if result < 0 && result != -Int(EAGAIN) { return self.recover(pcm, Int32(clamping: result), now) }
        self.runWhereFilled(now)
    }

    private func runWhereFilled(_ now: Instant) {
        guard case .priming(let pcm) = self.state else { return }
        if self.queuedFrames > self.targetFrames - SoundFormat.periodFrames { self.run(pcm, now) }
    }

    /// Gives what is queued in the loudspeaker and can still be changed to `change`, and plays what comes of it.
    func amend(_ now: Instant, _ change: (inout [Int16]) -> Void) {
        guard case .running(let pcm) = self.state else { return }
        let count = pcm.takeBack(self.history.capacity)
        guard count > 0 else { return }
        let samples = self.history.amend(count, change)
        let result = pcm.write(samples)
        guard result < 0 && result != -Int(EAGAIN) else { return }
        // The loudspeaker ran out of sound in between: what it was given back begins anew.
        self.recover(pcm, Int32(clamping: result), now)
        guard case .priming(let pcm) = self.state else { return }
        _ = pcm.write(samples)
        self.runWhereFilled(now)
    }

    /// Frames that were written and that `amend` could still change, but for a period: one is given when its first
    /// frame is certain, for the last would be too late. A click that is put into it then lacks its first 10 ms there.
    private var changeableFrames: Int {
        guard let pcm = self.flowing else { return 0 }
        let queued = pcm.bufferFrames - max(0, pcm.availableNow())
        return max(0, queued - pcm.committedFrames - SoundFormat.periodFrames)
    }

    /// Gives the next period of what the loudspeaker is certain to play, 5 ms before it does or more; silence without a
    /// device.
    ///
    /// - Returns: false where all that is certain was given.
    func takeCommitted(into period: inout [Int16]) -> Bool {
        self.history.take(into: &period, changeable: self.changeableFrames)
    }

    /// `takeCommitted` goes on with what can still be changed now.
    func skipCommitted() {
        self.history.skip(changeable: self.changeableFrames)
    }

    /// How long the newest frame that `takeCommitted` gave has to go to the loudspeaker, or how old the next to read
    /// is.
    var delayMs: Int {
        guard let pcm = self.flowing else { return 0 }
        let frames = pcm.delayFrames() - (self.direction == .playback ? self.history.untaken : 0)
        return max(0, frames) * 1000 / SoundFormat.rate
    }

    private func silence(_ samples: inout [Int16]) {
        for index in 0..<samples.count { samples[index] = 0 }
    }
}
