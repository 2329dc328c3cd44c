// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// One way between us and a peer: a pair of UDP addresses, or one TCP or TLS connection.
///
/// `local` is the address and port on which we *listen*: it is written into Via and Contact. For a connection that we
/// open it therefore is not the connection's own port; the flow is the connection's name between engine and loop, and
/// an output on a flow that is not open asks the loop to open it.
public struct Flow: Hashable, Sendable {
    public var transport: SIPTransport
    public var local: SocketAddress
    public var remote: SocketAddress
    /// TLS that we open: whom the server's certificate must name, the host of the URI before any look-up (RFC 5922
    /// section 4). Empty otherwise.
    public var name: ByteString

    public init(
        transport: SIPTransport, local: SocketAddress, remote: SocketAddress, name: ByteString = ByteString()
    ) {
        self.transport = transport
        self.local = local
        self.remote = remote
        self.name = name
    }
}

/// Names one call for its whole life; never used again.
public struct CallHandle: Hashable, Sendable {
    public let number: UInt64

    public init(number: UInt64) {
        self.number = number
    }
}

/// Who we are and how we behave: given at the start, and changed by `configure`.
public struct SIPConfiguration {
    /// `User-Agent` and `Server`; empty leaves both out.
    public var userAgent: ByteString
    /// The display name in From; empty leaves it out.
    public var displayName: ByteString
    /// Who we say we are; nil means `sip:` + `contactUser` at the local address of the call's flow.
    public var identity: SIPURI?
    /// The user part of Contact.
    public var contactUser: ByteString
    /// Round-trip estimate (RFC 3261 section 17.1.1.1).
    public var t1Ms = 500
    /// The longest retransmit interval of non-INVITE requests and of INVITE responses.
    public var t2Ms = 4_000
    /// How long a message stays in the network.
    public var t4Ms = 5_000
    /// The session interval that we ask for (RFC 4028), in seconds; 0 asks for none.
    public var sessionExpiresSeconds: UInt32 = 1_800
    /// The shortest session interval that we take, in seconds; RFC 4028 section 5 allows none below 90.
    public var minSESeconds: UInt32 = 90
    public var access = AccessPolicy()
    /// For answers to challenges; without it none is answered.
    public var hash: DigestHash = { _, _ in [] }
    /// Whether the last messages are kept for `SIPEngine.trace`; counts at the start only.
    public var keepsTrace = true

    public init(userAgent: ByteString, displayName: ByteString, identity: SIPURI?, contactUser: ByteString) {
        self.userAgent = userAgent
        self.displayName = displayName
        self.identity = identity
        self.contactUser = contactUser
    }
}

/// A call to place.
public struct InviteRequest {
    public var target: SIPURI
    /// The way to the first hop; the loop has resolved it.
    public var flow: Flow
    /// The session description (`application/sdp`) that we offer; empty lets the far end offer (`answeredWithOffer`).
    public var offer: [UInt8]
    public var extraHeaders: [Header]
    /// What goes along with the offer, in one body.
    public var parts: [BodyPart] = []
    public var sender: Sender

    public init(
        target: SIPURI, flow: Flow, offer: [UInt8], extraHeaders: [Header] = [], sender: Sender = Sender()
    ) {
        self.target = target
        self.flow = flow
        self.offer = offer
        self.extraHeaders = extraHeaders
        self.sender = sender
    }
}

/// A call that somebody places to us.
public struct IncomingCall {
    public var from: NameAddr
    /// The Request-URI.
    public var target: SIPURI
    public var flow: Flow
    /// Nil where the caller wants us to make the offer: then a 2xx carries our offer and `confirmed` their answer.
    public var offer: [UInt8]?
    /// The caller asks to be answered at once (Answer-Mode, Call-Info `answer-after=0`, Alert-Info `auto-answer`), and
    /// is on the list of those for whom that is done. Anybody can write the wish: it is no right.
    public var isAnsweredAutomatically: Bool
    /// The call that this one takes the place of (RFC 3891): it exists and may be replaced. Nil for a call of its own.
    public var replaces: CallHandle?
}

/// Why we hang up. Where a BYE or CANCEL is sent, a fault is told in its Reason header (RFC 3326).
public enum HangUpReason: Hashable, Sendable {
    /// Somebody pressed the hook, or the program ends.
    case normal
    /// We cannot go on: the status that says it best, and words for it.
    case fault(StatusCode, text: ByteString)
}

/// What happened to a call. After `ended` nothing more comes for its handle.
public enum CallEvent {
    /// The next hop has the INVITE (100).
    case trying
    /// The far end is being alerted, or the call is queued or forwarded (101–199 without a session description).
    case ringing(StatusCode)
    /// A 1xx with a session description.
    case earlyMedia([UInt8], StatusCode)
    /// The far end answered with this session description.
    case answered([UInt8])
    /// The far end answered an INVITE without an offer with this offer. Answer with `acknowledge`; the ACK waits for
    /// it.
    case answeredWithOffer([UInt8])
    /// Answer with `respond`.
    case incoming(IncomingCall)
    /// The ACK of our 2xx came; it carries the peer's answer where the offer was ours.
    case confirmed(answer: [UInt8]?)
    /// The peer wants to change the session (re-INVITE or UPDATE); without an offer it asks for ours. Answer with
    /// `respond`.
    case reoffered([UInt8]?)
    /// The peer asks for a key frame by INFO (RFC 5168).
    case keyFrameRequested
    /// Our `reoffer`, or a refresh of ours, was answered with this description.
    case changed(answer: [UInt8])
    /// Our `reoffer` was refused, for good: the session stands as it was.
    case changeRefused(StatusCode)
    /// The peer has taken a `reoffer` after all that was told as refused before. Offer anew what stands, with a higher
    /// version (RFC 3264 section 8), or each side believes in a session of its own.
    case changeTakenLate
    /// Who the far end says it is now (RFC 4916, P-Asserted-Identity).
    case identified(NameAddr)
    /// A digit of the peer's by INFO: `0`–`9`, `*`, `#`, `A`–`D`.
    case digit(UInt8, durationMs: Int)
    /// Our `inform` was answered, whatever the answer, or will never be.
    case informed(isTaken: Bool)
    /// The peer wants us to call somebody else in its place (REFER). Answer with `followReferral` or `refuseReferral`.
    case referred(Referral)
    case ended(EndReason)
}

/// A REFER within a call (RFC 3515): whom to call in place of the peer.
public struct Referral: Equatable, Sendable {
    /// Without its headers.
    public var target: SIPURI
    /// What goes into the new INVITE beside what every INVITE has: Replaces and Require from the URI, Referred-By.
    public var headers: [Header]
}

/// A text of a peer's (MESSAGE, RFC 3428), within a call or outside.
public struct IncomingMessage: Equatable, Sendable {
    /// The call it belongs to; nil outside of one.
    public var call: CallHandle?
    public var from: NameAddr
    /// UTF-8 that was checked, at most `SIPEngine.messageBytesMax` bytes.
    public var text: ByteString
}

/// A text to send: within `call`, or to `target` by `flow`.
public enum MessageDestination {
    case call(CallHandle)
    case address(SIPURI, Flow, by: Sender = Sender())
}

/// Names one MESSAGE of ours.
public struct MessageID: Hashable, Sendable {
    public let number: UInt64

    public init(_ number: UInt64) {
        self.number = number
    }
}

/// Who may send us what. To everybody else nothing is answered, not even an error.
public struct AccessPolicy: Sendable {
    /// Everybody may.
    public var isOpen = false
    /// Who may beside the servers that `trust` names, and beside those in a call with us.
    public var allowed: [AddressRange] = []
    /// Whose wish to be answered at once is honoured.
    public var automaticAnswer: [AddressRange] = []

    public init() {}
}

public enum EndReason: Hashable, Sendable {
    /// We hung up, or refused the call.
    case localHangUp
    /// The peer hung up, with the cause and words of its Reason header where it gave one (RFC 3326).
    /// `q850` is an ITU-T Q.850 cause.
    case remoteHangUp(cause: StatusCode?, q850: Int?, text: ByteString)
    /// The call was given up before it was answered: by us where it was ours, by the caller where it was theirs.
    case cancelled
    /// A final answer of 300–699 and its reason phrase, and a Q.850 cause where its Reason header has one.
    case refused(StatusCode, phrase: ByteString, q850: Int?)
    /// Another call took this one's place (Replaces).
    case replaced
    /// A 3xx with addresses that can be called instead, best first, at most `SIPEngine.redirectsMax`.
    case redirected(StatusCode, [SIPURI])
    /// No answer at all within 64*T1, or no ACK for our 2xx.
    case timedOut
    /// The network said that nobody is there.
    case flowFailed
    /// The peer broke the protocol; the words say how.
    case protocolFault(ByteString)
    /// We already have as many calls as we can.
    case tooManyCalls
}
