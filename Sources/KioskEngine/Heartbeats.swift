// SPDX-License-Identifier: Apache-2.0
import Bytes

/// A part of the program that has to go on for the help point to be one.
public enum VitalPart: UInt8, Hashable, Sendable {
    /// The event loop.
    case loop
    /// The timers of signalling.
    case signalling
    /// Buttons, inputs and lamps.
    case panel
    case media
    case sound
    case decoder
    case display

    public static let all: [VitalPart] = [.loop, .signalling, .panel, .media, .sound, .decoder, .display]

    /// As in the log.
    public var text: ByteString {
        switch self {
        case .loop: return "the event loop"
        case .signalling: return "signalling"
        case .panel: return "the panel"
        case .media: return "the media"
        case .sound: return "the sound"
        case .decoder: return "the decoder"
        case .display: return "the display"
        }
    }
}

/// Whether all parts go on. Each is asked now and then to show a sign of life, and is looked at one period later: the
/// watchdog (sd_notify(3), `WATCHDOG=1`) is fed only where every one has gone on since it was fed the last time.
public struct Heartbeats {
    /// What a part shows at a look.
    public enum Sign: Equatable {
        /// Its device is away, or there is none: a fault tells of that, and waiting for it is no standstill.
        case away
        /// How often it has gone round since the start of the program.
        case turns(UInt64)
    }

    public enum Verdict: Equatable {
        /// This was the first look: nothing is known yet.
        case unknown
        /// All went on: feed.
        case alive
        /// These did not: do not feed.
        case still([VitalPart])
    }

    /// When all went on the last time, or the first look was; nil before it.
    private var fedAt: Instant?
    private var fed = [Sign](repeating: .away, count: VitalPart.all.count)
    private(set) public var verdict = Verdict.unknown

    public init() {}

    /// One look. True where it found something else than the one before.
    public mutating func look(_ sign: (VitalPart) -> Sign, now: Instant) -> Bool {
        let former = self.verdict
        let signs = VitalPart.all.map(sign)
        let still = VitalPart.all.filter { part in
            let index = Int(part.rawValue)
            return signs[index] != .away && signs[index] == self.fed[index]
        }
        self.verdict = self.fedAt == nil ? .unknown : still.isEmpty ? .alive : .still(still)
        if still.isEmpty {
            self.fedAt = now
            self.fed = signs
        }
        return self.verdict != former
    }

    /// What the log says of parts that stand still; nil where none does.
    public func complaint(now: Instant) -> ByteString? {
        guard case .still(let parts) = self.verdict, let fedAt = self.fedAt else { return nil }
        let seconds = ByteString(decimal: (now - fedAt).milliseconds / 1000)
        return ConfigurationValue.joined(parts.map { $0.text }) + " did not go on for " + seconds + " s"
    }
}
