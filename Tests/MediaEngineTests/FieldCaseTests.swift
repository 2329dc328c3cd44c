// SPDX-License-Identifier: Apache-2.0

import Bytes
import RTPWire
import XCTest

@testable import MediaEngine

/// Faults that others had when a session changed, by their numbers in the list of cases from the field.
final class FieldCaseTests: XCTestCase {
    private var bench = Bench()
    private var sound = PeerStream()
    private var picture = PeerStream.video()

    override func setUp() {
        self.bench = Bench()
        self.sound = PeerStream()
        self.picture = PeerStream.video()
    }

    private func hear(_ bytes: [UInt8], from source: SocketAddress = Call.audioRTP) {
        self.bench.give(.received(bytes, .audio, .rtp, from: source))
    }

    private func see(_ packets: [[UInt8]]) {
        for packet in packets { self.bench.give(.received(packet, .video, .rtp, from: Call.videoRTP)) }
    }

    private func speak() {
        let payload = [UInt8](repeating: 0xFF, count: 160)
        self.bench.give(.audioEncoded(payload, samples: 160, captured: self.bench.now))
    }

    private func film(key: Bool) {
        self.bench.give(.videoEncoded(Pictures.units(key: key), isKeyFrame: key, captured: self.bench.now))
    }

    private func update(_ audio: AudioPlan?, _ video: VideoPlan?) {
        self.bench.give(.update(Call.plan(audio: audio, video: video)))
    }

    // MARK: - F: sources

    func testCaseF97AStreamIsLearnedOnceAndAgainAfterTheSessionChanged() {
        self.bench.give(.start(Call.plan(audio: Call.audio())))
        let home = SocketAddress(.v4(0xC633_6401), port: 6000)
        let moved = SocketAddress(.v4(0xC633_6402), port: 7000)
        self.hear(self.sound.sound(), from: home)
        self.hear(self.sound.sound(), from: Call.stranger)
        XCTAssertEqual(self.bench.sounds.count, 1)
        self.update(Call.audio(rtp: SocketAddress(.v4(0x0A01_0101), port: 4000)), nil)
        self.hear(self.sound.sound(), from: home)
        self.hear(self.sound.sound(), from: moved)
        self.hear(self.sound.sound(), from: home)
        self.hear(self.sound.sound(), from: Call.stranger)
        XCTAssertEqual(self.bench.sounds.count, 3)
        self.speak()
        XCTAssertEqual(self.bench.sent.last?.to, moved)
    }

    /// What the engine lets through, played as the sound thread would: packets of the new source in its first second.
    private func played(after change: (inout PeerStream) -> Void) -> Int {
        var buffer = PlayoutBuffer()
        var played = 0
        for turn in 0..<100 {
            if turn == 50 { change(&self.sound) }
            let isOpus = self.sound.type == Call.opus
            self.hear(self.sound.sound(isOpus ? [0x78, 1, 2, 3] : Array(repeating: 0xFF, count: 160)))
            for packet in self.bench.sounds { buffer.insert(packet, now: self.bench.now) }
            self.bench.forget()
            if case .packet(let packet) = buffer.next(now: self.bench.now), turn >= 50, packet.ssrc == self.sound.ssrc {
                played += 1
            }
            self.bench.pass(ms: 20)
        }
        return played
    }

    func testCaseF100ANewSourceWithANewPayloadTypeIsHeardAtOnce() {
        var plan = Call.audio()
        plan.receivePayloadTypes = [AudioPayload(Call.pcmu, .pcmu)]
        self.bench.give(.start(Call.plan(audio: plan)))
        let played = self.played { stream in
            plan.receivePayloadTypes = [AudioPayload(Call.opus, .opus)]
            self.update(plan, Call.video())
            stream.ssrc = SSRC(0x9999)
            stream.type = Call.opus
            stream.sequence = SequenceNumber(3)
            stream.timestamp = RTPTimestamp(7)
            stream.step = 960
        }
        XCTAssertGreaterThan(played, 40)
    }

    func testCaseF101AJumpOfTheTimestampIsFollowedAtOnce() {
        self.bench.give(.start(Call.plan(audio: Call.audio())))
        for jump in [1_000_000_000, 0 &- 1_000_000_000] as [UInt32] {
            let played = self.played { $0.timestamp = $0.timestamp.advanced(by: jump) }
            XCTAssertGreaterThan(played, 40)
        }
    }

    // MARK: - F: hold

    /// Each round ends as the one before: nothing grows, nothing begins anew.
    func testCaseF103FiftyTimesHoldAndResumeLeaveTheStreamsAsTheyWere() {
        self.bench.give(.start(Call.plan(audio: Call.audio(), video: Call.video())))
        self.see(self.picture.picture(key: true))
        self.bench.give(.keyFrameDecoded)
        self.bench.pass(ms: 2000)
        self.bench.forget()
        var sequences: [SequenceNumber] = []
        for round in 0..<50 {
            let nowhere = SocketAddress(.v4(0), port: 4000)
            let old = Call.audio(rtp: nowhere, rtcp: nowhere, sends: false, receives: false)
            let hold = round % 2 == 0 ? Call.audio(sends: false, receives: false) : old
            self.update(hold, Call.video(sends: false, receives: false))
            self.speak()
            self.film(key: false)
            XCTAssertEqual(self.bench.sent.filter { $0.channel == .rtp }.count, 0)
            self.bench.pass(ms: 400)
            self.update(Call.audio(), Call.video())
            XCTAssertEqual(self.bench.keyFrameOrders.count, 1)
            self.speak()
            self.film(key: true)
            self.hear(self.sound.sound())
            self.see(self.picture.picture(key: true))
            self.bench.give(.keyFrameDecoded)
            sequences += self.bench.media(.audio).map { $0.packet.sequence }
            XCTAssertEqual(Set(self.bench.media(.audio).map { $0.packet.ssrc }), [Call.ourAudio])
            XCTAssertEqual(self.bench.media(.video).count, 1)
            XCTAssertEqual([self.bench.sounds.count, self.bench.pictures.count], [1, 1])
            self.bench.forget()
        }
        XCTAssertEqual(sequences, (0..<50).map { sequences[0].advanced(by: $0) }, "one sequence through all")
        XCTAssertEqual(self.bench.engine.statistics.audio.packetsLost, 0)
        XCTAssertFalse(self.bench.events.contains(.sourceChanged(.audio)))
    }

    func testWhatAHeldStreamWentOnSendingIsNoLoss() {
        self.bench.give(.start(Call.plan(audio: Call.audio())))
        self.hear(self.sound.sound())
        self.update(Call.audio(receives: false), nil)
        for _ in 0..<500 { self.hear(self.sound.sound()) }
        self.update(Call.audio(), nil)
        self.hear(self.sound.sound())
        XCTAssertEqual(self.bench.engine.statistics.audio.packetsLost, 0)
        XCTAssertEqual(self.bench.sounds.count, 2)
    }

    /// At once, also where one went out just before the pause, or was ordered and came too late.
    func testCaseF106AfterAPauseAKeyFrameIsSentAtOnce() {
        self.bench.give(.start(Call.plan(video: Call.video())))
        XCTAssertEqual(self.bench.keyFrameOrders.count, 1)
        self.film(key: true)
        for isSent in [true, false] {
            self.update(nil, Call.video(sends: false))
            self.bench.pass(ms: 20)
            self.bench.forget()
            self.update(nil, Call.video())
            XCTAssertEqual(self.bench.keyFrameOrders, [self.bench.now])
            if isSent { self.film(key: true) }
        }
        self.film(key: true)
        XCTAssertEqual(self.bench.media(.video).count, 1)
    }

    func testCaseF107ChangesOfOneDirectionLeaveTheOtherAlone() {
        self.bench.give(.start(Call.plan(video: Call.video())))
        self.see(self.picture.picture(key: true))
        self.bench.give(.keyFrameDecoded)
        self.bench.pass(ms: 2000)
        self.bench.forget()
        for round in 0..<100 {
            self.update(nil, Call.video(sends: round % 2 == 1))
            self.see(self.picture.picture(key: false))
            self.bench.pass(ms: 100)
        }
        XCTAssertEqual(self.bench.pictures.count, 100, "all are shown, none is waited for")
        XCTAssertEqual(self.bench.pictureLosses, [])
        self.bench.forget()
        self.update(nil, Call.video(receives: false))
        for _ in 0..<20 {
            self.film(key: false)
            self.see(self.picture.picture(key: false))
            self.bench.pass(ms: 1000)
        }
        XCTAssertEqual(self.bench.media(.video).count, 20, "ours goes on")
        XCTAssertGreaterThan(self.bench.reports(.video).count, 2)
        for packet in self.bench.reports(.video).flatMap({ $0.packets }) {
            switch packet {
            case .senderReport(let report): XCTAssertEqual(report.blocks.count, 0, "nothing of what we told to stop")
            case .receiverReport(_, let blocks): XCTAssertEqual(blocks.count, 0)
            default: break
            }
        }
    }

    func testCaseF107ReportsOnOurStoppedStreamOrderNothing() {
        self.bench.give(.start(Call.plan(video: Call.video(feedback: VideoFeedback()))))
        self.film(key: true)
        self.update(nil, Call.video(sends: false, feedback: VideoFeedback()))
        self.bench.pass(ms: 10_000)
        self.bench.forget()
        let loss = ReportBlock(
            source: Call.ourVideo, fractionLost: 200, cumulativeLost: 9, highestSequence: 9, jitter: 0,
            lastSenderReport: 0, delaySinceLastSenderReport: 0)
        let ask = RTCPPacket.pictureLoss(sender: SSRC(5), media: Call.ourVideo)
        let bytes = RTCPCompound.print([.receiverReport(SSRC(5), [loss]), ask])
        self.bench.give(.received(bytes, .video, .rtcp, from: Call.videoRTCP))
        self.bench.pass(ms: 1000)
        XCTAssertEqual(self.bench.keyFrameOrders, [])
    }

    // MARK: - Nothing new

    func testAnUpdateThatChangesNothingDisturbsNothing() {
        let old = Call.video(parameterSets: [Pictures.sps, Pictures.pps])
        self.bench.give(.start(Call.plan(audio: Call.audio(), video: old)))
        self.see(self.picture.picture(key: true))
        self.bench.give(.keyFrameDecoded)
        self.bench.pass(ms: 2000)
        self.bench.forget()
        for _ in 0..<20 {
            self.update(Call.audio(), old)
            self.hear(self.sound.sound())
            self.see(self.picture.picture(key: false))
            self.speak()
            self.film(key: false)
            self.bench.pass(ms: 20)
        }
        XCTAssertEqual([self.bench.sounds.count, self.bench.pictures.count], [20, 20])
        XCTAssertEqual(self.bench.keyFrameOrders, [])
        XCTAssertEqual(self.bench.pictureLosses, [])
        for kind in [StreamKind.audio, .video] {
            let sequences = self.bench.media(kind).map { $0.packet.sequence }
            XCTAssertEqual(sequences, (0..<20).map { sequences[0].advanced(by: $0) })
        }
        XCTAssertEqual(self.bench.media(.audio).filter { $0.packet.marker }.count, 1)
    }
}
