// SPDX-License-Identifier: Apache-2.0

import CEcho

/// What is done to the microphone's sound before it is sent.
public struct CaptureCare: Equatable, Sendable {
    /// Of steady noise; 6, 12 or 18 dB less.
    public enum NoiseSuppression: Int32, Sendable {
        case off = 0
        case low
        case moderate
        case high
    }

    /// What the loudspeaker plays is taken out of what the microphone hears.
    public var cancelsEcho = true
    public var noiseSuppression = NoiseSuppression.off
    /// Who speaks softly is made louder.
    public var controlsGain = false

    public init() {}
}

/// Takes out of the microphone's sound what the loudspeaker plays, with webrtc-audio-processing (AEC3). Owned by one
/// thread; never waits.
///
/// Wants each period of the loudspeaker no later than the microphone hears it. How long it takes to get there is found
/// out by the canceller itself, up to half a second.
final class EchoCanceller {
    private let handle: OpaquePointer
    let cancelsEcho: Bool

    /// Nil where there is nothing to do.
    init?(_ plan: CaptureCare) {
        guard plan.cancelsEcho || plan.noiseSuppression != .off || plan.controlsGain else { return nil }
        let wanted = callbox_echo_plan(
            cancels_echo: plan.cancelsEcho ? 1 : 0, noise_suppression: plan.noiseSuppression.rawValue,
            controls_gain: plan.controlsGain ? 1 : 0)
        guard let handle = callbox_echo_new(wanted) else { return nil }
        self.handle = handle
        self.cancelsEcho = plan.cancelsEcho
    }

    deinit {
        callbox_echo_free(self.handle)
    }

    /// Forgets the room: another call, or another device.
    func reset() {
        callbox_echo_reset(self.handle)
    }

    /// One period of what is played.
    func render(_ period: [Int16]) {
        precondition(period.count == SoundFormat.periodFrames, "sound comes in whole periods of 10 ms")
        callbox_echo_render(self.handle, period)
    }

    /// One period of the microphone; becomes what is to be sent.
    ///
    /// - Parameter delayMs: from the last period rendered to this one, as far as the devices tell.
    func process(_ period: inout [Int16], delayMs: Int) {
        precondition(period.count == SoundFormat.periodFrames, "sound comes in whole periods of 10 ms")
        _ = callbox_echo_capture(self.handle, &period, Int32(clamping: delayMs))
    }
}
