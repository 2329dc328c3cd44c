// SPDX-License-Identifier: Apache-2.0

import Bytes
import SIPWire

/// Lines, each read as everything that names a place; what can be read prints to what reads the same.
func fuzzURI(_ input: [UInt8]) {
    let lines = ByteString(input).split(on: ASCII.lineFeed).prefix(8)
    let uris = lines.compactMap { SIPURI($0) }
    for left in uris {
        checkURI(left)
        for right in uris {
            require(left.isEquivalent(to: right) == right.isEquivalent(to: left), "likeness goes both ways")
        }
    }
    for line in lines { checkPlaces(line) }
}

private func checkURI(_ uri: SIPURI) {
    require(SIPURI(uri.printed) == uri, "a SIP URI survives")
    require(uri.isEquivalent(to: uri), "a SIP URI is like itself")
    _ = (uri.transport, uri.isLooseRoute, uri.maddr, uri.decodedUser)
    for name: ByteString in ["Replaces", "Subject"] {
        require(uri.header(name)?.bytes.allSatisfy { $0 >= ASCII.space } ?? true, "no line ends out of a URI")
    }
    if let user = uri.decodedUser {
        let again = SIPURI(user: SIPURI.escapedUser(user), host: uri.host)
        require(user.isEmpty || SIPURI(again.printed)?.decodedUser == user, "a user can be escaped")
    }
}

private func checkPlaces(_ line: ByteString) {
    if let uri = URI(line) { require(URI(uri.printed) == uri, "a URI survives") }
    if let host = Host(line) { require(Host(host.printed) == host, "a host survives") }
    if let address = IPAddress(line) { require(IPAddress(address.text) == address, "an address survives") }
    if let via = Via(line) {
        require(Via(via.printed) == via, "a hop survives")
        var stamped = via
        stamped.stamp(source: SocketAddress(.v4(0xC000_0201), port: 5_060))
        require(stamped.replyAddress != nil || via.received == nil, "a stamped hop has a way back")
    }
    for value in HeaderList.split(line) {
        guard let address = NameAddr(value) else { continue }
        let again = NameAddr(address.printed)
        require(again?.uri == address.uri && again?.parameters == address.parameters, "an address survives")
        // Line ends in a name are printed as blanks.
        require(again?.printed == address.printed, "and its name")
    }
}
