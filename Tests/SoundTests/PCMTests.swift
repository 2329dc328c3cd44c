// SPDX-License-Identifier: Apache-2.0

import Bytes
import XCTest

@testable import Sound

/// alsa-lib through its own null device, which is there without a sound card: always ready, and silent.
final class PCMTests: XCTestCase {
    private func pcm(_ direction: SoundDirection) throws -> PCM {
        try PCM(name: "null", shown: "test", direction: direction)
    }

    func testADeviceIsSetToOurFormat() throws {
        for direction in [SoundDirection.capture, .playback] {
            let pcm = try self.pcm(direction)
            XCTAssertEqual(pcm.periodFrames, SoundFormat.periodFrames)
            XCTAssertGreaterThanOrEqual(pcm.bufferFrames, 8 * SoundFormat.periodFrames)
            XCTAssertEqual(pcm.channels, 1)
            XCTAssertTrue(pcm.isPresent)
        }
    }

    func testPeriodsAreReadAndWritten() throws {
        let capture = try self.pcm(.capture)
        XCTAssertEqual(capture.prepare(), 0)
        XCTAssertEqual(capture.start(), 0)
        var period = [Int16](repeating: 7, count: SoundFormat.periodFrames)
        XCTAssertEqual(capture.read(into: &period), SoundFormat.periodFrames)
        let playback = try self.pcm(.playback)
        XCTAssertEqual(playback.prepare(), 0)
        playback.wake(atFrames: 960)
        XCTAssertEqual(playback.write(period), SoundFormat.periodFrames)
        XCTAssertEqual(playback.start(), 0)
        XCTAssertGreaterThanOrEqual(playback.available(), 0)
        playback.stop()
    }

    func testWhatCannotBeOpenedIsSaidPlainly() {
        XCTAssertThrowsError(try PCM(name: "hw:CARD=nobody", shown: "Headset", direction: .playback)) { error in
            let fault = error as? SoundError
            XCTAssertEqual(fault?.kind, .missing)
            XCTAssertEqual(fault?.text.string, "The loudspeaker \"Headset\" is not there.")
        }
        XCTAssertThrowsError(try PCM(name: "no such kind:1", shown: "x", direction: .capture)) { error in
            XCTAssertNotEqual((error as? SoundError)?.kind, .lost)
        }
    }
}
