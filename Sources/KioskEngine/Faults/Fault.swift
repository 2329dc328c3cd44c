// SPDX-License-Identifier: Apache-2.0
import Bytes

/// A row of the table of faults: all that can be wrong with a help point or a call, each under a code that never means
/// something else. The code stands on the screen, in events and in the log; `docs/errors.md` is made from the rows
/// (`board/document`).
struct Fault: Equatable {
    /// `CB-`, the part, `-`, what; capital letters and digits, short enough to be read out on the telephone.
    var code: ByteString
    var sign: FaultSign
    /// Nil where nothing is spoken.
    var prompt: PromptName?
    /// What happened, for whoever looks after the help point. A sentence or two, as are those below.
    var cause: StaticString
    /// What to do about it.
    var advice: StaticString

    init(_ code: ByteString, _ sign: FaultSign, _ prompt: PromptName?, _ cause: StaticString, _ advice: StaticString) {
        self.code = code
        self.sign = sign
        self.prompt = prompt
        self.cause = cause
        self.advice = advice
    }

    /// The same under a code of its own.
    func coded(_ code: ByteString) -> Fault {
        var fault = self
        fault.code = code
        return fault
    }

    static func == (left: Fault, right: Fault) -> Bool { left.code == right.code }
}

/// How a fault is seen by whoever cannot read the screen.
enum FaultSign: Equatable {
    /// The lamp of the call button blinks fast for as long as the message stands.
    case blinks
    /// `[lamp.fault]` is on as long as the fault stands; calls go on as far as they can.
    case stands
    /// Only told: nothing is wrong with the call.
    case quiet

    var text: ByteString {
        switch self {
        case .blinks: return "call lamp blinks fast"
        case .stands: return "fault lamp is on"
        case .quiet: return ""
        }
    }
}
