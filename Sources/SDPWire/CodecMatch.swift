// SPDX-License-Identifier: Apache-2.0

import Bytes

/// A payload type of a description, and what it stands for.
struct OfferedFormat {
    var payloadType: UInt8
    var codec: NegotiatedCodec
}

extension MediaDescription {
    /// The codecs of ours that this medium lists, in its order. Unknown ones are passed over.
    var codecs: [OfferedFormat] {
        let fmtps = self.values("fmtp").compactMap { Fmtp($0) }
        return self.rtpMaps.compactMap { map in
            self.codec(map, fmtps.first { $0.payloadType == map.payloadType }).map {
                OfferedFormat(payloadType: map.payloadType, codec: $0)
            }
        }
    }

    /// The encodings of all payload types that have one, in the order of the formats.
    private var rtpMaps: [RTPMap] {
        let written = self.values("rtpmap").compactMap { RTPMap($0) }
        return self.payloadTypes.compactMap { type in
            written.first { $0.payloadType == type } ?? RTPMap.fixed(type)
        }
    }

    private func codec(_ map: RTPMap, _ fmtp: Fmtp?) -> NegotiatedCodec? {
        switch (self.kind, map.clockRate) {
        case (.audio, 48_000):
            // RFC 7587 wants two channels written, whatever is sent; those who write none mean the same.
            return map.isNamed("opus") && map.channels <= 2 ? .opus(OpusParameters(fmtp)) : nil
        case (.audio, 8_000):
            guard map.channels == 1 else { return nil }
            return map.isNamed("PCMU") ? .pcmu : map.isNamed("PCMA") ? .pcma : nil
        case (.video, 90_000):
            return map.isNamed("H264") ? H264Parameters(fmtp).map { .h264($0) } : nil
        default:
            return nil
        }
    }

    /// The telephone-event that goes with a codec: that of its clock rate, or else the first (RFC 4733 section 2.1
    /// wants the former, many peers have only 8000 Hz).
    func telephoneEvent(beside codec: NegotiatedCodec) -> RTPMap? {
        let events = self.telephoneEvents
        return events.first { $0.clockRate == codec.clockRate } ?? events.first
    }

    var telephoneEvents: [RTPMap] { self.rtpMaps.filter { $0.isNamed("telephone-event") } }

    /// Feedback messages that both this medium and we speak of for a payload type.
    func sharedFeedback(for payloadType: UInt8) -> [RtcpFeedback.Kind] {
        guard self.kind == .video else { return [] }
        let theirs = self.feedback.filter { $0.payloadType == nil || $0.payloadType == payloadType }.map { $0.kind }
        return LocalStream.feedback.filter { theirs.contains($0) }
    }
}

extension NegotiatedFeedback {
    init(_ kinds: [RtcpFeedback.Kind]) {
        self.init(pli: kinds.contains(.pli), fir: kinds.contains(.fir))
    }
}

extension NegotiatedCodec {
    /// Whether both are the same encoding, parameters aside.
    func isSameEncoding(as other: NegotiatedCodec) -> Bool {
        switch (self, other) {
        case (.opus, .opus), (.pcmu, .pcmu), (.pcma, .pcma), (.h264, .h264): return true
        case (.opus, _), (.pcmu, _), (.pcma, _), (.h264, _): return false
        }
    }
}

// MARK: - H.264 by meaning

extension H264Parameters {
    /// How well a format of the peer's suits us, 0 best; nil where we could not decode it.
    ///
    /// What we send is constrained baseline, which all decode but extended ones of old. Main and high come last: we
    /// decode them too.
    func suitability(beside own: H264Parameters) -> Int? {
        let byMode = self.packetizationMode == 1 ? 0 : 1
        let profile = self.profileLevelID.profile
        if profile.isSame(as: own.profileLevelID.profile) { return byMode }
        switch profile {
        case .constrainedBaseline, .baseline, .main, .constrainedHigh, .high: return 2 + byMode
        case .extended, .other: return nil
        }
    }

    /// What we answer: the offer's profile and mode, our own level where both may differ, else the lower one (RFC 6184
    /// section 8.2.2).
    func answer(_ own: H264Parameters) -> H264Parameters {
        var level = self.profileLevelID
        if self.isLevelAsymmetryAllowed || own.profileLevelID.level < level.level {
            level.levelIDC = own.profileLevelID.levelIDC
        }
        var answer = H264Parameters(profileLevelID: level, packetizationMode: self.packetizationMode)
        answer.isLevelAsymmetryAllowed = self.isLevelAsymmetryAllowed
        return answer
    }

    /// What we send by, where these are the peer's parameters: never above our own level unless both said that levels
    /// may differ.
    func agreed(with own: H264Parameters) -> H264Parameters {
        guard !(self.isLevelAsymmetryAllowed && own.isLevelAsymmetryAllowed),
            own.profileLevelID.level < self.profileLevelID.level
        else { return self }
        var agreed = self
        agreed.receiveLimits = own.profileLevelID.level.limits
        return agreed
    }
}
