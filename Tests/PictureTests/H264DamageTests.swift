// SPDX-License-Identifier: Apache-2.0

import Bytes
import H264
import RTPWire
import XCTest

@testable import Picture

final class H264DamageTests: XCTestCase {
    /// Encoded pictures of 320x180; with `bound`, of many slices each.
    private func stream(_ count: Int, keyFrames: Set<Int> = [0], bound: Int? = nil) throws -> [EncodedPicture] {
        let encoder = try H264Encoder(
            H264EncoderSettings(width: 320, height: 180, bitrateKbps: 1000, nalUnitBytesMax: bound))
        return try (0..<count).map { step in
            let source = TestPictures.frame(320, 180, step: step)
            return try XCTUnwrap(try encoder.encode(source, forceKeyFrame: keyFrames.contains(step)))
        }
    }

    private func name(_ result: DecodedPicture) -> String {
        switch result {
        case .picture(_, let isKeyFrame): return isKeyFrame ? "key" : "picture"
        case .waiting: return "waiting"
        case .broken: return "broken"
        case .nothing: return "nothing"
        }
    }

    private func names(_ pictures: [EncodedPicture]) throws -> [String] {
        let decoder = try H264Decoder()
        return pictures.map { self.name(decoder.decode($0.accessUnit, captured: $0.captured)) }
    }

    func testNothingIsShownBeforeTheFirstKeyFrame() throws {
        let stream = try self.stream(5, keyFrames: [0, 3])
        XCTAssertEqual(try self.names(Array(stream[1...])), ["waiting", "waiting", "key", "picture"])
    }

    func testAPictureWithAMissingSliceIsBrokenAndTheNextKeyFrameHeals() throws {
        var stream = try self.stream(6, keyFrames: [0, 4], bound: 300)
        XCTAssertGreaterThan(stream[2].nalUnits.count, 1)
        var units = stream[2].nalUnits
        units.remove(at: units.count / 2)
        stream[2] = EncodedPicture(nalUnits: units, isKeyFrame: false, captured: .zero)
        XCTAssertEqual(try self.names(stream), ["key", "picture", "broken", "waiting", "key", "picture"])
    }

    func testLargePicturesAreDecodedBySliceThreads() throws {
        var settings = H264EncoderSettings(width: 1920, height: 1080, bitrateKbps: 4000)
        settings.threads = 4
        let encoder = try H264Encoder(settings)
        let decoder = try H264Decoder()
        for step in 0..<3 {
            let source = TestPictures.frame(1920, 1080, step: step)
            let picture = try XCTUnwrap(try encoder.encode(source, forceKeyFrame: false))
            XCTAssertGreaterThan(picture.nalUnits.count { NALUnitType.of($0) != 7 && NALUnitType.of($0) != 8 }, 1)
            guard case .picture(let frame, _) = decoder.decode(picture.accessUnit, captured: .zero) else {
                return XCTFail("no picture \(step)")
            }
            XCTAssertGreaterThan(TestPictures.psnr(frame, step: step).luma, 32)
        }
        XCTAssertEqual(decoder.threadCount, 2)
    }

    func testPicturesThatTheNetworkDamagedAreNotShown() throws {
        let stream = try self.stream(6, keyFrames: [0, 3])
        let decoder = try H264Decoder()
        let names = stream.indices.map { index in
            var unit = stream[index].accessUnit
            unit.isComplete = index != 1
            unit.followsLoss = index == 2 || index == 3 || index == 5
            return self.name(decoder.decode(unit, captured: .zero))
        }
        XCTAssertEqual(names, ["key", "broken", "waiting", "key", "picture", "broken"])
    }

    func testATornSliceAmongManyIsBroken() throws {
        var stream = try self.stream(2, bound: 300)
        var units = stream[1].nalUnits
        let middle = units.count / 2
        units[middle].removeLast(units[middle].count / 2)
        stream[1] = EncodedPicture(nalUnits: units, isKeyFrame: false, captured: .zero)
        XCTAssertEqual(try self.names(stream), ["key", "broken"])
    }

    func testATornSliceIsBroken() throws {
        var stream = try self.stream(4, keyFrames: [0, 3])
        let torn = stream[1].nalUnits.map { Array($0.prefix($0.count / 2)) }
        stream[1] = EncodedPicture(nalUnits: torn, isKeyFrame: false, captured: .zero)
        XCTAssertEqual(try self.names(stream), ["key", "broken", "waiting", "key"])
    }

    func testAKeyFrameWithoutParameterSetsIsBroken() throws {
        var stream = try self.stream(1)
        stream[0] = EncodedPicture(nalUnits: [stream[0].nalUnits[2]], isKeyFrame: true, captured: .zero)
        XCTAssertEqual(try self.names(stream), ["broken"])
    }

    func testParameterSetsAloneGiveNothing() throws {
        let stream = try self.stream(2)
        let sets = EncodedPicture(nalUnits: Array(stream[0].nalUnits[..<2]), isKeyFrame: false, captured: .zero)
        XCTAssertEqual(try self.names([stream[0], sets, stream[1]]), ["key", "nothing", "picture"])
    }

    func testOtherKindsOfNALUnitsAreLeftOut() throws {
        let stream = try self.stream(1)
        let others: [[UInt8]] = [[9, 0xF0], [12, 0xFF, 0x80], [], [31], [0]]
        let mixed = EncodedPicture(nalUnits: others + stream[0].nalUnits + others, isKeyFrame: true, captured: .zero)
        XCTAssertEqual(try self.names([mixed]), ["key"])
    }

    func testAnAccessUnitThatIsTooLargeIsBroken() throws {
        let huge = EncodedPicture(
            nalUnits: [[UInt8](repeating: 5, count: PictureLimits.compressedBytesMax)], isKeyFrame: true,
            captured: .zero)
        XCTAssertEqual(try self.names([huge]), ["broken"])
    }

    func testPicturesBeyondTheSizeLimitAreBroken() throws {
        // Baseline, level 5.1, 5120x2880: a sequence parameter set by hand, and the slice of another stream.
        var writer = BitWriter()
        writer.bits(66, 8)
        writer.bits(0xC0, 8)
        writer.bits(51, 8)
        for value in [0, 0, 2, 1] { writer.exponentialGolomb(value) }
        writer.bits(0, 1)
        for value in [319, 179] { writer.exponentialGolomb(value) }
        writer.bits(0b11001, 5)
        writer.bits(1, 1)
        let stream = try self.stream(1)
        let units = [[0x67] + writer.bytes, stream[0].nalUnits[1], stream[0].nalUnits[2]]
        XCTAssertEqual(
            try self.names([EncodedPicture(nalUnits: units, isKeyFrame: true, captured: .zero)]), ["broken"])
    }

    /// Random bytes changed, cut, doubled and swapped, from a fixed seed: whatever comes out, nothing crashes, and
    /// intact key frames still decode afterwards.
    func testDamagedStreamsNeverCrashAndAlwaysHeal() throws {
        let stream = try self.stream(12, bound: 400)
        let intact = try self.stream(1)[0]
        let decoder = try H264Decoder()
        var generator = Generator(seed: 4)
        for round in 0..<400 {
            for picture in stream {
                let units = Mutation.damaged(picture.nalUnits, &generator)
                let isKey = picture.isKeyFrame || generator.below(8) == 0
                _ = decoder.decode(
                    AccessUnit(nalUnits: units, timestamp: RTPTimestamp(0), isKeyFrame: isKey), captured: .zero)
            }
            guard round % 20 == 0 else { continue }
            var tries = 0
            // Broken is allowed where the damage before reaches into the picture; it then waits for this key frame.
            while tries < 2, case .broken = decoder.decode(intact.accessUnit, captured: .zero) { tries += 1 }
            XCTAssertLessThan(tries, 2, "round \(round)")
        }
    }
}

/// Damage from a seed.
enum Mutation {
    static func damaged(_ units: [[UInt8]], _ generator: inout Generator) -> [[UInt8]] {
        var units = units
        for index in units.indices where generator.below(3) == 0 {
            let count = UInt64(units[index].count)
            guard count > 1 else { continue }
            switch generator.below(5) {
            case 0: units[index].removeLast(Int(generator.below(count)))
            case 1: units[index].append(contentsOf: units[Int(generator.below(UInt64(units.count)))])
            case 2: units.swapAt(index, Int(generator.below(UInt64(units.count))))
            default:
                for _ in 0...generator.below(6) {
                    units[index][Int(generator.below(count))] ^= UInt8(truncatingIfNeeded: 1 << generator.below(8))
                }
            }
        }
        return units
    }
}

/// Writes bits from the highest down, and Exp-Golomb numbers (ITU-T H.264, 9.1).
struct BitWriter {
    private var bitsWritten: [Bool] = []

    mutating func bits(_ value: Int, _ count: Int) {
        for shift in (0..<count).reversed() { self.bitsWritten.append(value >> shift & 1 == 1) }
    }

    mutating func exponentialGolomb(_ value: Int) {
        let length = Int.bitWidth - (value + 1).leadingZeroBitCount
        self.bits(0, length - 1)
        self.bits(value + 1, length)
    }

    var bytes: [UInt8] {
        stride(from: 0, to: self.bitsWritten.count, by: 8).map { start in
            (0..<8).reduce(UInt8(0)) { byte, offset in
                let index = start + offset
                return byte << 1 | (index < self.bitsWritten.count && self.bitsWritten[index] ? 1 : 0)
            }
        }
    }
}
