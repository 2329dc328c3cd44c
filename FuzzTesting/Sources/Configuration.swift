// SPDX-License-Identifier: Apache-2.0

import Bytes
import KioskEngine
import SIPWire

/// A `callbox.conf`, and the same bytes as a secrets file.
func fuzzConfiguration(_ input: [UInt8]) {
    let (configuration, problems) = Configuration.parse(input)
    let lines = input.lazy.filter { $0 == ASCII.lineFeed || $0 == ASCII.carriageReturn }.count + 1
    for problem in problems {
        require((0...lines).contains(problem.line), "a problem is in the file")
        let sentence = problem.sentence
        require(!sentence.isEmpty && sentence.count <= 1_024, "a sentence can be shown")
        require(sentence.bytes.allSatisfy { $0 >= ASCII.space && $0 != 0x7F }, "a sentence is one line of text")
    }
    let good: ByteString = "[call]\nuri = sip:good@example.com\n[button.call]\nline = call\n"
    let (kept, _) = Configuration.parse(input, lastGood: good.bytes)
    require(kept.call.uri != nil, "somebody is called once somebody was")
    require(configuration.call.uri == nil || kept.call.uri == configuration.call.uri, "a good address counts")
    require(LastGoodFile.opened(LastGoodFile.sealed(input)) == input, "what is kept is found again")
    if let blanked = Configuration.withoutPassword(input, movedTo: "/secrets") {
        let (left, _) = Configuration.parse(blanked)
        require(left.sip.password.isEmpty && left.call == configuration.call, "only the password is gone")
    }
    let secret = Credential(username: "a b", password: " \"c")
    let (secrets, _) = SecretsText.parse(SecretsText.adding(secret, to: Array(input.prefix(4_096))))
    require(secrets.first == secret, "what is added is found again")
}
