// SPDX-License-Identifier: Apache-2.0
import Bytes
import Foundation
import SIPWire
import XCTest

@testable import SIPEngine

/// The messages of RFC 4475 sent to a user agent: what they leave behind. Their verdicts are in RFC4475EngineTests.
final class TortureTests: XCTestCase {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../SIPWireTests/RFC4475")

    private func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: Self.folder.appendingPathComponent(name)))
    }

    private var names: [String] {
        get throws {
            let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
            return names.filter { $0.hasSuffix(".dat") }.sorted()
        }
    }

    func testTheNextCallWorksAfterEachMessage() throws {
        XCTAssertEqual(try self.names.count, 49)
        for name in try self.names {
            let script = Script()
            script.input(.received(try self.bytes(name), on: script.flow))
            script.receive(script.stranger(callID: "next", branch: "next", tag: "next"))
            XCTAssertEqual(script.events.last?.event.name, "incoming", name)
        }
    }

    /// Over a stream, each of them leaves the stream or the engine in order.
    func testEachMessageOverAStream() throws {
        for name in try self.names {
            let script = Script(.tcp)
            for byte in try self.bytes(name) { script.input(.received([byte], on: script.flow)) }
            var other = script.flow
            other.remote.port = 5071
            script.receive(script.stranger(callID: "next", branch: "next", tag: "next"), on: other)
            XCTAssertEqual(script.events.last?.event.name, "incoming", name)
            script.pass(ms: 400_000)
            XCTAssertTrue(script.engine.isIdle, name)
        }
    }

    func testUnknownExtensionsAreAllNamed() throws {
        let script = Script()
        script.input(.received(try self.bytes("bext01.dat"), on: script.flow))
        XCTAssertEqual(script.next().unsupported, ["nothingSupportsThis", "nothingSupportsThisEither"])
    }

    func testCallOfOldWhoGivesNoContactCanBeHungUp() throws {
        let script = Script()
        script.input(.received(try self.bytes("inv2543.dat"), on: script.flow))
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
