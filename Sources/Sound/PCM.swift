// SPDX-License-Identifier: Apache-2.0

import Bytes
import CALSA
import CSystem

/// An open ALSA device of one direction, at 48 kHz with 16 bits. Never blocks. Owned by one thread.
///
/// All calls that can fail give frames, or a negative errno as ALSA does.
final class PCM {
    let name: ByteString
    let direction: SoundDirection
    /// 1, or 2 where the device has no mono.
    let channels: Int
    let periodFrames: Int
    let bufferFrames: Int
    /// What is nearer to the loudspeaker cannot be changed any more.
    let committedFrames: Int
    /// The number of the card that it belongs to; nil where it belongs to none.
    let card: Int32?
    private let handle: OpaquePointer
    private var interleaved = [Int16](repeating: 0, count: 2 * SoundFormat.periodFrames)

    /// Opens alsa-lib's `name`; faults call the device `shown`, as the configuration does.
    init(name: ByteString, shown: ByteString, direction: SoundDirection) throws(SoundError) {
        callbox_alsa_quiet()
        var opened: OpaquePointer?
        let stream = direction == .capture ? SND_PCM_STREAM_CAPTURE : SND_PCM_STREAM_PLAYBACK
        let result = name.withCString { snd_pcm_open(&opened, $0, stream, Int32(SND_PCM_NONBLOCK)) }
        guard result == 0, let handle = opened else { throw Self.openFault(shown, direction, result) }
        do {
            let shape = try PCMShape(handle, name: shown, direction: direction)
            self.channels = shape.channels
            self.periodFrames = shape.periodFrames
            self.bufferFrames = shape.bufferFrames
            self.committedFrames = shape.committedFrames
        } catch {
            snd_pcm_close(handle)
            throw error
        }
        self.name = name
        self.direction = direction
        self.handle = handle
        self.card = Self.card(of: handle)
    }

    private static func card(of handle: OpaquePointer) -> Int32? {
        var info: OpaquePointer?
        guard snd_pcm_info_malloc(&info) == 0 else { return nil }
        defer { snd_pcm_info_free(info) }
        guard snd_pcm_info(handle, info) == 0 else { return nil }
        let card = snd_pcm_info_get_card(info)
        return card >= 0 ? card : nil
    }

    deinit {
        snd_pcm_close(self.handle)
    }

    /// Makes ready; nothing flows yet, but the loudspeaker's buffer can be filled.
    func prepare() -> Int {
        Int(snd_pcm_prepare(self.handle))
    }

    func start() -> Int {
        Int(snd_pcm_start(self.handle))
    }

    /// Polls wake when so many frames can be read or written.
    func wake(atFrames frames: Int) {
        _ = PCMShape.setWakeup(self.handle, frames: min(frames, self.bufferFrames))
    }

    func stop() {
        snd_pcm_drop(self.handle)
    }

    /// Whether the buffer can be filled at once.
    var isPrepared: Bool {
        snd_pcm_state(self.handle) == SND_PCM_STATE_PREPARED
    }

    /// Takes back up to `frames` of what was written last, to be written anew; how many those are.
    func takeBack(_ frames: Int) -> Int {
        let available = self.availableNow()
        let wanted = min(frames, self.bufferFrames - available - self.committedFrames)
        guard available >= 0, wanted > 0 else { return 0 }
        return max(Int(snd_pcm_rewind(self.handle, snd_pcm_uframes_t(wanted))), 0)
    }

    /// Goes on `frames` later, which are lost: what was played in their place was silence. How many it could pass.
    func skip(_ frames: Int) -> Int {
        Int(snd_pcm_forward(self.handle, snd_pcm_uframes_t(frames)))
    }

    /// Whether the device is still plugged in. Without asking for this, one that is pulled out merely seems to stand
    /// still.
    var isPresent: Bool {
        snd_pcm_state(self.handle) != SND_PCM_STATE_DISCONNECTED
    }

    /// Frames that can be read, or written.
    func available() -> Int {
        Int(snd_pcm_avail_update(self.handle))
    }

    /// The same as the device itself has it: the position that alsa-lib remembers is up to a period old.
    func availableNow() -> Int {
        Int(snd_pcm_avail(self.handle))
    }

    /// From here to the loudspeaker, or from the microphone to here, with what the hardware adds as far as it tells.
    func delayFrames() -> Int {
        var frames: snd_pcm_sframes_t = 0
        return snd_pcm_delay(self.handle, &frames) == 0 ? Int(frames) : 0
    }

    /// Reads one period of 10 ms; two channels are mixed.
    func read(into samples: inout [Int16]) -> Int {
        let result = self.interleaved.withUnsafeMutableBufferPointer {
            snd_pcm_readi(self.handle, $0.baseAddress!, snd_pcm_uframes_t(SoundFormat.periodFrames))
        }
        for index in 0..<max(Int(result), 0) {
            guard self.channels == 2 else {
                samples[index] = self.interleaved[index]
                continue
            }
            let sum = Int(self.interleaved[2 * index]) + Int(self.interleaved[2 * index + 1])
            samples[index] = Int16(clamping: sum / 2)
        }
        return Int(result)
    }

    /// Writes a few periods at most, to both channels where there are two.
    func write(_ samples: [Int16]) -> Int {
        let missing = 2 * samples.count - self.interleaved.count
        if missing > 0 { self.interleaved += [Int16](repeating: 0, count: missing) }
        for index in 0..<samples.count {
            guard self.channels == 2 else {
                self.interleaved[index] = samples[index]
                continue
            }
            self.interleaved[2 * index] = samples[index]
            self.interleaved[2 * index + 1] = samples[index]
        }
        return self.interleaved.withUnsafeBufferPointer {
            Int(snd_pcm_writei(self.handle, $0.baseAddress!, snd_pcm_uframes_t(samples.count)))
        }
    }

    /// After a suspend: 0 when it goes on, -EAGAIN while the device is still waking, else it has to be started anew.
    func resume() -> Int {
        Int(snd_pcm_resume(self.handle))
    }

    /// What to poll for the next period.
    func appendDescriptors(to list: inout [pollfd]) {
        let count = Int(snd_pcm_poll_descriptors_count(self.handle))
        guard count > 0, count <= 16 else { return }
        var own = [pollfd](repeating: pollfd(), count: count)
        let filled = snd_pcm_poll_descriptors(self.handle, &own, UInt32(count))
        list.append(contentsOf: own.prefix(Int(max(filled, 0))))
    }

    private static func openFault(_ name: ByteString, _ direction: SoundDirection, _ code: Int32) -> SoundError {
        let device = ByteString("The ") + direction.name + " \"" + name + "\""
        switch -code {
        case ENOENT, ENODEV, ENXIO: return SoundError(.missing, device + " is not there.")
        case EBUSY, EAGAIN: return SoundError(.busy, device + " is used by another program.")
        case EACCES, EPERM:
            return SoundError(.unusable, "No permission to open the " + direction.name + " \"" + name + "\".")
        default:
            return SoundError(.unusable, device + " cannot be opened: " + ByteString(cString: snd_strerror(code)) + ".")
        }
    }
}
