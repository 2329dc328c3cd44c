// SPDX-License-Identifier: Apache-2.0

import Bytes
import SIPWire

/// The value of a WWW-Authenticate field.
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
    }
}
