// SPDX-License-Identifier: Apache-2.0

import Bytes
import MediaEngine
import RTPWire
import XCTest

@testable import Sound

/// A loop without devices, in a time of its own.
private final class Bench {
    var now = Instant(nanoseconds: 1_000_000_000)
    var orders: [SoundOrder] = []
    var packets: [EncodedSound] = []
    var firstSounds: [Instant] = []
    var failures: [(SoundDirection, String)] = []
    var statistics: [SoundStatistics] = []
    /// Always readable: no turn waits.
    private let awake = open("/dev/zero", O_RDONLY)
    private(set) var loop: SoundLoop!

    init(capture: ByteString = "none", playback: ByteString = "none") {
        self.loop = SoundLoop(
            capture: capture, playback: playback, clock: { [unowned self] in self.now },
            wakeDescriptor: self.awake,
            nextOrder: { [unowned self] in self.orders.isEmpty ? nil : self.orders.removeFirst() },
            emit: { [unowned self] in self.note($0) })
    }

    deinit {
        close(self.awake)
    }

    private func note(_ output: SoundOutput) {
        switch output {
        case .encoded(let packet): self.packets.append(packet)
        case .firstSoundPlayed(let time): self.firstSounds.append(time)
        case .failed(let direction, let text): self.failures.append((direction, text.string))
        case .restored: break
        case .broken(let direction, _, _): self.failures.append((direction, "does not work"))
        case .statistics(let statistics): self.statistics.append(statistics)
        }
    }

    /// Turns of 10 ms each.
    func run(ms: Int) {
        for _ in 0..<ms / 10 {
            self.loop.turn()
            self.now = self.now + .milliseconds(10)
        }
    }
}

final class SoundLoopTests: XCTestCase {
    private func plan(
        _ codec: AudioCodec = .pcmu, sends: Bool = true, receives: Bool = true, packetMs: Int = 20
    ) -> AudioPlan {
        let nowhere = SocketAddress(.v4(0), port: 0)
        let stream = StreamPlan(
            remoteRTP: nowhere, remoteRTCP: nowhere, sends: sends, receives: receives, localSSRC: SSRC(1), cname: "a")
        return AudioPlan(
            stream: stream, codec: codec, sendPayloadType: .pcmu, receivePayloadTypes: [], packetTimeMs: packetMs)
    }

    private func packet(_ number: Int, _ payload: [UInt8]) -> SoundOrder {
        .packet(
            AudioPacket(
                payload: payload, codec: .pcmu, ssrc: SSRC(7), sequence: SequenceNumber(UInt16(number)),
                timestamp: RTPTimestamp(UInt32(number) * 160), samples: 160))
    }

    func testWithoutDevicesACallSendsSilenceAtThePaceOfTheClock() {
        let bench = Bench()
        bench.orders = [.start(self.plan())]
        bench.run(ms: 2000)
        XCTAssertEqual(bench.packets.count, 100)
        XCTAssertTrue(bench.packets.allSatisfy { $0.payload == [UInt8](repeating: 0xFF, count: 160) })
        XCTAssertEqual(bench.statistics.count, 1)
    }

    func testNothingIsSentOutsideACallOrOnHold() {
        let bench = Bench()
        bench.run(ms: 30)
        bench.orders = [.start(self.plan(sends: false))]
        bench.run(ms: 200)
        XCTAssertEqual(bench.packets.count, 0)
        bench.orders = [.update(self.plan())]
        bench.run(ms: 200)
        XCTAssertEqual(bench.packets.count, 10)
        bench.orders = [.stop]
        bench.run(ms: 30)
        XCTAssertEqual(bench.packets.count, 10)
    }

    func testTheCodecMayChangeInTheCall() {
        let bench = Bench()
        bench.orders = [.start(self.plan())]
        bench.run(ms: 100)
        bench.orders = [.update(self.plan(.opus, packetMs: 40))]
        bench.run(ms: 120)
        XCTAssertEqual(bench.packets.map(\.samples), [160, 160, 160, 160, 160, 1920, 1920, 1920])
    }

    func testTheFirstReceivedSoundIsToldOnceInACall() {
        let bench = Bench()
        for _ in 0..<2 {
            bench.firstSounds = []
            bench.orders = [.start(self.plan())]
            bench.run(ms: 100)
            XCTAssertEqual(bench.firstSounds.count, 0)
            for number in 0..<20 {
                bench.orders.append(self.packet(number, [UInt8](repeating: 0x20, count: 160)))
                bench.run(ms: 20)
            }
            XCTAssertEqual(bench.firstSounds.count, 1)
            bench.orders = [.stop]
            bench.run(ms: 50)
        }
        XCTAssertEqual(bench.statistics.count, 0)
    }

    /// PCMU 0xFF is silence, 0x20 is loud.
    func testCaseH122SilenceIsNoSoundUntilItIsAllThatComes() {
        let bench = Bench()
        bench.orders = [.start(self.plan())]
        for number in 0..<50 {
            bench.orders.append(self.packet(number, [UInt8](repeating: number < 40 ? 0xFF : 0x20, count: 160)))
            bench.run(ms: 20)
            if number < 40 { XCTAssertEqual(bench.firstSounds.count, 0) }
        }
        XCTAssertEqual(bench.firstSounds.count, 1)
        let begin = bench.now
        bench.orders = [.start(self.plan())]
        for number in 0..<200 {
            bench.orders.append(self.packet(number, [UInt8](repeating: 0xFF, count: 160)))
            bench.run(ms: 20)
        }
        XCTAssertEqual(bench.firstSounds.count, 2)
        XCTAssertGreaterThanOrEqual(((bench.firstSounds.last ?? begin) - begin).milliseconds, 3000)
    }

    func testWhatIsNotToBeHeardIsSilenceAndFirstSoundComesAfterIt() {
        let bench = Bench()
        bench.orders = [.deafen(true), .start(self.plan())]
        for number in 0..<150 {
            if number == 100 { bench.orders.append(.deafen(false)) }
            bench.orders.append(self.packet(number, [UInt8](repeating: 0x20, count: 160)))
            bench.run(ms: 20)
            if number == 99 { XCTAssertEqual(bench.statistics.map(\.playbackPeak), [0]) }
            XCTAssertEqual(bench.firstSounds.count, number < 100 ? 0 : 1)
        }
        XCTAssertGreaterThan(bench.statistics.last?.playbackPeak ?? 0, 1000)
    }

    func testAnAnnouncementIsSaidInPlaceOfTheMicrophoneOverAndOverUntilItEnds() {
        var sender = SoundSender()
        sender.use(self.plan())
        sender.announcement.say(TestSound.sine(1000, frames: 48_000))
        var sent: [Int16] = []
        for period in 0..<600 {
            if period == 420 { sender.announcement.say([]) }
            var sound = TestSound.sine(600, frames: 480, from: period * 480)
            _ = sender.encode(&sound, isMuted: false, captured: .zero)
            sent += sound
        }
        func amplitude(_ hertz: Double, _ fromMs: Int, _ toMs: Int) -> Double {
            TestSound.measure(Array(sent[fromMs * 48..<toMs * 48]), hertz).amplitude
        }
        for (from, to) in [(500, 1500), (3500, 4200)] { XCTAssertEqual(amplitude(1000, from, to), 5000, accuracy: 50) }
        for (from, to) in [(0, 500), (1500, 3500)] {
            XCTAssertEqual(sent[from * 48..<to * 48].filter { $0 != 0 }, [], "silence, not the microphone")
        }
        XCTAssertEqual(amplitude(600, 4200, 6000), 10_000, accuracy: 50, "then the microphone again")
    }

    func testPacketsOfNoCallAreDropped() {
        let bench = Bench()
        for number in 0..<20 { bench.orders.append(self.packet(number, [1, 2, 3])) }
        bench.run(ms: 20)
        bench.orders = [.start(self.plan())]
        bench.run(ms: 300)
        XCTAssertEqual(bench.firstSounds.count, 0)
    }

    func testALateClockIsNotMadeUpForWithoutBound() {
        let bench = Bench()
        bench.orders = [.start(self.plan())]
        bench.run(ms: 100)
        bench.now = bench.now + .seconds(60)
        bench.run(ms: 100)
        XCTAssertLessThan(bench.packets.count, 12)
    }

    func testAMissingDeviceIsToldOnceInAPlainSentence() {
        let bench = Bench(capture: "nowhere", playback: "hw:CARD=nobody")
        bench.orders = [.start(self.plan())]
        bench.run(ms: 7000)
        XCTAssertEqual(bench.failures.map(\.0), [.capture, .playback])
        XCTAssertEqual(bench.failures.first?.1, "The microphone \"nowhere\" is not there.")
        XCTAssertEqual(bench.failures.last?.1, "The loudspeaker \"hw:CARD=nobody\" is not there.")
        XCTAssertFalse(bench.loop.isPresent(.capture))
        XCTAssertGreaterThan(bench.packets.count, 340)
    }

    // MARK: - The two halves

    func testAToneGoesFromTheMicrophoneToTheLoudspeaker() throws {
        for codec in [AudioCodec.opus, .pcmu, .pcma] {
            var sender = SoundSender()
            var receiver = SoundReceiver()
            sender.use(self.plan(codec))
            var heard: [Int16] = []
            var number = 0
            for period in 0..<300 {
                let now = Instant.zero + .milliseconds(10 * period)
                var sound = TestSound.sine(600, frames: 480, from: period * 480)
                if let encoded = sender.encode(&sound, isMuted: false, captured: now) {
                    receiver.insert(
                        AudioPacket(
                            payload: encoded.payload, codec: codec, ssrc: SSRC(7),
                            sequence: SequenceNumber(UInt16(number)),
                            timestamp: RTPTimestamp(UInt32(number) * encoded.samples), samples: encoded.samples), now)
                    number += 1
                }
                var out = [Int16](repeating: 0, count: 480)
                _ = receiver.next(into: &out, now)
                heard += out
            }
            let found = TestSound.measure(Array(heard.suffix(96_000)), 600)
            XCTAssertGreaterThan(found.snr, 15, "\(codec)")
            XCTAssertEqual(found.amplitude, 10_000, accuracy: 1500, "\(codec)")
        }
    }

    func testMutedIsSilence() {
        var sender = SoundSender()
        sender.use(self.plan())
        var packets: [EncodedSound] = []
        for period in 0..<20 {
            var sound = TestSound.sine(600, frames: 480, from: period * 480)
            if let packet = sender.encode(&sound, isMuted: period >= 8, captured: .zero) { packets.append(packet) }
        }
        XCTAssertNotEqual(packets[3].payload, [UInt8](repeating: 0xFF, count: 160))
        for packet in packets.suffix(4) { XCTAssertEqual(packet.payload, [UInt8](repeating: 0xFF, count: 160)) }
    }
}
