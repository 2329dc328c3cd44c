// SPDX-License-Identifier: Apache-2.0

import RTPWire
import XCTest

/// The packet kinds of RFC 6184 table 1, whole and lost in part.
final class H264DepacketizerTests: XCTestCase {
    private var stream = PacketStream()
    private var depacketizer = H264Depacketizer()
    private let keyFrame = [NAL.sps(), NAL.pps(), NAL.slice(idr: true, size: 350)]

    override func setUp() {
        self.stream = PacketStream()
        self.depacketizer = H264Depacketizer()
    }

    private func take(_ payload: [UInt8], marker: Bool = false) -> [AccessUnit] {
        self.depacketizer.take(self.stream.packet(payload, marker: marker))
    }

    private func begin() {
        let packets = self.stream.picture(self.keyFrame, with: H264Packetizer(mode: .nonInterleaved))
        XCTAssertEqual(self.depacketizer.take(packets).map { $0.isKeyFrame }, [true])
    }

    // MARK: Whole

    func testBothModesComeOutAsTheyWentIn() {
        for mode in [H264Packetizer.Mode.singleNAL, .nonInterleaved] {
            self.setUp()
            let packetizer = H264Packetizer(mode: mode, maxPayloadSize: 100)
            for size in [20, 99, 100, 101, 350, 5000] {
                let units = [NAL.sps(), NAL.pps(), NAL.slice(idr: true, size: size)]
                let timestamp = self.stream.timestamp
                let access = self.depacketizer.take(self.stream.picture(units, with: packetizer))
                XCTAssertEqual(access.map { $0.nalUnits }, [units], "\(size)")
                XCTAssertEqual(access.first?.timestamp, timestamp)
                XCTAssertEqual(access.first?.isKeyFrame, true)
                XCTAssertEqual(access.first?.isComplete, true)
                XCTAssertEqual(access.first?.followsLoss, false)
            }
        }
        XCTAssertEqual(self.depacketizer.counts, H264Depacketizer().counts)
    }

    func testParameterSetsMayBeFragmented() {
        let sets = NAL.sps()
        _ = self.take([0x7C, 0x87] + sets[1..<4])
        _ = self.take([0x7C, 0x47] + sets[4...])
        _ = self.take(NAL.pps())
        XCTAssertEqual(self.take(NAL.slice(idr: true), marker: true).map { $0.isKeyFrame }, [true])
    }

    func testFragmentThatStartsAndEndsIsOneUnit() {
        self.begin()
        let slice = NAL.slice()
        let access = self.take([0x5C, 0xC1] + slice.dropFirst(), marker: true)
        XCTAssertEqual(access.map { $0.nalUnits }, [[slice]])
        XCTAssertEqual(access.first?.isComplete, true)
    }

    func testPictureWithoutMarkerEndsWithTheTimestamp() {
        self.begin()
        XCTAssertTrue(self.take(NAL.slice()).isEmpty)
        self.stream.nextPicture()
        let access = self.take(NAL.slice(size: 30), marker: true)
        XCTAssertEqual(access.map { $0.nalUnits.first?.count }, [20, 30])
        XCTAssertEqual(access.map { $0.isComplete }, [true, true])
    }

    func testMarkerOnEverySliceIsSeenThrough() {
        self.begin()
        func picture() -> [AccessUnit] {
            defer { self.stream.nextPicture() }
            return self.take(NAL.slice(), marker: true) + self.take(NAL.slice(firstMacroblock: 40), marker: true)
        }
        _ = picture()
        _ = picture()
        let third = picture()
        XCTAssertEqual(third.map { $0.nalUnits.count }, [2])
        XCTAssertEqual(third.map { $0.isComplete }, [true])
    }

    func testParameterSetsUnderATimeOfTheirOwnJoinTheNextPicture() {
        _ = self.take(NAL.sps(), marker: true)
        self.stream.nextPicture()
        _ = self.take(NAL.pps(), marker: true)
        self.stream.nextPicture()
        let timestamp = self.stream.timestamp
        let access = self.take(NAL.slice(idr: true), marker: true)
        XCTAssertEqual(access.map { $0.nalUnits.count }, [3])
        XCTAssertEqual(access.first?.timestamp, timestamp)
    }

    func testParameterSetsSentOnceAreRepeatedBeforeEachKeyFrame() {
        self.begin()
        let delimiter: [UInt8] = [0x09, 0xF0]
        _ = self.take(delimiter)
        let access = self.take(NAL.slice(idr: true), marker: true)
        XCTAssertEqual(access.first?.nalUnits, [delimiter, NAL.sps(), NAL.pps(), NAL.slice(idr: true)])
    }

    func testParameterSetsFromTheSessionDescriptionServe() {
        XCTAssertEqual(self.take(NAL.slice(idr: true), marker: true).map { $0.isKeyFrame }, [false])
        self.stream.nextPicture()
        self.depacketizer.learn(parameterSet: NAL.sps())
        XCTAssertEqual(self.take(NAL.slice(idr: true), marker: true).map { $0.isKeyFrame }, [false])
        self.stream.nextPicture()
        self.depacketizer.learn(parameterSet: NAL.pps())
        let access = self.take(NAL.slice(idr: true), marker: true)
        XCTAssertEqual(access.first?.nalUnits, [NAL.sps(), NAL.pps(), NAL.slice(idr: true)])
        XCTAssertEqual(access.first?.isKeyFrame, true)
    }

    func testKeyFrameNeedsTheSetItsSliceNames() {
        _ = self.take(NAL.sps())
        _ = self.take(NAL.pps(id: 0))
        XCTAssertEqual(self.take(NAL.slice(idr: true, pps: 5), marker: true).map { $0.isKeyFrame }, [false])
    }

    func testIntraPictureWithRecoveryPointIsAKeyFrame() {
        self.begin()
        let table: [(frames: UInt32, kind: UInt32, isKeyFrame: Bool)] = [(0, 7, true), (0, 5, false), (3, 7, false)]
        for (frames, kind, isKeyFrame) in table {
            _ = self.take(NAL.recoveryPoint(frames: frames))
            let access = self.take(NAL.slice(kind: kind), marker: true)
            XCTAssertEqual(access.map { $0.isKeyFrame }, [isKeyFrame], "\(frames) \(kind)")
            self.stream.nextPicture()
        }
    }

    func testFillerIsNotPartOfThePicture() {
        self.begin()
        _ = self.take([0x0C, 0xFF, 0x80])
        XCTAssertEqual(self.take(NAL.slice(), marker: true).map { $0.nalUnits.count }, [1])
    }

    // MARK: Loss

    func testLossWithinAPictureMakesItIncomplete() {
        let packetizer = H264Packetizer(mode: .nonInterleaved, maxPayloadSize: 100)
        for lost in 0..<5 {
            self.setUp()
            self.begin()
            var packets = self.stream.picture([NAL.slice(size: 400)], with: packetizer)
            packets.remove(at: lost)
            let next = self.stream.picture([NAL.slice()], with: packetizer)
            let access = self.depacketizer.take(packets + next)
            XCTAssertEqual(access.count, 2, "\(lost)")
            XCTAssertEqual(access.first?.isComplete, false, "\(lost)")
            XCTAssertEqual(access.last?.isComplete, true, "\(lost)")
            XCTAssertEqual(access.last?.followsLoss, true, "\(lost)")
        }
    }

    func testLossOfAWholePictureShowsInTheNext() {
        self.begin()
        self.stream.lose(3)
        self.stream.nextPicture()
        let first = self.take(NAL.slice(), marker: true)
        XCTAssertEqual(first.map { $0.isComplete }, [true])
        XCTAssertEqual(first.map { $0.followsLoss }, [true])
        self.stream.nextPicture()
        XCTAssertEqual(self.take(NAL.slice(), marker: true).map { $0.followsLoss }, [false])
    }

    func testKeyFrameWhoseFirstSliceWasLostIsIncomplete() {
        self.begin()
        self.stream.lose()
        let access = self.take(NAL.slice(idr: true, firstMacroblock: 100), marker: true)
        XCTAssertEqual(access.map { $0.isComplete }, [false])
    }

    func testKeyFrameAfterLossIsWholeWhenItsFirstSliceIsThere() {
        self.begin()
        self.stream.lose(2)
        let access = self.take(NAL.slice(idr: true), marker: true)
        XCTAssertEqual(access.map { $0.isComplete }, [true])
        XCTAssertEqual(access.map { $0.isKeyFrame }, [true])
    }

    func testJoiningInTheMiddleOfAFragmentGivesNothingWhole() {
        let packets = self.stream.picture(
            self.keyFrame, with: H264Packetizer(mode: .nonInterleaved, maxPayloadSize: 100))
        let access = self.depacketizer.take(Array(packets[2...]))
        XCTAssertFalse(access.contains { $0.isComplete })
        XCTAssertFalse(access.contains { $0.isKeyFrame })
    }

    func testAnnexBPutsAStartCodeBeforeEachUnit() {
        let unit = AccessUnit(nalUnits: [[1, 2], [3]], timestamp: RTPTimestamp(0), isKeyFrame: false)
        XCTAssertEqual(unit.annexB(), [0, 0, 0, 1, 1, 2, 0, 0, 0, 1, 3])
    }
}
