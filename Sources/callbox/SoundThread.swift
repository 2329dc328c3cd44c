// SPDX-License-Identifier: Apache-2.0

import Bytes
import KioskEngine
import Loop
import MediaEngine
import Sound

/// What goes to the sound thread.
enum SoundMessage {
    /// A call's media begin; nil where they have no sound.
    case start(AudioPlan?, Generation)
    case update(AudioPlan?)
    case stop
    case packet(AudioPacket)
    case mute(Bool)
    case deafen(Bool)
    /// As tones in what is sent.
    case digit(UInt8, durationMs: Int)
    case tone(Tone)
    case chime(Chime)
    /// What is spoken ends, and the prompt of this number may be: all others come too late.
    case awaitPrompt(PromptNumber)
    /// At 48 kHz.
    case prompt([Int16], PromptNumber)
    /// The same two for what is said to the far end.
    case awaitAnnouncement(PromptNumber)
    case announcement([Int16], PromptNumber)
}

/// Runs the sound loop and carries its orders and news.
final class SoundThread {
    private let settings: AudioSettings
    private let sound: SoundSettings
    private let wires: Wires
    private var stuckCapture = StuckDevice("the microphone")
    private var stuckPlayback = StuckDevice("the loudspeaker")
    private var generation: Generation = 0
    private var awaitedPrompt: PromptNumber = 0
    private var awaitedAnnouncement: PromptNumber = 0
    private var xrunsAtStart: UInt64?
    private var concealedAtStart: UInt64?

    init(_ settings: AudioSettings, _ sound: SoundSettings, wires: Wires) {
        self.settings = settings
        self.sound = sound
        self.wires = wires
    }

    func run() {
        let loop = SoundLoop(
            capture: Self.name(self.settings.capture), playback: Self.name(self.settings.playback),
            levels: self.sound.levels, tones: self.sound.tones, care: self.settings.care, clock: Clock.now,
            wakeDescriptor: self.wires.sound.wakeup, nextOrder: { self.nextOrder() }, emit: { self.carryOut($0) })
        while true { loop.turn() }
    }

    private static func name(_ device: DeviceName) -> ByteString {
        switch device {
        case .automatic: return "default"
        case .none: return "null"
        case .named(let name): return name
        }
    }

    private func nextOrder() -> SoundOrder? {
        self.wires.sound.acknowledge()
        guard let message = self.wires.sound.take() else { return nil }
        switch message {
        case .start(let plan, let generation):
            self.generation = generation
            self.xrunsAtStart = nil
            self.concealedAtStart = nil
            return plan.map { .start($0) } ?? .stop
        case .update(let plan): return plan.map { .update($0) } ?? .stop
        case .stop: return .stop
        case .packet(let packet): return .packet(packet)
        case .mute(let isOn): return .mute(isOn)
        case .deafen(let isOn): return .deafen(isOn)
        case .digit(let key, let durationMs): return .digit(key, milliseconds: durationMs)
        case .tone(let tone): return .tone(tone)
        case .chime(let chime): return .chime(chime)
        case .awaitPrompt(let number):
            self.awaitedPrompt = number
            return .hush
        case .prompt(let samples, let number): return number == self.awaitedPrompt ? .speak(samples) : .hush
        case .awaitAnnouncement(let number):
            self.awaitedAnnouncement = number
            return .announce([])
        case .announcement(let samples, let number):
            return .announce(number == self.awaitedAnnouncement ? samples : [])
        }
    }

    private func carryOut(_ output: SoundOutput) {
        switch output {
        case .encoded(let sound):
            self.wires.media.put(.audioEncoded(sound.payload, samples: sound.samples, captured: sound.captured))
        case .firstSoundPlayed:
            self.wires.report(.firstSoundPlayed, self.generation)
        case .failed(let direction, let sentence):
            self.wires.report(.failed(Self.family(direction), sentence))
        case .restored(let direction):
            self.wires.report(.restored(Self.family(direction)))
        case .broken(let direction, let card, let workedMs):
            self.noteBroken(direction, card, workedMs: workedMs)
        case .statistics(let statistics):
            self.count(statistics)
        }
    }

    private func noteBroken(_ direction: SoundDirection, _ card: Int32, workedMs: Int) {
        let entry = ByteString("/sys/class/sound/card") + ByteString(decimal: card) + "/device"
        let now = Clock.now()
        switch direction {
        case .capture: self.stuckCapture.failed(workedMs: workedMs, entry: entry, now: now, wires: self.wires)
        case .playback: self.stuckPlayback.failed(workedMs: workedMs, entry: entry, now: now, wires: self.wires)
        }
    }

    private static func family(_ direction: SoundDirection) -> DeviceFamily {
        switch direction {
        case .capture: return .capture
        case .playback: return .playback
        }
    }

    /// The loop counts for its whole life, a call for its own.
    private func count(_ statistics: SoundStatistics) {
        let xruns = statistics.overruns &+ statistics.underruns
        let xrunsBefore = self.xrunsAtStart ?? xruns
        let concealedBefore = self.concealedAtStart ?? statistics.concealed
        self.xrunsAtStart = xrunsBefore
        self.concealedAtStart = concealedBefore
        self.wires.counters.update {
            $0.soundXruns = xruns &- xrunsBefore
            $0.soundConcealed = statistics.concealed &- concealedBefore
            $0.playoutDelayMs = UInt64(max(0, statistics.bufferedMs))
        }
    }
}

extension AudioSettings {
    fileprivate var care: CaptureCare {
        var care = CaptureCare()
        care.cancelsEcho = self.cancelsEcho
        care.controlsGain = self.controlsGain
        switch self.noiseSuppression {
        case .off: care.noiseSuppression = .off
        case .low: care.noiseSuppression = .low
        case .moderate: care.noiseSuppression = .moderate
        case .high: care.noiseSuppression = .high
        }
        return care
    }
}

extension SoundSettings {
    fileprivate var levels: SoundLevels {
        var levels = SoundLevels()
        levels.volume = Self.amplitude(percent: self.volume)
        levels.tones = Self.amplitude(percent: self.toneVolume)
        levels.prompts = Self.amplitude(percent: self.promptVolume)
        return levels
    }

    /// 12 dB less at 50 percent, which is about half as loud to the ear.
    private static func amplitude(percent: Int) -> Double {
        Double(percent * percent) / 10_000
    }
}
