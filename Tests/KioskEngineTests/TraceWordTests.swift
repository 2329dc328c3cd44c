// SPDX-License-Identifier: Apache-2.0
import Bytes
import XCTest

@testable import KioskEngine

/// `trace` on the control socket, and its text on the command line.
final class TraceWordTests: XCTestCase {
    private func lines(_ scene: Scene, _ word: ByteString) throws -> [String] {
        scene.feed(.control(Scene.client, line: word))
        let reply = try XCTUnwrap(scene.replies.last)
        XCTAssertEqual(reply["ok"] as? Bool, true)
        return try XCTUnwrap(reply["lines"] as? [String])
    }

    func testTraceShowsTheCall() throws {
        let scene = Scene()
        XCTAssertEqual(try self.lines(scene, "trace"), [])
        scene.feed(.button(.call, .pressed))
        let ladder = try self.lines(scene, "trace")
        XCTAssertTrue(ladder[0].hasPrefix("Call-ID "))
        XCTAssertTrue(ladder.contains { $0.contains("|-- INVITE 1 (SDP) ---") }, "\(ladder)")
        let messages = try self.lines(scene, "trace messages")
        XCTAssertTrue(messages.contains { $0.hasPrefix("    INVITE sip:") })
    }

    func testOtherArgumentsAreRefused() {
        XCTAssertNil(try? ControlWord.parse("trace all"))
        XCTAssertEqual(try? ControlWord.parse("trace messages"), .trace(withMessages: true))
        XCTAssertEqual(try? ControlWord.parse("trace"), .trace(withMessages: false))
    }

    func testLinesComeBackAsTheyWere() {
        let texts: [[ByteString]] = [
            [], [""], ["a", "", "b"], ["say \"x\" \\ y", "],}{[,\"", "\\\\\"\""], [ByteString(utf8Of: "Tür – 門")],
        ]
        for text in texts { XCTAssertEqual(Reply.lines(in: Reply.lines(text)), text) }
        let others: [ByteString] = [
            "", "{\"ok\":true}", "{\"ok\":true,\"lines\":[\"a]}", "{\"ok\":true,\"lines\":[a]}",
            "{\"ok\":true,\"lines\":[\"\\n\"]}", "{\"ok\":true,\"lines\":[\"\\", "{\"ok\":true,\"lines\":[",
        ]
        for other in others { XCTAssertNil(Reply.lines(in: other), other.string) }
    }
}
