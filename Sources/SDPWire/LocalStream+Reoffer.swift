// SPDX-License-Identifier: Apache-2.0

import Bytes

extension LocalStream {
    /// The same stream under the payload types that its formats have in the session already: those must not change
    /// their meaning, and what is agreed comes first, so that the peer goes on with it (RFC 3264 section 8.3.2).
    func renumbered(in place: Place) -> LocalStream {
        var numbers = Numbers(place)
        var agreed: [CodecOffer] = []
        var others: [CodecOffer] = []
        for own in self.codecs {
            if let known = numbers.ours.first(where: { $0.codec.isSameFormat(as: own.codec) }) {
                // Of H.264 the profile that was agreed goes on, whatever we would have offered by ourselves.
                agreed.append(CodecOffer(own.codec.isVideo ? known.codec : own.codec, payloadType: known.payloadType))
                continue
            }
            let theirs = numbers.theirs.filter { $0.codec.isSameFormat(as: own.codec) }.map { $0.payloadType }
            guard let type = numbers.assign(theirs, own.payloadType) else { continue }
            others.append(CodecOffer(own.codec, payloadType: type))
        }
        let order = place.ours.payloadTypes
        let running = order.compactMap { type in agreed.first { $0.payloadType == type } }
        var stream = self
        stream.codecs = running + others
        stream.renumberEvents(place, &numbers)
        return stream
    }

    private mutating func renumberEvents(_ place: Place, _ numbers: inout Numbers) {
        guard let own = self.telephoneEventPayloadType else { return }
        if let known = place.ours.telephoneEvents.first {
            self.telephoneEventPayloadType = known.payloadType
            self.telephoneEventRate = known.clockRate
            return
        }
        let theirs = (place.theirs?.telephoneEvents ?? []).filter { $0.clockRate == self.telephoneEventRate }
        self.telephoneEventPayloadType = numbers.assign(theirs.map { $0.payloadType }, own)
    }
}

/// Which payload types mean what in one place of a session.
private struct Numbers {
    let ours: [OfferedFormat]
    let theirs: [OfferedFormat]
    /// Types that we gave a meaning.
    private var given: [UInt8]
    /// Types that the peer gave a meaning.
    private let heard: [UInt8]

    init(_ place: Place) {
        self.ours = place.ours.codecs
        self.theirs = place.theirs?.codecs ?? []
        self.given = place.ours.payloadTypes
        self.heard = place.theirs?.payloadTypes ?? []
    }

    /// A type for a format that we have not named yet: the peer's for it, or ours, or any that is free. Nil where all
    /// are taken.
    mutating func assign(_ theirs: [UInt8], _ own: UInt8) -> UInt8? {
        let fits = theirs.first { !self.given.contains($0) }
        let type = fits ?? ([own] + Array(96...127)).first { !self.given.contains($0) && !self.heard.contains($0) }
        if let type { self.given.append(type) }
        return type
    }
}

extension NegotiatedCodec {
    fileprivate var isVideo: Bool {
        switch self {
        case .h264: return true
        case .opus, .pcmu, .pcma: return false
        }
    }

    /// The same encoding, and the same packetization mode.
    func isSameFormat(as other: NegotiatedCodec) -> Bool {
        guard case .h264(let left) = self, case .h264(let right) = other else { return self.isSameEncoding(as: other) }
        return left.packetizationMode == right.packetizationMode
    }
}
