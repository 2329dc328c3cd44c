// SPDX-License-Identifier: Apache-2.0

import Bytes
import SDPWire
import XCTest

@testable import Secure

/// Packets as they are made and taken apart here.
enum Packets {
    static let payload = [UInt8](repeating: 0x55, count: 60)

    static func rtp(_ sequence: Int, ssrc: UInt8 = 7) -> [UInt8] {
        [0x80, 0, UInt8(sequence >> 8 & 255), UInt8(sequence & 255), 0, 0, 0, 0, 0, 0, 0, ssrc] + Self.payload
    }

    /// A receiver report without a block.
    static func rtcp(ssrc: UInt8 = 7) -> [UInt8] { [0x80, 201, 0, 1, 0, 0, 0, ssrc] }
}

final class SRTPTests: XCTestCase {
    private func secret(_ suite: CryptoSuite, _ fill: UInt8 = 1) -> [UInt8] {
        (0..<suite.secretBytes).map { UInt8($0) &+ fill }
    }

    private func pair(
        _ suite: CryptoSuite, _ keys: [CryptoKey]? = nil
    ) throws -> (send: SRTPContext, receive: SRTPContext) {
        let secret = self.secret(suite)
        return (
            try XCTUnwrap(SRTPContext(sending: suite, secret)),
            try XCTUnwrap(SRTPContext(receiving: suite, keys ?? [CryptoKey(secret: secret)]))
        )
    }

    func testEverySuiteHidesAndBringsBackWhatWasSent() throws {
        for suite in CryptoSuite.usable {
            let (send, receive) = try self.pair(suite)
            for (packet, isControl) in [(Packets.rtp(1), false), (Packets.rtcp(), true), (Packets.rtp(2), false)] {
                var sent = try XCTUnwrap(send.protect(packet, isControl: isControl), suite.name.string)
                XCTAssertGreaterThan(sent.count, packet.count)
                if !isControl { XCTAssertFalse(sent[12...].starts(with: Packets.payload.prefix(8))) }
                XCTAssertEqual(receive.unprotect(&sent, isControl: isControl), .authentic, suite.name.string)
                XCTAssertEqual(sent, packet)
            }
        }
        XCTAssertNil(SRTPContext(sending: .f8128SHA180, self.secret(.f8128SHA180)))
        XCTAssertNil(SRTPContext(sending: .aesCM128SHA180, [1, 2, 3]))
        XCTAssertNil(SRTPContext(receiving: .aesCM128SHA180, []))
    }

    func testChangedForeignAndRepeatedPacketsAreOfNoUse() throws {
        for suite in [CryptoSuite.aesCM128SHA180, .aesCM128SHA132, .aeadAES128GCM] {
            let (send, receive) = try self.pair(suite)
            let sent = try XCTUnwrap(send.protect(Packets.rtp(1), isControl: false))
            for index in sent.indices {
                var changed = sent
                changed[index] ^= 1
                XCTAssertEqual(receive.unprotect(&changed, isControl: false), .forged, "\(index)")
            }
            var (first, again) = (sent, sent)
            XCTAssertEqual(receive.unprotect(&first, isControl: false), .authentic)
            XCTAssertEqual(receive.unprotect(&again, isControl: false), .replayed)
            let foreign = try XCTUnwrap(SRTPContext(sending: suite, self.secret(suite, 9)))
            var other = try XCTUnwrap(foreign.protect(Packets.rtp(2), isControl: false))
            XCTAssertEqual(receive.unprotect(&other, isControl: false), .forged)
            var report = try XCTUnwrap(send.protect(Packets.rtcp(), isControl: true))
            var same = report
            XCTAssertEqual(receive.unprotect(&report, isControl: true), .authentic)
            XCTAssertEqual(receive.unprotect(&same, isControl: true), .replayed)
        }
    }

    func testAnyBytesAreOnlyForged() throws {
        var generator = Generator(seed: 5)
        for suite in [CryptoSuite.aesCM128SHA180, .aeadAES256GCM] {
            let named = [CryptoKey(secret: self.secret(suite), mki: [0, 0, 0, 1])]
            for receive in [try self.pair(suite).receive, try self.pair(suite, named).receive] {
                for round in 0..<6_000 {
                    var packet = (0..<Int(generator.below(64))).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
                    if !packet.isEmpty { packet[0] = packet[0] & 0x3F | 0x80 }
                    XCTAssertEqual(receive.unprotect(&packet, isControl: round % 2 == 0), .forged)
                }
            }
        }
    }

    func testPacketsMayComeOutOfOrderWithinTheWindow() throws {
        let (send, receive) = try self.pair(.aesCM128SHA180)
        let packets = try (1...1_100).map { try XCTUnwrap(send.protect(Packets.rtp($0), isControl: false)) }
        var verdicts: [SRTPContext.Verdict] = []
        for index in [1_099, 1_090, 200, 10] {
            var packet = packets[index]
            verdicts.append(receive.unprotect(&packet, isControl: false))
        }
        XCTAssertEqual(verdicts, [.authentic, .authentic, .authentic, .replayed])
    }

    func testTheSequenceMayWrap() throws {
        let (send, receive) = try self.pair(.aeadAES128GCM)
        for sequence in (65_530...65_545).map({ $0 & 0xFFFF }) {
            var packet = try XCTUnwrap(send.protect(Packets.rtp(sequence), isControl: false))
            XCTAssertEqual(receive.unprotect(&packet, isControl: false), .authentic, "\(sequence)")
        }
    }

    func testAKeyIsFoundByItsName() throws {
        let suite = CryptoSuite.aesCM128SHA180
        let (send, receive) = try self.pair(
            suite,
            [
                CryptoKey(secret: self.secret(suite, 40), mki: [0, 1]),
                CryptoKey(secret: self.secret(suite), mki: [0, 2]),
            ])
        let sent = try XCTUnwrap(send.protect(Packets.rtp(1), isControl: false))
        // The name stands before the tag (RFC 3711 section 3.1) and is not authenticated.
        let body = sent.dropLast(10)
        for (name, verdict) in [([0, 1], .forged), ([0, 3], .forged), ([0, 2], .authentic)]
            as [([UInt8], SRTPContext.Verdict)]
        {
            var named = Array(body) + name + sent.suffix(10)
            XCTAssertEqual(receive.unprotect(&named, isControl: false), verdict)
        }
        var nameless = try XCTUnwrap(send.protect(Packets.rtp(2), isControl: false))
        XCTAssertEqual(receive.unprotect(&nameless, isControl: false), .forged)
    }

    func testAWornOutKeyOpensNothing() throws {
        let suite = CryptoSuite.aesCM128SHA180
        let (send, receive) = try self.pair(suite, [CryptoKey(secret: self.secret(suite), lifetimePackets: 3)])
        let verdicts = try (1...5).map { sequence in
            var packet = try XCTUnwrap(send.protect(Packets.rtp(sequence), isControl: false))
            return receive.unprotect(&packet, isControl: false)
        }
        XCTAssertEqual(verdicts, [.authentic, .authentic, .authentic, .wornOut, .wornOut])
    }

    func testOfManySourcesTheLongestUnheardIsForgotten() throws {
        let (send, receive) = try self.pair(.aesCM128SHA180)
        let packets = try (1...12).map { try XCTUnwrap(send.protect(Packets.rtp(1, ssrc: $0), isControl: false)) }
        for packet in packets {
            var packet = packet
            XCTAssertEqual(receive.unprotect(&packet, isControl: false), .authentic)
        }
        var (kept, forgotten) = (packets[11], packets[0])
        XCTAssertEqual(receive.unprotect(&kept, isControl: false), .replayed)
        XCTAssertEqual(receive.unprotect(&forgotten, isControl: false), .authentic)
    }

    func testWhatIsNoPacketIsNotSent() throws {
        let (send, _) = try self.pair(.aesCM128SHA180)
        for packet in [[], [0x80], Array(Packets.rtp(1).prefix(11))] as [[UInt8]] {
            XCTAssertNil(send.protect(packet, isControl: false))
            XCTAssertNil(send.protect(Array(packet.prefix(7)), isControl: true))
        }
    }
}
