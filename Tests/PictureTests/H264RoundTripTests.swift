// SPDX-License-Identifier: Apache-2.0

import Bytes
import H264
import RTPWire
import XCTest

@testable import Picture

final class H264RoundTripTests: XCTestCase {
    private func settings(
        _ width: Int = 640, _ height: Int = 360, format: PictureFormat = .i420, kbps: Int = 1000, bound: Int? = nil
    ) -> H264EncoderSettings {
        H264EncoderSettings(width: width, height: height, format: format, bitrateKbps: kbps, nalUnitBytesMax: bound)
    }

    private func decoded(_ result: DecodedPicture, file: StaticString = #filePath, line: UInt = #line) -> VideoFrame? {
        if case .picture(let frame, _) = result { return frame }
        XCTFail("no picture but \(result)", file: file, line: line)
        return nil
    }

    /// Encodes and decodes `count` pictures, each at once; gives the worst PSNR and all encoded pictures.
    private func roundTrip(
        _ settings: H264EncoderSettings, count: Int
    ) throws -> (luma: Double, chroma: Double, encoded: [EncodedPicture]) {
        let encoder = try H264Encoder(settings)
        let decoder = try H264Decoder()
        var worst = (luma: 99.0, chroma: 99.0)
        var encoded: [EncodedPicture] = []
        for step in 0..<count {
            let source = TestPictures.frame(settings.width, settings.height, step: step, format: settings.format)
            let picture = try XCTUnwrap(try encoder.encode(source, forceKeyFrame: false))
            encoded.append(picture)
            let result = decoder.decode(picture.accessUnit, captured: picture.captured)
            let frame = try XCTUnwrap(self.decoded(result))
            XCTAssertEqual(frame.width, settings.width)
            XCTAssertEqual(frame.height, settings.height)
            XCTAssertEqual(frame.captured, source.captured)
            let quality = TestPictures.psnr(frame, step: step)
            worst = (min(worst.luma, quality.luma), min(worst.chroma, quality.chroma))
        }
        return (worst.luma, worst.chroma, encoded)
    }

    func testEveryPictureComesOutAtOnceAndGood() throws {
        let result = try self.roundTrip(self.settings(), count: 60)
        XCTAssertGreaterThan(result.luma, 32)
        XCTAssertGreaterThan(result.chroma, 32)
        XCTAssertTrue(result.encoded[0].isKeyFrame)
        XCTAssertEqual(result.encoded.filter(\.isKeyFrame).count, 1)
    }

    func testNV12GoesInWithoutConversion() throws {
        let result = try self.roundTrip(self.settings(format: .nv12), count: 10)
        XCTAssertGreaterThan(result.luma, 32)
        XCTAssertGreaterThan(result.chroma, 32)
    }

    func testSizesThatAreNotWholeMacroblocksAreCropped() throws {
        for (width, height) in [(322, 242), (16, 16), (1278, 718)] {
            let result = try self.roundTrip(self.settings(width, height), count: 3)
            XCTAssertGreaterThan(result.luma, 28, "\(width)x\(height)")
        }
    }

    func testAKeyFrameComesWhenAskedForWithItsParameterSets() throws {
        let encoder = try H264Encoder(self.settings())
        for step in 0..<20 {
            let source = TestPictures.frame(640, 360, step: step)
            let picture = try XCTUnwrap(try encoder.encode(source, forceKeyFrame: step == 7))
            let types = picture.nalUnits.map { NALUnitType.of($0[0]) }
            XCTAssertEqual(picture.isKeyFrame, step == 0 || step == 7)
            XCTAssertEqual(types, picture.isKeyFrame ? [7, 8, 5] : [1], "picture \(step)")
        }
    }

    func testAKeyFrameComesUnaskedAfterTheInterval() throws {
        var settings = self.settings(320, 180)
        settings.keyFrameIntervalMs = 500
        let keys = try self.roundTrip(settings, count: 31).encoded.map(\.isKeyFrame)
        XCTAssertEqual(keys.indices.filter { keys[$0] }, [0, 15, 30])
    }

    func testTheStreamIsConstrainedBaselineOfItsLevel() throws {
        let encoder = try H264Encoder(self.settings(1280, 720))
        let picture = try XCTUnwrap(try encoder.encode(TestPictures.frame(1280, 720), forceKeyFrame: true))
        let parameters = try XCTUnwrap(picture.nalUnits.first)
        XCTAssertEqual(parameters[1], 66)
        XCTAssertEqual(parameters[2] & 0xC0, 0xC0)
        XCTAssertEqual(parameters[3], 31)
    }

    func testNoNALUnitIsLargerThanItsBound() throws {
        let result = try self.roundTrip(self.settings(kbps: 4000, bound: 1200), count: 20)
        let sizes = result.encoded.flatMap { $0.nalUnits.map(\.count) }
        XCTAssertLessThanOrEqual(try XCTUnwrap(sizes.max()), 1200)
        XCTAssertGreaterThan(result.encoded[0].nalUnits.count, 3)
        XCTAssertGreaterThan(result.luma, 32)
    }

    func testTheBitRateIsKeptAndCanBeChanged() throws {
        let encoder = try H264Encoder(self.settings(kbps: 600))
        var bytes = 0
        func rate(over steps: Range<Int>) throws -> Int {
            bytes = 0
            for step in steps {
                bytes +=
                    try encoder.encode(TestPictures.noise(640, 360, step: step), forceKeyFrame: false)?.byteCount ?? 0
            }
            return bytes * 8 * 30 / steps.count / 1000
        }
        _ = try rate(over: 0..<30)
        XCTAssertEqual(Double(try rate(over: 30..<120)), 600, accuracy: 120)
        encoder.setBitrate(kbps: 300)
        _ = try rate(over: 120..<150)
        XCTAssertEqual(Double(try rate(over: 150..<240)), 300, accuracy: 90)
    }

    func testOtherSizesAndRangesAreConverted() throws {
        let encoder = try H264Encoder(self.settings(320, 180))
        let decoder = try H264Decoder()
        for source in [TestPictures.frame(640, 360), TestPictures.frame(320, 180, step: 1, fullRange: true)] {
            let picture = try XCTUnwrap(try encoder.encode(source, forceKeyFrame: false))
            let result = decoder.decode(picture.accessUnit, captured: .zero)
            let frame = try XCTUnwrap(self.decoded(result))
            XCTAssertEqual(frame.width, 320)
            XCTAssertFalse(frame.fullRange)
        }
    }

    func testTheSizeMayChangeInTheStream() throws {
        let decoder = try H264Decoder()
        for (width, height) in [(640, 360), (320, 240), (1280, 720)] {
            let encoder = try H264Encoder(self.settings(width, height))
            for step in 0..<3 {
                let source = TestPictures.frame(width, height, step: step)
                let picture = try XCTUnwrap(try encoder.encode(source, forceKeyFrame: false))
                let result = decoder.decode(picture.accessUnit, captured: .zero)
                XCTAssertEqual(self.decoded(result)?.width, width)
            }
        }
    }

    func testAFasterCameraIsThinnedOutAndNoKeyFrameIsForgotten() throws {
        var settings = self.settings(320, 180)
        settings.rate = FrameRate(15)
        let encoder = try H264Encoder(settings)
        // The test pictures are 33 ms apart.
        let pictures = try (0..<30).map { step in
            try encoder.encode(TestPictures.frame(320, 180, step: step), forceKeyFrame: step == 9 || step == 20)
        }
        XCTAssertEqual(pictures.indices.filter { pictures[$0] != nil }, Array(stride(from: 0, to: 30, by: 2)))
        XCTAssertEqual(pictures.indices.filter { pictures[$0]?.isKeyFrame == true }, [0, 10, 20])
    }

    func testTheRateIsKeptThroughUnsteadinessAndPauses() {
        func admitted(_ rate: Int, _ times: [Int]) -> [Int] {
            var pacer = FramePacer(rate: FrameRate(rate))
            return times.filter { pacer.admits(Instant.zero + .milliseconds($0)) }
        }
        let unsteady = [0, 30, 70, 95, 140, 160, 201, 230, 271, 295]
        XCTAssertEqual(admitted(30, unsteady), unsteady)
        let slightlyFast = (0..<100).map { $0 * 31 }
        XCTAssertEqual(admitted(30, slightlyFast), slightlyFast)
        let thirty = (0..<300).map { $0 * 100 / 3 }
        XCTAssertEqual(Double(admitted(20, thirty).count), 200, accuracy: 2)
        XCTAssertEqual(Double(admitted(10, thirty).count), 100, accuracy: 2)
        XCTAssertEqual(admitted(10, [0, 100, 900, 933, 966, 1000, 1033, 1066]), [0, 100, 900, 966, 1066])
        XCTAssertEqual(admitted(10, [5000, 0, 33, 66, 100]), [5000, 0, 66])
    }

    func testImpossibleSettingsAreRefused() {
        XCTAssertThrowsError(try H264Encoder(self.settings(8, 8)))
        XCTAssertThrowsError(try H264Encoder(self.settings(8192, 360)))
        XCTAssertThrowsError(try H264Encoder(self.settings(kbps: 0)))
    }
}

extension EncodedPicture {
    /// As it arrives where no packet is lost.
    var accessUnit: AccessUnit {
        AccessUnit(nalUnits: self.nalUnits, timestamp: RTPTimestamp(0), isKeyFrame: self.isKeyFrame)
    }
}

extension TestPictures {
    /// The moving test picture with noise, so that a bit rate has something to be spent on.
    static func noise(_ width: Int, _ height: Int, step: Int) -> VideoFrame {
        let frame = self.frame(width, height, step: step)
        var generator = Generator(seed: UInt64(step))
        let plane = frame.planes.0
        let bytes = UnsafeMutablePointer(mutating: plane.bytes!)
        for y in 0..<height {
            for x in stride(from: 0, to: width, by: 8) {
                let random = generator.next()
                for offset in 0..<min(8, width - x) {
                    bytes[y * plane.stride + x + offset] &+= UInt8((random >> UInt64(8 * offset)) & 15)
                }
            }
        }
        return frame
    }
}
