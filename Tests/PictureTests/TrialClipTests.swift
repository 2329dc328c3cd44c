// SPDX-License-Identifier: Apache-2.0

import Bytes
import RTPWire
import XCTest

@testable import Picture

/// The clip with which decoders are tried.
final class TrialClipTests: XCTestCase {
    private var now: UInt64 = 0

    private func clip() throws -> TrialClip {
        try TrialClip {
            self.now += 1_000_000
            return Instant(nanoseconds: self.now)
        }
    }

    func testEachPictureIsAnother() throws {
        let clip = try self.clip()
        XCTAssertEqual(clip.units.count, TrialClip.count)
        XCTAssertEqual(Set(clip.checksums).count, TrialClip.count)
        XCTAssertEqual(clip.units.map { $0.isKeyFrame }, [true] + [Bool](repeating: false, count: TrialClip.count - 1))
        XCTAssertEqual(clip.softwareTime, .milliseconds(1))
    }

    func testItIsTheSameEachTime() throws {
        let (first, second) = (try self.clip(), try self.clip())
        XCTAssertEqual(first.checksums, second.checksums)
        XCTAssertEqual(first.units.map { $0.nalUnits }, second.units.map { $0.nalUnits })
    }

    func testAChecksumIsOfTheSamplesAndNotOfHowTheyLie() {
        let planar = PictureChecksum.of(TestPictures.frame(98, 66, step: 3))
        XCTAssertEqual(PictureChecksum.of(TestPictures.frame(98, 66, step: 3, format: .nv12)), planar)
        XCTAssertNotEqual(PictureChecksum.of(TestPictures.frame(98, 66, step: 4)), planar)
        XCTAssertNotEqual(PictureChecksum.of(TestPictures.frame(66, 98, step: 3)), planar)
    }

    func testASampleThatIsMissingIsNoticed() throws {
        let clip = try self.clip()
        let decoder = try H264Decoder(threads: 1)
        var sums: [UInt32] = []
        for (index, unit) in clip.units.enumerated() where index != 4 {
            if case .picture(let picture, _) = decoder.decode(unit, captured: .zero) {
                sums.append(PictureChecksum.of(picture))
            }
        }
        XCTAssertEqual(Array(clip.checksums.prefix(4)), Array(sums.prefix(4)))
        XCTAssertNotEqual(Array(clip.checksums.dropFirst(5)), Array(sums.dropFirst(4)))
    }
}
