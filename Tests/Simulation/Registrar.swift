// SPDX-License-Identifier: Apache-2.0
import Bytes
import KioskEngine
import SIPEngine
import SIPWire

/// The proxy as registrar (RFC 3261 section 10.3). In the safety act it is in every mood there is; afterwards it asks
/// for a password and grants.
extension Proxy {
    /// A binding, by the user's name.
    struct Binding {
        var contact: ByteString
        var until: Instant
    }

    static let grantedSeconds = 600

    func receivedRegister(_ request: SIPMessage, on flow: Flow) {
        guard self.isNew(request, on: flow) else { return }
        if self.world.hasFaults {
            switch self.world.draw.below(8) {
            // Silence.
            case 0: return
            case 1: return self.refuse(request, .serviceUnavailable, Header(.retryAfter, "2"), on: flow)
            case 2: return self.refuse(request, StatusCode(423), Header(.minExpires, "1200"), on: flow)
            case 3: return self.refuse(request, .serverInternalError, nil, on: flow)
            default: break
            }
        }
        guard request.contains(.authorization) else {
            let challenge = "Digest realm=\"px\", nonce=\"" + self.newToken() + "\", algorithm=MD5, qop=\"auth\""
            return self.refuse(request, .unauthorized, Header(.wwwAuthenticate, challenge), on: flow)
        }
        self.grant(request, on: flow)
    }

    private func grant(_ request: SIPMessage, on flow: Flow) {
        guard let name = request.to?.uri.sip?.user, let contact = request.first(.contact) else { return }
        // A removal has its lifetime of nothing in the contact or beside it (RFC 3261 section 10.2.2).
        let lifetime = request.contacts?.first?.parameters.value("expires") ?? request.first(.expires) ?? "600"
        var seconds = min(Int(lifetime.decimal(max: 100_000) ?? 0), Self.grantedSeconds)
        if seconds > 0, self.world.hasFaults { seconds = 5 + Int(self.world.draw.below(595)) }
        self.bindings[name] = Binding(contact: contact, until: self.world.now + .seconds(seconds))
        if seconds == 0 { self.bindings[name] = nil }
        var response = SIPMessage(respondingTo: request, .ok, toTag: self.newToken())
        if seconds > 0 {
            response.add(.contact, NameAddr(contact).map { Self.granted($0, seconds) } ?? contact)
        }
        self.answer(request, with: response, on: flow)
    }

    private static func granted(_ contact: NameAddr, _ seconds: Int) -> ByteString {
        var contact = contact
        contact.parameters.set("expires", ByteString(decimal: seconds))
        return contact.printed
    }

    private func refuse(_ request: SIPMessage, _ status: StatusCode, _ header: Header?, on flow: Flow) {
        var response = SIPMessage(respondingTo: request, status, toTag: self.newToken())
        if let header { response.headers.append(header) }
        self.answer(request, with: response, on: flow)
    }

    func isRegistered(_ name: ByteString) -> Bool {
        self.bindings[name].map { self.world.now < $0.until } ?? false
    }
}
