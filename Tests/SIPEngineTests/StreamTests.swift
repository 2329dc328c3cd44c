// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import SIPEngine

/// TCP: bytes in any cut, keep-alives, and streams that are not SIP.
final class StreamTests: XCTestCase {
    func testMessagesComeInAnyCut() {
        let script = Script(.tcp)
        let text = script.stranger("OPTIONS", branch: "o1") + script.stranger() + script.stranger("CANCEL")
        for byte in Array(text.utf8) { script.input(.received([byte], on: script.flow)) }
        script.expect("200", "200", "487")
        let whole = Script(.tcp)
        whole.receive(text)
        whole.expect("200", "200", "487")
        whole.expectEvents("incoming", "ended cancelled")
    }

    func testPingIsAnsweredWithPong() {
        let script = Script(.tcp)
        script.receive("\r\n\r\n")
        XCTAssertEqual(script.rawOutbox, [Array("\r\n".utf8)])
        script.receive("\r\n" + script.stranger("OPTIONS"))
        script.expect("200")
    }

    func testStreamThatIsNotSIPIsClosedAndForgotten() {
        for noise in ["GET / HTTP/1.1\r\nHost: 192.0.2.1\r\n\r\n", String(repeating: "A", count: 200_000)] {
            let script = Script(.tcp)
            script.receive(noise)
            XCTAssertEqual(script.closed, [script.flow])
            XCTAssertEqual(script.engine.streams.count, 0)
            XCTAssertEqual(script.engine.counters[.brokenStream], 1)
        }
    }

    func testStreamsAreBoundedAndTheOneUnusedForLongestGoes() {
        let script = Script(.tcp)
        for port in 1...UInt16(Limits.streamsMax + 3) {
            var flow = script.flow
            flow.remote.port = port
            script.receive("OPTIONS sip:", on: flow)
        }
        XCTAssertEqual(script.closed.map { $0.remote.port }, [1, 2, 3])
        XCTAssertEqual(script.engine.streams.count, Limits.streamsMax)
    }

    func testConnectionThatClosesWhileItRingsEndsTheCallAndInTheCallDoesNot() {
        let script = Script(.tcp)
        _ = script.call()
        script.answer(script.next(), 180)
        script.input(.flowFailed(script.flow))
        script.expectEvents("ringing 180", "ended flowFailed")
        let other = Script(.tcp)
        _ = other.connectedCall()
        other.input(.flowFailed(other.flow))
        other.expectEvents()
        XCTAssertEqual(other.engine.callCount, 1)
    }

    func testHalfAMessageOfAClosedConnectionIsForgotten() {
        let script = Script(.tcp)
        let text = script.stranger("OPTIONS")
        script.receive(String(text.prefix(100)))
        script.input(.flowFailed(script.flow))
        script.receive(text)
        script.expect("200")
    }

    func testEmptyLinesInDatagramsAreSilent() {
        let script = Script()
        script.receive("\r\n\r\n")
        script.receive("")
        XCTAssertEqual(script.rawOutbox, [])
        XCTAssertEqual(script.engine.counters[.malformed], 0)
    }
}
