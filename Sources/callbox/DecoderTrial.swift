// SPDX-License-Identifier: Apache-2.0

import Bytes
import KioskEngine
import Loop
import Picture

/// Who decodes on this board, as a trial found out.
enum DecoderVerdict: Equatable {
    /// The board's own decoder, by its name; nanoseconds a picture, and its largest ones.
    case board(ByteString, nanoseconds: Int64, width: Int, height: Int)
    /// Software, in so many nanoseconds a picture; why not the board's.
    case software(nanoseconds: Int64, reason: ByteString)

    var usesBoard: Bool {
        switch self {
        case .board: return true
        case .software: return false
        }
    }

    /// Software is never asked for more than 720p: the processor has the encoder to run as well.
    var ability: DecoderAbility {
        switch self {
        case .board(_, let nanoseconds, let width, let height):
            return Self.ability(nanoseconds, max(width, TrialClip.width), max(height, TrialClip.height))
        case .software(let nanoseconds, _):
            return Self.ability(nanoseconds, TrialClip.width, TrialClip.height)
        }
    }

    private static func ability(_ nanoseconds: Int64, _ width: Int, _ height: Int) -> DecoderAbility {
        let macroblocks = Int64(TrialClip.width / 16 * (TrialClip.height / 16))
        let rate = macroblocks * 1_000_000_000 / max(nanoseconds, 1)
        return DecoderAbility(macroblocksPerSecond: Int(clamping: rate), widthMax: width, heightMax: height)
    }

    /// For `callbox doctor video`.
    var words: ByteString {
        switch self {
        case .board(let name, let nanoseconds, _, _):
            return name + ", the board's own, " + Self.text(nanoseconds) + "; its pictures equal those of software"
        case .software(let nanoseconds, let reason):
            return "software (libavcodec), " + Self.text(nanoseconds) + ". " + reason
        }
    }

    private static func text(_ nanoseconds: Int64) -> ByteString {
        ByteString(decimal: nanoseconds / 1_000_000) + " ms for a picture of 1280x720"
    }
}

/// The trial of the board's decoder, and what is kept of it.
struct DecoderTrial {
    private let record: TrialRecord

    init(data: ByteString) {
        self.record = TrialRecord(data: data, name: "decoder")
    }

    /// Of a former start; nil where there is none, or it makes no sense.
    var kept: DecoderVerdict? {
        guard let lines = self.record.lines, lines.count >= 2 else { return nil }
        let numbers = lines[0].split(on: ASCII.space).compactMap { $0.decimal(max: UInt64(Int32.max)) }
        guard numbers.count == 3 else { return nil }
        if numbers[1] == 0 { return .software(nanoseconds: Int64(numbers[0]), reason: lines[1]) }
        return .board(lines[1], nanoseconds: Int64(numbers[0]), width: Int(numbers[1]), height: Int(numbers[2]))
    }

    /// Tries what there is.
    func run() -> DecoderVerdict? {
        do throws(CodecError) {
            let clip = try TrialClip(clock: Clock.now)
            do throws(HardwareCodecError) {
                let trial = try clip.tryBoard(clock: Clock.now)
                let (width, height) = trial.largest
                return .board(trial.name, nanoseconds: trial.time.nanoseconds, width: width, height: height)
            } catch {
                return .software(nanoseconds: clip.softwareTime.nanoseconds, reason: error.text)
            }
        } catch {
            Log.write("callbox: " + error.text)
            return nil
        }
    }

    func file(_ verdict: DecoderVerdict) -> SmallFile {
        let numbers: (Int64, Int, Int)
        let words: ByteString
        switch verdict {
        case .board(let name, let nanoseconds, let width, let height):
            numbers = (nanoseconds, max(width, TrialClip.width), max(height, TrialClip.height))
            words = name
        case .software(let nanoseconds, let reason):
            numbers = (nanoseconds, 0, 0)
            words = reason
        }
        let line =
            ByteString(decimal: min(numbers.0, Int64(Int32.max))) + " " + ByteString(decimal: numbers.1) + " "
            + ByteString(decimal: numbers.2)
        return self.record.file([line, words])
    }
}
