// SPDX-License-Identifier: Apache-2.0

import Bytes
import CDRM
import CSystem

/// A display that is lit: the arrangement in use and its buffers.
///
/// One commit is under way at a time. While it is, pictures that come replace each other in the buffers that are free;
/// when its flip event arrives the newest go out with the next commit.
final class Screen {
    /// A flip that takes longer than this is taken as done: the event was lost, or the display was unplugged.
    private static let flipLimit = Duration.milliseconds(500)
    /// Until the next try while the kernel is busy with a commit whose event was lost.
    private static let busyInterval = Duration.milliseconds(20)
    /// Arrangements that were found are remembered for so many requests.
    private static let memoryMax = 8

    let card: Card
    let pool: BufferPool
    let words: LayerImage
    private(set) var request: PlanRequest?
    private(set) var surfaces: [Surface] = []
    /// Were shown before the commit under way.
    private var leaving: [Surface] = []
    private var flight: (cookie: UInt, until: Instant)?
    private var cookie: UInt = 0
    private var found: [(request: PlanRequest, arrangement: Arrangement, flags: UInt32)] = []
    private var modeBlob: UInt32 = 0
    private var isLit = false
    /// How many arrangements the kernel was asked about.
    private(set) var tests = 0

    init(_ card: Card) throws(DisplayError) {
        self.card = card
        self.pool = BufferPool(card)
        self.words = LayerImage(PixelImage(card.pipeline.screen), ink: [])
        var mode = card.pipeline.mode
        let failure = drmModeCreatePropertyBlob(
            card.descriptor, &mode, MemoryLayout<drmModeModeInfo>.size, &self.modeBlob)
        guard failure == 0 else { throw .refused("take a video mode", code: -failure) }
    }

    deinit {
        _ = drmModeDestroyPropertyBlob(self.card.descriptor, self.modeBlob)
    }

    var isBusy: Bool { self.flight != nil }
    var framebufferCount: Int { self.pool.count }
    var size: PixelSize { self.card.pipeline.screen }

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
    var deadline: Instant? { self.flight?.until }

    /// Reads the card's events. True where a commit has reached the screen.
    func handleEvents(now: Instant) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 1024)
        let count = read(self.card.descriptor, &buffer, buffer.count)
        let cookies = count > 0 ? FlipEvents.cookies(in: buffer[..<count]) : []
        guard let flight = self.flight else { return false }
        guard cookies.contains(UInt64(flight.cookie)) || now >= flight.until else { return false }
        self.land()
        return true
    }

    private func land() {
        self.flight = nil
        self.surfaces.forEach { $0.flipped() }
        self.leaving.forEach { $0.release(to: self.pool) }
        self.leaving = []
    }

    /// Shows what has been drawn since the last commit; nothing while one is under way. The layers that go out.
    func flip(now: Instant) throws(DisplayError) -> [Layer] {
        guard !self.isBusy, self.isLit else { return [] }
        let fresh = self.surfaces.filter { $0.prepare() }
        guard !fresh.isEmpty else { return [] }
        var request = AtomicRequest()
        for surface in fresh {
            guard let plane = self.card.pipeline.plane(surface.plan.plane), let next = surface.next else { continue }
            plane.show(
                surface.plan, framebuffer: next.framebuffer, colours: next.colours, on: self.card.pipeline.crtc,
                in: &request)
        }
        guard try self.commit(request, flags: 0, now: now) else { return [] }
        fresh.forEach { $0.committed() }
        return fresh.flatMap { $0.plan.placements.map(\.layer) }
    }

    /// False where the kernel is not done with a former commit, so that this one is to be tried again.
    private func commit(
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

// MARK: - Arrangements

extension Screen {
    /// Puts other layers on the screen. New surfaces start with `pictures`, or with what the old ones show of the same
    /// layer. False where it is to be tried again. Not to be called while busy.
    func change(
        to request: PlanRequest, pictures: [(layer: Layer, picture: HeldPicture)], now: Instant
    ) throws(DisplayError) -> Bool {
        let (arrangement, flags) = try self.choose(request)
        let surfaces = try self.make(arrangement)
        for (surface, plan) in zip(surfaces, arrangement.surfaces) where !self.isInUse(surface) {
            self.fill(surface, plan, pictures)
        }
        var isTaken = false
        defer {
            if !isTaken {
                for surface in surfaces where !self.isInUse(surface) { surface.release(to: self.pool) }
            }
        }
        guard try self.commit(surfaces, arrangement, flags: flags, now: now) else { return false }
        isTaken = true
        self.leaving += self.surfaces.filter { old in !surfaces.contains { $0 === old } }
        for (surface, plan) in zip(surfaces, arrangement.surfaces) {
            surface.plan = plan
            surface.committed()
        }
        self.surfaces = surfaces
        self.request = request
        self.isLit = true
        return true
    }

    private func isInUse(_ surface: Surface) -> Bool {
        self.surfaces.contains { $0 === surface }
    }

    private func commit(
        _ surfaces: [Surface], _ arrangement: Arrangement, flags: UInt32, now: Instant
    ) throws(DisplayError) -> Bool {
        var commit = AtomicRequest()
        self.light(&commit)
        for (surface, plan) in zip(surfaces, arrangement.surfaces) {
            _ = surface.prepare()
            guard let plane = self.card.pipeline.plane(plan.plane), let latest = surface.latest else { continue }
            plane.show(
                plan, framebuffer: latest.framebuffer, colours: latest.colours, on: self.card.pipeline.crtc,
                in: &commit)
        }
        self.hide(except: arrangement.surfaces.map(\.plane), in: &commit)
        return try self.commit(commit, flags: flags, now: now)
    }

    /// The first arrangement that the kernel accepts, and whether it wants leave to set the mode for it.
    private func choose(_ request: PlanRequest) throws(DisplayError) -> (Arrangement, UInt32) {
        if let known = self.found.first(where: { $0.request == request }) { return (known.arrangement, known.flags) }
        let offers = Planner.arrangements(for: request, planes: self.card.pipeline.planes.map(\.capability))
        // Leave to set the mode may cost a dark moment: only asked for when the screen is dark, or else in a second round.
        let modeset = UInt32(DRM_MODE_ATOMIC_ALLOW_MODESET)
        for flags in self.isLit ? [0, modeset] : [modeset] {
            for offer in offers where self.test(offer, flags: flags) {
                if self.found.count == Self.memoryMax { self.found.removeFirst() }
                // What was found in the dark needs no leave once the screen is lit, unless a test says so.
                if self.isLit { self.found.append((request, offer, flags)) }
                return (offer, flags)
            }
        }
        throw .noArrangement
    }

    private func test(_ arrangement: Arrangement, flags: UInt32) -> Bool {
        self.tests += 1
        var request = AtomicRequest()
        self.light(&request)
        var buffers: [DumbBuffer] = []
        defer { buffers.forEach(self.pool.give) }
        for plan in arrangement.surfaces {
            guard let plane = self.card.pipeline.plane(plan.plane),
                let buffer = self.pool.take(BufferLayout(format: plan.format, size: plan.buffer))
            else { return false }
            buffers.append(buffer)
            plane.show(
                plan, framebuffer: buffer.framebuffer, colours: PictureColours(), on: self.card.pipeline.crtc,
                in: &request)
        }
        self.hide(except: arrangement.surfaces.map(\.plane), in: &request)
        return request.commit(self.card.descriptor, flags: flags | UInt32(DRM_MODE_ATOMIC_TEST_ONLY)) == 0
    }

    /// The surfaces for an arrangement; those in use now are used again where they fit.
    private func make(_ arrangement: Arrangement) throws(DisplayError) -> [Surface] {
        var surfaces: [Surface] = []
        for plan in arrangement.surfaces {
            if let old = self.surfaces.first(where: { $0.serves(plan) }) {
                surfaces.append(old)
                continue
            }
            let takesFullRange = self.card.pipeline.plane(plan.plane)?.takesFullRange ?? false
            let surface = Surface(plan, takesFullRange: takesFullRange, words: self.words, pool: self.pool)
            guard let surface else {
                for made in surfaces where !self.isInUse(made) { made.release(to: self.pool) }
                throw .refused("give memory for pictures", code: ENOMEM)
            }
            surfaces.append(surface)
        }
        return surfaces
    }

    private func fill(_ surface: Surface, _ plan: SurfacePlan, _ pictures: [(layer: Layer, picture: HeldPicture)]) {
        for (index, placement) in plan.placements.enumerated() {
            if let held = pictures.first(where: { $0.layer == placement.layer }) {
                _ = surface.draw(held.picture.view, placement.source, placement: index)
            } else if let (old, oldIndex) = self.surface(of: placement.layer), let shown = old.picture(oldIndex) {
                _ = surface.draw(
                    shown, Rectangle(shown.size), placement: index,
                    isMirrored: old.plan.placements[oldIndex].isMirrored)
            }
        }
    }

    /// Connector, mode and CRTC, as they are to be all the time.
    private func light(_ request: inout AtomicRequest) {
        let pipeline = self.card.pipeline
        request.set(pipeline.connector, pipeline.connectorCRTC, UInt64(pipeline.crtc))
        request.set(pipeline.crtc, pipeline.modeID, UInt64(self.modeBlob))
        request.set(pipeline.crtc, pipeline.active, 1)
    }

    /// Planes that others left on, a cursor for one, would cover ours.
    private func hide(except used: [UInt32], in request: inout AtomicRequest) {
        for plane in self.card.pipeline.planes where !used.contains(plane.capability.id) {
            plane.hide(in: &request)
        }
    }
}
