// SPDX-License-Identifier: Apache-2.0

import Bytes
import KioskEngine

/// The layers that pictures can be put on.
public enum PictureLayer: Sendable {
    case remote
    case selfView

    var layer: Layer {
        switch self {
        case .remote: return .remote
        case .selfView: return .selfView
        }
    }
}

/// What became of the pictures of one layer.
public struct PictureCounters: Equatable, Sendable {
    public var submitted: UInt64 = 0
    /// Went out to the screen.
    public var shown: UInt64 = 0
    /// Made no sense, or could not be converted.
    public var refused: UInt64 = 0
    /// Shared pictures that software had to draw.
    public var copies: UInt64 = 0

    public init(submitted: UInt64 = 0, shown: UInt64 = 0, refused: UInt64 = 0, copies: UInt64 = 0) {
        self.submitted = submitted
        self.shown = shown
        self.refused = refused
        self.copies = copies
    }
}

/// Where things are on a screen, in pixels.
public struct ScreenPlaces: Equatable, Sendable {
    public var remote: Rectangle?
    public var selfView: Rectangle?
    /// What text, symbols and the legend may cover.
    public var words: [Rectangle]
}

/// The screen, owned by one thread.
///
/// It always works: without a display, or with one that is unplugged or in other hands, everything is accepted and
/// nothing is shown, `fault` says why, and it is looked for again every two seconds.
///
/// The thread's turn: wait until `fileDescriptor` can be read, work arrives, or `deadline`; put in what has arrived by
/// `draw` and `submit`; then call `turn`.
public final class Display {
    static let retryInterval = Duration.seconds(2)
    /// A picture that waits for its layer to be shown is too old after this: it may be of a former call.
    private static let heldLimit = Duration.milliseconds(300)

    /// One picture layer.
    struct PictureState {
        var isWanted = false
        /// What the arrangement on the screen has of it.
        var shown: PictureShape?
        var held: (picture: HeldPicture, until: Instant)?
        var counters = PictureCounters()
    }

    let settings: DisplaySettings
    let news = DisplayNews()
    var screen: Screen?
    var state = ScreenState()
    /// The last state without the far end's picture: its card stands until the picture is there.
    var card = ScreenState()
    var remote = PictureState()
    var selfView = PictureState()
    /// What the words on the screen count.
    var moment = PageMoment()
    /// When it counts on; nil where nothing does.
    var countsAt: Instant?
    var needsWords = true
    var needsChange = true
    /// The owner's picture for the idle screen.
    public var picture: OwnPicture? { didSet { self.needsWords = true } }
    /// How often words were drawn.
    public private(set) var drawings: UInt64 = 0
    var nextCheck = Instant.zero
    /// Why there is no picture; nil while all is well, and always with `connector = none`.
    public internal(set) var fault: DisplayError?

    public init(_ settings: DisplaySettings, now: Instant) {
        self.settings = settings
        self.nextCheck = now
    }

    /// Can be read when something reached the screen; nil without a display. May change with each `turn`.
    public var fileDescriptor: Int32? { self.screen?.card.descriptor }
    public var screenSize: PixelSize? { self.screen?.size }
    public var connectorName: ByteString? { self.screen?.card.name }
    /// No display was noticed, and the connector is driven all the same.
    public var isForced: Bool { self.screen?.card.isForced ?? false }
    public var framebufferCount: Int { self.screen?.framebufferCount ?? 0 }
    /// When `turn` is due though nothing has happened.
    public var deadline: Instant? {
        if self.settings.connector == .none { return nil }
        guard let screen = self.screen else { return self.nextCheck }
        return min(screen.deadline ?? self.nextCheck, self.countsAt ?? self.nextCheck, self.nextCheck)
    }

    /// Where things are on the screen now, in pixels; nil for what is not there.
    public var places: ScreenPlaces {
        ScreenPlaces(
            remote: self.screen?.request?.remote?.place.destination,
            selfView: self.screen?.request?.selfView?.place.destination, words: self.screen?.words.ink ?? [])
    }

    /// How the planes are used now, from the bottom to the top; for the log.
    public var arrangement: [SurfacePlan] { self.screen?.surfaces.map { $0.plan } ?? [] }

    public func counters(_ layer: PictureLayer) -> PictureCounters {
        self[layer.layer].counters
    }

    subscript(layer: Layer) -> PictureState {
        get { layer == .selfView ? self.selfView : self.remote }
        set {
            if layer == .selfView { self.selfView = newValue } else { self.remote = newValue }
        }
    }
}

// MARK: - What is to be shown

extension Display {
    /// Shows `state` from the next turn on: words, and which picture layers are visible.
    public func draw(_ state: ScreenState) {
        guard state != self.state else { return }
        // The own picture has another place beside some pages.
        if (state.page == .mirror) != (self.state.page == .mirror) { self.needsChange = true }
        // A dark screen is lit by a change.
        if self.state.page == .dark { self.needsChange = true }
        self.state = state
        if state.remote == .hidden { self.card = state }
        self.needsWords = true
        self.want(.remote, state.remote == .shown)
        self.want(.selfView, state.selfView == .shown)
    }

    private func want(_ layer: Layer, _ isWanted: Bool) {
        guard self[layer].isWanted != isWanted else { return }
        self[layer].isWanted = isWanted
        self[layer].shown = nil
        if !isWanted {
            self[layer].held = nil
            self.screen?.imports.forget(layer)
        }
        self.needsChange = true
    }

    /// Takes a new picture: into a buffer that is not on the screen where its layer is visible. A former one that was
    /// not shown yet is replaced. Pictures of layers that are not visible yet are kept for a moment, so that the layer
    /// appears with the newest one.
    public func submit(_ picture: PictureView, on pictureLayer: PictureLayer, now: Instant) {
        let layer = pictureLayer.layer
        guard picture.isSane else {
            self[layer].counters.refused &+= 1
            return
        }
        self[layer].counters.submitted &+= 1
        if self[layer].shown == PictureShape(picture), let (surface, index) = self.screen?.surface(of: layer) {
            let isDrawn = surface.draw(picture, surface.plan.placements[index].source, placement: index)
            if !isDrawn { self[layer].counters.refused &+= 1 }
            return
        }
        guard self.screen != nil else { return }
        self.hold(HeldPicture(picture), layer, now)
    }

    func hold(_ picture: HeldPicture, _ layer: Layer, _ now: Instant) {
        self[layer].held = (picture, now + Self.heldLimit)
        if self[layer].isWanted { self.needsChange = true }
    }

    /// Sends what is new to the screen, takes note of what has arrived there, looks after the display itself.
    public func turn(now: Instant) { self.turn(now: now, isUrgent: false) }

    private func turn(now: Instant, isUrgent: Bool) {
        self.look(now)
        self.dropLate(now)
        guard let screen = self.screen else { return }
        _ = screen.handleEvents(now: now)
        guard !screen.isBusy else { return }
        self.count(now)
        if self.needsWords || self.needsChange {
            Page.draw(
                self.words(now), self.moment, picture: self.picture, on: screen.page,
                around: self.selfViewHole(screen))
            screen.takePage()
            self.needsWords = false
            self.drawings &+= 1
        }
        do throws(DisplayError) {
            if self.needsChange {
                try self.change(screen, now)
            } else {
                for layer in try screen.flip(now: now, isUrgent: isUrgent) { self.count(layer) }
                if self.state.page == .dark, !screen.isBusy { screen.sleep() }
            }
        } catch {
            self.lose(error, now)
        }
    }

    /// Saves what is on the screen as a PNG file. Blocks for some tens of milliseconds.
    public func screenshot(to path: ByteString, now: Instant) throws(DisplayError) {
        guard let screen = self.screen else { throw self.fault ?? .noController }
        // What was put in before this call shall be on the picture: one commit may be under way, another due after it.
        for _ in 0..<2 {
            self.turn(now: now, isUrgent: true)
            self.finish(screen, now)
        }
        try screen.save(to: path)
    }
}
