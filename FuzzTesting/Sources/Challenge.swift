// SPDX-License-Identifier: Apache-2.0

import Bytes
import SIPWire

/// The value of a WWW-Authenticate field, and the answer to it; the same bytes as Authentication-Info.
func fuzzChallenge(_ input: [UInt8]) {
    let challenges = Challenge.list(ByteString(input))
    require(challenges.count <= SIPLimits.challenges, "challenges are bounded")
    for challenge in challenges {
        require(!challenge.scheme.isEmpty && !challenge.parameters.isEmpty, "a challenge asks for something")
        require(challenge.parameters.list.count <= SIPLimits.parameters, "parameters are bounded")
        _ = (challenge.isDigest, challenge.realm, challenge.nonce, challenge.opaque, challenge.isStale)
        _ = (challenge.algorithm, challenge.qopOptions, challenge.domain)
        // What goes back in quotes as it came must not end them.
        for text in [challenge.nonce, challenge.opaque].compactMap({ $0 }) where !text.contains(ASCII.quote) {
            let quoted = "\"" + text + "\""
            require(QuotedString.unquoted(quoted) != quoted || text.bytes.last == ASCII.backslash, "it can be quoted")
        }
        if let digest = DigestChallenge(challenge) { answer(digest) }
    }
    var response = SIPMessage(startLine: .response(.ok, reason: ""))
    response.add(.authenticationInfo, ByteString(input))
    if let next = response.nextNonce, let digest = challenges.lazy.compactMap({ DigestChallenge($0) }).first {
        if let renewed = digest.renewed(nonce: next) { answer(renewed) }
    }
}

/// What was taken apart goes together again: the server finds what it sent, in a field of one line.
private func answer(_ digest: DigestChallenge) {
    let uri = SIPURI(user: "desk", host: .address(.v4(0xC000_0202)))
    let request = SIPMessage(startLine: .request(.invite, .sip(uri)), body: [0x76])
    let credential = Credential(username: "a \"b\"", password: "c")
    let text = digest.answer(credential, to: request, DigestChallenge.Turn(clientNonce: "d", count: 1)) { kind, bytes in
        [UInt8(truncatingIfNeeded: bytes.count), kind == .md5 ? 1 : 2]
    }
    guard let text else { fatalError("with a hash there is an answer") }
    let read = Challenge.list(text)
    guard read.count == 1 else { fatalError("an answer is one value") }
    require(read[0].isDigest && read[0].nonce == digest.nonce && read[0].opaque == digest.opaque, "it comes back")
    require(read[0].realm == digest.plainRealm, "the realm as well")
    require(read[0].parameters.text(of: "username") == credential.username, "the name is whole")
    require(text.bytes.allSatisfy { $0 >= ASCII.space && $0 != 0x7F }, "it is one line of text")
}
