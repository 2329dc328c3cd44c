// SPDX-License-Identifier: Apache-2.0

/// The pixel formats taken from cameras, best first: no conversion, cheap conversion, decoding.
public enum CameraFormat: Int, Equatable, Sendable, CaseIterable {
    case nv12
    case yuyv
    case mjpeg
}

/// One way in which a camera can send pictures.
public struct CameraMode: Equatable, Sendable {
    public let format: CameraFormat
    public let width: Int
    public let height: Int
    /// nil where the camera does not say.
    public let rate: FrameRate?

    public init(format: CameraFormat, width: Int, height: Int, rate: FrameRate?) {
        self.format = format
        self.width = width
        self.height = height
        self.rate = rate
    }
}

/// The pictures somebody would like to have.
public struct CameraWish: Equatable, Sendable {
    public var width: Int
    public var height: Int
    public var rate: FrameRate

    /// Sizes outside `PictureLimits` are brought to its nearest end.
    public init(width: Int, height: Int, rate: FrameRate) {
        self.width = min(max(width, PictureLimits.sideMin), PictureLimits.widthMax)
        self.height = min(max(height, PictureLimits.sideMin), PictureLimits.heightMax)
        self.rate = rate
    }
}

/// A range of sizes or of one side, as drivers of stepwise type give it (V4L2, "VIDIOC_ENUM_FRAMESIZES").
struct SteppedRange: Equatable {
    let min: Int
    let max: Int
    let step: Int

    /// The allowed value next to `wanted`; `min` where the range makes no sense.
    func nearest(to wanted: Int) -> Int {
        guard self.max > self.min else { return self.min }
        let step = self.step > 0 ? self.step : 1
        let clamped = Swift.min(Swift.max(wanted, self.min), self.max)
        let down = self.min + (clamped - self.min) / step * step
        let up = down + step
        return up <= self.max && up - clamped < clamped - down ? up : down
    }
}

/// The choice among a camera's modes. Pure.
public enum CameraChoice {
    /// The mode nearest to `wish`; nil where there is none of a size that is let in.
    ///
    /// First the size: the wanted one, else the smallest that covers it, else the largest below. Then a rate that is
    /// not slower than wanted (by more than a tenth), then the cheapest format, then the rate nearest to the wanted.
    public static func best(of modes: [CameraMode], for wish: CameraWish) -> CameraMode? {
        var best: (mode: CameraMode, cost: Cost)?
        for mode in modes where PictureLimits.allows(width: mode.width, height: mode.height) {
            let cost = Cost(of: mode, for: wish)
            if let best, !cost.isLess(than: best.cost) { continue }
            best = (mode, cost)
        }
        return best?.mode
    }

    /// Compared from the first number to the last.
    private struct Cost {
        let size: Int
        let rateShort: Int
        let format: Int
        let rateOff: Int

        init(of mode: CameraMode, for wish: CameraWish) {
            self.size = CameraChoice.sizeCost(mode, wish)
            let wanted = wish.rate.milliHertz
            let offered = mode.rate?.milliHertz ?? wanted
            self.rateShort = offered < wanted - wanted / 10 ? wanted - offered : 0
            self.rateOff = abs(offered - wanted)
            self.format = mode.format.rawValue
        }

        func isLess(than other: Cost) -> Bool {
            if self.size != other.size { return self.size < other.size }
            if self.rateShort != other.rateShort { return self.rateShort < other.rateShort }
            if self.format != other.format { return self.format < other.format }
            return self.rateOff < other.rateOff
        }
    }

    /// Samples too many, or, far worse, samples too few; a picture more than twice too large is worse than a small one.
    private static func sizeCost(_ mode: CameraMode, _ wish: CameraWish) -> Int {
        let area = mode.width * mode.height
        let wanted = max(wish.width * wish.height, 1)
        let covers = mode.width >= wish.width && mode.height >= wish.height
        if covers && area <= 4 * wanted { return area - wanted }
        return covers ? 8 * area : 4 * wanted + abs(wanted - area)
    }
}
