// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// Names one registration for its whole life: an account of ours with its Call-ID.
public struct RegistrationID: Hashable, Sendable {
    public let number: UInt64

    public init(_ number: UInt64) {
        self.number = number
    }
}

/// How an account is registered (RFC 3261 section 10).
public struct RegisterRequest: Equatable, Sendable {
    /// Where REGISTER is addressed to: the domain of the account.
    public var registrar: SIPURI
    /// The address-of-record: who we are to others.
    public var address: SIPURI
    /// The way to the first hop; the loop has resolved it.
    public var flow: Flow
    /// `urn:uuid:…`, the same for ever (RFC 5626 section 4.1); empty leaves it out.
    public var instanceID: ByteString
    /// Which of the flows of this instance it is (RFC 5626 section 4.2); 0: no outbound.
    public var regID: Int
    /// How long the binding is asked to hold.
    public var expiresSeconds: UInt32
    /// How long an answer is waited for. The transaction itself gives up after 64*T1.
    public var answerLimitMs = 32_000

    public init(
        registrar: SIPURI, address: SIPURI, flow: Flow, instanceID: ByteString = ByteString(), regID: Int = 0,
        expiresSeconds: UInt32 = 600
    ) {
        self.registrar = registrar
        self.address = address
        self.flow = flow
        self.instanceID = instanceID
        self.regID = regID
        self.expiresSeconds = expiresSeconds
    }
}

/// What became of a registration. After `refused` and `failed` the engine does nothing: whoever ordered it orders it
/// again, there or elsewhere, or leaves it. After `unregistered` nothing more comes.
public enum RegistrationEvent: Equatable, Sendable {
    /// The registrar has our address; told again at each refresh, which the engine makes by itself.
    case registered(Registered)
    /// A final answer of 300–699 (retries that the answer asks for aside), or a 2xx that does not list our address:
    /// then the status is that 2xx. Retry-After is told as far as it is believed.
    case refused(StatusCode, retryAfterSeconds: Int?)
    case failed(RegistrationFailure)
    /// The binding was removed, or nobody answered about it in time.
    case unregistered
}

public enum RegistrationFailure: Hashable, Sendable {
    case timedOut
    /// The network said that nobody is there, the connection closed, or a ping was not answered.
    case flowFailed
}

/// What a registrar granted.
public struct Registered: Equatable, Sendable {
    public var expiresSeconds: UInt32
    /// What requests outside of dialogs go through, first hop first (RFC 3608).
    public var serviceRoute: [NameAddr]
    /// How the first hop sees us, where that is another address than we have (RFC 3581).
    public var publicAddress: SocketAddress?
    /// Requests for us come down the flow that registered (RFC 5626).
    public var isOutbound: Bool

    public init(
        expiresSeconds: UInt32, serviceRoute: [NameAddr], publicAddress: SocketAddress?, isOutbound: Bool
    ) {
        self.expiresSeconds = expiresSeconds
        self.serviceRoute = serviceRoute
        self.publicAddress = publicAddress
        self.isOutbound = isOutbound
    }
}

/// On whose behalf a request outside of a dialog is sent.
public struct Sender: Equatable, Sendable {
    /// Nil: who the configuration says we are.
    public var identity: SIPURI?
    /// The name that the far end sees in place of the configured one; nil for that.
    public var displayName: ByteString?
    /// The proxies on its way (a Service-Route), at most `SIPEngine.routesMax`.
    public var routes: [NameAddr]

    public init(identity: SIPURI? = nil, routes: [NameAddr] = []) {
        self.identity = identity
        self.routes = routes
    }
}
