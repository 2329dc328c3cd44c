// SPDX-License-Identifier: Apache-2.0

import Bytes
import XCTest

@testable import Sound

final class SignalTests: XCTestCase {
    // MARK: - Queue

    func testSamplesComeOutInOrderAndTheSurplusIsDropped() {
        var queue = SampleQueue(capacity: 10)
        queue.append([1, 2, 3, 4, 5, 6])
        var target = [Int16](repeating: 0, count: 4)
        XCTAssertEqual(queue.take(into: &target), 4)
        XCTAssertEqual(target, [1, 2, 3, 4])
        queue.append([7, 8, 9, 10, 11, 12, 13, 14, 15])
        XCTAssertEqual(queue.count, 10)
        XCTAssertEqual(queue.dropped, 1)
        target = [Int16](repeating: 0, count: 12)
        XCTAssertEqual(queue.take(into: &target), 10)
        XCTAssertEqual(target, [5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0, 0])
        XCTAssertEqual(queue.take(into: &target), 0)
    }

    // MARK: - 48 kHz and 8 kHz

    private func decimated(_ samples: [Int16]) -> [Int16] {
        var decimator = Decimator()
        return stride(from: 0, to: samples.count, by: 480).flatMap { decimator.process(Array(samples[$0..<$0 + 480])) }
    }

    func testSpeechFrequenciesPassTheDecimator() {
        for hertz in [300.0, 1000, 2000, 3000] {
            let narrow = Array(self.decimated(TestSound.sine(hertz, frames: 48_000)).dropFirst(160))
            let found = TestSound.measure(narrow, hertz, rate: 8000)
            XCTAssertEqual(found.amplitude, 10_000, accuracy: 150, "\(hertz) Hz")
            XCTAssertGreaterThan(found.snr, 50, "\(hertz) Hz")
        }
    }

    func testFrequenciesAboveTheTelephoneBandAreGone() {
        for hertz in [4200.0, 5000, 7000, 12_000, 20_000] {
            let narrow = Array(self.decimated(TestSound.sine(hertz, frames: 48_000)).dropFirst(160))
            XCTAssertLessThan(10 * log10(TestSound.power(narrow) / 5e7), -45, "\(hertz) Hz")
        }
    }

    func testTheInterpolatorMakesNoImages() {
        for hertz in [300.0, 1000, 3000] {
            let narrow = (0..<8000).map { Int16(10_000 * sin(2 * .pi * hertz * Double($0) / 8000)) }
            var interpolator = Interpolator()
            let wide = stride(from: 0, to: 8000, by: 160).flatMap { interpolator.process(Array(narrow[$0..<$0 + 160])) }
            XCTAssertEqual(wide.count, 48_000)
            let found = TestSound.measure(Array(wide.dropFirst(960)), hertz)
            XCTAssertEqual(found.amplitude, 10_000, accuracy: 150, "\(hertz) Hz")
            XCTAssertGreaterThan(found.snr, 45, "\(hertz) Hz")
        }
    }

    func testFullScaleDoesNotOverflow() {
        let square = (0..<4800).map { Int16($0 / 60 % 2 == 0 ? 32767 : -32768) }
        let narrow = self.decimated(square)
        var interpolator = Interpolator()
        let wide = interpolator.process(narrow)
        XCTAssertEqual(narrow.max(), 32767)
        XCTAssertEqual(wide.min(), -32768)
    }

    // MARK: - Concealment

    func testALostPacketOfATonePlaysOnWithoutABreak() {
        for hertz in [130.0, 440, 1000, 1234] {
            var concealer = Concealer()
            var out: [Int16] = []
            for packet in 0..<10 {
                let sound = TestSound.sine(hertz, frames: 960, from: packet * 960)
                out += packet == 5 ? concealer.conceal(960) : concealer.received(sound)
            }
            XCTAssertEqual(out.count, 9600)
            let steepest = 10_000 * 2 * .pi * hertz / 48_000
            XCTAssertLessThan(Double(TestSound.roughness(out)), steepest * 1.6 + 300, "\(hertz) Hz")
            let gap = TestSound.measure(Array(out[4800..<5760]), hertz)
            XCTAssertGreaterThan(gap.amplitude, 7000, "\(hertz) Hz")
        }
    }

    func testALongGapFadesToSilenceWithin60MsAndStaysSilent() {
        var concealer = Concealer()
        for packet in 0..<5 { _ = concealer.received(TestSound.sine(440, frames: 960, from: packet * 960)) }
        let gap = (0..<20).map { _ in concealer.conceal(480) }
        let powers = gap.map(TestSound.power)
        XCTAssertGreaterThan(powers[0], 3e7)
        for index in 1..<6 { XCTAssertLessThan(powers[index], powers[index - 1], "10 ms number \(index)") }
        XCTAssertEqual(powers[6...].reduce(0, +), 0)
    }

    func testSoundComesBackWithoutAClick() {
        var concealer = Concealer()
        for packet in 0..<5 { _ = concealer.received(TestSound.sine(440, frames: 960, from: packet * 960)) }
        for _ in 0..<20 { _ = concealer.conceal(480) }
        // Begins at the top of a wave.
        let back = concealer.received(TestSound.sine(440, frames: 960, from: 27))
        XCTAssertLessThan(abs(Int(back[0])), 100)
        XCTAssertLessThan(TestSound.roughness([0] + back), 700)
        XCTAssertEqual(Array(back[240...]), Array(TestSound.sine(440, frames: 960, from: 27)[240...]))
    }

    func testAGapThatIsOnlyAnnouncedIsBlendedToo() {
        var concealer = Concealer()
        _ = concealer.received(TestSound.sine(440, frames: 1920))
        let jumped = concealer.received(TestSound.sine(440, frames: 960, from: 27), afterGap: true)
        XCTAssertLessThan(TestSound.roughness(Array(TestSound.sine(440, frames: 1920).suffix(1)) + jumped), 1500)
    }

    func testUndisturbedSoundIsNotTouched() {
        var concealer = Concealer()
        for packet in 0..<5 {
            let sound = TestSound.sine(440, frames: 960, from: packet * 960)
            XCTAssertEqual(concealer.received(sound), sound)
        }
    }

    func testAnyLengthsMayComeInAnyOrder() {
        var concealer = Concealer()
        var generator = Generator(seed: 5)
        for _ in 0..<2000 {
            let count = Int(generator.below(6000))
            switch generator.below(3) {
            case 0: XCTAssertEqual(concealer.conceal(count).count, count)
            case 1:
                let noise = (0..<count).map { _ in Int16(truncatingIfNeeded: generator.next()) }
                XCTAssertEqual(concealer.received(noise, afterGap: generator.below(2) == 0).count, count)
            default: XCTAssertEqual(concealer.received([], afterGap: true), [])
            }
        }
    }

    // MARK: - Names and levels

    func testDeviceNames() {
        XCTAssertEqual(PCMName.candidates("none"), [])
        XCTAssertEqual(PCMName.candidates("null"), [])
        XCTAssertEqual(PCMName.candidates(""), [])
        XCTAssertEqual(PCMName.candidates("default"), ["default"])
        XCTAssertEqual(PCMName.candidates("hw:CARD=Headset,DEV=1"), ["hw:CARD=Headset,DEV=1"])
        XCTAssertEqual(PCMName.candidates("Headset"), ["hw:CARD=Headset,DEV=0", "plughw:CARD=Headset,DEV=0"])
    }

    func testTheMeterHoldsTheLoudestSample() {
        var meter = LevelMeter()
        meter.add([0, -300, 200])
        meter.add([10])
        XCTAssertEqual(meter.take(), 300)
        XCTAssertEqual(meter.take(), 0)
        meter.add([Int16.min])
        XCTAssertEqual(meter.take(), 32768)
    }
}
