// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// Who the far end is, which may change while a call stands: RFC 4916, RFC 3325, and Remote-Party-ID as servers send
/// it.
extension SIPEngine {
    /// Tells a new identity once. What a server asserts counts more than what the peer says of itself in From.
    mutating func identify(_ message: SIPMessage, at index: Int) {
        let asserted = message.assertedIdentities.first { $0.uri.sip != nil } ?? message.assertedIdentities.first
        let claimed = message.isRequest ? self.newFrom(of: message, at: index) : nil
        guard let identity = asserted ?? message.remotePartyIDs.first ?? claimed else { return }
        if let known = self.calls[index].identity, known.isSame(as: identity) { return }
        self.calls[index].identity = identity
        let told = NameAddr(displayName: identity.displayName, uri: identity.uri)
        self.tell(self.calls[index].handle, .identified(told))
    }

    /// The From of a request of the peer's where it is another than before.
    private func newFrom(of request: SIPMessage, at index: Int) -> NameAddr? {
        guard let from = request.from, let known = self.calls[index].dialog.flatMap({ NameAddr($0.remoteAddress) })
        else { return nil }
        return from.isSame(as: known) ? nil : from
    }

    /// The peer's From may change where both sides said so (RFC 4916 section 4.4.2); its tag does not.
    mutating func renewAddress(_ request: Inbound, at index: Int) {
        guard self.calls[index].peer.changesFrom, let from = request.message.first(.from) else { return }
        self.calls[index].dialog?.remoteAddress = from
    }
}

extension NameAddr {
    fileprivate func isSame(as other: NameAddr) -> Bool {
        self.uri == other.uri && self.displayName == other.displayName
    }
}
