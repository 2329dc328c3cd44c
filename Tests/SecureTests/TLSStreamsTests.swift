// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem
import Foundation
import KioskEngine
import Loop
import XCTest

@testable import Secure

/// TLS over real sockets on the loopback.
final class TLSStreamsTests: XCTestCase {
    private let authority = Authority()
    private let loopback = IPAddress("127.0.0.1")!
    private let poller = Poller()

    private func settings(_ change: (inout TLSSettings) -> Void = { _ in }) -> TLSSettings {
        var settings = TLSSettings()
        settings.listen = SocketAddress(self.loopback, port: 0)
        change(&settings)
        return settings
    }

    private func server(_ names: String = "DNS:sip.example.com") -> TLSStreams {
        TLSStreams(
            .server(self.authority, self.authority.issue("server", names: names)), self.settings(), tokenBase: 100,
            poller: self.poller)
    }

    private func client(_ change: @escaping (inout TLSSettings) -> Void = { _ in }) -> TLSStreams {
        TLSStreams(
            .client(self.authority, change: change), self.settings(change), tokenBase: 200, poller: self.poller)
    }

    private func peer(_ server: borrowing TLSStreams, name: ByteString = "sip.example.com") -> StreamPeer {
        let there = SocketAddress(self.loopback, port: server.port)
        return StreamPeer(local: there, remote: there, name: name)
    }

    /// Serves both until `count` events of either have come, or some time is over.
    private func turn(_ one: inout TLSStreams, _ two: inout TLSStreams, until count: Int, turns: Int = 40) -> [TLSEvent]
    {
        var events: [TLSEvent] = []
        for _ in 0..<turns where events.count < count {
            for ready in self.poller.wait(until: Clock.now() + .milliseconds(100)) {
                let now = Clock.now()
                events +=
                    one.owns(token: ready.token)
                    ? one.handle(ready, now: now, poller: self.poller)
                    : two.handle(ready, now: now, poller: self.poller)
            }
        }
        return events
    }

    func testMessagesGoBothWaysOnOneConnection() {
        var server = self.server()
        var client = self.client()
        XCTAssertNotEqual(server.port, 0)
        XCTAssertEqual(client.port, 0)
        let peer = self.peer(server)
        XCTAssertTrue(client.send([1, 2], to: peer, now: Clock.now(), poller: self.poller).isEmpty)
        XCTAssertNotNil(client.deadline)
        guard case .received([1, 2], let caller)? = self.turn(&server, &client, until: 1).first else {
            return XCTFail("nothing came")
        }
        XCTAssertEqual(caller.name, "")
        XCTAssertTrue(server.send([3], to: caller, now: Clock.now(), poller: self.poller).isEmpty)
        guard case .received([3], peer)? = self.turn(&server, &client, until: 1).first else {
            return XCTFail("nothing came back")
        }
        XCTAssertNil(client.deadline)
        client.close(peer, now: Clock.now(), poller: self.poller)
        guard case .failed(caller)? = self.turn(&server, &client, until: 1).first else { return XCTFail("no end") }
        // To whom we had not opened it, we cannot: nobody says whom the certificate must name.
        guard case .failed(caller)? = server.send([4], to: caller, now: Clock.now(), poller: self.poller).first else {
            return XCTFail("it was sent")
        }
    }

    func testARefusedCertificateIsToldAndTheNextTryIsANewOne() {
        var server = self.server("DNS:other.example.com")
        var client = self.client()
        for _ in 0..<2 {
            _ = client.send([1], to: self.peer(server), now: Clock.now(), poller: self.poller)
            var told: TLSFault?
            for case .insecure(_, let fault) in self.turn(&server, &client, until: 2, turns: 5) { told = fault }
            guard case .refused(let record)? = told else { return XCTFail("not refused") }
            XCTAssertEqual(record.reasons, [.otherName])
        }
    }

    func testAPeerThatSaysNothingFailsAtItsDeadlineAndOneThatSpeaksPlainSIPAtOnce() throws {
        var plain = try TCPStreams(address: self.loopback, port: 0, tokenBase: 300, poller: self.poller)
        var client = self.client()
        let there = SocketAddress(self.loopback, port: plain.port)
        let peer = StreamPeer(local: there, remote: there, name: "sip.example.com")
        _ = client.send([1], to: peer, now: .zero, poller: self.poller)
        for _ in 0..<3 {
            for ready in self.poller.wait(until: Clock.now() + .milliseconds(50)) {
                if client.owns(token: ready.token) {
                    _ = client.handle(ready, now: .zero, poller: self.poller)
                } else {
                    _ = plain.handle(ready, now: .zero, poller: self.poller)
                }
            }
        }
        XCTAssertTrue(client.timePassed(now: .zero + .milliseconds(2999), poller: self.poller).isEmpty)
        guard
            case .insecure(peer, .handshake)? =
                client.timePassed(now: .zero + .milliseconds(3000), poller: self.poller).first
        else { return XCTFail("it is waited for still") }
        XCTAssertNil(client.deadline)
    }

    func testAProgramIsAskedAndItsAnswerFollowed() throws {
        let path = NSTemporaryDirectory() + "callbox-ask-\(getpid())"
        defer { unlink(path) }
        for (answer, isTaken) in [("once", true), ("refuse", false)] {
            try "#!/bin/sh\nread line\ncase $line in *other-name*) echo \(answer);; esac\n"
                .write(toFile: path, atomically: false, encoding: .utf8)
            chmod(path, 0o700)
            var server = self.server("DNS:other.example.com")
            var client = self.client { $0.ask = ByteString(utf8Of: path) }
            _ = client.send([1], to: self.peer(server), now: Clock.now(), poller: self.poller)
            let events = self.turn(&server, &client, until: 2)
            var hasArrived = false
            for case .received([1], _) in events { hasArrived = true }
            XCTAssertEqual(hasArrived, isTaken)
        }
    }

    func testAProgramThatIsNotThereRefusesAtOnce() {
        var server = self.server("DNS:other.example.com")
        var client = self.client { $0.ask = "/none/ask" }
        _ = client.send([1], to: self.peer(server), now: Clock.now(), poller: self.poller)
        var told: TLSFault?
        for case .insecure(_, let fault) in self.turn(&server, &client, until: 2, turns: 5) { told = fault }
        guard case .refused? = told else { return XCTFail("not refused") }
    }

    /// Strangers shake hands and say nothing more: they push out each other, and never whom we talk to.
    func testStrangersNeverPushOutAConnectionOfOurs() {
        var server = self.server()
        var friend = self.client()
        let peer = self.peer(server)
        _ = friend.send([1], to: peer, now: Clock.now(), poller: self.poller)
        guard case .received(_, let caller)? = self.turn(&server, &friend, until: 1).first else {
            return XCTFail("nothing came")
        }
        _ = server.send([2], to: caller, now: Clock.now(), poller: self.poller)
        _ = self.turn(&server, &friend, until: 1)
        for number in 0..<40 {
            var stranger = TLSStreams(
                .client(self.authority), self.settings(), tokenBase: 400, poller: self.poller)
            _ = stranger.send([9], to: peer, now: Clock.now(), poller: self.poller)
            _ = self.turn(&server, &stranger, until: 1, turns: number % 4 == 0 ? 4 : 1)
        }
        _ = server.send([3], to: caller, now: Clock.now(), poller: self.poller)
        var got: [UInt8] = []
        for case .received(let bytes, peer) in self.turn(&server, &friend, until: 1) { got += bytes }
        XCTAssertEqual(got, [3])
    }
}
