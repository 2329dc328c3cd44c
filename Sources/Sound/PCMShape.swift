// SPDX-License-Identifier: Apache-2.0

import Bytes
import CALSA

/// Sets up an open device: 48 kHz, 16 bits, one or two channels, periods of 10 ms where it can.
struct PCMShape {
    let channels: Int
    let periodFrames: Int
    let bufferFrames: Int
    /// So many frames before the position that the device tells may already be on their way to the loudspeaker: what
    /// moves its sound in batches tells the position only now and then.
    let committedFrames: Int

    /// Room in the buffer, which costs no time by itself: how much of it the loudspeaker has filled is another matter,
    /// and the microphone's is emptied at every turn. A thread that is held up for as long as this loses nothing.
    private static let capturePeriods = 20
    private static let playbackPeriods = 8
    private static let fifoFrames = 5 * SoundFormat.rate / 1000
    /// Devices that cannot go below these would cost more than a conversation bears.
    private static let periodFramesMax = 4800

    init(_ handle: OpaquePointer, name: ByteString, direction: SoundDirection) throws(SoundError) {
        let device = ByteString("The ") + direction.name + " \"" + name + "\""
        var allocated: OpaquePointer?
        guard snd_pcm_hw_params_malloc(&allocated) == 0, let parameters = allocated else {
            throw SoundError(.unusable, "Memory is short.")
        }
        defer { snd_pcm_hw_params_free(parameters) }
        guard snd_pcm_hw_params_any(handle, parameters) >= 0,
            snd_pcm_hw_params_set_access(handle, parameters, SND_PCM_ACCESS_RW_INTERLEAVED) == 0,
            snd_pcm_hw_params_set_format(handle, parameters, SND_PCM_FORMAT_S16) == 0
        else { throw SoundError(.unusable, device + " has no 16-bit sound; put \"plug\" before its name.") }
        var channels: UInt32 = snd_pcm_hw_params_test_channels(handle, parameters, 1) == 0 ? 1 : 2
        guard snd_pcm_hw_params_set_channels_near(handle, parameters, &channels) == 0, channels == 1 || channels == 2
        else {
            throw SoundError(.unusable, device + " has neither one nor two channels; put \"plug\" before its name.")
        }
        guard snd_pcm_hw_params_set_rate(handle, parameters, UInt32(SoundFormat.rate), 0) == 0 else {
            throw SoundError(.unusable, device + " cannot do 48000 Hz; put \"plug\" before its name.")
        }
        var period = snd_pcm_uframes_t(SoundFormat.periodFrames)
        snd_pcm_hw_params_set_period_size_near(handle, parameters, &period, nil)
        var buffer = period * snd_pcm_uframes_t(direction == .capture ? Self.capturePeriods : Self.playbackPeriods)
        snd_pcm_hw_params_set_buffer_size_near(handle, parameters, &buffer)
        let result = snd_pcm_hw_params(handle, parameters)
        guard result == 0 else {
            let words = ByteString(cString: snd_strerror(result))
            throw SoundError(result == -16 ? .busy : .unusable, device + " cannot be set up: " + words + ".")
        }
        snd_pcm_hw_params_get_period_size(parameters, &period, nil)
        snd_pcm_hw_params_get_buffer_size(parameters, &buffer)
        guard period > 0, period <= snd_pcm_uframes_t(Self.periodFramesMax), buffer >= 2 * period,
            buffer >= snd_pcm_uframes_t(2 * SoundFormat.periodFrames)
        else { throw SoundError(.unusable, device + " has periods or buffers of a useless size.") }
        self.channels = Int(channels)
        self.periodFrames = Int(period)
        self.bufferFrames = Int(buffer)
        let isBatch = snd_pcm_hw_params_is_batch(parameters) != 0
        self.committedFrames = Self.fifoFrames + (isBatch ? Int(period) : 0)
        guard Self.setWakeup(handle, frames: SoundFormat.periodFrames) == 0 else {
            throw SoundError(.unusable, device + " cannot be set up.")
        }
        if direction == .playback { Self.makeEndless(handle) }
    }

    /// Polls wake when so many frames can be read or written; nothing starts by itself. 0, or a negative errno.
    static func setWakeup(_ handle: OpaquePointer, frames: Int) -> Int {
        var allocated: OpaquePointer?
        guard snd_pcm_sw_params_malloc(&allocated) == 0, let parameters = allocated else { return -12 }
        defer { snd_pcm_sw_params_free(parameters) }
        var boundary: snd_pcm_uframes_t = 0
        guard snd_pcm_sw_params_current(handle, parameters) == 0,
            snd_pcm_sw_params_get_boundary(parameters, &boundary) == 0,
            snd_pcm_sw_params_set_start_threshold(handle, parameters, boundary) == 0,
            snd_pcm_sw_params_set_avail_min(handle, parameters, snd_pcm_uframes_t(max(frames, 1))) == 0
        else { return -22 }
        return Int(snd_pcm_sw_params(handle, parameters))
    }

    /// A loudspeaker that has nothing left plays silence and does not stop: its clock goes on, and tells how long the
    /// silence was. One that cannot do that stops.
    private static func makeEndless(_ handle: OpaquePointer) {
        var allocated: OpaquePointer?
        guard snd_pcm_sw_params_malloc(&allocated) == 0, let parameters = allocated else { return }
        defer { snd_pcm_sw_params_free(parameters) }
        var boundary: snd_pcm_uframes_t = 0
        guard snd_pcm_sw_params_current(handle, parameters) == 0,
            snd_pcm_sw_params_get_boundary(parameters, &boundary) == 0,
            snd_pcm_sw_params_set_stop_threshold(handle, parameters, boundary) == 0,
            snd_pcm_sw_params_set_silence_threshold(handle, parameters, 0) == 0,
            snd_pcm_sw_params_set_silence_size(handle, parameters, boundary) == 0
        else { return }
        snd_pcm_sw_params(handle, parameters)
    }
}
