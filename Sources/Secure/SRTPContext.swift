// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSRTP
import SDPWire

/// RTP and RTCP of one direction under one set of keys (RFC 3711). It knows how often sequences wrapped and which
/// packets it has seen, so it has to live as long as the keys do.
public final class SRTPContext {
    public enum Verdict: Equatable {
        case authentic
        /// Not made with the key, or changed on the way.
        case forged
        /// Came already, or is older than can be told.
        case replayed
        /// The key was used as often as it may be.
        case wornOut
    }

    private let session: srtp_t
    private let hasNames: Bool
    private let lifetimePackets: UInt64
    private var packets: UInt64 = 0
    private var controlPackets: UInt64 = 0
    /// Sources that were heard, the newest last.
    private var sources: [UInt32] = []

    /// Protects what we send. Nil where the key does not fit the suite.
    public init?(sending suite: CryptoSuite, _ secret: [UInt8]) {
        guard let session = makeSRTPSession(suite, [CryptoKey(secret: secret)], ssrc_any_outbound) else { return nil }
        self.session = session
        self.hasNames = false
        self.lifetimePackets = CryptoKey.lifetimePacketsMax
    }

    /// Looks at what comes. Nil where a key does not fit the suite.
    public init?(receiving suite: CryptoSuite, _ keys: [CryptoKey]) {
        guard let session = makeSRTPSession(suite, keys, ssrc_any_inbound) else { return nil }
        self.session = session
        self.hasNames = !keys[0].mki.isEmpty
        self.lifetimePackets = keys.reduce(0) { $0 + min($1.lifetimePackets, CryptoKey.lifetimePacketsMax) }
    }

    deinit { srtp_dealloc(self.session) }

    /// The packet as it goes out; nil where it cannot.
    public func protect(_ packet: [UInt8], isControl: Bool) -> [UInt8]? {
        guard self.isFresh(isControl), packet.count >= (isControl ? 8 : 12) else { return nil }
        var bytes = packet + [UInt8](repeating: 0, count: SecureLimits.trailerBytes)
        var length = Int32(packet.count)
        let status = bytes.withUnsafeMutableBytes {
            isControl
                ? srtp_protect_rtcp(self.session, $0.baseAddress, &length)
                : srtp_protect(self.session, $0.baseAddress, &length)
        }
        guard status == srtp_err_status_ok, length >= 0, Int(length) <= bytes.count else { return nil }
        self.count(isControl)
        bytes.removeLast(bytes.count - Int(length))
        return bytes
    }

    /// Takes the protection off a packet that came; in all but the first case the packet is of no use.
    public func unprotect(_ packet: inout [UInt8], isControl: Bool) -> Verdict {
        guard packet.count >= (isControl ? 8 : 12), packet[0] >> 6 == 2, packet.count <= Int(UInt16.max) else {
            return .forged
        }
        guard self.isFresh(isControl) else { return .wornOut }
        let source = Self.source(packet, isControl)
        var length = Int32(packet.count)
        let status = packet.withUnsafeMutableBytes {
            isControl
                ? srtp_unprotect_rtcp_mki(self.session, $0.baseAddress, &length, self.hasNames ? 1 : 0)
                : srtp_unprotect_mki(self.session, $0.baseAddress, &length, self.hasNames ? 1 : 0)
        }
        switch status {
        case srtp_err_status_ok: break
        case srtp_err_status_replay_fail, srtp_err_status_replay_old: return .replayed
        case srtp_err_status_key_expired: return .wornOut
        default: return .forged
        }
        guard length >= 0, Int(length) <= packet.count else { return .forged }
        packet.removeLast(packet.count - Int(length))
        self.count(isControl)
        self.remember(source)
        return .authentic
    }

    /// The key has been used nearly as often as it may be: fifteen sixteenths, which leaves years or, where somebody
    /// gave it a short life, the time of an offer and its answer.
    public var wearsOut: Bool {
        Self.isLate(self.packets, of: self.lifetimePackets)
            || Self.isLate(self.controlPackets, of: min(SecureLimits.controlPackets, self.lifetimePackets))
    }

    private static func isLate(_ count: UInt64, of limit: UInt64) -> Bool {
        count >= limit - limit / 16
    }

    private func isFresh(_ isControl: Bool) -> Bool {
        isControl
            ? self.controlPackets < min(SecureLimits.controlPackets, self.lifetimePackets)
            : self.packets < self.lifetimePackets
    }

    private func count(_ isControl: Bool) {
        if isControl { self.controlPackets += 1 } else { self.packets += 1 }
    }

    private static func source(_ packet: [UInt8], _ isControl: Bool) -> UInt32 {
        packet[(isControl ? 4 : 8)..<(isControl ? 8 : 12)].reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Whoever has the key may name as many sources as there are numbers: the longest unheard is forgotten.
    private func remember(_ source: UInt32) {
        if self.sources.last == source { return }
        if let index = self.sources.firstIndex(of: source) { self.sources.remove(at: index) }
        self.sources.append(source)
        guard self.sources.count > SecureLimits.sources else { return }
        srtp_remove_stream(self.session, self.sources.removeFirst().bigEndian)
    }
}
