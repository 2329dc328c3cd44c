// SPDX-License-Identifier: Apache-2.0

import Bytes
import MediaEngine
import RTPWire
import XCTest

final class VideoTests: XCTestCase {
    private var bench = Bench()
    private var peer = PeerStream.video()

    override func setUp() {
        self.bench = Bench()
        self.peer = PeerStream.video()
        self.bench.give(.start(Call.plan(video: Call.video())))
    }

    private func see(_ packets: [[UInt8]]) {
        for packet in packets { self.bench.give(.received(packet, .video, .rtp, from: Call.videoRTP)) }
    }

    /// A running stream whose first key frame is decoded; nothing of it is left in the bench.
    private func begin() {
        self.see(self.peer.picture(key: true))
        self.bench.give(.keyFrameDecoded)
        self.bench.pass(ms: 1100)
        self.bench.forget()
    }

    /// Milliseconds from `start` of each request for a key frame.
    private func asked(since start: Instant) -> [Int] {
        self.bench.pictureLosses.map { ($0 - start).milliseconds }
    }

    private var statistics: StreamStatistics { self.bench.engine.statistics.video }

    // MARK: Beginning

    func testAStreamThatBeginsWithAKeyFrameIsShownAtOnceAndNotAskedFor() {
        self.see(self.peer.picture(key: true, size: 5000))
        self.see(self.peer.picture(key: false))
        self.bench.give(.keyFrameDecoded)
        self.bench.pass(ms: 5000)
        XCTAssertEqual(self.bench.pictures.map { $0.isKeyFrame }, [true, false])
        XCTAssertEqual(self.bench.pictures.first?.nalUnits, Pictures.units(key: true, size: 5000))
        XCTAssertEqual(self.bench.pictureLosses, [])
    }

    func testAStreamJoinedInTheMiddleIsHeldAndAskedForUntilDecoded() {
        let start = self.bench.now
        for _ in 0..<100 {
            self.see(self.peer.picture(key: false))
            self.bench.pass(ms: 33)
        }
        XCTAssertEqual(self.bench.pictures.count, 0)
        XCTAssertEqual(self.asked(since: start), [0, 100, 300, 700, 1500, 2500])
        self.see(self.peer.picture(key: true))
        XCTAssertEqual(self.bench.pictures.map { $0.isKeyFrame }, [true])
        self.bench.give(.keyFrameDecoded)
        self.bench.forget()
        self.bench.pass(ms: 10_000)
        XCTAssertEqual(self.bench.pictureLosses, [])
        XCTAssertEqual(self.statistics.pliSent, 6)
    }

    func testTheFirstPacketsLostIsNoDifference() {
        let start = self.bench.now
        let keyFrame = self.peer.picture(key: true, size: 20_000)
        self.see(Array(keyFrame[10...]))
        self.bench.pass(ms: 10)
        self.see(self.peer.picture(key: false))
        XCTAssertEqual(self.bench.pictures.count, 0)
        XCTAssertEqual(self.asked(since: start).first, 0)
    }

    func testAKeyFrameWithoutParameterSetsIsNoKeyFrameUntilTheyAreKnown() {
        let bare = [Pictures.units(key: true)[2]]
        func send() {
            for payload in self.peer.packetizer.payloads(of: bare) {
                let packet = RTPPacket(
                    marker: payload.marker, payloadType: Call.h264, sequence: self.peer.sequence,
                    timestamp: self.peer.timestamp, ssrc: self.peer.ssrc, payload: payload.bytes[...])
                self.peer.sequence = self.peer.sequence.next
                self.see([packet.printed()])
            }
        }
        send()
        XCTAssertEqual(self.bench.pictures.count, 0)
        self.bench.give(.start(Call.plan(video: Call.video(parameterSets: [Pictures.sps, Pictures.pps]))))
        send()
        XCTAssertEqual(self.bench.pictures.map { $0.nalUnits }, [Pictures.units(key: true)])
    }

    func testAPeerThatKnowsOnlyFIRIsAskedByFIRWithAFreshNumberEachTime() {
        self.bench.give(.start(Call.plan(video: Call.video(feedback: VideoFeedback(pli: false, fir: true)))))
        self.see(self.peer.picture(key: false))
        self.bench.pass(ms: 1000)
        var numbers: [UInt8] = []
        for report in self.bench.reports(.video) {
            for case .fullIntra(_, let requests) in report.packets {
                XCTAssertEqual(requests.map { $0.source }, [self.peer.ssrc])
                numbers += requests.map { $0.commandSequence }
            }
        }
        XCTAssertEqual(numbers, [1, 2, 3, 4])
        XCTAssertEqual(self.bench.pictureLosses, [])
    }

    func testRequestsTravelBehindAReport() {
        self.see(self.peer.picture(key: false))
        let report = self.bench.reports(.video).first?.packets
        XCTAssertEqual(report?.count, 3)
        XCTAssertEqual(report?.last, .pictureLoss(sender: Call.ourVideo, media: self.peer.ssrc))
        XCTAssertNoThrow(try RTCPCompound.parse(self.bench.sent.last?.bytes ?? [], reducedSize: false))
    }

    // MARK: Loss

    func testLossIsAskedForAtOnceAndHeldUntilTheNextKeyFrame() {
        self.begin()
        self.see(self.peer.picture(key: false))
        _ = self.peer.picture(key: false)
        let start = self.bench.now
        for _ in 0..<5 {
            self.see(self.peer.picture(key: false))
            self.bench.pass(ms: 33)
        }
        XCTAssertEqual(self.bench.pictures.count, 1)
        XCTAssertEqual(self.asked(since: start).first, 20, "after the patience of the reorder buffer")
        self.see(self.peer.picture(key: true))
        self.see(self.peer.picture(key: false))
        XCTAssertEqual(self.bench.pictures.map { $0.isKeyFrame }, [false, true, false])
        XCTAssertEqual(self.statistics.packetsLost, 1)
    }

    func testAKeyFrameThatLostAPacketIsNotShown() {
        self.begin()
        var keyFrame = self.peer.picture(key: true, size: 10_000)
        keyFrame.remove(at: 4)
        self.see(keyFrame)
        self.bench.pass(ms: 25)
        self.see(self.peer.picture(key: false))
        self.bench.pass(ms: 100)
        XCTAssertEqual(self.bench.pictures.count, 0)
        XCTAssertGreaterThan(self.bench.pictureLosses.count, 0)
        self.see(self.peer.picture(key: true, size: 10_000))
        XCTAssertEqual(self.bench.pictures.map { $0.isKeyFrame }, [true])
    }

    func testReorderedPacketsWithinTheTimeAreNoLoss() {
        self.begin()
        for _ in 0..<10 {
            var packets = self.peer.picture(key: false, size: 6000)
            packets.swapAt(1, 3)
            self.see(packets)
            self.bench.pass(ms: 33)
        }
        XCTAssertEqual(self.bench.pictures.count, 10)
        XCTAssertEqual(self.bench.pictureLosses, [])
    }

    func testDuplicatesAreNoLoss() {
        self.begin()
        for _ in 0..<10 { self.see(self.peer.picture(key: false, size: 6000).flatMap { [$0, $0] }) }
        XCTAssertEqual(self.bench.pictures.count, 10)
        XCTAssertEqual(self.bench.pictureLosses, [])
    }

    func testNewsOfAnOldKeyFrameDoesNotEndTheAsking() {
        self.begin()
        _ = self.peer.picture(key: false)
        self.see(self.peer.picture(key: false))
        self.bench.pass(ms: 25)
        self.bench.give(.keyFrameDecoded)
        self.see(self.peer.picture(key: false))
        XCTAssertEqual(self.bench.pictures.count, 0)
        self.bench.pass(ms: 1000)
        XCTAssertGreaterThan(self.bench.pictureLosses.count, 2)
    }

    func testAPictureThatBreaksInTheDecoderIsAskedForAndHeld() {
        self.begin()
        let start = self.bench.now
        self.bench.give(.pictureBroken)
        self.see(self.peer.picture(key: false))
        XCTAssertEqual(self.bench.pictures.count, 0)
        XCTAssertEqual(self.asked(since: start), [0])
        self.see(self.peer.picture(key: true))
        XCTAssertEqual(self.bench.pictures.count, 1)
    }

    func testNewsOfOldBrokenPicturesDoesNotThrowTheKeyFrameAway() {
        self.begin()
        self.bench.give(.pictureBroken)
        self.see(self.peer.picture(key: true))
        self.bench.give(.pictureBroken)
        self.see(self.peer.picture(key: false))
        XCTAssertEqual(self.bench.pictures.count, 2)
        self.bench.give(.keyFrameDecoded)
        let asked = self.bench.pictureLosses.count
        self.bench.pass(ms: 5000)
        XCTAssertEqual(self.bench.pictureLosses.count, asked)
    }

    func testAKeyFrameThatBreaksInTheDecoderIsAskedForAgain() {
        self.see(self.peer.picture(key: true))
        let start = self.bench.now
        self.bench.give(.pictureBroken)
        self.bench.pass(ms: 2000)
        XCTAssertEqual(self.asked(since: start), [300, 1300])
    }

    func testLostRequestsAreRepeated() {
        self.begin()
        _ = self.peer.picture(key: false)
        var answered = 0
        for _ in 0..<60 {
            // The first three requests do not reach the peer.
            let asks = self.bench.pictureLosses.count
            if asks >= 4 && answered < asks {
                answered = asks
                self.see(self.peer.picture(key: true))
            } else {
                self.see(self.peer.picture(key: false))
            }
            self.bench.pass(ms: 33)
            guard self.bench.pictures.isEmpty else { break }
        }
        XCTAssertEqual(self.bench.pictures.first?.isKeyFrame, true)
        XCTAssertEqual(self.bench.pictureLosses.count, 4)
    }

    func testAPeerThatSendsNoPicturesIsNotAskedForThem() {
        self.bench.pass(ms: 30_000)
        XCTAssertEqual(self.bench.pictureLosses, [])
        XCTAssertEqual(self.statistics.pliSent, 0)
    }
}
