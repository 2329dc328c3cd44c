// SPDX-License-Identifier: Apache-2.0

import Bytes
import MediaEngine
import RTPWire
import XCTest

/// How much of pictures is sent: what was agreed, what the peer lets in, what the way carries.
final class SendRateTests: XCTestCase {
    private var bench = Bench()
    private static let other = SSRC(0x9999)

    override func setUp() {
        self.bench = Bench()
        self.bench.give(.start(Call.plan(video: Self.video())))
        self.bench.pass(ms: 100)
    }

    private static func video(kbps: Int = 1500, rtp: SocketAddress = Call.videoRTP, sends: Bool = true) -> VideoPlan {
        var plan = Call.video(rtp: rtp, sends: sends)
        plan.bitrateKbps = kbps
        return plan
    }

    private func say(_ packets: [RTCPPacket]) {
        self.bench.give(.received(RTCPCompound.print(packets), .video, .rtcp, from: Call.videoRTCP))
    }

    private func request(_ kbps: UInt64, overhead: Int = 0, of source: SSRC = Call.ourVideo) {
        let bound = RateBound(source: source, bitsPerSecond: kbps * 1000, overheadBytes: overhead)
        self.say([.rateRequest(sender: Self.other, [bound])])
    }

    private func report(lost: UInt8, afterMs: Int = 5000) {
        self.bench.pass(ms: afterMs)
        let block = ReportBlock(
            source: Call.ourVideo, fractionLost: lost, cumulativeLost: 0, highestSequence: 9, jitter: 0,
            lastSenderReport: 0, delaySinceLastSenderReport: 0)
        self.say([.receiverReport(Self.other, [block])])
    }

    private var rates: [Int] { self.bench.rateOrders }
    private var notices: [RateBound] {
        self.bench.reports(.video).flatMap { $0.packets }.flatMap { packet -> [RateBound] in
            if case .rateNotice(_, let bounds) = packet { return bounds }
            return []
        }
    }

    func testTheEncoderIsToldWhatWasAgreed() {
        XCTAssertEqual(self.rates, [1500])
        XCTAssertEqual(self.bench.engine.statistics.video.encodeRateKbps, 1500)
        self.bench.give(.update(Call.plan(video: Self.video(kbps: 700))))
        self.bench.give(.update(Call.plan(video: Self.video(kbps: 900))))
        XCTAssertEqual(self.rates, [1500, 700, 900])
    }

    func testARequestIsFollowedAtOnceItsHeadersAsideAndNoticed() {
        self.request(300, overhead: 60)
        // 1200 of 1260 bytes are payload.
        XCTAssertEqual(self.rates, [1500, 285])
        XCTAssertEqual(
            self.notices, [RateBound(source: Self.other, bitsPerSecond: 300_000, overheadBytes: 60)],
            "the notice names the one who asked")
        XCTAssertEqual(self.bench.engine.statistics.video.tmmbrReceived, 1)
        self.bench.pass(ms: 1000)
        self.request(9000)
        XCTAssertEqual(self.rates, [1500, 285, 1500], "never more than was agreed")
    }

    func testARequestOfAnotherSourceIsNotOurs() {
        self.request(300, of: Self.other)
        self.say([.receivableRate(sender: Self.other, bitsPerSecond: 300_000, [Self.other])])
        XCTAssertEqual(self.rates, [1500])
        XCTAssertEqual(self.notices, [])
    }

    func testRequestsInARowHaveOneNotice() {
        for _ in 0..<50 { self.request(300) }
        XCTAssertEqual(self.rates, [1500, 300])
        XCTAssertEqual(self.notices.count, 1)
        self.bench.pass(ms: 100)
        self.request(300)
        XCTAssertEqual(self.notices.count, 2)
    }

    func testWhatCanBeReceivedIsFollowed() {
        self.say([.receivableRate(sender: Self.other, bitsPerSecond: 400_000, [Call.ourVideo])])
        XCTAssertEqual(self.rates, [1500, 380])
        XCTAssertEqual(self.bench.engine.statistics.video.rembReceived, 1)
        for kbps in [401, 402, 410] as [UInt64] {
            self.say([.receivableRate(sender: Self.other, bitsPerSecond: kbps * 1000, [Call.ourVideo])])
        }
        XCTAssertEqual(self.rates, [1500, 380], "a little more is not worth an order")
        self.say([.receivableRate(sender: Self.other, bitsPerSecond: 500_000, [Call.ourVideo])])
        XCTAssertEqual(self.rates, [1500, 380, 475])
    }

    func testHostileRatesAreBounded() {
        self.request(0)
        XCTAssertEqual(self.rates.last, 32)
        self.say([.receivableRate(sender: Self.other, bitsPerSecond: .max, [Call.ourVideo])])
        XCTAssertEqual(self.rates.last, 1500)
        for kbps in [0, -5, Int.max] {
            self.bench.give(.update(Call.plan(video: Self.video(kbps: kbps))))
        }
        XCTAssertEqual(self.rates, [1500, 32, 1500, 32, 100_000])
    }

    func testLossSlowsPicturesDownAndNoneLetsThemGrow() {
        self.report(lost: 64)
        XCTAssertEqual(self.rates, [1500, 1312], "by half of the quarter that was lost")
        self.report(lost: 64)
        XCTAssertEqual(self.rates.last, 1148)
        self.report(lost: 20)
        XCTAssertEqual(self.rates.last, 1148, "a little loss is chance")
        self.report(lost: 0)
        XCTAssertEqual(self.rates.last, 1500, "8 % for each of five seconds, and no more than was agreed")
    }

    func testGrowthGoesByTimeNotByReports() {
        for _ in 0..<4 { self.report(lost: 128) }
        XCTAssertEqual(self.rates.last, 474)
        for _ in 0..<10 { self.report(lost: 0, afterMs: 100) }
        XCTAssertEqual(self.rates.last, 474, "a second's worth of growth in ten reports is 8 %, of each rounded down")
        self.report(lost: 0, afterMs: 1000)
        XCTAssertEqual(self.rates.last, 522)
        self.report(lost: 0, afterMs: 60_000)
        XCTAssertLessThan(self.rates.last ?? 0, 522 * 3 / 2, "one report does not count for a long time")
    }

    func testLossLeavesEnoughToSee() {
        for _ in 0..<40 { self.report(lost: 255) }
        XCTAssertEqual(self.rates.last, 128)
        self.request(64)
        XCTAssertEqual(self.rates.last, 64)
        self.report(lost: 255)
        XCTAssertEqual(self.rates.last, 64, "what is less already stays")
    }

    func testANewPeerIsKnownNothingOf() {
        self.request(100)
        self.report(lost: 255)
        let elsewhere = SocketAddress(Call.peer, port: 5000)
        self.bench.give(.update(Call.plan(video: Self.video(rtp: elsewhere))))
        XCTAssertEqual(self.rates.last, 1500)
        self.say([.receivableRate(sender: Self.other, bitsPerSecond: 200_000, [Call.ourVideo])])
        XCTAssertEqual(self.rates.last, 190)
        self.bench.give(.update(Call.plan(video: Self.video(rtp: elsewhere, sends: false))))
        self.bench.give(.update(Call.plan(video: Self.video(rtp: elsewhere))))
        XCTAssertEqual(self.rates.last, 1500, "after a pause, too")
    }

    func testWhileNothingIsSentNothingIsOrdered() {
        self.bench.give(.update(Call.plan(video: Self.video(kbps: 0, sends: false))))
        self.bench.forget()
        self.request(100)
        self.report(lost: 255)
        XCTAssertEqual(self.rates, [])
        XCTAssertEqual(self.notices, [])
    }
}
