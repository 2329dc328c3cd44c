// SPDX-License-Identifier: Apache-2.0

import Bytes
import SDPWire
import XCTest

@testable import Secure

/// Two sides of a stream, each with a guard, and what goes between them.
final class StreamGuardTests: XCTestCase {
    private static let address = SocketAddress(.v4(0x0A00_0001), port: 20_000)
    private static let now = Instant(nanoseconds: 1_000_000_000)

    private let suite = CryptoSuite.aesCM128SHA180

    private func keys(send: UInt8, receive: UInt8) -> NegotiatedProtection {
        let secret = { (fill: UInt8) in [UInt8](repeating: fill, count: self.suite.secretBytes) }
        return .sdes(
            NegotiatedKeys(suite: self.suite, send: secret(send), receive: [CryptoKey(secret: secret(receive))]))
    }

    private func pass(
        _ packet: [UInt8], _ from: inout StreamGuard, _ to: inout StreamGuard, onControlSocket: Bool = false
    ) -> [UInt8]? {
        guard let sent = from.protect(packet, onControlSocket: onControlSocket) else { return nil }
        return to.receive(sent, from: Self.address, onControlSocket: onControlSocket)
    }

    // MARK: - Keys from descriptions

    func testWithoutProtectionAllPasses() {
        var open = StreamGuard(nil)
        open.apply(.none, isMuxed: false, now: Self.now)
        XCTAssertEqual(open.protect([1], onControlSocket: false), [1])
        XCTAssertEqual(open.receive([0x80, 1], from: Self.address, onControlSocket: true), [0x80, 1])
    }

    func testWithProtectionNothingPlainPasses() {
        var (here, there) = (StreamGuard(nil), StreamGuard(nil))
        here.apply(self.keys(send: 1, receive: 2), isMuxed: false, now: Self.now)
        there.apply(self.keys(send: 2, receive: 1), isMuxed: false, now: Self.now)
        XCTAssertEqual(self.pass(Packets.rtp(1), &here, &there), Packets.rtp(1))
        XCTAssertEqual(self.pass(Packets.rtcp(), &there, &here, onControlSocket: true), Packets.rtcp())
        XCTAssertNil(here.receive(Packets.rtp(1), from: Self.address, onControlSocket: false))
        let sent = here.protect(Packets.rtp(2), onControlSocket: false) ?? []
        XCTAssertNotNil(there.receive(sent, from: Self.address, onControlSocket: false))
        XCTAssertNil(there.receive(sent, from: Self.address, onControlSocket: false))
        XCTAssertEqual([here.counts.forged, there.counts.replayed], [1, 1])
    }

    func testMuxedReportsAreKnownByTheirType() {
        var (here, there) = (StreamGuard(nil), StreamGuard(nil))
        here.apply(self.keys(send: 1, receive: 2), isMuxed: true, now: Self.now)
        there.apply(self.keys(send: 2, receive: 1), isMuxed: true, now: Self.now)
        XCTAssertEqual(self.pass(Packets.rtcp(), &here, &there), Packets.rtcp())
        XCTAssertEqual(self.pass(Packets.rtp(1), &here, &there), Packets.rtp(1))
    }

    func testKeysThatAreNearlyUsedUpAreToldOnceAndNewOnesGoOn() {
        func limited(_ fill: UInt8) -> NegotiatedProtection {
            let secret = { (fill: UInt8) in [UInt8](repeating: fill, count: self.suite.secretBytes) }
            let theirs = CryptoKey(secret: secret(2 * fill), lifetimePackets: 32)
            return .sdes(NegotiatedKeys(suite: self.suite, send: secret(fill), receive: [theirs]))
        }
        var (here, there) = (StreamGuard(nil), StreamGuard(nil))
        here.apply(limited(1), isMuxed: false, now: Self.now)
        there.apply(self.keys(send: 2, receive: 1), isMuxed: false, now: Self.now)
        for sequence in 1...29 { _ = self.pass(Packets.rtp(sequence), &there, &here) }
        XCTAssertNil(here.takeNews())
        XCTAssertNotNil(self.pass(Packets.rtp(30), &there, &here))
        XCTAssertEqual(here.takeNews(), .wearsOut)
        XCTAssertNotNil(self.pass(Packets.rtp(31), &there, &here))
        XCTAssertNil(here.takeNews(), "once")
        here.apply(limited(3), isMuxed: false, now: Self.now)
        there.apply(self.keys(send: 6, receive: 3), isMuxed: false, now: Self.now)
        for sequence in 32...61 { XCTAssertNotNil(self.pass(Packets.rtp(sequence), &there, &here)) }
        XCTAssertEqual(here.takeNews(), .wearsOut, "these wear out too")
    }

    /// The far end keeps its own count of wraps, so that ours must not begin anew with the same key.
    func testTheSameKeyGoesOnAndAnotherBeginsAnew() {
        var (here, there) = (StreamGuard(nil), StreamGuard(nil))
        let ours = self.keys(send: 1, receive: 2)
        here.apply(ours, isMuxed: false, now: Self.now)
        there.apply(self.keys(send: 2, receive: 1), isMuxed: false, now: Self.now)
        for sequence in [65_534, 65_535, 0, 1] { XCTAssertNotNil(self.pass(Packets.rtp(sequence), &here, &there)) }
        here.apply(ours, isMuxed: false, now: Self.now)
        XCTAssertNotNil(self.pass(Packets.rtp(2), &here, &there), "one wrap is remembered")
        here.apply(self.keys(send: 1, receive: 9), isMuxed: false, now: Self.now)
        XCTAssertNotNil(self.pass(Packets.rtp(3), &here, &there), "the other direction's key is another matter")
        here.apply(self.keys(send: 3, receive: 9), isMuxed: false, now: Self.now)
        XCTAssertNil(self.pass(Packets.rtp(4), &here, &there))
        there.apply(self.keys(send: 9, receive: 3), isMuxed: false, now: Self.now)
        XCTAssertNotNil(self.pass(Packets.rtp(5), &here, &there))
    }

    // MARK: - Handshakes

    private let mine = DTLSIdentity()
    private let yours = DTLSIdentity()

    private func agreed(
        _ isClient: Bool, _ peer: DTLSIdentity?, id: ByteString? = nil
    ) throws -> NegotiatedProtection {
        let print = try XCTUnwrap(peer?.fingerprint)
        return .dtls(NegotiatedHandshake(isClient: isClient, fingerprints: [print], tlsID: id))
    }

    /// Carries datagrams until neither side has any; gives all of them.
    @discardableResult
    private func shake(
        _ here: inout StreamGuard, _ there: inout StreamGuard, losing: (Int) -> Bool = { _ in false }
    ) -> [[UInt8]] {
        var all: [[UInt8]] = []
        for _ in 0..<20 {
            let (out, back) = (here.takeDatagrams(), there.takeDatagrams())
            if out.isEmpty && back.isEmpty { break }
            for (datagrams, isOut) in [(out, true), (back, false)] {
                for one in datagrams {
                    all.append(one.datagram)
                    if losing(all.count) { continue }
                    if isOut {
                        _ = there.receive(one.datagram, from: Self.address, onControlSocket: one.onControlSocket)
                    } else {
                        _ = here.receive(one.datagram, from: Self.address, onControlSocket: one.onControlSocket)
                    }
                }
            }
        }
        return all
    }

    func testAHandshakeGivesKeysToBothSides() throws {
        for (isClient, isMuxed) in [(true, true), (false, true), (true, false)] {
            var (here, there) = (StreamGuard(self.mine), StreamGuard(self.yours))
            here.apply(try self.agreed(isClient, self.yours), isMuxed: isMuxed, now: Self.now)
            there.apply(try self.agreed(!isClient, self.mine), isMuxed: isMuxed, now: Self.now)
            XCTAssertNil(here.protect(Packets.rtp(1), onControlSocket: false), "there is no key yet")
            XCTAssertEqual(here.counts.unkeyed, 1)
            let datagrams = self.shake(&here, &there)
            XCTAssertTrue(datagrams.allSatisfy { $0.count <= SecureLimits.handshakeMTU })
            XCTAssertEqual(here.takeNews(), .secured)
            XCTAssertEqual(there.takeNews(), .secured)
            XCTAssertNil(here.takeNews())
            for sequence in 1...3 {
                XCTAssertEqual(self.pass(Packets.rtp(sequence), &here, &there), Packets.rtp(sequence))
                XCTAssertEqual(self.pass(Packets.rtp(sequence), &there, &here), Packets.rtp(sequence))
            }
            XCTAssertEqual(self.pass(Packets.rtcp(), &here, &there, onControlSocket: !isMuxed), Packets.rtcp())
            XCTAssertNil(here.deadline(now: Self.now))
        }
    }

    func testAHandshakeMayBeginBeforeItsDescriptionIsHere() throws {
        for isHeard in [true, false] {
            var (here, there) = (StreamGuard(self.mine), StreamGuard(self.yours))
            there.apply(try self.agreed(true, self.mine), isMuxed: true, now: Self.now)
            for one in there.takeDatagrams() {
                XCTAssertNil(here.receive([22, 0], from: Self.address, onControlSocket: false))
                XCTAssertNil(here.receive(one.datagram, from: Self.address, onControlSocket: false))
            }
            here.reset()
            here.apply(try self.agreed(false, self.yours), isMuxed: true, now: Self.now) { _ in isHeard }
            self.shake(&here, &there)
            XCTAssertEqual(here.takeNews() == .secured, isHeard)
        }
    }

    func testWhoeverHasAnotherCertificateGetsNothing() throws {
        var (here, there) = (StreamGuard(self.mine), StreamGuard(self.yours))
        here.apply(try self.agreed(true, self.mine), isMuxed: true, now: Self.now)
        there.apply(try self.agreed(false, self.mine), isMuxed: true, now: Self.now)
        self.shake(&here, &there)
        XCTAssertEqual(here.takeNews(), .failed("the other side's certificate is not the one that it named"))
        XCTAssertNil(here.protect(Packets.rtp(1), onControlSocket: false))
    }

    func testOneOfTwoFingerprintsThatDisagreeIsEnough() throws {
        let right = try XCTUnwrap(self.yours?.fingerprint)
        let wrong = Fingerprint(.sha256, [UInt8](repeating: 0, count: 32))
        var (here, there) = (StreamGuard(self.mine), StreamGuard(self.yours))
        let agreed = NegotiatedHandshake(isClient: true, fingerprints: [wrong, right])
        here.apply(.dtls(agreed), isMuxed: true, now: Self.now)
        there.apply(try self.agreed(false, self.mine), isMuxed: true, now: Self.now)
        self.shake(&here, &there)
        XCTAssertEqual(here.takeNews(), .secured)
    }

    func testTheSameHandshakeGoesOnAndAnotherBeginsAnew() throws {
        var (here, there) = (StreamGuard(self.mine), StreamGuard(self.yours))
        here.apply(try self.agreed(true, self.yours), isMuxed: true, now: Self.now)
        there.apply(try self.agreed(false, self.mine), isMuxed: true, now: Self.now)
        self.shake(&here, &there)
        here.apply(try self.agreed(true, self.yours), isMuxed: true, now: Self.now)
        XCTAssertTrue(here.takeDatagrams().isEmpty)
        XCTAssertNotNil(self.pass(Packets.rtp(1), &here, &there))
        here.apply(try self.agreed(true, self.yours, id: "next"), isMuxed: true, now: Self.now)
        there.apply(try self.agreed(false, self.mine, id: "next"), isMuxed: true, now: Self.now)
        XCTAssertNil(self.pass(Packets.rtp(2), &here, &there))
        self.shake(&here, &there)
        XCTAssertNotNil(self.pass(Packets.rtp(2), &here, &there))
    }

    func testALastFlightThatWasLostIsSentAgainWhenAskedFor() throws {
        var (here, there) = (StreamGuard(self.mine), StreamGuard(self.yours))
        here.apply(try self.agreed(true, self.yours), isMuxed: true, now: Self.now)
        there.apply(try self.agreed(false, self.mine), isMuxed: true, now: Self.now)
        let whole = self.shake(&here, &there).count
        (here, there) = (StreamGuard(self.mine), StreamGuard(self.yours))
        here.apply(try self.agreed(true, self.yours), isMuxed: true, now: Self.now)
        there.apply(try self.agreed(false, self.mine), isMuxed: true, now: Self.now)
        self.shake(&here, &there) { $0 == whole }
        XCTAssertNil(here.takeNews())
        XCTAssertEqual(there.takeNews(), .secured)
        XCTAssertNotNil(here.deadline(now: Self.now))
    }

    func testAHandshakeThatNobodyAnswersEnds() throws {
        var here = StreamGuard(self.mine)
        here.apply(try self.agreed(true, self.yours), isMuxed: true, now: Self.now)
        let first = here.takeDatagrams()
        XCTAssertEqual(first.count, 1)
        XCTAssertNil(first[0].to, "to the announced address")
        let due = try XCTUnwrap(here.deadline(now: Self.now))
        XCTAssertLessThanOrEqual(due - Self.now, .milliseconds(100))
        here.expire(now: Self.now + .seconds(SecureLimits.handshakeSeconds))
        XCTAssertEqual(here.takeNews(), .failed("the other side did not finish the handshake"))
        XCTAssertNil(here.deadline(now: Self.now))
    }

    func testAnyBytesInAHandshakeDoNoHarm() throws {
        var generator = Generator(seed: 3)
        for round in 0..<60 {
            var (here, there) = (StreamGuard(self.mine), StreamGuard(self.yours))
            here.apply(try self.agreed(true, self.yours), isMuxed: true, now: Self.now)
            there.apply(try self.agreed(false, self.mine), isMuxed: true, now: Self.now)
            for one in here.takeDatagrams() {
                var datagram = one.datagram
                for _ in 0...round % 4 {
                    datagram[Int(generator.below(UInt64(datagram.count)))] = UInt8(truncatingIfNeeded: generator.next())
                }
                _ = there.receive(datagram, from: Self.address, onControlSocket: false)
                var noise = (0..<Int(generator.below(2_000))).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
                noise.insert(UInt8(20 + generator.below(44)), at: 0)
                _ = there.receive(noise, from: Self.address, onControlSocket: false)
            }
            XCTAssertNil(there.protect(Packets.rtp(1), onControlSocket: false))
        }
    }

    func testWithoutACertificateNothingPasses() throws {
        var here = StreamGuard(nil)
        here.apply(try self.agreed(true, self.yours), isMuxed: true, now: Self.now)
        XCTAssertEqual(here.takeNews(), .failed("there is no certificate for a handshake"))
        XCTAssertNil(here.protect(Packets.rtp(1), onControlSocket: false))
        XCTAssertNil(here.receive(Packets.rtp(1), from: Self.address, onControlSocket: false))
    }
}
