// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// One way between us and a peer: a pair of UDP addresses, or one TCP connection.
///
/// `local` is the address and port on which we *listen*: it is written into Via and Contact. For a connection that we
/// open it therefore is not the connection's own port; the flow is the connection's name between engine and loop, and
/// an output on a flow that is not open asks the loop to open it.
public struct Flow: Hashable, Sendable {
    public var transport: SIPTransport
    public var local: SocketAddress
    public var remote: SocketAddress

    public init(transport: SIPTransport, local: SocketAddress, remote: SocketAddress) {
        self.transport = transport
        self.local = local
        self.remote = remote
    }
}

/// Names one call for its whole life; never used again.
public struct CallHandle: Hashable, Sendable {
    public let number: UInt64

    public init(number: UInt64) {
        self.number = number
    }
}

/// What does not change while the engine lives.
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
    /// The session description (`application/sdp`) that we offer.
    public var offer: [UInt8]
    public var extraHeaders: [Header]

    public init(target: SIPURI, flow: Flow, offer: [UInt8], extraHeaders: [Header] = []) {
        self.target = target
        self.flow = flow
        self.offer = offer
        self.extraHeaders = extraHeaders
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
    /// The caller asks to be answered at once (Answer-Mode, Call-Info `answer-after=0`, Alert-Info `auto-answer`).
    /// Anybody can write this: it is a wish, not a right.
    public var wantsAutomaticAnswer: Bool
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
    /// Answer with `respond`.
    case incoming(IncomingCall)
    /// The ACK of our 2xx came; it carries the peer's answer where the offer was ours.
    case confirmed(answer: [UInt8]?)
    /// The peer wants to change the session (re-INVITE or UPDATE); without an offer it asks for ours. Answer with
    /// `respond`.
    case reoffered([UInt8]?)
    /// The peer asks for a key frame by INFO (RFC 5168).
    case keyFrameRequested
    case ended(EndReason)
}

public enum EndReason: Hashable, Sendable {
    /// We hung up, or refused the call.
    case localHangUp
    /// The peer hung up, with the cause and words of its Reason header where it gave one (RFC 3326).
    case remoteHangUp(cause: StatusCode?, text: ByteString)
    /// The call was given up before it was answered: by us where it was ours, by the caller where it was theirs.
    case cancelled
    /// A final answer of 300–699 and its reason phrase.
    case refused(StatusCode, phrase: ByteString)
    /// No answer at all within 64*T1, or no ACK for our 2xx.
    case timedOut
    /// The network said that nobody is there.
    case flowFailed
    /// The peer broke the protocol; the words say how.
    case protocolFault(ByteString)
    /// We already have as many calls as we can.
    case tooManyCalls
}
