// SPDX-License-Identifier: Apache-2.0

import KioskEngine

/// What one tone is made of.
struct ProgressTone {
    /// One or two waves at once.
    var hertz: [Double]
    /// Milliseconds on, off, on …, then from the beginning.
    var cadence: [Int]

    init(_ hertz: Double..., cadence: Int...) {
        self.hertz = hertz
        self.cadence = cadence
    }

    /// Nil where nothing sounds.
    init?(_ tone: Tone, _ country: ToneCountry) {
        switch tone {
        case .none: return nil
        case .bell: self = ProgressTone(1000, cadence: 1000, 2000)
        case .ringback: self = Self.ringback(country)
        case .busy: self = Self.busy(country)
        case .error: self = Self.error(country)
        }
    }

    private static func ringback(_ country: ToneCountry) -> ProgressTone {
        switch country {
        case .etsi: return ProgressTone(425, cadence: 1000, 4000)
        case .unitedKingdom: return ProgressTone(400, 450, cadence: 400, 200, 400, 2000)
        case .unitedStates: return ProgressTone(440, 480, cadence: 2000, 4000)
        case .france: return ProgressTone(440, cadence: 1500, 3500)
        case .spain: return ProgressTone(425, cadence: 1500, 3000)
        case .china: return ProgressTone(450, cadence: 1000, 4000)
        }
    }

    private static func busy(_ country: ToneCountry) -> ProgressTone {
        switch country {
        case .etsi: return ProgressTone(425, cadence: 500, 500)
        case .unitedKingdom: return ProgressTone(400, cadence: 375, 375)
        case .unitedStates: return ProgressTone(480, 620, cadence: 500, 500)
        case .france: return ProgressTone(440, cadence: 500, 500)
        case .spain: return ProgressTone(425, cadence: 200, 200)
        case .china: return ProgressTone(450, cadence: 350, 350)
        }
    }

    private static func error(_ country: ToneCountry) -> ProgressTone {
        switch country {
        case .etsi: return ProgressTone(425, cadence: 200, 200)
        case .unitedKingdom: return ProgressTone(400, cadence: 400, 350, 225, 525)
        case .unitedStates: return ProgressTone(480, 620, cadence: 250, 250)
        case .france: return ProgressTone(440, cadence: 250, 250)
        case .spain: return ProgressTone(425, cadence: 200, 200, 200, 200, 200, 600)
        case .china: return ProgressTone(450, cadence: 700, 700)
        }
    }
}
