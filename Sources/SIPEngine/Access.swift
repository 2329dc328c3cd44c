// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// Who may talk to us. A stranger gets nothing back, not even an error: whoever scans the network must not learn that
/// somebody is here, and a flood must cost next to nothing.
///
/// What a stranger sends is judged in steps, the cheap ones first: the source address; then, only while there is
/// something that it could belong to, the Call-ID, found in the raw bytes; only then is the message read. What belongs
/// to a dialog of ours (our tag, the peer's tag and the Call-ID, which nobody guesses) is taken from anywhere: a peer's
/// address may change in a call.
extension AccessPolicy {
    func admits(_ address: IPAddress) -> Bool {
        self.isOpen || self.allowed.contains { $0.contains(address) }
    }

    func answersAutomatically(_ address: IPAddress) -> Bool {
        self.automaticAnswer.contains { $0.contains(address) }
    }
}

extension SIPEngine {
    mutating func trust(_ addresses: [IPAddress]) {
        self.trusted = Array(addresses.prefix(Limits.trustedMax))
    }

    /// Whether whoever is at the other end of a flow may ask us for something: named by the policy, a server of ours,
    /// or in a call or transaction with us.
    func isKnown(_ flow: Flow) -> Bool {
        let address = flow.remote.address
        return self.configuration.access.admits(address) || self.trusted.contains(address)
            || self.registrations.contains { $0.request.flow.remote.address == address }
            || self.calls.contains { $0.dialog?.flow.remote.address == address }
            || self.clients.contains { $0.flow.remote.address == address }
    }

    /// Whether a stranger's message may belong to something of ours, judged by its Call-ID alone.
    func mayBeOurs(_ bytes: [UInt8]) -> Bool {
        guard !self.isIdle,
            let line = HeadScan.value(
                of: "call-id", compact: UInt8(ascii: "i"), in: bytes, bytesMax: Limits.strangerHeadBytes)
        else { return false }
        let isSame = { (callID: ByteString) in callID.bytes.elementsEqual(line) }
        return self.calls.contains { isSame($0.callID.text) }
            || self.servers.contains { isSame($0.request.envelope.callID.text) }
            || self.clients.contains { $0.request.first(.callID).map(isSame) ?? false }
    }

    /// Whether a stranger's message, now read, belongs to something of ours.
    func isOurs(_ message: SIPMessage, on flow: Flow) -> Bool {
        guard message.isRequest else { return self.clientIndex(answeredBy: message) != nil }
        guard let request = Inbound(message, on: flow) else { return false }
        if self.callIndex(owning: request.envelope) != nil { return true }
        // A copy, or what goes with an INVITE, comes the way of the first one.
        let isOfInvite = request.method == .ack || request.method == .cancel
        guard let server = self.serverIndex(of: request, as: isOfInvite ? .invite : request.method) else {
            return false
        }
        return self.servers[server].request.flow.remote.address == flow.remote.address
    }
}
