// SPDX-License-Identifier: Apache-2.0
import Bytes
import SDPWire
import XCTest

@testable import KioskEngine

/// What the decoder can do, what is offered for it, and what is told of the way of the pictures.
final class VideoChainTests: XCTestCase {
    private func level(_ macroblocksPerSecond: Int, _ width: Int, _ height: Int) -> UInt8 {
        DecoderAbility(macroblocksPerSecond: macroblocksPerSecond, widthMax: width, heightMax: height).level.levelIDC
    }

    func testALevelIsOfferedOnlyWithSomeToSpare() {
        // (macroblocks a second, size, level): level 4.0 demands 245,760 of 1080p, 3.1 108,000 of 720p.
        let rows: [(Int, Int, Int, UInt8)] = [
            (344_064, 1920, 1088, 40), (344_063, 1920, 1088, 32), (9_000_000, 1920, 1079, 32),
            (9_000_000, 1280, 720, 32), (151_200, 1280, 720, 31), (151_199, 1280, 720, 30), (151_200, 1279, 720, 30),
            (56_700, 720, 576, 30), (28_350, 720, 576, 22), (27_720, 352, 288, 21), (27_719, 352, 288, 20),
            (16_631, 352, 288, 13), (0, 0, 0, 13), (-1, -1, -1, 13),
            (Int(Int32.max), Int(Int32.max), Int(Int32.max), 40),
        ]
        for (rate, width, height, wanted) in rows {
            XCTAssertEqual(self.level(rate, width, height), wanted, "\(rate) at \(width)x\(height)")
        }
    }

    func testTheNextCallIsOfferedWhatTheDecoderCan() {
        let scene = Scene()
        scene.feed(.video(.ability(DecoderAbility(macroblocksPerSecond: 1_000_000, widthMax: 1920, heightMax: 1088))))
        scene.press(.call)
        XCTAssertTrue(scene.offerAtFar.contains("profile-level-id=42e028;packetization-mode=1"))
        XCTAssertFalse(scene.offerAtFar.contains("42e01f"))
    }

    func testACallKeepsToWhatItOfferedFirst() {
        var world = Scene().kiosk.world
        var generator = Generator(seed: 1)
        var session = MediaSession(
            Scene.toFar, MediaSettings(), generator: &generator, makeSecret: { [UInt8](repeating: 7, count: $0) })
        let configuration = Scene.parse("[call]\nuri = sip:help@far\n[video]\nh264_licence = own\n").0
        let first = String(decoding: session.makeOffer(world, configuration), as: UTF8.self)
        world.decoderLevel = H264Level(levelIDC: 13)
        let second = String(decoding: session.makeOffer(world, configuration), as: UTF8.self)
        XCTAssertTrue(first.contains("profile-level-id=42e01f"))
        XCTAssertEqual(first, second)
    }

    func testTheDoctorTellsEachLinkAndWhySoftwareTookOver() {
        let scene = Scene()
        scene.feed(.video(.link(.decoder, "rkvdec, /dev/video1")))
        scene.feed(.video(.fellBack(.decoder, "no picture for 200 ms")))
        scene.feed(.video(.fellBack(.encoder, "gone")))
        scene.feed(.video(.fellBack(.decoder, "no picture for 300 ms")))
        scene.feed(.control(Scene.client, line: "doctor video"))
        XCTAssertEqual(
            scene.replies.last?["lines"] as? [String],
            [
                "camera: nothing is known yet", "encoder: nothing is known yet", "decoder: rkvdec, /dev/video1",
                "display: nothing is known yet", "offered: H.264 up to level 3.1",
                "software took over from the encoder in a call: gone",
                "software took over from the decoder in a call: no picture for 300 ms",
            ])
        let event = scene.events("decoder").last
        XCTAssertEqual(event?["now"] as? String, "software")
        XCTAssertEqual(event?["why"] as? String, "no picture for 300 ms")
        XCTAssertEqual(scene.events("encoder").last?["why"] as? String, "gone")
        scene.feed(.control(Scene.client, line: "doctor audio"))
        XCTAssertEqual(scene.replies.last?["ok"] as? Bool, false)
    }
}
