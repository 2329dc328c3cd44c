// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem
import Foundation
import XCTest

@testable import Loop

final class SocketTests: XCTestCase {
    private let loopback = IPAddress("127.0.0.1")!

    private func waitForDatagram(_ socket: inout UDPSocket) -> Datagram {
        let poller = Poller()
        poller.watch(socket.descriptor, token: 1)
        _ = poller.wait(until: Clock.now() + .seconds(2))
        return socket.receive()
    }

    func testADatagramArrivesWithItsSourceAndItsDestination() throws {
        var receiver = try UDPSocket(address: nil, port: 0, datagramMax: 100)
        let sender = try UDPSocket(address: nil, port: 0, datagramMax: 100)
        sender.send([1, 2, 3], to: SocketAddress(self.loopback, port: receiver.port))
        guard case .received(let bytes, let from, let to) = self.waitForDatagram(&receiver) else {
            return XCTFail("nothing came")
        }
        XCTAssertEqual(bytes, [1, 2, 3])
        XCTAssertEqual(from, SocketAddress(self.loopback, port: sender.port))
        XCTAssertEqual(to, SocketAddress(self.loopback, port: receiver.port))
    }

    func testADatagramLongerThanTheBoundIsUnusableAndTheNextOneIsRead() throws {
        var receiver = try UDPSocket(address: nil, port: 0, datagramMax: 10)
        let sender = try UDPSocket(address: nil, port: 0, datagramMax: 10)
        let target = SocketAddress(self.loopback, port: receiver.port)
        sender.send([UInt8](repeating: 0, count: 11), to: target)
        sender.send([9], to: target)
        guard case .unusable = self.waitForDatagram(&receiver) else { return XCTFail("an oversized datagram got in") }
        guard case .received([9], _, _) = self.waitForDatagram(&receiver) else {
            return XCTFail("the next one is lost")
        }
    }

    func testAPortThatNobodyHoldsIsReportedAsRefused() throws {
        var socket = try UDPSocket(address: nil, port: 0, datagramMax: 100)
        let closed: UInt16
        do {
            let gone = try UDPSocket(address: nil, port: 0, datagramMax: 1)
            closed = gone.port
        }
        let target = SocketAddress(self.loopback, port: closed)
        socket.send([1], to: target)
        guard case .refused(target) = self.waitForDatagram(&socket) else { return XCTFail("the ICMP error is lost") }
    }

    func testAPortInUseIsAnErrorAndNotATrap() throws {
        let first = try UDPSocket(address: nil, port: 0, datagramMax: 1)
        do {
            _ = try UDPSocket(address: nil, port: first.port, datagramMax: 1)
            XCTFail("two sockets hold one port")
        } catch SocketError.bind(let code) {
            XCTAssertEqual(code, EADDRINUSE)
        }
    }

    func testStreamsCarryBytesBothWaysOnOneConnectionAndReportItsEnd() throws {
        let poller = Poller()
        var server = try TCPStreams(port: 0, tokenBase: 100, poller: poller)
        var events: [StreamEvent] = []
        do {
            var client = try TCPStreams(port: 0, tokenBase: 200, poller: poller)
            let here = SocketAddress(self.loopback, port: client.port)
            let there = SocketAddress(self.loopback, port: server.port)
            let failure = client.send(
                [1, 2], to: StreamPeer(local: here, remote: there), now: Clock.now(), poller: poller)
            XCTAssertNil(failure)
            events += Self.turn(&server, &client, poller, until: 1)
            guard case .received([1, 2], let caller) = events.first else { return XCTFail("nothing came") }
            let answerFailure = server.send([3], to: caller, now: Clock.now(), poller: poller)
            XCTAssertNil(answerFailure)
            events = Self.turn(&server, &client, poller, until: 1)
            guard case .received([3], StreamPeer(local: here, remote: there)) = events.first else {
                return XCTFail("nothing came back")
            }
        }
        for _ in 0..<10 {
            for ready in poller.wait(until: Clock.now() + .milliseconds(200)) where server.owns(token: ready.token) {
                if case .failed = server.handle(ready, now: Clock.now(), poller: poller) { return }
            }
        }
        XCTFail("the end of the connection was not reported")
    }

    func testARefusedConnectionIsAFailureOfThatFlow() throws {
        let poller = Poller()
        var client = try TCPStreams(port: 0, tokenBase: 200, poller: poller)
        var other = try TCPStreams(port: 0, tokenBase: 300, poller: poller)
        let here = SocketAddress(self.loopback, port: client.port)
        let nobody = SocketAddress(self.loopback, port: 1)
        var event = client.send([1], to: StreamPeer(local: here, remote: nobody), now: Clock.now(), poller: poller)
        if event == nil { event = Self.turn(&client, &other, poller, until: 1).first }
        guard case .failed(StreamPeer(local: here, remote: nobody)) = event else {
            return XCTFail("a refused connection is silent")
        }
    }

    /// 198.51.100.0/24 is for documents: nobody is there, and whoever has no route there is told at once.
    func testAConnectionThatIsNotMadeInTimeFails() throws {
        let poller = Poller()
        var client = TCPStreams(tokenBase: 200)
        let peer = StreamPeer(
            local: SocketAddress(self.loopback, port: 1), remote: SocketAddress(IPAddress("198.51.100.1")!, port: 5060))
        guard client.send([1], to: peer, now: .zero, poller: poller) == nil else { return }
        XCTAssertEqual(client.deadline, .zero + .milliseconds(3000))
        XCTAssertTrue(client.timePassed(now: .zero + .milliseconds(2999), poller: poller).isEmpty)
        guard case .failed(peer)? = client.timePassed(now: .zero + .milliseconds(3000), poller: poller).first else {
            return XCTFail("it is waited for still")
        }
        XCTAssertNil(client.deadline)
        XCTAssertFalse(client.contains(peer))
    }

    func testOneAddressUnderTwoNamesIsTwoConnections() throws {
        let poller = Poller()
        var server = try TCPStreams(port: 0, tokenBase: 100, poller: poller)
        var client = TCPStreams(tokenBase: 200)
        let there = SocketAddress(self.loopback, port: server.port)
        let callers = (["a", "b", "a"] as [ByteString]).compactMap { name -> StreamPeer? in
            let peer = StreamPeer(local: there, remote: there, name: name)
            XCTAssertNil(client.send([1], to: peer, now: Clock.now(), poller: poller))
            guard case .received(_, let caller)? = Self.turn(&server, &client, poller, until: 1).first else {
                return nil
            }
            return caller
        }
        XCTAssertEqual(Set(callers).count, 2)
        XCTAssertEqual(callers.first, callers.last)
    }

    /// After a change of address the old connection carries nothing, and must not take the new one with it.
    func testAConnectionFromAnAddressThatIsGoneIsNotUsedForTheNewOne() throws {
        let poller = Poller()
        var server = try TCPStreams(port: 0, tokenBase: 100, poller: poller)
        var client = TCPStreams(tokenBase: 200)
        let there = SocketAddress(self.loopback, port: server.port)
        let (old, new) = (StreamPeer(local: there, remote: there), StreamPeer(local: self.elsewhere, remote: there))
        var callers: Set<StreamPeer> = []
        for peer in [old, new] {
            XCTAssertNil(client.send([1], to: peer, now: Clock.now(), poller: poller))
            guard case .received(_, let caller)? = Self.turn(&server, &client, poller, until: 1).first else { continue }
            callers.insert(caller)
        }
        XCTAssertEqual(callers.count, 2)
        client.close(old, poller: poller)
        XCTAssertFalse(client.contains(old))
        XCTAssertTrue(client.contains(new))
    }

    private var elsewhere: SocketAddress { SocketAddress(.v4(0x7F00_0002), port: 5060) }

    func testWhatOneAddressRefusedIsNotHeldAgainstTheNext() throws {
        var socket = try UDPSocket(address: nil, port: 0, datagramMax: 100)
        var receiver = try UDPSocket(address: nil, port: 0, datagramMax: 100)
        let closed: UInt16
        do {
            let gone = try UDPSocket(address: nil, port: 0, datagramMax: 1)
            closed = gone.port
        }
        socket.send([1], to: SocketAddress(self.loopback, port: closed))
        // The error is there once the poller wakes for it.
        let poller = Poller()
        poller.watch(socket.descriptor, token: 1)
        _ = poller.wait(until: Clock.now() + .seconds(2))
        XCTAssertTrue(socket.send([2], to: SocketAddress(self.loopback, port: receiver.port)))
        guard case .received([2], _, _) = self.waitForDatagram(&receiver) else { return XCTFail("it was not sent") }
        _ = socket.receive()
    }

    /// Strangers that come and say nothing push out each other, and never whom we talk to.
    func testStrangersNeverPushOutAConnectionOfOurs() throws {
        let poller = Poller()
        var server = try TCPStreams(port: 0, tokenBase: 100, poller: poller)
        var peer = try TCPStreams(port: 0, tokenBase: 200, poller: poller)
        let here = SocketAddress(self.loopback, port: server.port)
        let there = SocketAddress(self.loopback, port: peer.port)
        XCTAssertNil(server.send([1], to: StreamPeer(local: here, remote: there), now: Clock.now(), poller: poller))
        guard case .received([1], let caller)? = Self.turn(&server, &peer, poller, until: 1).first else {
            return XCTFail("no connection")
        }
        var strangers: [Int32] = []
        defer { for stranger in strangers { close(stranger) } }
        for _ in 0..<(3 * TCPStreams.connectionsMax) {
            guard let stranger = Self.connect(to: here) else { return XCTFail("no stranger") }
            strangers.append(stranger)
            _ = Self.turn(&server, &peer, poller, until: 1, turns: 1)
        }
        XCTAssertNil(peer.send([2], to: caller, now: Clock.now(), poller: poller))
        let events = Self.turn(&server, &peer, poller, until: 1)
        guard case .received([2], StreamPeer(local: here, remote: there))? = events.first else {
            return XCTFail("pushed out: \(events)")
        }
    }

    private static func connect(to remote: SocketAddress) -> Int32? {
        let descriptor = callbox_socket(0, 1)
        guard descriptor >= 0 else { return nil }
        _ = remote.withSockaddr(v6: false) { Foundation.connect(descriptor, $0, $1) }
        return descriptor
    }

    private static func turn(
        _ one: inout TCPStreams, _ two: inout TCPStreams, _ poller: borrowing Poller, until count: Int,
        turns: Int = 20
    ) -> [StreamEvent] {
        var events: [StreamEvent] = []
        for _ in 0..<turns where events.count < count {
            for ready in poller.wait(until: Clock.now() + .milliseconds(200)) {
                let event =
                    one.owns(token: ready.token)
                    ? one.handle(ready, now: Clock.now(), poller: poller)
                    : two.handle(ready, now: Clock.now(), poller: poller)
                if let event { events.append(event) }
            }
        }
        return events
    }
}
