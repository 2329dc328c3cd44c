// SPDX-License-Identifier: Apache-2.0

import Bytes
import MediaEngine
import RTPWire
import XCTest

/// New sources, hold and resume, translated addresses.
final class VideoChangeTests: XCTestCase {
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

    func testANewSourceBeginsWithItsOwnKeyFrame() {
        self.begin()
        var next = PeerStream.video(ssrc: SSRC(0x9999))
        next.sequence = SequenceNumber(40_000)
        self.see(next.picture(key: true))
        self.see(next.picture(key: false))
        XCTAssertEqual(self.bench.pictures.map { $0.isKeyFrame }, [true, false])
        self.see(self.peer.picture(key: false))
        XCTAssertEqual(self.bench.pictures.count, 2)
        XCTAssertTrue(self.bench.events.contains(.sourceChanged(.video)))
    }

    func testANewSourceInTheMiddleOfItsPicturesIsAskedForAKeyFrame() {
        self.begin()
        var next = PeerStream.video(ssrc: SSRC(0x9999))
        self.bench.pass(ms: 300)
        let start = self.bench.now
        self.see(next.picture(key: false))
        XCTAssertEqual(self.bench.pictures.count, 0)
        XCTAssertEqual(self.asked(since: start), [0])
    }

    func testVideoThatIsResumedIsAskedForAKeyFrame() {
        self.begin()
        self.bench.give(.update(Call.plan(video: Call.video(receives: false))))
        self.see(self.peer.picture(key: false))
        self.bench.pass(ms: 10_000)
        XCTAssertEqual(self.bench.pictures.count, 0)
        XCTAssertEqual(self.bench.pictureLosses, [])
        self.bench.give(.update(Call.plan(video: Call.video())))
        let start = self.bench.now
        self.see(self.peer.picture(key: false))
        XCTAssertEqual(self.bench.pictures.count, 0)
        XCTAssertEqual(self.asked(since: start), [0])
        self.see(self.peer.picture(key: true))
        XCTAssertEqual(self.bench.pictures.count, 1)
    }

    func testATimestampJumpDoesNotStopThePicture() {
        self.begin()
        for jump in [1_000_000_000, 3_294_967_296, 1] as [UInt32] {
            self.peer.timestamp = self.peer.timestamp.advanced(by: jump)
            self.see(self.peer.picture(key: false))
        }
        XCTAssertEqual(self.bench.pictures.count, 3)
    }

    func testAPeerBehindATranslatorGetsAKeyFrameAtItsRealAddress() {
        self.bench.give(.videoEncoded(Pictures.units(key: true), isKeyFrame: true, captured: self.bench.now))
        self.bench.pass(ms: 400)
        self.bench.forget()
        let translated = SocketAddress(.v4(0xC633_6401), port: 6000)
        for packet in self.peer.picture(key: true) {
            self.bench.give(.received(packet, .video, .rtp, from: translated))
        }
        XCTAssertEqual(self.bench.keyFrameOrders, [self.bench.now])
        self.bench.give(.videoEncoded(Pictures.units(key: true), isKeyFrame: true, captured: self.bench.now))
        XCTAssertEqual(self.bench.media(.video).count, 1)
        XCTAssertEqual(Set(self.bench.sent.filter { $0.channel == .rtp }.map { $0.to }), [translated])
    }

    func testVideoTakenAwayAndBroughtBackByAPeerBehindATranslatorIsSeen() {
        let translated = SocketAddress(.v4(0xC633_6401), port: 6000)
        for _ in 0..<3 {
            self.bench.forget()
            for packet in self.peer.picture(key: true) {
                self.bench.give(.received(packet, .video, .rtp, from: translated))
            }
            XCTAssertEqual(self.bench.pictures.count, 1)
            self.bench.give(.update(Call.plan()))
            self.bench.pass(ms: 1000)
            self.bench.give(.update(Call.plan(video: Call.video())))
        }
    }
}
