// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import SIPEngine

/// A hash that anybody can undo: good enough to tell right answers from wrong ones.
enum FakeHash {
    static let hash: DigestHash = { algorithm, bytes in
        // As a library without SHA-512/256.
        guard algorithm != .sha512t256 else { return [] }
        var sum: UInt64 = algorithm == .md5 ? 0xCBF2_9CE4_8422_2325 : 0x1234_5678_9ABC_DEF0
        for byte in bytes { sum = (sum ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        return (0..<8).map { UInt8(truncatingIfNeeded: sum >> (8 * $0)) }
    }
}

/// Whether what a request says in Authorization or Proxy-Authorization answers a challenge.
struct DigestServer {
    var realm = "example.com"
    var nonce = "n1"
    var password = "Circle"
    var more = ", qop=\"auth\""

    var challenge: ByteString {
        ByteString(utf8Of: "Digest realm=\"\(self.realm)\", nonce=\"\(self.nonce)\"\(self.more)")
    }

    /// The answer to this nonce in a field of `request`.
    func answer(in request: SIPMessage, _ field: HeaderName = .authorization) -> Challenge? {
        request.fields(field).flatMap { Challenge.list($0) }
            .first { $0.realm?.string == self.realm && $0.nonce?.string == self.nonce }
    }

    /// Nil where there is none or a wrong one; else how often the nonce was used.
    func count(in request: SIPMessage, _ field: HeaderName = .authorization) -> String? {
        guard let answer = self.answer(in: request, field), let method = request.method?.token.string,
            let uri = answer.parameters.text(of: "uri"), uri == request.requestURI?.printed,
            let name = answer.parameters.text(of: "username")
        else { return nil }
        func digest(_ text: String) -> String {
            FakeHash.hash(.md5, Array(text.utf8)).map { String(format: "%02x", $0) }.joined()
        }
        let count = answer.parameters.text(of: "nc")?.string ?? "none"
        let middle = answer.parameters.text(of: "cnonce").map { "\(count):\($0.string):auth:" } ?? ""
        let key = digest("\(name.string):\(self.realm):\(self.password)")
        let expected = digest("\(key):\(self.nonce):\(middle)" + digest("\(method):\(uri.string)"))
        return answer.parameters.text(of: "response")?.string == expected ? count : nil
    }
}

extension Script {
    static let credential = Credential(username: "Mufasa", password: "Circle")

    /// An engine with a hash, a password and a server that it may tell it to.
    static func withPassword(
        _ transport: SIPTransport = .udp, _ credentials: [Credential] = [Script.credential], identity: SIPURI? = nil
    ) -> Script {
        var configuration = SIPConfiguration.standard
        configuration.hash = FakeHash.hash
        configuration.identity = identity
        let script = Script(transport, configuration)
        script.input(.trust([Script.there.address]))
        script.input(.credentials(credentials))
        return script
    }

    /// Answers a request with a challenge; gives what was sent instead of it.
    func challenge(
        _ request: SIPMessage, _ challenges: ByteString..., code: Int = 401, file: StaticString = #filePath,
        line: UInt = #line
    ) -> SIPMessage {
        let field: HeaderName = code == 401 ? .wwwAuthenticate : .proxyAuthenticate
        self.answer(request, code, headers: challenges.map { (field, $0) })
        if request.method == .invite { XCTAssertEqual(self.next(file: file, line: line).name, "ACK") }
        let again = self.next(file: file, line: line)
        XCTAssertEqual(again.method, request.method, file: file, line: line)
        XCTAssertEqual(self.outbox.count, 0, file: file, line: line)
        return again
    }
}
