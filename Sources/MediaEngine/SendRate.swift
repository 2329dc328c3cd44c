// SPDX-License-Identifier: Apache-2.0

import Bytes
import RTPWire

/// How much of pictures is sent: what was agreed, unless the peer lets in less (TMMBR, RFC 5104 section 4.2.1; REMB,
/// draft-alvestrand-rmcat-remb-03) or the way there loses more than chance does (as draft-ietf-rmcat-gcc-02 section 6:
/// more than a tenth slows it down by half of what is lost, less than a fiftieth lets it grow). Rates are in kbit/s.
struct SendRate {
    private var agreed: Int
    /// By the peer's word.
    private var granted: Int?
    /// What the way seems to carry; nil while it is not known to carry less than what was agreed.
    private var carried: Int?
    private var reportedAt: Instant?
    /// What the encoder was told.
    private(set) var ordered: Int

    init(agreed: Int) {
        self.agreed = Self.bounded(agreed)
        self.ordered = self.agreed
    }

    /// The session changed.
    ///
    /// - Parameter isNew: nothing is known yet of the peer and the way there.
    /// - Returns: what to tell the encoder; nil where nothing new. So with those below.
    mutating func agree(on rate: Int, isNew: Bool) -> Int? {
        self.agreed = Self.bounded(rate)
        if isNew {
            self.granted = nil
            self.carried = nil
            self.reportedAt = nil
        }
        return self.decide()
    }

    mutating func grant(_ rate: Int) -> Int? {
        self.granted = Self.bounded(rate)
        return self.decide()
    }

    /// - Parameter fraction: of our packets, in 1/256, since the report before.
    mutating func lose(_ fraction: UInt8, now: Instant) -> Int? {
        let span = self.reportedAt.map { now - $0 } ?? Duration.milliseconds(0)
        self.reportedAt = now
        if fraction > MediaLimits.lossSlowsAbove {
            let least = min(self.ordered, MediaLimits.lossyRateKbpsMin)
            self.carried = max(least, self.ordered * (512 - Int(fraction)) / 512)
        } else if fraction < MediaLimits.lossGrowsBelow, let carried = self.carried {
            let percent = MediaLimits.rateGrowthPercent * min(span.milliseconds, MediaLimits.rateGrowthMsMax) / 1000
            let grown = carried + max(carried * percent / 100, 1)
            self.carried = grown < self.agreed ? grown : nil
        }
        return self.decide()
    }

    /// Less at once; more only where it is worth an order.
    private mutating func decide() -> Int? {
        let rate = min(self.agreed, self.granted ?? self.agreed, self.carried ?? self.agreed)
        let isWorthIt = rate < self.ordered || rate - self.ordered > self.ordered / 16 || rate == self.agreed
        guard rate != self.ordered, isWorthIt else { return nil }
        self.ordered = rate
        return rate
    }

    private static func bounded(_ rate: Int) -> Int {
        min(max(rate, MediaLimits.rateKbpsMin), MediaLimits.rateKbpsMax)
    }
}

/// The peer's words for a rate, as what pictures may take of it.
enum GrantedRate {
    /// Of a rate that counts the headers of packets of this payload's size (RFC 5104 section 4.2.1.2).
    static func kbps(_ bound: RateBound, payloadBytes: Int) -> Int {
        let payload = UInt64(clamping: max(payloadBytes, 1))
        let overhead = UInt64(clamping: max(bound.overheadBytes, 0))
        return self.kbps(bound.bitsPerSecond, numerator: payload, denominator: payload + overhead)
    }

    /// What is able to be received counts headers, too: about a twentieth at our packets' sizes.
    static func kbps(receivable bitsPerSecond: UInt64) -> Int {
        self.kbps(bitsPerSecond, numerator: 19, denominator: 20)
    }

    private static func kbps(_ bitsPerSecond: UInt64, numerator: UInt64, denominator: UInt64) -> Int {
        let kbps = min(bitsPerSecond / 1000, UInt64(2 * MediaLimits.rateKbpsMax))
        return Int(clamping: kbps * numerator / denominator)
    }
}
