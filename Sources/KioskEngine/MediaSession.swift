// SPDX-License-Identifier: Apache-2.0
import Bytes
import RTPWire
import SDPWire
import SIPEngine

/// What we want of a call beside what every call has.
struct MediaIntent: Equatable {
    /// The far end waits: it may hear us (or be sent silence), but we want nothing of it.
    var isHolding = false
    /// Whether there may be pictures, where the kiosk and the far end can.
    var hasVideo = true
}

/// The session descriptions of one call: what was offered and answered last, and what it came to.
///
/// A description of ours has a higher version than all before where it says something else, and is the same to the byte
/// where it does not (RFC 3264 section 8): a refresh changes nothing.
struct MediaSession {
    /// An offer of ours that waits for its answer.
    private struct Pending {
        var description: SessionDescription
        var intent: MediaIntent
        /// Nothing was agreed before.
        var isFirst: Bool
    }

    private var pending: Pending?
    private var agreed: OfferAnswer.Agreed?
    /// The newest description of ours that was not refused.
    private var said: SessionDescription?
    private(set) var negotiated: NegotiatedSession?
    /// What was agreed last. What a `makeReoffer` asks for counts once it is answered.
    private(set) var intent = MediaIntent()
    /// Whether the last agreement differs from the one before; otherwise media go on and need not be told.
    private(set) var hasChanged = false
    /// Why the last answer could not be used, where more can be said than that.
    private(set) var fault: OfferAnswer.Fault?
    /// The devices for pictures that were there when we said something. One that goes away later changes nothing of
    /// what we say, for it may soon be back.
    private(set) var hadCamera = false
    private(set) var hadScreen = false
    /// What we could decode when we said something first: the call keeps to it.
    private(set) var decoderLevel = KioskWorld.usualLevel
    /// Once trimmed, all our offers are: the way of the call is what it is.
    private var size = OfferAnswer.Size.full
    private let id: UInt64
    /// The highest that was sent.
    private var version: UInt64
    let audioSSRC: SSRC
    let videoSSRC: SSRC
    let cname: ByteString
    /// The address towards the far end.
    private(set) var address: IPAddress
    /// The host that the far end's signalling comes from.
    let signalling: IPAddress
    private(set) var security: SessionSecurity
    /// Of the pictures that we send, said from then on; nil as long as they are what they were at the beginning: an
    /// INVITE has to be short.
    var pictureSize: PictureSize?
    /// Those of ICE that our descriptions name.
    var ways: ICEMachine.Found?
    /// Those of ICE were offered in vain: what came of the ports that they had.
    private(set) var ports: MediaPorts?

    /// - Parameter isWithoutFeedback: handshakes are offered in the profile without feedback.
    init(
        _ flow: Flow, _ settings: MediaSettings, isWithoutFeedback: Bool = false, generator: inout Generator,
        makeSecret: @escaping (Int) -> [UInt8]
    ) {
        self.address = flow.local.address
        self.signalling = flow.remote.address
        // RFC 8866 section 5.2 wants numbers that fit peers which read them as signed.
        self.id = generator.next() >> 2
        self.version = self.id
        self.audioSSRC = SSRC(UInt32(truncatingIfNeeded: generator.next()))
        self.videoSSRC = SSRC(UInt32(truncatingIfNeeded: generator.next()))
        // Without a name in it: RFC 7022 section 4.2.
        self.cname = generator.token(digits: 16)
        // RFC 8842 section 4 wants at least 20.
        self.security = SessionSecurity(
            settings, flow, tlsID: generator.token(digits: 32), isWithoutFeedback: isWithoutFeedback,
            makeSecret: makeSecret)
    }

    var awaitsAnswer: Bool { self.pending != nil }

    /// What our first offer says can be said in an older profile that is as secure (RFC 5764 section 8).
    var hasOlderOffer: Bool {
        guard let pending = self.pending, pending.isFirst else { return false }
        return pending.description.media.contains { $0.profile == .dtlsSavpf }
    }

    // MARK: - Our offers

    /// An offer of all that we can do now, in the intent that stands. Trimmed, it leaves out what a peer can do
    /// without, so that an INVITE with it fits one datagram.
    mutating func makeOffer(
        _ world: KioskWorld, _ configuration: Configuration, trimmed: Bool = false
    ) -> [UInt8] {
        if trimmed { self.size = .trimmed }
        return self.makeReoffer(world, configuration, self.intent)
    }

    /// Our own change of the session: hold, resume, video off and on. `accept` its answer, or `rollBack`.
    mutating func makeReoffer(
        _ world: KioskWorld, _ configuration: Configuration, _ intent: MediaIntent
    ) -> [UInt8] {
        self.countOn(world)
        let draft = OfferAnswer.makeOffer(
            self.local(world, configuration, intent), following: self.agreed, size: self.size, sessionID: self.id,
            sessionVersion: self.version)
        let offer = self.versioned(draft)
        self.pending = Pending(description: offer, intent: intent, isFirst: self.agreed == nil)
        return offer.printed()
    }

    /// Our offer was refused: everything stands as it was.
    mutating func rollBack() {
        self.pending = nil
        self.said = self.agreed?.local
    }

    /// The far end has heard more of us than what stands: the next description has a higher version, even where it says
    /// the same.
    mutating func sayAnew() {
        self.said = nil
    }

    /// What is offered from now on has other keys.
    mutating func renewKeys() {
        self.security.renew()
    }

    /// Our address is another one: what is said next says so.
    mutating func move(to address: IPAddress) {
        self.address = address
        self.sayAnew()
    }

    private mutating func countOn(_ world: KioskWorld) {
        if self.said == nil && self.agreed == nil { self.decoderLevel = world.decoderLevel }
        self.hadCamera = self.hadCamera || world.hasCamera
        self.hadScreen = self.hadScreen || world.hasScreen
    }

    /// A device has come that was not there when we said last what we can do with pictures.
    func couldOfferMore(_ world: KioskWorld) -> Bool {
        guard self.intent.hasVideo else { return false }
        return world.hasCamera && !self.hadCamera || world.hasScreen && !self.hadScreen
    }

    /// What a provisional answer comes to; the final one is still awaited. Nil where it makes no sense.
    func preview(_ answer: [UInt8]) -> NegotiatedSession? {
        guard let pending = self.pending, let description = try? SessionDescription.parse(answer) else { return nil }
        return try? OfferAnswer.acceptAnswer(
            description, to: pending.description, securityIsRequired: self.security.isRequired)
    }

    /// The answer to our offer, or to a refresh with what we said last. Nil where it makes no sense.
    mutating func accept(_ answer: [UInt8]) -> NegotiatedSession? {
        self.fault = nil
        guard let offer = self.pending?.description ?? self.agreed?.local,
            let description = try? SessionDescription.parse(answer)
        else { return nil }
        if self.isOvertaken(description) {
            self.pending = nil
            self.hasChanged = false
            return self.negotiated
        }
        do throws(OfferAnswer.Fault) {
            let session = try OfferAnswer.acceptAnswer(
                description, to: offer, securityIsRequired: self.security.isRequired)
            self.intent = self.pending?.intent ?? self.intent
            self.pending = nil
            self.agree(offer, description, session)
            return session
        } catch {
            self.fault = error
            return nil
        }
    }

    /// Whether the answer to our first offer is older than an offer that the same far end made since, before it
    /// answered the call (UPDATE in an early dialog): what was agreed upon that stands.
    private func isOvertaken(_ answer: SessionDescription) -> Bool {
        guard let pending = self.pending, pending.isFirst, let newer = self.agreed?.remote.origin,
            let origin = answer.origin, origin.sessionID == newer.sessionID, origin.address == newer.address,
            let version = origin.sessionVersion.decimal(), let newerVersion = newer.sessionVersion.decimal()
        else { return false }
        return version <= newerVersion
    }

    // MARK: - Offers of the far end

    /// Our answer to an offer. Nil where nothing in it fits us; what was agreed upon before then stays (RFC 3261
    /// section 14.2).
    mutating func makeAnswer(
        to offer: [UInt8], _ world: KioskWorld, _ configuration: Configuration
    ) -> (body: [UInt8], session: NegotiatedSession)? {
        self.fault = nil
        guard let description = try? SessionDescription.parse(offer) else { return nil }
        self.countOn(world)
        var answer = self.draftAnswer(to: description, world, configuration)
        guard !answer.session.isEmpty else {
            self.fault = self.security.isRequired ? .notSecure(.audio) : .nothingInCommon
            return nil
        }
        if SessionSecurity.hasNewKeys(answer.session, after: self.negotiated) {
            self.security.renew()
            answer = self.draftAnswer(to: description, world, configuration)
        }
        if self.restartsICE(answer.session) {
            self.ways?.credentials = self.security.newICECredentials()
            answer = self.draftAnswer(to: description, world, configuration)
        }
        // A change of ours that waits is older than this: it has to be made anew.
        if let pending = self.pending, !pending.isFirst { self.pending = nil }
        let ours = self.versioned(answer.description)
        self.agree(ours, description, answer.session)
        return (ours.printed(), answer.session)
    }

    private func draftAnswer(
        to offer: SessionDescription, _ world: KioskWorld, _ configuration: Configuration
    ) -> OfferAnswer.Answer {
        OfferAnswer.makeAnswer(
            to: offer, local: self.local(world, configuration, self.intent), following: self.agreed,
            sessionID: self.id, sessionVersion: self.version)
    }

    private mutating func agree(
        _ local: SessionDescription, _ remote: SessionDescription, _ session: NegotiatedSession
    ) {
        self.agreed = OfferAnswer.Agreed(local: local, remote: remote)
        self.hasChanged = session != self.negotiated
        self.negotiated = session
        guard !MediaProtection(session).isByICE else { return }
        if local.media.contains(where: { $0.first("ice-ufrag") != nil }) { self.ports = self.portsOfWays }
        self.ways = nil
    }

    /// What we said last, where the draft says the same; else the draft with the next version.
    private mutating func versioned(_ draft: SessionDescription) -> SessionDescription {
        if let last = self.said, last.isSame(as: draft) { return last }
        self.version &+= 1
        var description = draft
        description.origin = Origin(sessionID: self.id, sessionVersion: self.version, address: self.address)
        self.said = description
        return description
    }
}
