// SPDX-License-Identifier: Apache-2.0
import Bytes
import MediaEngine
import RTPWire
import SDPWire
import SIPEngine
import XCTest

@testable import KioskEngine

/// One session through many descriptions: versions, hold, video off and on, refusals, refreshes.
final class MediaSessionChangeTests: XCTestCase {
    private var session = MediaSessionChangeTests.fresh()
    private let configuration = Scene.parse("[call]\nuri = sip:help@far\n").0
    private var world = KioskWorld(
        hasCamera: true, hasScreen: true, buttons: [], audioPorts: StreamPorts(rtp: 40_000, rtcp: 40_001),
        videoPorts: StreamPorts(rtp: 40_002, rtcp: 40_003), cameraSize: PictureSize(width: 640, height: 360),
        cameraFPS: 30, version: "1", ntpAtZero: NTPTime(0))

    private static func fresh() -> MediaSession {
        var generator = Generator(seed: 9)
        let here = SocketAddress(.v4(0xC0A8_6464), port: 5060)
        let there = SocketAddress(.v4(0xC0A8_6401), port: 5060)
        return MediaSession(
            Flow(transport: .udp, local: here, remote: there), MediaSettings(), generator: &generator,
            makeSecret: Scene.secrets(seed: 9))
    }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    private func lines(_ bytes: [UInt8], _ start: String) -> [String] {
        self.text(bytes).components(separatedBy: "\r\n").filter { $0.hasPrefix(start) }
    }

    private func version(_ bytes: [UInt8]) -> UInt64 {
        UInt64(self.lines(bytes, "o=")[0].components(separatedBy: " ")[2]) ?? 0
    }

    /// The directions of the media that are wanted, as they stand in a body.
    private func directions(_ bytes: [UInt8]) -> [String] {
        ["a=sendrecv", "a=sendonly", "a=recvonly", "a=inactive"].flatMap { self.lines(bytes, $0) }
    }

    private func offer() -> [UInt8] { self.session.makeOffer(self.world, self.configuration) }

    private func reoffer(holding: Bool = false, video: Bool = true) -> [UInt8] {
        let intent = MediaIntent(isHolding: holding, hasVideo: video)
        return self.session.makeReoffer(self.world, self.configuration, intent)
    }

    private func answer(_ offer: [UInt8]) -> [UInt8]? {
        self.session.makeAnswer(to: offer, self.world, self.configuration)?.body
    }

    /// A call of ours that was answered; gives our offer.
    @discardableResult
    private func call(_ answer: [UInt8] = Scene.description()) -> [UInt8] {
        let offer = self.offer()
        XCTAssertNotNil(self.session.accept(answer))
        return offer
    }

    // MARK: - Our changes

    func testHoldAndResumeOfOursAnyNumberOfTimes() throws {
        let first = self.call()
        var version = self.version(first)
        for round in 1...50 {
            let hold = self.reoffer(holding: true)
            XCTAssertEqual(self.directions(hold), ["a=sendonly", "a=sendonly"])
            XCTAssertEqual(self.lines(hold, "m=").count, 2)
            XCTAssertFalse(self.session.intent.isHolding, "not before it is answered")
            let answer = Scene.description(audio: "recvonly", video: "recvonly", version: 2 * round)
            let held = try XCTUnwrap(self.session.accept(answer))
            XCTAssertEqual(held.audio?.direction, .sendonly)
            XCTAssertTrue(self.session.hasChanged)
            XCTAssertTrue(self.session.intent.isHolding)
            let resume = self.reoffer()
            XCTAssertEqual(self.directions(resume), ["a=sendrecv", "a=sendrecv"])
            XCTAssertEqual(resume.count, first.count)
            XCTAssertEqual([self.version(hold), self.version(resume)], [version + 1, version + 2])
            version += 2
            XCTAssertEqual(
                self.session.accept(Scene.description(version: 2 * round + 1))?.audio?.direction, .sendrecv)
            XCTAssertFalse(self.session.intent.isHolding)
        }
    }

    func testCaseF104HoldTwiceSaysTheSameTwice() {
        self.call()
        let once = self.reoffer(holding: true)
        XCTAssertNotNil(self.session.accept(Scene.description(audio: "recvonly", video: "recvonly")))
        let twice = self.reoffer(holding: true)
        XCTAssertEqual(self.text(once), self.text(twice))
        XCTAssertNotNil(self.session.accept(Scene.description(audio: "recvonly", video: "recvonly")))
        XCTAssertFalse(self.session.hasChanged)
    }

    func testWhileWeHoldTheFarEndCannotResumeButMayHoldToo() throws {
        self.call()
        _ = self.reoffer(holding: true)
        XCTAssertNotNil(self.session.accept(Scene.description(audio: "recvonly", video: "recvonly")))
        let both = try XCTUnwrap(self.answer(Scene.description(audio: "sendonly", video: "sendonly", version: 3)))
        XCTAssertEqual(self.directions(both), ["a=inactive", "a=inactive"])
        let theirs = try XCTUnwrap(self.answer(Scene.description(version: 4)))
        XCTAssertEqual(self.directions(theirs), ["a=sendonly", "a=sendonly"])
        XCTAssertEqual(self.directions(self.reoffer()), ["a=sendrecv", "a=sendrecv"])
    }

    func testVideoIsTakenAwayAndBroughtBackInItsPlace() throws {
        let first = self.call()
        let without = self.reoffer(video: false)
        XCTAssertEqual(self.lines(without, "m=").map { $0.components(separatedBy: " ")[1] }, ["40000", "0"])
        let sound = try XCTUnwrap(self.session.accept(Scene.description(videoPort: 0, version: 2)))
        XCTAssertNil(sound.video)
        XCTAssertNotNil(sound.audio)
        let again = self.reoffer()
        XCTAssertEqual(self.lines(again, "m="), self.lines(first, "m="))
        XCTAssertNotNil(self.session.accept(Scene.description(version: 3))?.video)
    }

    func testCaseA2VideoThatWeTookAwayIsRefusedInPlaceAndTheSoundGoesOn() throws {
        self.call()
        _ = self.reoffer(video: false)
        XCTAssertNotNil(self.session.accept(Scene.description(videoPort: 0, version: 2)))
        let answer = try XCTUnwrap(self.answer(Scene.description(version: 3)))
        XCTAssertEqual(self.lines(answer, "m=").map { $0.components(separatedBy: " ")[1] }, ["40000", "0"])
        XCTAssertNotNil(self.session.negotiated?.audio)
    }

    func testARefusedChangeLeavesEverythingAsItWas() throws {
        let first = self.call()
        let refused = self.reoffer(holding: true, video: false)
        self.session.rollBack()
        XCTAssertEqual(self.session.intent, MediaIntent())
        XCTAssertEqual(self.session.negotiated?.video?.direction, .sendrecv)
        XCTAssertFalse(self.session.awaitsAnswer)
        XCTAssertEqual(self.text(self.reoffer()), self.text(first), "what is agreed is said as before")
        self.session.rollBack()
        let next = self.reoffer(holding: true)
        XCTAssertGreaterThan(self.version(next), self.version(refused), "a version is never used twice")
    }

    func testAnOfferThatWaitedWhileTheFarEndsWasAnsweredIsMadeAnew() throws {
        self.call()
        let collided = self.reoffer(holding: true)
        let answer = try XCTUnwrap(self.answer(Scene.description(audio: "inactive", version: 2)))
        let again = self.reoffer(holding: true)
        XCTAssertGreaterThan(self.version(answer), self.version(collided))
        XCTAssertGreaterThan(self.version(again), self.version(answer), "versions never go back")
        XCTAssertEqual(self.directions(again), self.directions(collided))
    }

    // MARK: - Nothing new

    func testARefreshOfOursIsAnsweredWithoutAnyChange() {
        let first = self.call()
        XCTAssertEqual(self.text(self.offer()), self.text(first))
        self.session.rollBack()
        XCTAssertNotNil(self.session.accept(Scene.description(version: 2)), "the engine said again what we said last")
        XCTAssertFalse(self.session.hasChanged)
        XCTAssertNotNil(self.session.accept(Scene.description(audio: "sendonly", version: 3)))
        XCTAssertTrue(self.session.hasChanged)
    }

    func testARefreshOfTheFarEndIsAnsweredAsBefore() throws {
        self.call()
        let first = try XCTUnwrap(self.answer(Scene.description(version: 7)))
        let second = try XCTUnwrap(self.answer(Scene.description(version: 7)))
        XCTAssertEqual(self.text(first), self.text(second))
        XCTAssertFalse(self.session.hasChanged)
        let forgetful = try XCTUnwrap(self.answer(Scene.description(audio: "inactive", version: 7)))
        XCTAssertEqual(self.directions(forgetful), ["a=sendrecv", "a=inactive"], "some forget to raise the version")
        XCTAssertTrue(self.session.hasChanged)
    }

    func testHoldOfTheFarEndInEveryDialectFiftyTimes() throws {
        self.call()
        let resumed = try XCTUnwrap(self.answer(Scene.description(version: 2)))
        let whole = self.session.negotiated
        for round in 0..<50 {
            var hold = self.text(Scene.description(version: 3 + 2 * round))
            switch round % 4 {
            case 0: hold = hold.replacingOccurrences(of: "a=sendrecv", with: "a=sendonly")
            case 1: hold = hold.replacingOccurrences(of: "a=sendrecv", with: "a=inactive")
            case 2: hold = hold.replacingOccurrences(of: "c=IN IP4 10.0.0.1", with: "c=IN IP4 0.0.0.0")
            default:
                hold = hold.replacingOccurrences(of: "a=sendrecv\r\n", with: "")
                hold = hold.replacingOccurrences(of: "t=0 0\r\n", with: "t=0 0\r\na=inactive\r\n")
            }
            XCTAssertNotNil(self.answer(Array(hold.utf8)))
            XCTAssertEqual(self.session.negotiated?.audio?.direction.sends, false)
            XCTAssertEqual(self.session.negotiated?.video?.direction.sends, false)
            let again = try XCTUnwrap(self.answer(Scene.description(version: 4 + 2 * round)))
            XCTAssertEqual(again.count, resumed.count)
            XCTAssertEqual(self.session.negotiated, whole)
        }
    }

    // MARK: - Offers without an answer yet

    func testPreviewsOfSeveralBranchesLeaveNothingBehind() {
        _ = self.offer()
        let one = Scene.description(video: "inactive")
        let other = self.text(Scene.description()).replacingOccurrences(of: "10.0.0.1", with: "10.0.0.9")
        XCTAssertEqual(self.session.preview(one)?.audio?.remoteRTP.text, "10.0.0.1:20000")
        XCTAssertEqual(self.session.preview(Array(other.utf8))?.audio?.remoteRTP.text, "10.0.0.9:20000")
        XCTAssertNil(self.session.negotiated)
        XCTAssertTrue(self.session.awaitsAnswer)
        XCTAssertEqual(self.session.accept(one)?.video?.direction, .inactive)
        XCTAssertTrue(self.session.hasChanged)
    }

    func testAnOfferOfTheFarEndBeforeItsAnswerIsNotUndoneByThatAnswer() throws {
        _ = self.offer()
        XCTAssertNotNil(self.session.preview(Scene.description(version: 1)))
        let moved = self.text(Scene.description(version: 2)).replacingOccurrences(of: "o 20000", with: "o 30000")
        XCTAssertNotNil(self.answer(Array(moved.utf8)))
        XCTAssertEqual(self.session.accept(Scene.description(version: 1))?.audio?.remoteRTP.port, 30_000)
        XCTAssertFalse(self.session.hasChanged)
        XCTAssertFalse(self.session.awaitsAnswer)
    }

    func testAnAnswerOfAnotherBranchCountsWhateverTheFirstHadAgreed() throws {
        _ = self.offer()
        XCTAssertNotNil(self.answer(Scene.description(version: 2)))
        let other = self.text(Scene.description(version: 1)).replacingOccurrences(of: "10.0.0.1", with: "10.0.0.9")
        XCTAssertEqual(self.session.accept(Array(other.utf8))?.audio?.remoteRTP.text, "10.0.0.9:20000")
    }

    func testAnOfferThatIsAskedForKeepsThePlacesOfTheSession() throws {
        let swapped = self.text(Scene.description()).components(separatedBy: "m=")
        let offer = swapped[0] + "m=" + swapped[2] + "m=" + swapped[1]
        XCTAssertNotNil(self.answer(Array(offer.utf8)))
        let ours = self.offer()
        XCTAssertEqual(self.lines(ours, "m=").map { $0.hasPrefix("m=video") }, [true, false])
        XCTAssertEqual(self.lines(ours, "m=video"), ["m=video 40002 RTP/AVP 102 103"])
    }

    func testAnAnswerThatMakesNoSenseSaysWhyAndChangesNothing() {
        _ = self.offer()
        let plain = self.text(Scene.description(videoPort: 0))
        let secure = plain.replacingOccurrences(of: "RTP/AVP 0", with: "RTP/SAVP 0")
        XCTAssertNil(self.session.accept(Array(secure.utf8)))
        XCTAssertEqual(self.session.fault?.sentence, "audio answered by RTP/SAVP, which was not offered")
        XCTAssertNil(self.session.accept(Array("v=0".utf8)))
        XCTAssertEqual(self.session.fault, .nothingInCommon)
        XCTAssertNil(self.session.accept([]))
        XCTAssertNil(self.session.fault)
        XCTAssertNotNil(self.session.accept(Scene.description()))
    }

    // MARK: - Size

    func testCaseA28ATrimmedOfferLeaves800BytesForHeaders() {
        let full = self.offer()
        let trimmed = self.session.makeOffer(self.world, self.configuration, trimmed: true)
        XCTAssertLessThan(trimmed.count, 500)
        XCTAssertLessThan(full.count, 850)
        XCTAssertNotNil(self.session.accept(Scene.description()))
        let hold = self.reoffer(holding: true)
        XCTAssertLessThan(hold.count, 530, "a call that began trimmed stays so")
    }
}
