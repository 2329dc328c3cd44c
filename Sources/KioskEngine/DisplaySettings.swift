// SPDX-License-Identifier: Apache-2.0
import Bytes

/// A device that may be left to us, left out, or named.
public enum DeviceName: Equatable, Sendable {
    /// The first that is there, or the system's default.
    case automatic
    case none
    case named(ByteString)
}

/// `[display]`
public struct DisplaySettings: Equatable, Sendable {
    public enum Fit: Sendable {
        /// The whole picture, with bars.
        case fit
        /// The whole screen, with the picture's edges cut.
        case fill
    }

    public enum Layout: Sendable {
        /// The far end alone.
        case full
        /// The own picture in a corner of the far end's.
        case pictureInPicture
        case sideBySide
    }

    public enum SelfView: Sendable {
        case off
        /// From the press to the end of the call.
        case call
        case always
    }

    public enum Corner: Sendable {
        case topLeft
        case topRight
        case bottomLeft
        case bottomRight
    }

    /// A connector's name (`HDMI-A-1`).
    public var connector = DeviceName.automatic
    /// Driven so where no display is noticed; nil: not at all.
    public var forced: ScreenMode?
    public var remote = Fit.fit
    public var selfView = SelfView.call
    public var selfViewCorner = Corner.bottomRight
    /// The own picture's share of the screen's width and height.
    public var selfViewPercent = 25
    public var layout = Layout.pictureInPicture
    /// How far everything is turned clockwise: 0, 90, 180 or 270.
    public var rotationDegrees = 0

    public init() {}
}

/// A size in pixels, and how often a second it is drawn.
public struct ScreenMode: Equatable, Sendable {
    public var size: PictureSize
    public var refreshHz: Int

    public init(_ size: PictureSize, refreshHz: Int) {
        self.size = size
        self.refreshHz = refreshHz
    }
}

public struct PictureSize: Equatable, Sendable {
    public var width: Int
    public var height: Int

    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }
}
