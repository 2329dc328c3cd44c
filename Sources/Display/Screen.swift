// SPDX-License-Identifier: Apache-2.0

import Bytes
import CDRM
import CSystem

/// A display that is lit: the arrangement in use and its buffers.
///
/// One commit is under way at a time. While it is, and until the display is about to read its memory anew, pictures
/// that come replace each other in the buffers that are free; the newest go out together.
final class Screen {
    /// A flip that takes longer than this is taken as done: the event was lost, or the display was unplugged.
    private static let flipLimit = Duration.milliseconds(500)
    /// Until the next try while the kernel is busy with a commit whose event was lost.
    private static let busyInterval = Duration.milliseconds(20)
    /// Arrangements that were found are remembered for so many requests.
    static let memoryMax = 8

    let card: Card
    let pool: BufferPool
    /// Over the memory of shared pictures.
    let imports: ImportedBuffers
    /// Pages are drawn on it, upright.
    let page: LayerImage
    /// The same as it stands on the glass.
    let words: LayerImage
    private let orientation: Orientation
    var request: PlanRequest?
    var surfaces: [Surface] = []
    /// Were shown before the commit under way.
    var leaving: [Surface] = []
    private var flight: (cookie: UInt, until: Instant)?
    private var cookie: UInt = 0
    private var clock: FlipClock
    var found: [(request: PlanRequest, arrangement: Arrangement, flags: UInt32)] = []
    private(set) var modeBlob: UInt32 = 0
    var isLit = false

    /// - Parameter quarters: how often everything is turned clockwise by 90 degrees.
    init(_ card: Card, quarters: Int = 0) throws(DisplayError) {
        self.card = card
        self.pool = BufferPool(card)
        self.imports = ImportedBuffers(card)
        self.orientation = Orientation(quarters: quarters)
        self.words = LayerImage(PixelImage(card.pipeline.screen), ink: [])
        self.page =
            self.orientation.isUpright
            ? self.words : LayerImage(PixelImage(self.orientation.turned(card.pipeline.screen)), ink: [])
        var mode = card.pipeline.mode
        self.clock = FlipClock(clockKHz: mode.clock, total: UInt32(mode.htotal) * UInt32(mode.vtotal))
        let failure = drmModeCreatePropertyBlob(
            card.descriptor, &mode, MemoryLayout<drmModeModeInfo>.size, &self.modeBlob)
        guard failure == 0 else { throw .refused("take a video mode", code: -failure) }
    }

    deinit {
        _ = drmModeDestroyPropertyBlob(self.card.descriptor, self.modeBlob)
    }

    var isBusy: Bool { self.flight != nil }
    var framebufferCount: Int { self.pool.count + self.imports.count }
    var size: PixelSize { self.card.pipeline.screen }

    /// As whoever stands before it sees it.
    var pageSize: PixelSize { self.orientation.turned(self.size) }

    /// Brings what was drawn on `page` to the glass.
    func takePage() {
        guard self.page !== self.words else { return }
        let image = self.words.image
        Compositor.turn(
            self.page.image, self.orientation, into: PixelTarget(pixels: image.pixels, rowPixels: image.rowPixels),
            at: 0, 0)
        self.words.ink = self.page.ink?.map { self.orientation.turned($0, in: self.pageSize) }
        self.words.touch()
    }

    /// A picture at a place of the page, as it is to be on the glass.
    func wish(_ shape: PictureShape, _ place: PicturePlace, isMirrored: Bool = false) -> PictureWish {
        var place = place
        place.destination = self.orientation.turned(place.destination, in: self.pageSize)
        return PictureWish(
            shape.format, place, Orientation(quarters: self.orientation.quarters, isMirrored: isMirrored),
            direct: shape.direct)
    }

    func surface(of layer: Layer) -> (Surface, placement: Int)? {
        for surface in self.surfaces {
            if let index = surface.index(of: layer) { return (surface, index) }
        }
        return nil
    }
}

// MARK: - Flips

extension Screen {
    /// When to look again though nothing happened.
    var deadline: Instant? { self.flight?.until ?? self.clock.due }

    /// Reads the card's events. True where a commit has reached the screen.
    func handleEvents(now: Instant) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 1024)
        let count = read(self.card.descriptor, &buffer, buffer.count)
        let flips = count > 0 ? FlipEvents.flips(in: buffer[..<count]) : []
        guard let flight = self.flight else { return false }
        let flip = flips.first { $0.cookie == UInt64(flight.cookie) }
        guard flip != nil || now >= flight.until else { return false }
        self.land(flip?.time)
        return true
    }

    private func land(_ time: Instant?) {
        self.flight = nil
        self.clock.flipped(time)
        self.surfaces.forEach { $0.flipped() }
        self.leaving.forEach { $0.release(to: self.pool) }
        self.leaving = []
    }

    /// Of two pictures that come one after the other none shall have to wait for the other's commit; one alone is on
    /// the glass at the same time whether it waits here or in the kernel.
    private var isAlone: Bool {
        let pictures = self.surfaces.reduce(0) { $0 + $1.plan.placements.filter { $0.layer != .words }.count }
        return pictures < 2
    }

    /// Shows what has been drawn since the last commit; nothing while one is under way, or while there is time left for
    /// something newer. The layers of which something new goes out.
    ///
    /// - Parameter isUrgent: it is not to wait for the end of the display's period.
    func flip(now: Instant, isUrgent: Bool) throws(DisplayError) -> [Layer] {
        guard !self.isBusy, self.isLit else { return [] }
        var layers: [Layer] = []
        let fresh = self.surfaces.filter { surface in
            let changed = surface.prepare()
            layers += changed
            return !changed.isEmpty
        }
        guard !fresh.isEmpty, isUrgent || self.isAlone || self.clock.isTime(now) else { return [] }
        var request = AtomicRequest()
        for surface in fresh {
            guard let next = surface.next, let plane = self.card.pipeline.plane(surface.plan.plane) else { continue }
            plane.show(surface.plan, next, on: self.card.pipeline.crtc, in: &request)
        }
        guard try self.commit(request, flags: 0, now: now) else { return [] }
        fresh.forEach { $0.committed() }
        return layers
    }

    /// Turns the display off until the next change. Where that cannot be it stays on, black. Not to be called while
    /// busy.
    func sleep() {
        guard self.isLit else { return }
        self.isLit = false
        var request = AtomicRequest()
        request.set(self.card.pipeline.crtc, self.card.pipeline.active, 0)
        _ = request.commit(self.card.descriptor, flags: UInt32(DRM_MODE_ATOMIC_ALLOW_MODESET))
    }

    /// False where the kernel is not done with a former commit, so that this one is to be tried again.
    func commit(
        _ request: borrowing AtomicRequest, flags: UInt32, now: Instant
    ) throws(DisplayError) -> Bool {
        self.cookie = self.cookie &+ 1
        let all = flags | UInt32(DRM_MODE_ATOMIC_NONBLOCK) | UInt32(DRM_MODE_PAGE_FLIP_EVENT)
        let failure = request.commit(self.card.descriptor, flags: all, cookie: self.cookie)
        guard failure == 0 || failure == EBUSY else { throw .refused("show a picture", code: failure) }
        self.flight = (self.cookie, now + (failure == 0 ? Self.flipLimit : Self.busyInterval))
        return failure == 0
    }
}
