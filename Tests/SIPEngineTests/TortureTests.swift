// SPDX-License-Identifier: Apache-2.0
import Bytes
import Foundation
import SIPWire
import XCTest

@testable import SIPEngine

/// The messages of RFC 4475 sent to a user agent: what it answers, and whether the next call works.
final class TortureTests: XCTestCase {
    /// By the RFC's names: the answer, or `incoming` where a call comes of it, or nothing. A user agent is no registrar,
    /// so every good REGISTER gets 405.
    private static let verdicts = [
        // 3.1.1 Valid messages
        "wsinv": "481", "intmeth": "501", "esc01": "incoming", "escnull": "405", "esc02": "501", "lwsdisp": "200",
        "longreq": "incoming", "dblreq": "405", "semiuri": "200", "transports": "200", "mpart01": "415",
        "unreason": "", "noreason": "",
        // 3.1.2 Invalid messages
        "badinv01": "400", "clerr": "400", "ncl": "400", "scalar02": "400", "scalarlg": "", "quotbal": "400",
        "ltgtruri": "400", "lwsruri": "400", "lwsstart": "400", "trws": "400", "escruri": "400",
        "baddate": "incoming", "regbadct": "400", "badaspec": "400", "baddn": "400", "badvers": "505",
        "mismatch01": "400", "mismatch02": "400", "bigcode": "",
        // 3.2 Transaction layer
        "badbranch": "200",
        // 3.3 Application layer
        "insuf": "400", "unkscm": "416", "novelsc": "416", "unksm2": "405", "bext01": "420", "invut": "415",
        "regaut01": "405", "multi01": "400", "mcl01": "400", "bcast": "", "zeromf": "200", "cparam01": "405",
        "cparam02": "405", "regescrt": "405", "sdp01": "406",
        // 3.4 Backward compatibility
        "inv2543": "incoming",
    ]

    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../SIPWireTests/RFC4475")

    /// Of answers that are as broken as what they answer, the status line can still be read.
    private func status(_ bytes: [UInt8]) -> String {
        String(String(decoding: bytes, as: UTF8.self).prefix(11).suffix(3))
    }

    func testEachMessageHasTheVerdictOfTheRFC() throws {
        XCTAssertEqual(Self.verdicts.count, 49)
        for (name, verdict) in Self.verdicts {
            let bytes = Array(try Data(contentsOf: Self.folder.appendingPathComponent(name + ".dat")))
            let script = Script()
            script.input(.received(bytes, on: script.flow))
            let answers = script.outbox.map { $0.message.name } + script.rawOutbox.map { self.status($0) }
            XCTAssertEqual((answers + script.events.map { $0.event.name }).joined(separator: " "), verdict, name)
            script.receive(script.stranger(callID: "next", branch: "next", tag: "next"))
            XCTAssertEqual(script.events.last?.event.name, "incoming", name)
        }
    }

    /// Over a stream, each of them leaves the stream or the engine in order.
    func testEachMessageOverAStream() throws {
        for name in Self.verdicts.keys {
            let bytes = Array(try Data(contentsOf: Self.folder.appendingPathComponent(name + ".dat")))
            let script = Script(.tcp)
            for byte in bytes { script.input(.received([byte], on: script.flow)) }
            var other = script.flow
            other.remote.port = 5071
            script.receive(script.stranger(callID: "next", branch: "next", tag: "next"), on: other)
            XCTAssertEqual(script.events.last?.event.name, "incoming", name)
            script.pass(ms: 400_000)
            XCTAssertTrue(script.engine.isIdle, name)
        }
    }

    func testUnknownExtensionsAreAllNamed() throws {
        let bytes = Array(try Data(contentsOf: Self.folder.appendingPathComponent("bext01.dat")))
        let script = Script()
        script.input(.received(bytes, on: script.flow))
        XCTAssertEqual(script.next().unsupported, ["nothingSupportsThis", "nothingSupportsThisEither"])
    }

    func testCallOfOldWhoGivesNoContactCanBeHungUp() throws {
        let bytes = Array(try Data(contentsOf: Self.folder.appendingPathComponent("inv2543.dat")))
        let script = Script()
        script.input(.received(bytes, on: script.flow))
        let handle = script.incoming()
        script.input(.respond(handle, .ok, body: Array(Script.description.utf8)))
        script.outbox = []
        script.pass(ms: 32_000)
        // Its route is strict, so the target is the last of them.
        let bye = script.outbox.last { $0.message.method == .bye }?.message
        XCTAssertEqual(bye?.requestURI?.printed, "sip:UserB@example.com;maddr=ss1.example.com")
        XCTAssertEqual(bye?.routes?.last?.printed, "<sip:+13035551111@ift.client.example.net;user=phone>")
    }
}
