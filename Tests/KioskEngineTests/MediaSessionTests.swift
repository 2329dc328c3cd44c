// SPDX-License-Identifier: Apache-2.0
import Bytes
import MediaEngine
import RTPWire
import SDPWire
import SIPEngine
import SIPWire
import XCTest

@testable import KioskEngine

/// From descriptions to orders for the media threads.
final class MediaSessionTests: XCTestCase {
    private func encoder(_ scene: Scene) -> EncoderPlan? {
        for order in scene.orders.reversed() {
            if case .start(_, let encoder, _) = order { return encoder }
            if case .update(_, let encoder, _) = order { return encoder }
        }
        return nil
    }

    /// A call whose far end answers with this video format.
    private func called(_ fmtp: String, bandwidth: String = "", _ edit: (inout KioskWorld) -> Void) -> Scene {
        let scene = Scene("[video]\nbitrate = 4000", edit)
        scene.press(.call)
        var text = String(decoding: Scene.description(), as: UTF8.self)
        text = text.replacingOccurrences(of: "profile-level-id=42e01f;packetization-mode=1", with: fmtp)
        text = text.replacingOccurrences(of: "a=rtpmap:102", with: bandwidth + "a=rtpmap:102")
        scene.farAnswers(.ok, Array(text.utf8))
        return scene
    }

    func testThePlanSaysWhatWasAgreed() throws {
        let scene = Scene.inCall()
        let plan = try XCTUnwrap(scene.plan)
        let audio = try XCTUnwrap(plan.audio)
        XCTAssertEqual(audio.codec, .pcmu)
        XCTAssertEqual(audio.sendPayloadType, PayloadType(0))
        XCTAssertEqual(audio.stream.remoteRTP.text, "10.0.0.1:20000")
        XCTAssertEqual(audio.stream.remoteRTCP.text, "10.0.0.1:20001")
        XCTAssertTrue(audio.stream.sends && audio.stream.receives)
        let video = try XCTUnwrap(plan.video)
        XCTAssertEqual(video.packetizationMode, .nonInterleaved)
        XCTAssertEqual(video.sendPayloadType, PayloadType(102))
        XCTAssertTrue(video.feedback.pli)
        XCTAssertEqual(video.stream.remoteRTP.text, "10.0.0.1:20002")
        XCTAssertEqual(video.framesPerSecond, 30)
        XCTAssertNotEqual(audio.stream.localSSRC, video.stream.localSSRC)
        XCTAssertEqual(audio.stream.cname, video.stream.cname, "one sender, so that lips can be synchronised")
    }

    func testCaseD62TheEncoderKeepsToWhatTheFarEndCanFollow() throws {
        let cases: [(fmtp: String, camera: (Int, Int), size: (Int, Int), fps: Int)] = [
            ("profile-level-id=42e01f;packetization-mode=1", (1280, 720), (1280, 720), 30),
            ("profile-level-id=42e01f;packetization-mode=1", (640, 360), (640, 360), 30),
            ("profile-level-id=42800d;packetization-mode=1", (640, 360), (400, 224), 30),
            ("profile-level-id=42e00a;packetization-mode=1", (640, 360), (160, 90), 20),
            ("profile-level-id=42e00d;packetization-mode=1;max-fs=3600", (640, 360), (480, 270), 20),
            ("profile-level-id=42e00d;packetization-mode=1;max-fs=3600;max-mbps=108000", (640, 360), (640, 360), 30),
            ("profile-level-id=4280D;packetization-mode=1", (640, 360), (160, 90), 20),
        ]
        for (fmtp, camera, size, fps) in cases {
            let scene = self.called(fmtp) { $0.cameraSize = PictureSize(width: camera.0, height: camera.1) }
            let plan = try XCTUnwrap(self.encoder(scene), fmtp)
            XCTAssertEqual(plan.size, PictureSize(width: size.0, height: size.1), "\(fmtp) \(camera)")
            XCTAssertEqual(plan.fps, fps, fmtp)
            XCTAssertEqual(plan.nalSizeMax, nil)
        }
    }

    func testPicturesThatMustNotBeCutAreCodedInSmallSlices() throws {
        let scene = self.called("profile-level-id=42e01f;packetization-mode=0") { _ in }
        let plan = try XCTUnwrap(self.encoder(scene))
        XCTAssertEqual(plan.nalSizeMax, 1200)
        XCTAssertEqual(scene.plan?.video?.packetizationMode, .singleNAL)
    }

    func testTheBitrateIsTheLeastOfWhatTheFileTheLevelAndTheFarEndAllow() throws {
        let file = self.called("profile-level-id=42e01f;packetization-mode=1") { _ in }
        XCTAssertEqual(self.encoder(file)?.bitrateKbps, 4000)
        let level = self.called("profile-level-id=42e00d;packetization-mode=1") { _ in }
        XCTAssertEqual(self.encoder(level)?.bitrateKbps, 768)
        let raised = self.called("profile-level-id=42e00d;packetization-mode=1;max-br=1500") { _ in }
        XCTAssertEqual(self.encoder(raised)?.bitrateKbps, 1500)
        let asked = self.called("profile-level-id=42e01f;packetization-mode=1", bandwidth: "b=AS:500\r\n") { _ in }
        XCTAssertEqual(self.encoder(asked)?.bitrateKbps, 475)
        let nothing = self.called("profile-level-id=42e01f;packetization-mode=1", bandwidth: "b=AS:1\r\n") { _ in }
        XCTAssertEqual(self.encoder(nothing)?.bitrateKbps, 32)
    }

    func testWithoutACameraNothingIsEncoded() {
        let scene = self.called("profile-level-id=42e01f;packetization-mode=1") { $0.hasCamera = false }
        XCTAssertNil(self.encoder(scene))
        XCTAssertEqual(scene.plan?.video?.stream.sends, false)
        XCTAssertEqual(scene.plan?.video?.stream.receives, true)
    }

    func testVideoThatTheFarEndRefusesCostsOnlyTheVideo() {
        let scene = Scene()
        scene.press(.call)
        scene.farAnswers(.ok, Scene.description(videoPort: 0))
        XCTAssertEqual(scene.state, "connected")
        XCTAssertNil(scene.plan?.video)
        XCTAssertEqual(scene.screen?.headline, "Connected")
    }

    func testSoundThatTheFarEndRefusesLeavesThePicture() {
        let scene = Scene()
        scene.press(.call)
        let text = String(decoding: Scene.description(), as: UTF8.self)
        scene.farAnswers(.ok, Array(text.replacingOccurrences(of: "m=audio 20000", with: "m=audio 0").utf8))
        XCTAssertEqual(scene.state, "connected")
        XCTAssertNil(scene.plan?.audio)
        XCTAssertNotNil(scene.plan?.video)
    }

    /// The fields of the `o=` lines of our descriptions, oldest first.
    private func origins(_ texts: [String]) -> [[String]] {
        texts.map { $0.components(separatedBy: "o=").last?.components(separatedBy: " ").prefix(3).map { $0 } ?? [] }
    }

    func testADescriptionOfOursHasAHigherVersionWhereItSaysSomethingElseAndOneIdentity() {
        let scene = Scene.inCall()
        var texts = [scene.offerAtFar]
        for (version, direction) in [(2, "sendrecv"), (3, "sendrecv"), (4, "sendonly"), (5, "sendrecv")] {
            scene.farReinvites(Scene.description(audio: direction, version: version), cseq: 1000 + version)
            scene.farAcknowledges(cseq: 1000 + version)
            texts.append(scene.answers.last ?? "")
        }
        let fields = self.origins(texts)
        XCTAssertEqual(Set(fields.map { $0.first ?? "" }).count, 1)
        XCTAssertEqual(Set(fields.map { $0[1] }).count, 1)
        let versions = fields.compactMap { UInt64($0[2]) }
        XCTAssertEqual(versions, versions.first.map { [$0, $0 + 1, $0 + 1, $0 + 2, $0 + 3] })
    }

    func testAudioCodecsAreOfferedInTheOrderOfTheFile() {
        let scene = Scene("[audio]\ncodecs = pcma, opus")
        scene.press(.call)
        let line = scene.offerAtFar.components(separatedBy: "\r\n").first { $0.hasPrefix("m=audio") }
        XCTAssertEqual(line?.hasPrefix("m=audio 40000 RTP/AVP 8 96"), true, line ?? "")
    }
}
