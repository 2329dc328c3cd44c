// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// What a 2xx to REGISTER says about our binding (RFC 3261 section 10.2.4).
///
/// A registrar lists all bindings of the address-of-record: those of other telephones, old ones of ours, and ours with
/// an address that somebody on the way rewrote.
struct RegisterAnswer {
    /// How long our binding holds, in seconds. Nil where there is none.
    let grantedSeconds: UInt32?

    /// - Parameters:
    ///   - contact: what we registered.
    ///   - wantedSeconds: what we asked for, where nothing is said.
    init(_ response: SIPMessage, contact: NameAddr, wantedSeconds: UInt32) {
        let general = response.expiresSeconds
        let contacts = response.values(.contact).prefix(SIPLimits.listValues).compactMap { NameAddr($0) }
        guard !contacts.isEmpty else {
            self.grantedSeconds = response.contains(.contact) ? nil : general.flatMap { $0 > 0 ? $0 : nil }
            return
        }
        let length = { (contact: NameAddr) in contact.registeredSeconds ?? general ?? wantedSeconds }
        let own = Self.own(contact, among: contacts)
        let candidates = own.isEmpty ? contacts : own
        self.grantedSeconds = candidates.map(length).filter { $0 > 0 }.min()
    }

    /// By the instance and the number of the flow; among several of the same instance by the URI. Without any of the
    /// instance, by the URI.
    private static func own(_ contact: NameAddr, among contacts: [NameAddr]) -> [NameAddr] {
        let sameURI = contacts.filter { other in
            guard let mine = contact.uri.sip, let theirs = other.uri.sip else { return false }
            return mine.isEquivalent(to: theirs)
        }
        let sameInstance = contacts.filter { contact.isSameFlow(as: $0) }
        guard sameInstance.count > 1 else { return sameInstance.isEmpty ? sameURI : sameInstance }
        let both = sameInstance.filter { sameURI.contains($0) }
        return both.isEmpty ? sameInstance : both
    }
}

extension NameAddr {
    static let instanceParameter: ByteString = "+sip.instance"
    static let regIDParameter: ByteString = "reg-id"

    /// `expires` of a Contact; nil where it is missing or no number below 2^32.
    fileprivate var registeredSeconds: UInt32? {
        self.parameters.value("expires")?.decimal(max: UInt64(UInt32.max)).map { UInt32($0) }
    }

    /// RFC 5626 section 6: the instance, and `reg-id` where both say one.
    fileprivate func isSameFlow(as other: NameAddr) -> Bool {
        guard let mine = self.parameters.text(of: Self.instanceParameter),
            let theirs = other.parameters.text(of: Self.instanceParameter), mine.equalsIgnoringCase(theirs)
        else { return false }
        guard let number = self.parameters.value(Self.regIDParameter),
            let otherNumber = other.parameters.value(Self.regIDParameter)
        else { return true }
        return number == otherNumber
    }
}

extension SIPMessage {
    /// Seconds; nil where missing or no number below 2^32.
    var minExpiresSeconds: UInt32? {
        self.first(.minExpires)?.decimal(max: UInt64(UInt32.max)).map { UInt32($0) }
    }

    /// RFC 3608 section 5. A route that is no loose one, or too many, makes the whole of no use.
    var serviceRoute: [NameAddr] {
        let values = self.values(.other("Service-Route"))
        let routes = values.compactMap { NameAddr($0) }
        let isUsable =
            routes.count == values.count && routes.count <= SIPEngine.routesMax
            && routes.allSatisfy { $0.uri.sip?.isLooseRoute ?? false }
        return isUsable ? routes : []
    }

    /// How long the first hop keeps an idle flow, in seconds (RFC 5626 section 4.4.1).
    var flowTimerSeconds: Int? {
        self.first(.other("Flow-Timer"))?.decimal(max: 86_400).map { Int($0) }
    }
}
