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
        /// The answer insists on another way to transport this medium (secure RTP, say) than we offered.
        case foreignProfile(MediaKind, TransportProfile)
        /// This medium has to be secure, and would not be.
        case notSecure(MediaKind)

        /// For the log.
        public var sentence: ByteString {
            switch self {
            case .nothingInCommon: return "nothing in common"
            case .foreignProfile(let kind, let profile):
                return kind.word + " answered by " + profile.word + ", which was not offered"
            case .notSecure(let kind): return kind.word + " without a key that fits"
            }
        }
    }

    /// What both sides said last: the description of ours and the one of theirs that belong together.
    public struct Agreed: Hashable, Sendable {
        public var local: SessionDescription
        public var remote: SessionDescription

        public init(local: SessionDescription, remote: SessionDescription) {
            self.local = local
            self.remote = remote
        }
    }

    /// How much an offer says.
    public enum Size: Hashable, Sendable {
        case full
        /// Without what a peer can do without: a second format of the same codec or of G.711, lines that say what is so
        /// anyway.
        case trimmed
    }

    /// An offer of all we can do: RTP/AVP with feedback lines, which old and new peers accept; secure RTP where it has
    /// to be.
    ///
    /// In a session that stands, media keep their places and never become fewer (RFC 3264 section 8): what we do not
    /// want any more has port 0, what is new comes last or where its kind was refused before.
    /// `sessionVersion` goes up by one with each offer or answer that differs from the one before.
    public static func makeOffer(
        _ local: LocalMedia, following former: Agreed? = nil, size: Size = .full, sessionID: UInt64,
        sessionVersion: UInt64
    ) -> SessionDescription {
        var offer = Self.empty(local, sessionID, sessionVersion)
        let places = former?.local.media ?? []
        let audioPlace = Self.place(of: .audio, in: places)
        let videoPlace = Self.place(of: .video, in: places)
        for (index, media) in places.enumerated() {
            if index == audioPlace {
                offer.media.append(
                    local.audio.offered(as: .audio, size, in: Place(former, index), address: local.address))
            } else if index == videoPlace, let video = local.video {
                offer.media.append(video.offered(as: .video, size, in: Place(former, index), address: local.address))
            } else {
                offer.media.append(media.refused)
            }
        }
        if audioPlace == nil {
            offer.media.append(local.audio.offered(as: .audio, size, in: nil, address: local.address))
        }
        if videoPlace == nil, let video = local.video {
            offer.media.append(video.offered(as: .video, size, in: nil, address: local.address))
        }
        offer.nameICE()
        return offer
    }

    /// Where a kind lies already; else where it was refused.
    private static func place(of kind: MediaKind, in media: [MediaDescription]) -> Int? {
        media.firstIndex { $0.kind == kind && $0.port != 0 } ?? media.firstIndex { $0.kind == kind }
    }

    /// The answer to an offer: as many media in the same order, the offer's payload types and profiles, refused media
    /// in place with port 0.
    public static func makeAnswer(
        to offer: SessionDescription, local: LocalMedia, following former: Agreed? = nil, sessionID: UInt64,
        sessionVersion: UInt64
    ) -> Answer {
        var answer = Answer(
            description: Self.empty(local, sessionID, sessionVersion), session: NegotiatedSession())
        for (index, media) in offer.media.enumerated() {
            let accepted = answer.accept(media, of: offer, local, in: Place(former, index))
            answer.description.media.append(accepted ?? media.refused)
        }
        answer.description.nameICE()
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
        _ media: MediaDescription, of offer: SessionDescription, _ local: LocalMedia, in place: Place?
    ) -> MediaDescription? {
        switch media.kind {
        case .audio:
            guard self.session.audio == nil,
                let (description, stream) = local.audio.answer(media, of: offer, in: place, address: local.address)
            else { return nil }
            self.session.audio = stream
            return description
        case .video:
            guard self.session.video == nil,
                let (description, stream) = local.video?.answer(media, of: offer, in: place, address: local.address)
            else { return nil }
            self.session.video = stream
            return description
        case .other:
            return nil
        }
    }
}

/// One medium of a session that stands, as we said it last and as the peer did; nil where it was refused or is over:
/// what comes there then is a new medium.
struct Place {
    var ours: MediaDescription
    var theirs: MediaDescription?
    /// The descriptions that they are of.
    let agreed: OfferAnswer.Agreed

    init?(_ agreed: OfferAnswer.Agreed?, _ index: Int) {
        guard let agreed, index < agreed.local.media.count, agreed.local.media[index].port != 0 else { return nil }
        self.ours = agreed.local.media[index]
        let theirs = index < agreed.remote.media.count ? agreed.remote.media[index] : nil
        self.theirs = theirs?.kind == self.ours.kind ? theirs : nil
        self.agreed = agreed
    }
}

extension MediaDescription {
    /// The same medium, not wanted (RFC 3264 section 6).
    fileprivate var refused: MediaDescription {
        MediaDescription(kind: self.kind, port: 0, profile: self.profile, formats: self.formats)
    }
}
