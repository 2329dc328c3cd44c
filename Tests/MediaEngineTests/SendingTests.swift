// SPDX-License-Identifier: Apache-2.0

import Bytes
import RTPWire
import XCTest

@testable import MediaEngine

final class SendingTests: XCTestCase {
    private var bench = Bench()
    private let sound: [UInt8] = Array(repeating: 0xFF, count: 160)

    override func setUp() {
        self.bench = Bench()
    }

    private func speak(turns: Int, stepMs: Int = 20) {
        for _ in 0..<turns {
            self.bench.give(.audioEncoded(self.sound, samples: 160, captured: self.bench.now))
            self.bench.pass(ms: stepMs)
        }
    }

    // MARK: Sound

    func testSoundGoesToTheAgreedAddressInSequence() {
        self.bench.give(.start(Call.plan(audio: Call.audio())))
        self.speak(turns: 50)
        let sent = self.bench.media(.audio).map { $0.packet }
        XCTAssertEqual(sent.count, 50)
        XCTAssertEqual(Set(self.bench.sent.filter { $0.channel == .rtp }.map { $0.to }), [Call.audioRTP])
        for (earlier, later) in zip(sent, sent.dropFirst()) {
            XCTAssertEqual(later.sequence, earlier.sequence.next)
            XCTAssertEqual(later.timestamp.distance(from: earlier.timestamp), 160)
        }
        XCTAssertEqual(sent.map { $0.marker }, [true] + Array(repeating: false, count: 49))
        XCTAssertEqual(Set(sent.map { $0.ssrc }), [Call.ourAudio])
        XCTAssertEqual(Set(sent.map { $0.payloadType }), [Call.pcmu])
    }

    func testTimestampsCountSamplesThroughSmallJitterAndJumpOverGaps() {
        self.bench.give(.start(Call.plan(audio: Call.audio())))
        self.speak(turns: 10, stepMs: 23)
        self.bench.pass(ms: 1000)
        self.speak(turns: 2)
        let sent = self.bench.media(.audio).map { $0.packet }
        for index in 1..<10 { XCTAssertEqual(sent[index].timestamp.distance(from: sent[index - 1].timestamp), 160) }
        let jump = sent[10].timestamp.distance(from: sent[9].timestamp)
        XCTAssertEqual(jump, Int32((1000 + 23) * 8 + 9 * 24), "back on the clock")
        XCTAssertTrue(sent[10].marker)
        XCTAssertFalse(sent[11].marker)
    }

    func testStartsDifferWithTheSeedAndRepeatWithIt() {
        func first(seed: UInt64) -> RTPPacket? {
            var bench = Bench(seed: seed)
            bench.give(.start(Call.plan(audio: Call.audio())))
            bench.give(.audioEncoded(self.sound, samples: 160, captured: bench.now))
            return bench.media(.audio).first?.packet
        }
        XCTAssertEqual(first(seed: 1)?.sequence, first(seed: 1)?.sequence)
        XCTAssertNotEqual(first(seed: 1)?.sequence, first(seed: 2)?.sequence)
        XCTAssertNotEqual(first(seed: 1)?.timestamp, first(seed: 2)?.timestamp)
    }

    func testNothingIsSentOnHoldBeforeOrAfterACall() {
        self.speak(turns: 2)
        self.bench.give(.start(Call.plan(audio: Call.audio(sends: false))))
        self.speak(turns: 2)
        self.bench.give(.start(Call.plan(audio: Call.audio(rtp: SocketAddress(.v4(0), port: 4000)))))
        self.speak(turns: 2)
        self.bench.give(.stop)
        self.speak(turns: 2)
        XCTAssertEqual(self.bench.media(.audio).count, 0)
    }

    // MARK: Pictures

    func testPicturesCarryTheCaptureTimeAt90kHz() {
        self.bench.give(.start(Call.plan(video: Call.video())))
        for _ in 0..<3 {
            self.bench.give(.videoEncoded(Pictures.units(key: false), isKeyFrame: false, captured: self.bench.now))
            self.bench.pass(Duration(nanoseconds: 33_333_333))
        }
        let times = self.bench.media(.video).map { $0.packet.timestamp }
        XCTAssertEqual(times.count, 3)
        XCTAssertTrue((2999...3000).contains(times[1].distance(from: times[0])))
        XCTAssertTrue((5999...6000).contains(times[2].distance(from: times[0])))
    }

    func testABigKeyFrameIsSpreadAndInOrder() {
        self.bench.give(.start(Call.plan(video: Call.video())))
        let start = self.bench.now
        self.bench.give(.videoEncoded(Pictures.units(key: true, size: 60_000), isKeyFrame: true, captured: start))
        XCTAssertEqual(self.bench.media(.video).count, 12)
        self.bench.pass(ms: 40)
        let sent = self.bench.media(.video)
        XCTAssertGreaterThan(sent.count, 50)
        XCTAssertLessThanOrEqual(sent.map { ($0.at - start).milliseconds }.max() ?? 99, 16)
        XCTAssertEqual(
            sent.map { $0.packet.sequence }, (0..<sent.count).map { sent[0].packet.sequence.advanced(by: $0) })
        XCTAssertEqual(sent.filter { $0.packet.marker }.count, 1)
        XCTAssertEqual(sent.last?.packet.marker, true)
    }

    func testPicturesNeverQueueBehindEachOther() {
        self.bench.give(.start(Call.plan(video: Call.video())))
        for _ in 0..<30 {
            self.bench.give(
                .videoEncoded(Pictures.units(key: true, size: 60_000), isKeyFrame: true, captured: self.bench.now))
            self.bench.pass(ms: 1)
        }
        self.bench.pass(ms: 40)
        let sent = self.bench.media(.video)
        XCTAssertEqual(sent.filter { $0.packet.marker }.count, 30)
        XCTAssertEqual(sent.last.map { ($0.at - sent[0].at).milliseconds <= 46 }, true)
    }

    // MARK: Key frames for the peer

    private func ask(_ packets: [RTCPPacket], from source: SocketAddress = Call.videoRTCP) {
        self.bench.give(.received(RTCPCompound.print(packets), .video, .rtcp, from: source))
    }

    private func encodeWhatIsOrdered() {
        self.bench.give(.videoEncoded(Pictures.units(key: true), isKeyFrame: true, captured: self.bench.now))
    }

    func testAKeyFrameIsOrderedAtTheStartAndOnceMore() {
        self.bench.give(.start(Call.plan(video: Call.video())))
        let start = self.bench.now
        XCTAssertEqual(self.bench.keyFrameOrders, [start])
        self.encodeWhatIsOrdered()
        self.bench.pass(ms: 8000)
        XCTAssertEqual(self.bench.keyFrameOrders.map { ($0 - start).milliseconds }, [0, 1000])
    }

    func testAPeerThatCannotAskGetsKeyFramesUnasked() {
        self.bench.give(.start(Call.plan(video: Call.video(feedback: VideoFeedback()))))
        let start = self.bench.now
        for _ in 0..<80 {
            self.encodeWhatIsOrdered()
            self.bench.pass(ms: 100)
            guard self.bench.keyFrameOrders.count < 5 else { break }
            self.bench.pass(ms: 400)
        }
        XCTAssertGreaterThanOrEqual(self.bench.keyFrameOrders.count, 5)
        XCTAssertLessThan((self.bench.now - start).milliseconds, 6000)
    }

    func testPLIAndFIROfEveryFormOrderAKeyFrame() {
        let table: [(String, [RTCPPacket], SocketAddress, Bool)] = [
            ("PLI", [.pictureLoss(sender: SSRC(5), media: Call.ourVideo)], Call.videoRTCP, true),
            (
                "PLI behind a report",
                [.receiverReport(SSRC(5), []), .pictureLoss(sender: SSRC(5), media: Call.ourVideo)], Call.videoRTCP,
                true
            ),
            (
                "PLI for a source a gateway forgot", [.pictureLoss(sender: SSRC(5), media: SSRC(6))], Call.videoRTCP,
                true
            ),
            (
                "PLI from another port of the peer", [.pictureLoss(sender: SSRC(5), media: Call.ourVideo)],
                SocketAddress(Call.peer, port: 9999), true
            ),
            (
                "FIR", [.fullIntra(sender: SSRC(5), [FullIntraRequest(source: Call.ourVideo, commandSequence: 1)])],
                Call.videoRTCP, true
            ),
            ("FIR of RFC 2032", [.fullIntra(sender: SSRC(5), [])], Call.videoRTCP, true),
            ("PLI from a stranger", [.pictureLoss(sender: SSRC(5), media: Call.ourVideo)], Call.stranger, false),
            ("report alone", [.receiverReport(SSRC(5), [])], Call.videoRTCP, false),
        ]
        for (name, packets, source, isOrdered) in table {
            self.bench = Bench()
            self.bench.give(.start(Call.plan(video: Call.video())))
            self.bench.pass(ms: 1100)
            self.encodeWhatIsOrdered()
            self.bench.pass(ms: 1000)
            self.bench.forget()
            self.ask(packets, from: source)
            XCTAssertEqual(self.bench.keyFrameOrders, isOrdered ? [self.bench.now] : [], name)
        }
    }

    func testRequestsInAStormAreAnsweredOnceIn300Milliseconds() {
        self.bench.give(.start(Call.plan(video: Call.video())))
        self.bench.pass(ms: 1100)
        self.bench.forget()
        let start = self.bench.now
        for _ in 0..<100 {
            let orders = self.bench.keyFrameOrders.count
            self.ask([.pictureLoss(sender: SSRC(5), media: Call.ourVideo)])
            self.bench.pass(ms: 10)
            if self.bench.keyFrameOrders.count > orders { self.encodeWhatIsOrdered() }
        }
        self.bench.pass(ms: 1000)
        let times = self.bench.keyFrameOrders
        for (earlier, later) in zip(times, times.dropFirst()) {
            XCTAssertGreaterThanOrEqual((later - earlier).milliseconds, 300)
        }
        XCTAssertTrue((3...5).contains(times.count), "\(times.count)")
        XCTAssertLessThan((times[0] - start).milliseconds, 301)
        XCTAssertEqual(self.bench.engine.statistics.video.pliReceived, 100)
    }

    func testLossReportsOrderAKeyFrameOnlyForPeersThatCannotAsk() {
        let loss = ReportBlock(
            source: Call.ourVideo, fractionLost: 20, cumulativeLost: 3, highestSequence: 9, jitter: 0,
            lastSenderReport: 0, delaySinceLastSenderReport: 0)
        for canAsk in [true, false] {
            self.bench = Bench()
            self.bench.give(.start(Call.plan(video: Call.video(feedback: VideoFeedback(pli: canAsk)))))
            self.bench.pass(ms: 6000)
            self.encodeWhatIsOrdered()
            self.bench.pass(ms: 1000)
            self.bench.forget()
            self.ask([.receiverReport(SSRC(5), [loss])])
            self.bench.pass(ms: 400)
            self.ask([.receiverReport(SSRC(5), [loss])])
            XCTAssertEqual(self.bench.keyFrameOrders.count, canAsk ? 0 : 1)
            XCTAssertEqual(self.bench.engine.statistics.video.remoteFractionLost, 20)
        }
    }

    func testResumedVideoBeginsWithAKeyFrame() {
        self.bench.give(.start(Call.plan(video: Call.video())))
        self.encodeWhatIsOrdered()
        self.bench.give(.update(Call.plan(video: Call.video(sends: false))))
        self.bench.pass(ms: 3000)
        self.bench.forget()
        self.bench.give(.update(Call.plan(video: Call.video())))
        XCTAssertEqual(self.bench.keyFrameOrders, [self.bench.now])
    }
}
