// SPDX-License-Identifier: Apache-2.0

import Bytes

/// Offer and answer (RFC 3264) as pure functions.
public enum OfferAnswer {
    /// An answer, and what it comes to.
    public struct Answer: Hashable, Sendable {
        public var description: SessionDescription
        public var session: NegotiatedSession
    }

    /// Why an answer to our offer leaves nothing to send or receive.
    public enum Fault: Error, Hashable, Sendable {
        case nothingInCommon
        /// The answer insists on another way to transport media (secure RTP, say) than we offered.
        case foreignProfile(TransportProfile)
    }

    /// An offer of all we can do: RTP/AVP with feedback lines, which old and new peers accept.
    ///
    /// `sessionVersion` goes up by one with each offer or answer that differs from the one before.
    public static func makeOffer(
        _ local: LocalMedia, sessionID: UInt64, sessionVersion: UInt64
    ) -> SessionDescription {
        var offer = Self.empty(local, sessionID, sessionVersion)
        offer.media.append(local.audio.offered(as: .audio))
        if let video = local.video { offer.media.append(video.offered(as: .video)) }
        return offer
    }

    /// The answer to an offer: as many media in the same order, the offer's payload types and profiles, refused media
    /// in place with port 0.
    public static func makeAnswer(
        to offer: SessionDescription, local: LocalMedia, sessionID: UInt64, sessionVersion: UInt64
    ) -> Answer {
        var answer = Answer(
            description: Self.empty(local, sessionID, sessionVersion), session: NegotiatedSession())
        for media in offer.media {
            let accepted = answer.accept(media, of: offer, local)
            answer.description.media.append(accepted ?? media.refused)
        }
        return answer
    }

    private static func empty(_ local: LocalMedia, _ id: UInt64, _ version: UInt64) -> SessionDescription {
        SessionDescription(
            origin: Origin(sessionID: id, sessionVersion: version, address: local.address),
            connection: .address(local.address))
    }
}

extension OfferAnswer.Answer {
    /// Our description of a medium we take; nil for one we refuse. Of each kind the first that fits is taken.
    fileprivate mutating func accept(
        _ media: MediaDescription, of offer: SessionDescription, _ local: LocalMedia
    ) -> MediaDescription? {
        switch media.kind {
        case .audio:
            guard self.session.audio == nil,
                let (description, stream) = local.audio.answer(media, of: offer, address: local.address)
            else { return nil }
            self.session.audio = stream
            return description
        case .video:
            guard self.session.video == nil,
                let (description, stream) = local.video?.answer(media, of: offer, address: local.address)
            else { return nil }
            self.session.video = stream
            return description
        case .other:
            return nil
        }
    }
}

extension MediaDescription {
    /// The same medium, not wanted (RFC 3264 section 6).
    fileprivate var refused: MediaDescription {
        MediaDescription(kind: self.kind, port: 0, profile: self.profile, formats: self.formats)
    }
}
