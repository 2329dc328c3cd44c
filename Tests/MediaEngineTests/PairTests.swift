// SPDX-License-Identifier: Apache-2.0

import Bytes
import MediaEngine
import RTPWire
import XCTest

/// Whole calls between two engines: never a broken picture, and always a picture again once the line is fine.
final class PairTests: XCTestCase {
    func testAFineLineShowsEveryPictureAndAsksForNothing() {
        var pair = Pair(seed: 1)
        pair.run(ms: 30_000)
        for side in [pair.left, pair.right] {
            XCTAssertEqual(side.broken, 0)
            XCTAssertGreaterThanOrEqual(side.shown, 30_000 / 33 - 3)
            XCTAssertGreaterThanOrEqual(side.sounds, 30_000 / 20 - 3)
            XCTAssertEqual(side.keyFrames, 2, "the first and the one after a second")
            let statistics = side.engine.statistics
            XCTAssertEqual(statistics.video.pliSent, 0)
            XCTAssertEqual(statistics.video.packetsLost, 0)
            XCTAssertEqual(statistics.video.packetsDropped, 0)
            XCTAssertTrue((39...42).contains(statistics.video.roundTripMs ?? 0))
            XCTAssertTrue((39...42).contains(statistics.audio.roundTripMs ?? 0))
        }
    }

    func testInAnyWeatherNoPictureIsBrokenAndTheLineHeals() {
        for seed in 0..<24 as Range<UInt64> {
            var generator = Generator(seed: seed)
            var pair = Pair(seed: seed)
            for _ in 0..<4 {
                pair.weather = Pair.Weather(
                    lossPercent: generator.below(3) * generator.below(12), duplicatePercent: generator.below(10),
                    delayMs: 1 + Int(generator.below(80)), jitterMs: generator.below(2) * generator.below(60),
                    reportLossPercent: generator.below(60))
                pair.run(ms: 3000)
            }
            pair.weather = .fine
            pair.run(ms: 3000)
            for side in [pair.left, pair.right] {
                XCTAssertEqual(side.broken, 0, "seed \(seed)")
                let lastSecond = side.shownAtMs.filter { $0 > pair.nowMs - 1000 }.count
                XCTAssertGreaterThanOrEqual(lastSecond, 29, "seed \(seed)")
            }
        }
    }

    func testThePictureIsBackWithin500MillisecondsAndARoundTripAfterABurst() {
        for seed in 0..<20 as Range<UInt64> {
            var pair = Pair(seed: seed)
            pair.run(ms: 3000)
            pair.weather.lossPercent = 10
            pair.run(ms: 300)
            pair.weather.lossPercent = 0
            let healed = pair.nowMs
            pair.run(ms: 3000)
            for side in [pair.left, pair.right] {
                let first = side.shownAtMs.first { $0 > healed + 2 * pair.weather.delayMs } ?? 99_999
                XCTAssertLessThanOrEqual(first - healed, 500 + 2 * pair.weather.delayMs, "seed \(seed)")
            }
        }
    }

    func testKeyFramesStayRareUnderSteadyLoss() {
        var pair = Pair(seed: 5)
        pair.weather.lossPercent = 2
        pair.run(ms: 20_000)
        for side in [pair.left, pair.right] {
            XCTAssertEqual(side.broken, 0)
            XCTAssertLessThanOrEqual(side.keyFrames, 20_000 / 300)
            XCTAssertGreaterThan(side.keyFrames, 10, "the test loses something")
        }
    }
}
