// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// What goes into the engine, and what comes out.
extension SIPEngine {
    public enum Input {
        /// One datagram, or whatever bytes a stream had: the engine cuts streams into messages.
        case received([UInt8], on: Flow)
        /// ICMP error, connection refused, reset or closed.
        case flowFailed(Flow)
        /// Place a call. The handle comes from `newHandle()`.
        case invite(CallHandle, InviteRequest)
        /// Answer `incoming` or `reoffered`. The body is a session description, or empty.
        case respond(CallHandle, StatusCode, body: [UInt8])
        /// End the call as its state asks: CANCEL (held until a 1xx), BYE, or a refusal.
        case hangUp(CallHandle, HangUpReason)
        /// Change the session by this offer (re-INVITE): `changed` or `changeRefused` tells what came of it. It may
        /// have to wait; it takes the place of one that waits, and an answer to an offer of the peer's makes it void
        /// without a word: what is still wanted then is offered anew.
        case reoffer(CallHandle, offer: [UInt8])
        /// Our answer to `answeredWithOffer`.
        case acknowledge(CallHandle, answer: [UInt8])
        /// Send INFO within the call; `informed` tells what came of it.
        case inform(CallHandle, contentType: ByteString, body: [UInt8])
        /// Follow a `referred`, or go on following it by another call: the new call is `by`, placed by the next
        /// `invite`. Its progress is told to the peer, but for the failure of one that is not the last.
        case followReferral(CallHandle, by: CallHandle, isLast: Bool = true)
        /// The call by which we followed has failed with that, and no other is placed although it was not the last.
        case concludeReferral(CallHandle, StatusCode)
        case refuseReferral(CallHandle, StatusCode)
        /// Send a text (MESSAGE); `messageFinished` tells what came of it.
        case message(MessageID, MessageDestination, text: ByteString)
        /// Our own address toward the far end of a call is another one from now on.
        case move(CallHandle, to: IPAddress)
        /// Register an account, or register it anew: after a failure, or on another flow. Refreshes are the engine's.
        case register(RegistrationID, RegisterRequest)
        /// Remove the binding; `unregistered` is told when that is answered, or cannot be any more.
        case unregister(RegistrationID, withinMs: Int)
        /// Ask who is there whether it is (OPTIONS); `probed` tells what came of it.
        case probe(ProbeID, SIPURI, Flow)
        /// The addresses of the servers that we dial or register with, in place of the former ones.
        case trust([IPAddress])
        /// Who we are to servers that ask for a password, in place of the former ones.
        case credentials([Credential])
        /// In place of the former one, for all that is sent from here on.
        case configure(SIPConfiguration)
        /// The instant of `wait(until:)` has come. Coming early or twice does no harm.
        case timeout
    }

    public enum Output {
        case send([UInt8], on: Flow)
        /// The stream holds something that cannot be SIP: close it. The engine has forgotten it.
        case close(Flow)
        case event(CallHandle, CallEvent)
        case message(IncomingMessage)
        /// What a MESSAGE of ours was answered with; 408 where nothing came.
        case messageFinished(MessageID, StatusCode)
        case registration(RegistrationID, RegistrationEvent)
        /// A server asked for a password, got this one, and asked again.
        case credentialsRefused(Credential, realm: ByteString)
        /// A server asked for a password, got this one, and did not ask again.
        case credentialsAccepted(Credential)
        /// What a probe was answered with; 408 where nothing came, 503 where the flow failed.
        case probed(ProbeID, StatusCode)
        /// The last output: nothing to do until then, or until the next input.
        case wait(until: Instant?)
    }
}
