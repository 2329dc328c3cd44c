// SPDX-License-Identifier: Apache-2.0

import Bytes

/// Every bound and time of this module.
public enum MediaLimits {
    // MARK: Receiving

    /// No RTP for this long is silence.
    public static let silenceMs = 5000
    /// Longest payload taken as sound.
    static let audioPayloadBytesMax = 4096
    /// Packets the reorder buffer spans; a power of two.
    static let reorderPackets = 64
    /// How long a gap is waited for: at first, and where the path is known to reorder.
    static let reorderPatienceMin = Duration.milliseconds(20)
    static let reorderPatienceMax = Duration.milliseconds(50)
    /// A source that spoke within this time is not given up for the first packet of another.
    static let sourceHoldMs = 200
    /// Sources of former calls that are remembered, and for how long.
    static let formerSourcesMax = 4
    static let formerSourceMs = 30_000
    /// Packets from the old address after which it is not left over from before the session changed, but goes on.
    static let lingeringPacketsMax = 100

    // MARK: Key frames

    /// Time between our requests: doubles from the first to the second.
    static let pictureLossFirstMs = 100
    static let pictureLossLastMs = 1000
    /// A stream that seems to begin with a key frame is given this long before the first request.
    static let firstPictureGraceMs = 200
    /// A key frame handed to the decoder should be a picture within this time.
    static let decodeGraceMs = 300
    /// Time between our requests by signalling: doubles from the first to the second.
    static let keyFrameWantedFirstMs = 1000
    static let keyFrameWantedLastMs = 8000
    /// At most one IDR is ordered from our encoder in this time.
    static let keyFrameSpacingMs = 300
    /// The same where only the peer's loss reports ask for it.
    static let keyFrameOnLossSpacingMs = 2000
    /// Key frames sent unasked after the start: to peers that can ask, and to those that cannot.
    static let startKeyFramesMs = [1000]
    static let startKeyFramesDeafMs = [500, 1500, 3000, 5000]

    // MARK: Sending

    /// Packets of a picture that go out at once; the rest is spread.
    static let paceBurstPackets = 12
    static let paceStepMs = 2
    /// A picture is spread over half its own time, and over no more than this.
    static let paceSpreadMsMax = 16
    /// The audio timestamp follows the count of samples while that is this near to the clock.
    static let audioClockSlackMs = 60

    // MARK: Rate of pictures

    /// Losses of more than the first, in 1/256, slow the pictures down; of less than the second let them grow again.
    static let lossSlowsAbove: UInt8 = 25
    static let lossGrowsBelow: UInt8 = 5
    /// Growth in a second, in percent, and the longest time that one report counts for.
    static let rateGrowthPercent = 8
    static let rateGrowthMsMax = 5000
    /// Losses slow them down to this: below, each picture is worth less than what it may save.
    static let lossyRateKbpsMin = 128
    /// The peer's word is followed down to this.
    static let rateKbpsMin = 32
    static let rateKbpsMax = 100_000
    /// At most one notice of a bound is sent in this time; the peer repeats its request until it has one.
    static let rateNoticeSpacingMs = 100

    // MARK: RTCP

    /// RFC 3550 section 6.2.
    static let reportIntervalMs = 5000
    static let firstReportMsMax = 2500
    /// Round trips above this are taken for broken clocks.
    static let roundTripMsMax = 60_000

    // MARK: Playout

    /// Bounds of the delay.
    static let playoutDelayMsMin = 20
    static let playoutDelayMsMax = 200
    /// More than this waiting is the end of a stall, and is shed.
    static let playoutBufferedMsMax = 320
    static let playoutPacketsMax = 64
    /// Longest that sound is invented for.
    static let playoutConcealMsMax = 100
    /// A timestamp this far from the time that passed is a jump.
    static let playoutJumpMs = 500
    /// Sequence numbers this far back are late; farther is a new sequence.
    static let playoutMisorderMax = 100
    /// Turns over which the level is watched before a packet is left out; fewer where it is higher by that much.
    static let playoutLevelTurns = 50
    static let playoutHighLevelTurns = 10
    static let playoutHighLevelMs = 40

    // MARK: Keys (RFC 4733)

    static let digitsQueuedMax = 16
    /// As often as sound packets (RFC 4733 section 2.5.1.1): some receivers begin a key only by what comes before its
    /// closing packets, and of seldom ones a lossy way may swallow all.
    static let digitUpdateMs = 20
    static let digitEndSpacingMs = 20
    static let digitEndPackets = 3
    static let digitPauseMs = 60
    static let digitMsMin = 40
    static let digitMsMax = 5000
}
