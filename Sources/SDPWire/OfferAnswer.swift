// SPDX-License-Identifier: Apache-2.0

import Bytes

/// Offer and answer (RFC 3264) as pure functions.
public enum OfferAnswer {
    /// An answer, and what it comes to.
    public struct Answer: Hashable, Sendable {
        public var description: SessionDescription
        public var session: NegotiatedSession
    }

    /// Why an answer does not fit the offer.
    public enum Fault: Error, Hashable, Sendable {
        /// The answer has another number of media than the offer.
        case mediaCount
        /// A medium's kind differs from the offer's in the same place (counted from 0).
        case mediaKind(Int)
        /// The answer accepts nothing that we could send or receive.
        case nothingInCommon
    }

    /// An offer of all we can do: RTP/AVP with feedback lines, which old and new peers accept.
    ///
    /// `sessionVersion` goes up by one with each offer or answer that differs from the one before.
    public static func makeOffer(
        _ local: LocalMedia, sessionID: UInt64, sessionVersion: UInt64
    ) -> SessionDescription {
        SessionDescription(origin: nil)
    }

    /// The answer to an offer: as many media in the same order, the offer's payload types and profiles, refused media in
    /// place with port 0.
    public static func makeAnswer(
        to offer: SessionDescription, local: LocalMedia, sessionID: UInt64, sessionVersion: UInt64
    ) -> Answer {
        Answer(description: offer, session: NegotiatedSession())
    }

    /// What the peer's answer to our offer comes to. `offer` is what `makeOffer` gave.
    public static func acceptAnswer(
        _ answer: SessionDescription, to offer: SessionDescription
    ) throws(Fault) -> NegotiatedSession {
        throw .nothingInCommon
    }
}
