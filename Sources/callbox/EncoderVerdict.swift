// SPDX-License-Identifier: Apache-2.0

import Bytes
import Loop
import Picture

/// Who encodes on this board, as a trial found out.
enum EncoderVerdict: Equatable {
    /// The board's own encoder, by its name; nanoseconds a picture.
    case board(ByteString, nanoseconds: Int64)
    /// Software; why not the board's.
    case software(reason: ByteString)

    /// For `callbox doctor video`.
    var words: ByteString {
        switch self {
        case .board(let name, let nanoseconds):
            return name + ", the board's own, " + ByteString(decimal: nanoseconds / 1_000_000)
                + " ms for a picture of 1280x720; it is decoded to what was put in"
        case .software(let reason):
            return "software (libx264). " + reason
        }
    }

    static func run() -> EncoderVerdict {
        do throws(HardwareCodecError) {
            let trial = try EncoderTrial.run(clock: Clock.now)
            return .board(trial.name, nanoseconds: trial.time.nanoseconds)
        } catch {
            return .software(reason: error.text)
        }
    }

    /// nil where the lines make no sense.
    init?(_ lines: [ByteString]) {
        guard lines.count >= 2, let nanoseconds = lines[0].decimal(max: UInt64(Int32.max)) else { return nil }
        self = nanoseconds == 0 ? .software(reason: lines[1]) : .board(lines[1], nanoseconds: Int64(nanoseconds))
    }

    var lines: [ByteString] {
        switch self {
        case .board(let name, let nanoseconds):
            return [ByteString(decimal: max(1, min(nanoseconds, Int64(Int32.max)))), name]
        case .software(let reason): return ["0", reason]
        }
    }
}
