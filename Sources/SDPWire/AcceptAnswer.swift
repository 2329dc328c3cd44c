// SPDX-License-Identifier: Apache-2.0

import Bytes

extension OfferAnswer {
    /// What the peer's answer to our offer comes to. `offer` is what `makeOffer` gave, or in a refresh of the session
    /// whatever we said last.
    ///
    /// A peer that leaves out or swaps media is understood by their kinds; a medium it makes unusable counts as
    /// refused. So does one that is not secure where it was offered so or where it is `required`.
    public static func acceptAnswer(
        _ answer: SessionDescription, to offer: SessionDescription, securityIsRequired isRequired: Bool = false
    ) throws(Fault) -> NegotiatedSession {
        var session = NegotiatedSession()
        for (index, offered) in offer.media.enumerated() where offered.port != 0 {
            guard let answered = Self.counterpart(of: index, in: answer, offer) else { continue }
            let stream = AnsweredStream(offered, of: offer, answered, of: answer)?.negotiated(isRequired)
            switch offered.kind {
            case .audio: session.audio = session.audio ?? stream
            case .video: session.video = session.video ?? stream
            case .other: break
            }
        }
        guard session.isEmpty else { return session }
        throw Self.fault(answer, to: offer, isRequired)
    }

    /// Why nothing is left of an answer.
    private static func fault(
        _ answer: SessionDescription, to offer: SessionDescription, _ isRequired: Bool
    ) -> Fault {
        guard let media = answer.media.first(where: { $0.port != 0 }) else { return .nothingInCommon }
        let hadToBeSecure = isRequired || offer.media.contains { $0.kind == media.kind && $0.profile.isSecure }
        if media.profile.isRTP, hadToBeSecure { return .notSecure(media.kind) }
        let foreign = answer.media.first { $0.port != 0 && ($0.profile.isSecure || !$0.profile.isRTP) }
        return foreign.map { .foreignProfile($0.kind, $0.profile) } ?? .nothingInCommon
    }

    /// The medium in the same place where it is of the same kind; else the first of that kind that is out of place
    /// itself.
    private static func counterpart(
        of index: Int, in answer: SessionDescription, _ offer: SessionDescription
    ) -> MediaDescription? {
        let kind = offer.media[index].kind
        if index < answer.media.count, answer.media[index].kind == kind { return answer.media[index] }
        for (place, media) in answer.media.enumerated() where media.kind == kind {
            if place >= offer.media.count || offer.media[place].kind != kind { return media }
        }
        return nil
    }
}

/// One medium of ours, and the peer's answer to it.
private struct AnsweredStream {
    private let offered: MediaDescription
    private let answered: MediaDescription
    private let remote: RemoteStream
    private let offer: SessionDescription
    private let answer: SessionDescription
    private let ice: NegotiatedICE?

    init?(
        _ offered: MediaDescription, of offer: SessionDescription, _ answered: MediaDescription,
        of answer: SessionDescription
    ) {
        let isV6 = offer.connection(of: offered)?.address?.isV6 ?? false
        let ice = NegotiatedICE(offered, of: offer, answered, of: answer)
        guard let remote = RemoteStream(answered, of: answer, isV6: isV6, ice?.remote) else { return nil }
        self.ice = ice
        self.offered = offered
        self.answered = answered
        self.remote = remote
        self.offer = offer
        self.answer = answer
    }

    /// Nil where no format of the answer is one of the offer, and where it has no keys but must have some.
    func negotiated(_ isRequired: Bool) -> NegotiatedStream? {
        let formats = self.formats
        let protection = NegotiatedProtection.agreed(
            self.offered, of: self.offer, self.answered, of: self.answer, isRequired: isRequired)
        guard let first = formats.first, let protection else { return nil }
        let isMuxed = self.offered.has("rtcp-mux") && self.answered.canMux
        return NegotiatedStream(
            codec: first.codec, sendPayloadType: first.answeredType,
            receivePayloadTypes: self.bindings(formats), telephoneEvent: self.telephoneEvent(beside: first.codec),
            remoteRTP: self.remote.rtp, remoteRTCP: isMuxed ? self.remote.rtp : self.remote.rtcp,
            direction: self.remote.direction.answer(wish: self.offer.direction(of: self.offered)),
            feedback: NegotiatedFeedback(self.answered.sharedFeedback(for: first.answeredType)),
            ptimeMs: self.remote.ptimeMs, bandwidthKbps: self.remote.bandwidthKbps, isMuxed: isMuxed,
            protection: protection, ice: self.ice)
    }

    private struct Format {
        var offeredType: UInt8
        var answeredType: UInt8
        /// With what the peer can receive.
        var codec: NegotiatedCodec
    }

    /// The answer's formats that stand for one of ours, in its order. Payload types may differ from the offer's (RFC
    /// 3264 section 6.1 only advises against it); one of ours without an `rtpmap` means what we meant.
    private var formats: [Format] {
        let ours = self.offered.codecs
        let known = self.answered.codecs
        return self.answered.payloadTypes.compactMap { type in
            let theirs = known.first { $0.payloadType == type }?.codec
            let isUnsaid = self.answered.rtpMap(for: type) == nil
            guard let codec = theirs ?? (isUnsaid ? ours.first { $0.payloadType == type }?.codec : nil),
                let match = Self.match(codec, type, ours), let joined = Self.joined(codec, match.codec)
            else { return nil }
            return Format(offeredType: match.payloadType, answeredType: type, codec: joined)
        }
    }

    /// Ours of the same payload type, else of the same packetization mode, else of the same encoding.
    private static func match(_ codec: NegotiatedCodec, _ type: UInt8, _ ours: [OfferedFormat]) -> OfferedFormat? {
        let same = ours.filter { $0.codec.isSameEncoding(as: codec) }
        return same.first { $0.payloadType == type } ?? same.first { $0.codec.isSameFormat(as: codec) } ?? same.first
    }

    /// The peer's parameters, but never a packetization mode that one side did not speak of. Nil for a profile that we
    /// do not have in common.
    private static func joined(_ theirs: NegotiatedCodec, _ ours: NegotiatedCodec) -> NegotiatedCodec? {
        guard case .h264(let parameters) = theirs, case .h264(let own) = ours else { return theirs }
        guard parameters.suitability(beside: own) != nil else { return nil }
        var agreed = parameters.agreed(with: own)
        agreed.packetizationMode = min(agreed.packetizationMode, own.packetizationMode)
        return .h264(agreed)
    }

    /// What may come in: our payload types, and the peer's own where they cannot be mistaken for another of ours.
    private func bindings(_ formats: [Format]) -> [PayloadBinding] {
        let taken = self.offered.payloadTypes
        var bindings: [PayloadBinding] = []
        for format in formats {
            for type in [format.offeredType, format.answeredType] {
                if type != format.offeredType && taken.contains(type) { continue }
                if bindings.contains(where: { $0.payloadType == type }) { continue }
                bindings.append(PayloadBinding(payloadType: type, codec: format.codec))
            }
        }
        return bindings
    }

    private func telephoneEvent(beside codec: NegotiatedCodec) -> NegotiatedTelephoneEvent? {
        guard let ours = self.offered.telephoneEvent(beside: codec),
            let theirs = self.answered.telephoneEvent(beside: codec)
        else { return nil }
        return NegotiatedTelephoneEvent(
            sendPayloadType: theirs.payloadType, receivePayloadType: ours.payloadType, clockRate: theirs.clockRate)
    }
}
