// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem
import CV4L2
import Loop
import Picture

/// V4L2_PIX_FMT_FWHT: the virtual board has no codec of H.264.
let codedFormat = letters("FWHT")

/// Four letters as the number of a format; 0 for other words.
func letters(_ word: ByteString) -> UInt32 {
    guard word.count == 4 else { return 0 }
    return word.bytes.enumerated().reduce(0) { $0 | UInt32($1.element) << UInt32(8 * $1.offset) }
}

/// A decoder that is fed and emptied by one thread.
final class Playing {
    let decoder: V4L2StatefulDecoder
    private(set) var damaged = 0
    /// What one wait may take.
    static let limitMs = 300

    /// - Parameter format: by the display's name; 0 for the device's choice.
    init(format: UInt32) throws(HardwareCodecError) {
        let wished = format == 0 ? [] : [SharedFormat(fourCC: format)]
        self.decoder = try V4L2StatefulDecoder(
            V4L2StatefulDecoder.Wishes(coded: codedFormat, formats: wished, width: 1024, height: 768))
    }

    /// Puts units in and hands out what comes of them, until all that was put in has been answered for.
    func play(
        _ units: ArraySlice<[UInt8]>, isDraining: Bool = true, _ use: (SharedPicture) -> Void
    ) throws(HardwareCodecError) {
        var rest = units
        var answers = 0
        var until = Clock.now() + .milliseconds(Self.limitMs)
        while true {
            while let unit = rest.first, try self.submit(unit) { rest = rest.dropFirst() }
            if rest.isEmpty, isDraining { try self.decoder.drain() }
            var isIdle = false
            while !isIdle {
                switch try self.decoder.takePicture() {
                case .picture(let picture):
                    answers += 1
                    use(picture)
                    until = Clock.now() + .milliseconds(Self.limitMs)
                case .damaged:
                    answers += 1
                    self.damaged += 1
                case .drained: return
                case .nothing: isIdle = true
                }
            }
            if rest.isEmpty, !isDraining, answers >= units.count { return }
            if !rest.isEmpty, self.decoder.canTakeUnit { continue }
            if !self.decoder.wait(limitMs: 20), Clock.now() > until {
                throw HardwareCodecError.stuck(afterMs: Self.limitMs)
            }
        }
    }

    private func submit(_ unit: [UInt8]) throws(HardwareCodecError) -> Bool {
        var fault: HardwareCodecError?
        let isTaken = unit.withUnsafeBytes { bytes -> Bool in
            do throws(HardwareCodecError) {
                return try self.decoder.submit(bytes, captured: Clock.now())
            } catch {
                fault = error
                return false
            }
        }
        if let fault { throw fault }
        return isTaken
    }
}
