// SPDX-License-Identifier: Apache-2.0

import Bytes

extension LocalStream {
    /// Our answer to one offered medium and what it comes to; nil where we must refuse it.
    func answer(
        _ media: MediaDescription, of offer: SessionDescription, in place: Place?, address: IPAddress
    ) -> (MediaDescription, NegotiatedStream)? {
        let ice = self.answerICE(media, of: offer)
        guard let remote = RemoteStream(media, of: offer, isV6: address.isV6, ice.negotiated?.remote),
            let choice = self.choose(from: media),
            let (protection, lines) = self.security.answer(media, of: offer, in: place)
        else { return nil }
        let type = choice.offered.payloadType
        let event = self.telephoneEventPayloadType == nil ? nil : media.telephoneEvent(beside: choice.offered.codec)
        let feedback = media.sharedFeedback(for: type)
        let direction = remote.direction.answer(wish: self.wish)
        var description = self.described(
            kind: media.kind, profile: media.profile, formats: [(type, choice.answered)], event: event,
            direction: direction, feedback: feedback.map { RtcpFeedback(payloadType: type, $0) })
        description.attributes += lines
        let isMuxed = media.canMux
        if isMuxed { description.attributes.append(Attribute("rtcp-mux")) }
        if let local = ice.local {
            description.attributes += local.lines(isMuxed: isMuxed, .full)
            description.point(to: local, address: address, asked: media)
        } else if ice.isMismatched {
            description.attributes.append(Attribute("ice-mismatch"))
        }
        let stream = NegotiatedStream(
            codec: choice.sent, sendPayloadType: type,
            receivePayloadTypes: [PayloadBinding(payloadType: type, codec: choice.answered)],
            telephoneEvent: event.map {
                NegotiatedTelephoneEvent(
                    sendPayloadType: $0.payloadType, receivePayloadType: $0.payloadType, clockRate: $0.clockRate)
            },
            remoteRTP: remote.rtp, remoteRTCP: isMuxed ? remote.rtp : remote.rtcp, direction: direction,
            feedback: NegotiatedFeedback(feedback), ptimeMs: remote.ptimeMs, bandwidthKbps: remote.bandwidthKbps,
            isMuxed: isMuxed, protection: protection, ice: ice.negotiated)
        return (description, stream)
    }

    /// What of ICE goes into the answer.
    private struct ICEAnswer {
        var local: LocalICE?
        var negotiated: NegotiatedICE?
        var isMismatched = false
    }

    /// Whoever offers decides by which way media go, unless it cannot (RFC 8445 section 6.1.1).
    private func answerICE(_ media: MediaDescription, of offer: SessionDescription) -> ICEAnswer {
        guard let local = self.ice else { return ICEAnswer() }
        switch offer.ice(of: media) {
        case .none: return ICEAnswer()
        case .mismatch: return ICEAnswer(isMismatched: true)
        case .usable(let remote):
            let negotiated = NegotiatedICE(local: local.credentials, remote: remote, isControlling: remote.isLite)
            return ICEAnswer(local: local, negotiated: negotiated)
        }
    }

    private struct Choice {
        var offered: OfferedFormat
        /// The same codec with the parameters that we answer.
        var answered: NegotiatedCodec
        /// And with those that we send by.
        var sent: NegotiatedCodec
        /// 0 is best.
        var suitability: Int
    }

    /// One codec, so that the peer's sound never changes in mid-call: the first of the offer that we have (RFC 3264
    /// section 6.1), and of several H.264 formats the one that suits us best.
    private func choose(from media: MediaDescription) -> Choice? {
        var best: Choice?
        for offered in media.codecs {
            guard let choice = self.choice(offered) else { continue }
            if best == nil || choice.suitability < best!.suitability { best = choice }
        }
        return best
    }

    private func choice(_ offered: OfferedFormat) -> Choice? {
        for own in self.codecs where own.codec.isSameEncoding(as: offered.codec) {
            guard case .h264(let theirs) = offered.codec, case .h264(let ours) = own.codec else {
                return Choice(offered: offered, answered: own.codec, sent: offered.codec, suitability: 0)
            }
            guard ours.packetizationMode == theirs.packetizationMode,
                let suitability = theirs.suitability(beside: ours)
            else { continue }
            return Choice(
                offered: offered, answered: .h264(theirs.answer(ours)), sent: .h264(theirs.agreed(with: ours)),
                suitability: suitability)
        }
        return nil
    }
}
