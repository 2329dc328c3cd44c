// SPDX-License-Identifier: Apache-2.0

import Bytes

/// Whom a certificate names, as RFC 5922 section 7.1 reads it.
struct CertificateNames: Equatable {
    /// Hosts of `sip:` URIs without a user, in subjectAltName.
    var domains: [ByteString] = []
    /// dNSName in subjectAltName.
    var hosts: [ByteString] = []
    /// iPAddress in subjectAltName.
    var addresses: [IPAddress] = []
    /// The common name, which counts only where there is no subjectAltName at all.
    var commonName: ByteString?
    var hasAlternatives = false

    static let countMax = 128

    enum Match: Equatable {
        case yes
        /// By a wildcard only.
        case byWildcard
        case no
    }

    /// Whether it is for `name`: a host name or an address without brackets.
    func matches(_ name: ByteString) -> Match {
        if let address = IPAddress(name) { return self.addresses.contains(address) ? .yes : .no }
        guard !name.isEmpty else { return .no }
        var given = self.domains + self.hosts
        if !self.hasAlternatives, let commonName = self.commonName { given.append(commonName) }
        if given.contains(where: { Self.isSame($0, name) }) { return .yes }
        return given.contains { Self.covers($0, name) } ? .byWildcard : .no
    }

    /// The host of a `sip:` URI that may stand for a domain: of another scheme or with a user it may not.
    static func domain(ofURI uri: ByteString) -> ByteString? {
        guard uri.hasPrefixIgnoringCase("sip:") else { return nil }
        let rest = uri.slice(4..<uri.count)
        guard !rest.contains(ASCII.at) else { return nil }
        let end = rest.bytes.firstIndex { $0 == ASCII.colon || $0 == ASCII.semicolon || $0 == ASCII.question }
        let host = rest.slice(0..<(end ?? rest.count))
        return host.isEmpty ? nil : host
    }

    private static func isSame(_ left: ByteString, _ right: ByteString) -> Bool {
        self.withoutRoot(left).equalsIgnoringCase(self.withoutRoot(right))
    }

    /// `*.example.com` covers one label in the place of its star, and nothing that has the star elsewhere does.
    private static func covers(_ pattern: ByteString, _ name: ByteString) -> Bool {
        let pattern = self.withoutRoot(pattern)
        let name = self.withoutRoot(name)
        guard pattern.hasPrefix("*."), let dot = name.firstIndex(of: ASCII.dot), dot > 0 else { return false }
        let parent = pattern.slice(1..<pattern.count)
        // A star right below a top-level domain would stand for everybody there.
        guard parent.slice(1..<parent.count).contains(ASCII.dot) else { return false }
        return name.slice(dot..<name.count).equalsIgnoringCase(parent)
    }

    private static func withoutRoot(_ name: ByteString) -> ByteString {
        name.bytes.last == ASCII.dot ? name.slice(0..<name.count - 1) : name
    }
}
