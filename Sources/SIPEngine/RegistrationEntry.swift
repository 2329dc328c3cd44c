// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// One registration of ours: what was ordered, what was granted, and what was learned on the way.
struct RegistrationEntry {
    /// An address of ours that the registrar may still have.
    struct Binding {
        let uri: SIPURI
        /// A REGISTER on another flow takes its place by itself (RFC 5626 section 7.1).
        let isReplaced: Bool
    }

    let id: RegistrationID
    /// The same for all REGISTERs of an account (RFC 3261 section 10.2).
    let callID: CallID
    let localTag: ByteString
    /// CSeq of the last REGISTER.
    var number: UInt32 = 0
    var machine = RegistrationMachine()
    private(set) var request: RegisterRequest
    var binding: Binding?
    /// How others reach us, where that is not our own address (RFC 3581).
    private(set) var contactAddress: SocketAddress?
    /// The registrar did not take the Contact with that address.
    private var isAddressRefused = false
    /// The way to the registrar knows nothing of outbound (439).
    private(set) var isOutboundRefused = false
    /// The registrar sends requests for us down the flow (RFC 5626 section 6).
    private(set) var isOutbound = false
    /// How the flow is kept open; nil where it needs nothing, or nothing is granted.
    private(set) var keepAlive: KeepAliveNeed?
    /// What the registrar wants at least.
    private var secondsMin: UInt32 = 0
    /// REGISTERs since the order that were sent because an answer asked for it.
    private var retries = 0

    init(_ id: RegistrationID, _ request: RegisterRequest, callID: CallID, localTag: ByteString) {
        self.id = id
        self.request = request
        self.callID = callID
        self.localTag = localTag
    }

    var wantedSeconds: UInt32 { max(self.request.expiresSeconds, self.secondsMin) }

    var wantsOutbound: Bool {
        self.request.regID > 0 && !self.request.instanceID.isEmpty && !self.isOutboundRefused
    }

    /// A new order. What was learned of one flow says nothing about another.
    mutating func order(_ request: RegisterRequest) {
        self.retries = 0
        if request.flow != self.request.flow {
            self.contactAddress = nil
            self.isAddressRefused = false
            self.isOutboundRefused = false
            self.isOutbound = false
            self.keepAlive = nil
        }
        self.request = request
    }

    /// Changes what is asked for as the refusal wants it. False where that is of no use.
    mutating func adapt(to response: SIPMessage, _ status: StatusCode) -> Bool {
        guard self.retries < Limits.registerRetriesMax else { return false }
        switch status {
        case .intervalTooBrief:
            let least = response.minExpiresSeconds ?? min(self.wantedSeconds, Limits.registerSecondsWantedMax / 2) * 2
            guard least > self.wantedSeconds, least <= Limits.registerSecondsMinMax else { return false }
            self.secondsMin = least
        case .firstHopLacksOutbound:
            guard self.wantsOutbound else { return false }
            self.isOutboundRefused = true
        default: return false
        }
        self.retries += 1
        return true
    }

    /// Takes note of a grant.
    mutating func note(_ response: SIPMessage, contact: SIPURI) {
        self.isOutbound = self.wantsOutbound && ByteString.contains("outbound", in: response.require)
        self.binding = Binding(uri: contact, isReplaced: self.isOutbound)
        let seconds = response.flowTimerSeconds
        let isStream = self.request.flow.transport.isReliable
        if isStream || self.isOutbound || seconds != nil || self.publicAddress(response) != nil {
            self.keepAlive = KeepAliveNeed(
                isStream: isStream, flowTimerSeconds: seconds, isAnswered: self.isOutbound || seconds != nil)
        } else {
            self.keepAlive = nil
        }
    }

    mutating func noteFailure() {
        self.keepAlive = nil
    }

    /// How the first hop saw the REGISTER that this answers, where that is not our own address. Only datagrams come
    /// back to the port they were sent from.
    func publicAddress(_ response: SIPMessage) -> SocketAddress? {
        let local = self.request.flow.local
        guard let via = response.topVia, SIPTransport(via.transport) == .udp, let address = via.received,
            address.isV6 == local.address.isV6
        else { return nil }
        let seen = SocketAddress(address, port: via.rport ?? local.port)
        return seen == local ? nil : seen
    }

    /// Whether the Contact is to change so that it holds the address that others see.
    mutating func moveContact(to seen: SocketAddress?) -> Bool {
        guard let seen, !self.isOutbound, !self.isAddressRefused, seen != self.contactAddress else { return false }
        self.contactAddress = seen
        return true
    }

    /// The registrar refuses us for good: with the address that others see, and so without it next.
    mutating func noteRefusal() {
        self.keepAlive = nil
        guard self.contactAddress != nil else { return }
        self.contactAddress = nil
        self.isAddressRefused = true
    }
}
