// SPDX-License-Identifier: Apache-2.0

import CDRM
import KioskEngine

/// The signal of a mode that no display has told of. Pure.
///
/// Displays that tell nothing take the timings of their standards: those of television (CTA-861) and of monitors (VESA
/// DMT) come from a list; for all others there is VESA's formula (CVT 1.1, reduced blanking), which flat panels take.
struct DisplayTiming: Equatable {
    /// Where, along a line or down a picture, what is shown ends, the pulse begins and ends, and all begins anew.
    struct Axis: Equatable {
        let shown: Int
        let pulse: Int
        let pulseEnd: Int
        let total: Int
        let isPositive: Bool

        init(_ shown: Int, _ pulse: Int, _ pulseEnd: Int, _ total: Int, isPositive: Bool) {
            self.shown = shown
            self.pulse = pulse
            self.pulseEnd = pulseEnd
            self.total = total
            self.isPositive = isPositive
        }
    }

    let clockKHz: Int
    let horizontal: Axis
    let vertical: Axis
    let refreshHz: Int

    init(_ mode: ScreenMode) {
        self = Self.standard(mode) ?? Self.reducedBlanking(mode)
    }

    private init(_ clockKHz: Int, _ horizontal: Axis, _ vertical: Axis, refreshHz: Int) {
        self.clockKHz = clockKHz
        self.horizontal = horizontal
        self.vertical = vertical
        self.refreshHz = refreshHz
    }

    // MARK: - Standards

    private static func standard(_ mode: ScreenMode) -> DisplayTiming? {
        switch (mode.size.width, mode.size.height, mode.refreshHz) {
        case (640, 480, 60): return self.row(25_175, (656, 752, 800), (490, 492, 525), mode, isPositive: false)
        case (720, 480, 60): return self.row(27_000, (736, 798, 858), (489, 495, 525), mode, isPositive: false)
        case (720, 576, 50): return self.row(27_000, (732, 796, 864), (581, 586, 625), mode, isPositive: false)
        case (800, 600, 60): return self.row(40_000, (840, 968, 1056), (601, 605, 628), mode)
        case (1024, 768, 60): return self.row(65_000, (1048, 1184, 1344), (771, 777, 806), mode, isPositive: false)
        case (1280, 720, 60): return self.row(74_250, (1390, 1430, 1650), (725, 730, 750), mode)
        case (1280, 720, 50): return self.row(74_250, (1720, 1760, 1980), (725, 730, 750), mode)
        case (1280, 1024, 60): return self.row(108_000, (1328, 1440, 1688), (1025, 1028, 1066), mode)
        case (1920, 1080, 60): return self.row(148_500, (2008, 2052, 2200), (1084, 1089, 1125), mode)
        case (1920, 1080, 50): return self.row(148_500, (2448, 2492, 2640), (1084, 1089, 1125), mode)
        case (1920, 1080, 30): return self.row(74_250, (2008, 2052, 2200), (1084, 1089, 1125), mode)
        case (1920, 1080, 25): return self.row(74_250, (2448, 2492, 2640), (1084, 1089, 1125), mode)
        case (1920, 1080, 24): return self.row(74_250, (2558, 2602, 2750), (1084, 1089, 1125), mode)
        case (3840, 2160, 30): return self.row(297_000, (4016, 4104, 4400), (2168, 2178, 2250), mode)
        default: return nil
        }
    }

    private static func row(
        _ clockKHz: Int, _ horizontal: (Int, Int, Int), _ vertical: (Int, Int, Int), _ mode: ScreenMode,
        isPositive: Bool = true
    ) -> DisplayTiming {
        DisplayTiming(
            clockKHz,
            Axis(mode.size.width, horizontal.0, horizontal.1, horizontal.2, isPositive: isPositive),
            Axis(mode.size.height, vertical.0, vertical.1, vertical.2, isPositive: isPositive),
            refreshHz: mode.refreshHz)
    }

    // MARK: - Formula

    /// Pixels before the pulse, of it, and after it; lines before it and, at least, after it; the blank's least length.
    private static let (frontPixels, pulsePixels, backPixels) = (48, 32, 80)
    private static let (frontLines, backLines) = (3, 6)
    private static let blankNs = 460_000
    private static let clockStepKHz = 250

    static func reducedBlanking(_ mode: ScreenMode) -> DisplayTiming {
        let (width, height) = (mode.size.width, mode.size.height)
        let pulseLines = Self.pulseLines(width, height)
        // Nanoseconds that the shown lines share, and the lines that pass in the blank.
        let shownNs = 1_000_000_000 / mode.refreshHz - Self.blankNs
        let blankLines = max(Self.blankNs * height / shownNs + 1, Self.frontLines + pulseLines + Self.backLines)
        let lines = height + blankLines
        let pixels = width + Self.frontPixels + Self.pulsePixels + Self.backPixels
        let clockKHz = Int(UInt64(mode.refreshHz) * UInt64(lines) * UInt64(pixels) / 1000)
        let pulse = width + Self.frontPixels
        return DisplayTiming(
            clockKHz / Self.clockStepKHz * Self.clockStepKHz,
            Axis(width, pulse, pulse + Self.pulsePixels, pixels, isPositive: true),
            Axis(
                height, height + Self.frontLines, height + Self.frontLines + pulseLines, lines, isPositive: false),
            refreshHz: mode.refreshHz)
    }

    /// The length of the vertical pulse tells the display which shape the picture has.
    private static func pulseLines(_ width: Int, _ height: Int) -> Int {
        for (lines, across, down) in [(4, 4, 3), (5, 16, 9), (6, 16, 10), (7, 5, 4), (7, 15, 9)]
        where width * down == height * across {
            return lines
        }
        return 10
    }
}

extension DisplayTiming {
    /// As the kernel takes it.
    var modeInfo: drmModeModeInfo {
        var mode = drmModeModeInfo()
        mode.clock = UInt32(self.clockKHz)
        mode.hdisplay = UInt16(self.horizontal.shown)
        mode.hsync_start = UInt16(self.horizontal.pulse)
        mode.hsync_end = UInt16(self.horizontal.pulseEnd)
        mode.htotal = UInt16(self.horizontal.total)
        mode.vdisplay = UInt16(self.vertical.shown)
        mode.vsync_start = UInt16(self.vertical.pulse)
        mode.vsync_end = UInt16(self.vertical.pulseEnd)
        mode.vtotal = UInt16(self.vertical.total)
        mode.vrefresh = UInt32(self.refreshHz)
        mode.type = UInt32(DRM_MODE_TYPE_USERDEF)
        mode.flags = UInt32(self.horizontal.isPositive ? DRM_MODE_FLAG_PHSYNC : DRM_MODE_FLAG_NHSYNC)
        mode.flags |= UInt32(self.vertical.isPositive ? DRM_MODE_FLAG_PVSYNC : DRM_MODE_FLAG_NVSYNC)
        return mode
    }
}
