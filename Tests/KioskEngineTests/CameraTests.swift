// SPDX-License-Identifier: Apache-2.0
import Bytes
import SDPWire
import SIPEngine
import SIPWire
import XCTest

@testable import KioskEngine

/// The camera is turned, or comes back with pictures of another size.
final class CameraTests: XCTestCase {
    private let upright = PictureSize(width: 360, height: 640)

    private func turns(_ scene: Scene) -> [Int] {
        scene.outputs.compactMap { output in
            guard case .turnCamera(let degrees) = output else { return nil }
            return degrees
        }
    }

    private func encoder(_ scene: Scene) -> EncoderPlan? {
        for order in scene.orders.reversed() {
            if case .update(_, let encoder, _) = order { return encoder }
            if case .start(_, let encoder, _) = order { return encoder }
        }
        return nil
    }

    func testAWordTurnsTheCamera() {
        let scene = Scene()
        for degrees in [90, 0, 270, 180] {
            scene.feed(.control(Scene.client, line: "rotate camera " + ByteString(decimal: degrees)))
        }
        XCTAssertEqual(self.turns(scene), [90, 0, 270, 180])
        let faulty: [ByteString] = [
            "rotate", "rotate camera", "rotate camera 45", "rotate screen 90", "rotate camera 90 0",
        ]
        for line in faulty {
            scene.feed(.control(Scene.client, line: line))
            XCTAssertEqual(scene.replies.last?["ok"] as? Bool, false, line.string)
        }
        XCTAssertEqual(self.turns(scene).count, 4)
    }

    func testTheFileTurnsItBetweenCallsWithoutARestart() {
        let scene = Scene.inCall()
        let (turned, problems) = Scene.parse("[call]\nuri = sip:help@far\n[camera]\nrotate = 90\n")
        scene.feed(.reload(turned, problems))
        XCTAssertEqual(self.turns(scene), [])
        scene.press(.hook)
        scene.pass(5_000)
        XCTAssertEqual(self.turns(scene), [90])
        XCTAssertEqual(scene.events("reload").last?["restart"] as? Bool, false)
        scene.feed(.reload(turned, problems))
        XCTAssertEqual(self.turns(scene), [90], "once")
    }

    func testAnotherSizeIsSentAtOnceAndOfferedAnew() {
        let scene = Scene.inCall()
        XCTAssertEqual(self.encoder(scene)?.size, PictureSize(width: 640, height: 360))
        XCTAssertFalse(scene.offers[0].contains("imageattr"), "an INVITE has to be short")
        scene.forget()
        scene.feed(.camera(self.upright, fps: 30))
        XCTAssertEqual(scene.orderNames, ["update"])
        XCTAssertEqual(self.encoder(scene)?.size, self.upright)
        XCTAssertEqual(scene.events("camera").first?["height"] as? Int, 640)
        XCTAssertEqual(scene.offers.count, 1)
        XCTAssertTrue(scene.offers[0].contains("a=imageattr:* send [x=360,y=640] recv *\r\n"))
        scene.farAnswers(.ok, Scene.description(version: 2))
        XCTAssertEqual(scene.state, "connected")
        XCTAssertEqual(scene.orderNames.filter { $0 == "update" }.count, 1, "media go on as they do")
        scene.pass(60_000)
        XCTAssertEqual(scene.offers.count, 1)
    }

    func testARefusalLeavesTheCallAndThePictureAsTheyAre() {
        let scene = Scene.inCall()
        scene.feed(.camera(self.upright, fps: 30))
        scene.farAnswers(.notAcceptableHere)
        XCTAssertEqual(scene.state, "connected")
        XCTAssertEqual(self.encoder(scene)?.size, self.upright)
    }

    func testOutOfACallTheNextOneHasTheNewSize() {
        let scene = Scene()
        scene.feed(.camera(self.upright, fps: 15))
        XCTAssertEqual(scene.orderNames, [])
        scene.press(.call)
        scene.farAnswers()
        XCTAssertEqual(self.encoder(scene)?.size, self.upright)
        XCTAssertEqual(self.encoder(scene)?.fps, 15)
    }

    func testWithoutOurPictureNothingIsOffered() {
        let scene = Scene()
        scene.press(.call)
        scene.farAnswers(.ok, Scene.description(video: "sendonly"))
        scene.forget()
        scene.feed(.camera(self.upright, fps: 30))
        XCTAssertEqual(scene.offers, [])
        XCTAssertEqual(scene.orderNames, [])
    }
}
