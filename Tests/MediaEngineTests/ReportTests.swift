// SPDX-License-Identifier: Apache-2.0

import Bytes
import MediaEngine
import RTPWire
import XCTest

final class ReportTests: XCTestCase {
    private var bench = Bench()

    override func setUp() {
        self.bench = Bench()
    }

    private func speak(seconds: Int) {
        for _ in 0..<seconds * 50 {
            self.bench.give(
                .audioEncoded(Array(repeating: 0xFF, count: 160), samples: 160, captured: self.bench.now))
            self.bench.pass(ms: 20)
        }
    }

    private func senderReports() -> [(at: Instant, report: SenderReport)] {
        self.bench.reports(.audio).compactMap { report in
            guard case .senderReport(let sent)? = report.packets.first else { return nil }
            return (report.at, sent)
        }
    }

    func testReportsBeginWithin2500MillisecondsAndGoOn() {
        self.bench.give(.start(Call.plan(audio: Call.audio(), video: Call.video())))
        let start = self.bench.now
        self.bench.pass(ms: 60_000)
        for kind in [StreamKind.audio, .video] {
            let times = self.bench.reports(kind).map { ($0.at - start).milliseconds }
            XCTAssertLessThanOrEqual(times.first ?? 9999, 2500)
            XCTAssertTrue((10...30).contains(times.count), "\(times.count)")
        }
        XCTAssertEqual(Set(self.bench.sent.map { $0.to }), [Call.audioRTCP, Call.videoRTCP])
        XCTAssertEqual(Set(self.bench.sent.map { $0.channel }), [.rtcp])
    }

    func testEveryReportNamesUs() {
        self.bench.give(.start(Call.plan(audio: Call.audio())))
        self.speak(seconds: 10)
        for report in self.bench.reports(.audio) {
            XCTAssertEqual(
                report.packets.last,
                .sourceDescription([SourceDescription(ssrc: Call.ourAudio, cname: "panel@example.com")]))
        }
    }

    func testWhoSendsReportsAsSenderAndWhoStoppedAsReceiver() {
        self.bench.give(.start(Call.plan(audio: Call.audio())))
        self.speak(seconds: 10)
        XCTAssertEqual(self.senderReports().count, self.bench.reports(.audio).count)
        guard let last = self.bench.media(.audio).last?.at else { return XCTFail("sound was sent") }
        self.bench.pass(ms: 60_000)
        let after = self.senderReports().filter { $0.at >= last }
        XCTAssertEqual(after.count, 2, "a sender is who sent within the last two intervals")
        XCTAssertGreaterThan(self.bench.reports(.audio).count, 5)
    }

    func testSenderReportsTieTheWallClockToTheMediaClock() {
        self.bench.give(.start(Call.plan(audio: Call.audio())))
        self.speak(seconds: 30)
        let first = self.bench.media(.audio)[0]
        let reports = self.senderReports()
        XCTAssertGreaterThan(reports.count, 3)
        for (at, report) in reports {
            XCTAssertEqual(report.ntpTime, Call.ntpAtZero.advanced(byNanoseconds: at.nanoseconds))
            let expected = Int32((at - first.at).nanoseconds / 125_000)
            XCTAssertLessThanOrEqual(abs(report.timestamp.distance(from: first.packet.timestamp) - expected), 1)
            let sent = self.bench.media(.audio).filter { $0.at <= at }
            XCTAssertLessThanOrEqual(sent.count - Int(report.packets), 1)
            XCTAssertEqual(report.payloadBytes, report.packets * 160)
        }
    }

    func testSenderReportsOfVideoAreOnTheSameWallClock() {
        self.bench.give(.start(Call.plan(video: Call.video())))
        var first: Instant?
        for _ in 0..<300 {
            // The picture was captured 20 ms before it is encoded.
            let captured = self.bench.now + Duration.milliseconds(-20)
            first = first ?? captured
            self.bench.give(.videoEncoded(Pictures.units(key: false), isKeyFrame: false, captured: captured))
            self.bench.pass(ms: 33)
        }
        let zero = self.bench.media(.video)[0].packet.timestamp
        for report in self.bench.reports(.video) {
            guard case .senderReport(let sent)? = report.packets.first, let first else { return XCTFail("a sender") }
            let expected = Int32((report.at - first).nanoseconds * 9 / 100_000)
            XCTAssertLessThanOrEqual(abs(sent.timestamp.distance(from: zero) - expected), 1)
        }
    }

    func testReceiverBlocksSayWhatWasLostAndWhenTheLastReportCame() {
        self.bench.give(.start(Call.plan(audio: Call.audio(sends: false))))
        var peer = PeerStream()
        for index in 0..<100 {
            let packet = peer.sound()
            if index % 4 != 3 { self.bench.give(.received(packet, .audio, .rtp, from: Call.audioRTP)) }
        }
        let report = SenderReport(
            ssrc: peer.ssrc, ntpTime: NTPTime(0xAAAA_BBBB_CCCC_DDDD), timestamp: RTPTimestamp(0), packets: 1,
            payloadBytes: 1, blocks: [])
        self.bench.give(.received(RTCPCompound.print([.senderReport(report)]), .audio, .rtcp, from: Call.audioRTCP))
        let reported = self.bench.now
        self.bench.pass(ms: 2600)
        guard let sent = self.bench.reports(.audio).first,
            case .receiverReport(let ours, let blocks)? = sent.packets.first
        else { return XCTFail("a receiver report") }
        XCTAssertEqual(ours, Call.ourAudio)
        XCTAssertEqual(blocks.count, 1)
        XCTAssertEqual(blocks.first?.source, peer.ssrc)
        XCTAssertEqual(blocks.first?.cumulativeLost, 24, "the last is not known to be missing")
        XCTAssertEqual(blocks.first?.fractionLost, UInt8(24 * 256 / 99))
        XCTAssertEqual(blocks.first?.lastSenderReport, 0xBBBB_CCCC)
        let delay = UInt32((sent.at - reported).nanoseconds * 65_536 / 1_000_000_000)
        XCTAssertEqual(blocks.first?.delaySinceLastSenderReport, delay)
    }

    func testRoundTripIsTakenFromTheEchoOfOurReport() {
        self.bench.give(.start(Call.plan(audio: Call.audio())))
        self.speak(seconds: 3)
        guard let (at, report) = self.senderReports().first else { return XCTFail("a sender report") }
        let held = self.bench.now - at
        self.bench.pass(ms: 80)
        let block = ReportBlock(
            source: Call.ourAudio, fractionLost: 3, cumulativeLost: -4, highestSequence: 0, jitter: 0,
            lastSenderReport: report.ntpTime.compact,
            delaySinceLastSenderReport: UInt32(held.nanoseconds * 65_536 / 1_000_000_000))
        self.bench.give(
            .received(RTCPCompound.print([.receiverReport(SSRC(5), [block])]), .audio, .rtcp, from: Call.audioRTCP))
        let statistics = self.bench.engine.statistics.audio
        XCTAssertTrue((79...81).contains(statistics.roundTripMs ?? 0), "\(statistics.roundTripMs ?? 0)")
        XCTAssertEqual(statistics.remotePacketsLost, -4)
    }

    func testByeEndsEveryStreamThatSpoke() {
        self.bench.give(.start(Call.plan(audio: Call.audio(), video: Call.video())))
        self.speak(seconds: 3)
        self.bench.forget()
        self.bench.give(.stop)
        XCTAssertEqual(self.bench.reports(.audio).map { $0.packets.last }, [.bye([Call.ourAudio], reason: nil)])
        XCTAssertEqual(self.bench.reports(.video).map { $0.packets.last }, [.bye([Call.ourVideo], reason: nil)])
        XCTAssertNil(self.bench.wakeAt)
        XCTAssertGreaterThan(self.bench.engine.statistics.audio.packetsSent, 100, "the last counts stay")
        self.bench.forget()
        self.bench.give(.stop)
        XCTAssertEqual(self.bench.sent.count, 0)
    }

    func testWhoNeverSpokeLeavesWithoutBye() {
        self.bench.give(.start(Call.plan(audio: Call.audio())))
        self.bench.give(.stop)
        XCTAssertEqual(self.bench.sent.count, 0)
    }

    func testAStreamThatIsNoLongerAgreedEndsAlone() {
        self.bench.give(.start(Call.plan(audio: Call.audio(), video: Call.video())))
        self.bench.pass(ms: 3000)
        self.bench.forget()
        self.bench.give(.update(Call.plan(audio: Call.audio())))
        XCTAssertEqual(self.bench.reports(.video).map { $0.packets.last }, [.bye([Call.ourVideo], reason: nil)])
        self.bench.pass(ms: 20_000)
        XCTAssertEqual(self.bench.reports(.video).count, 1)
        XCTAssertGreaterThan(self.bench.reports(.audio).count, 2)
    }

    func testByeOfThePeerIsReportedOnceForItsSource() {
        self.bench.give(.start(Call.plan(audio: Call.audio())))
        var peer = PeerStream()
        self.bench.give(.received(peer.sound(), .audio, .rtp, from: Call.audioRTP))
        let other = RTCPCompound.print([.receiverReport(SSRC(7), []), .bye([SSRC(7)], reason: nil)])
        self.bench.give(.received(other, .audio, .rtcp, from: Call.audioRTCP))
        let bye = RTCPCompound.print([.receiverReport(peer.ssrc, []), .bye([peer.ssrc], reason: "end")])
        self.bench.give(.received(bye, .audio, .rtcp, from: Call.stranger))
        XCTAssertEqual(self.bench.events, [.firstPacket(.audio)])
        for _ in 0..<3 { self.bench.give(.received(bye, .audio, .rtcp, from: Call.audioRTCP)) }
        XCTAssertEqual(self.bench.events, [.firstPacket(.audio), .byeReceived(.audio)])
    }

    func testMultiplexedReportsShareThePortOfRTP() {
        self.bench.give(.start(Call.plan(audio: Call.audio(mux: true))))
        self.bench.pass(ms: 3000)
        XCTAssertEqual(Set(self.bench.sent.map { $0.to }), [Call.audioRTP])
        XCTAssertEqual(Set(self.bench.sent.map { $0.channel }), [.rtp])
        let report = RTCPCompound.print([.receiverReport(SSRC(5), [])])
        self.bench.give(.received(report, .audio, .rtp, from: Call.audioRTP))
        XCTAssertEqual(self.bench.engine.statistics.audio.reportsReceived, 1)
        self.bench.give(.start(Call.plan(audio: Call.audio())))
        self.bench.give(.received(report, .audio, .rtp, from: Call.audioRTP))
        XCTAssertEqual(self.bench.engine.statistics.audio.reportsReceived, 0, "not agreed")
        XCTAssertEqual(self.bench.engine.statistics.audio.packetsDropped, 1)
    }

    func testReportsFollowThePortThePeerReportsFrom() {
        self.bench.give(.start(Call.plan(audio: Call.audio())))
        let port = SocketAddress(Call.peer, port: 7777)
        let report = RTCPCompound.print([.receiverReport(SSRC(5), [])])
        self.bench.give(.received(report, .audio, .rtcp, from: Call.stranger))
        self.bench.give(.received(report, .audio, .rtcp, from: port))
        self.bench.pass(ms: 3000)
        XCTAssertEqual(Set(self.bench.sent.map { $0.to }), [port])
    }
}
