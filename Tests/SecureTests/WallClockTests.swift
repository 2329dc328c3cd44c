// SPDX-License-Identifier: Apache-2.0

import Bytes
import KioskEngine
import XCTest

@testable import Secure

final class WallClockTests: XCTestCase {
    private static let built: Int64 = 1_790_000_000
    private static let year: Int64 = 365 * 24 * 3600

    private func clock(system: Int64, isSet: Bool = false, saved: Int64? = nil) -> WallClock {
        WallClock(system: { system }, isSet: { isSet }, built: Self.built, saved: saved, now: .zero)
    }

    func testABoardThatWakesIn1970Or2014IsNeverEarlierThanItsProgram() {
        for system in [0, 1_400_000_000] as [Int64] {
            let clock = self.clock(system: system, isSet: true)
            XCTAssertEqual(clock.time(.zero), Self.built)
            XCTAssertEqual(clock.time(.zero + .seconds(60)), Self.built + 60, "time passes all the same")
            XCTAssertFalse(clock.isTimeKnown, "whoever vouches for it is wrong")
            XCTAssertNil(clock.timeToSave)
        }
    }

    func testTheSavedTimeIsAFloorTooButNotOneFarAhead() {
        let saved = Self.built + Self.year
        XCTAssertEqual(self.clock(system: 0, saved: saved).time(.zero), saved)
        XCTAssertEqual(self.clock(system: 0, saved: Self.built - 5).time(.zero), Self.built)
        XCTAssertEqual(self.clock(system: 0, saved: Self.built + 75 * Self.year).time(.zero), Self.built)
    }

    func testALaterSystemClockIsTakenAndSavedOnlyWhereSomebodyVouchesForIt() {
        let now = Self.built + 1000
        XCTAssertEqual(self.clock(system: now).time(.zero), now)
        XCTAssertNil(self.clock(system: now).timeToSave)
        XCTAssertEqual(self.clock(system: now, isSet: true).timeToSave, now)
        XCTAssertTrue(self.clock(system: now, isSet: true).isTimeKnown)
    }
}

/// Our own certificate and the files of `[tls]`.
final class TLSContextTests: XCTestCase {
    private let authority = Authority()

    private func own(_ identity: Authority.Identity, day: Int64 = 0) -> TLSContext {
        .client(
            self.authority, day: day,
            change: {
                $0.certificate = self.authority.file(certificate: identity.certificate)
                $0.key = self.authority.file(key: identity.key)
            })
    }

    func testFilesThatAreNoneAreProblemsAndNobodyIsTrusted() {
        let context = TLSContext.client(
            self.authority,
            change: {
                $0.authorities = "/none/ca.pem"
                $0.certificate = "/none/own.pem"
                $0.key = "/none/own.key"
            })
        XCTAssertEqual(context.problems.map { $0.key }, ["ca", "certificate"])
        XCTAssertFalse(context.canListen)
        let pair = Pair(
            client: context, server: self.own(self.authority.issue("x", names: "DNS:a.b")), name: "a.b")
        pair.client(.start)
        XCTAssertEqual(pair.reasons, [.unknownAuthority])
    }

    func testTheKeyMustBeThatOfTheCertificate() {
        let other = self.authority.issue("other")
        let context = TLSContext.client(
            self.authority,
            change: {
                $0.certificate = self.authority.file(certificate: self.authority.issue("own").certificate)
                $0.key = self.authority.file(key: other.key)
            })
        XCTAssertEqual(context.problems.map { $0.key }, ["key"])
        XCTAssertFalse(context.canListen)
    }

    func testOurOwnCertificateIsTold30DaysBeforeItsEnd() {
        let identity = self.authority.issue("own", days: (-10, 100))
        XCTAssertNil(self.own(identity, day: 69).ownWarning(now: .zero))
        XCTAssertEqual(self.own(identity, day: 71).ownWarning(now: .zero)?.reasons, [])
        XCTAssertEqual(self.own(identity, day: 101).ownWarning(now: .zero)?.reasons, [.expired])
        XCTAssertTrue(self.own(identity).canListen)
    }
}
