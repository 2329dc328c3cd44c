// SPDX-License-Identifier: Apache-2.0

import Bytes
import CDRM
import CSystem

// MARK: - Arrangements

extension Screen {
    /// Puts other layers on the screen. New surfaces start with `pictures`, or with what the old ones show of the same
    /// layer. False where it is to be tried again. Not to be called while busy.
    func change(
        to request: PlanRequest, pictures: [(layer: Layer, picture: HeldPicture)], now: Instant
    ) throws(DisplayError) -> Bool {
        let (arrangement, chosen) = try self.choose(request, pictures)
        let flags = self.isLit ? chosen : chosen | UInt32(DRM_MODE_ATOMIC_ALLOW_MODESET)
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
            plane.show(plan, latest, on: self.card.pipeline.crtc, in: &commit)
        }
        self.hide(except: arrangement.surfaces.map { $0.plane }, in: &commit)
        return try self.commit(commit, flags: flags, now: now)
    }

    /// The first arrangement that the kernel accepts, and whether it wants leave to set the mode for it.
    private func choose(
        _ request: PlanRequest, _ pictures: [(layer: Layer, picture: HeldPicture)]
    ) throws(DisplayError) -> (Arrangement, UInt32) {
        if let known = self.found.first(where: { $0.request == request }),
            self.framebuffers(known.arrangement, pictures) != nil
        {
            return (known.arrangement, known.flags)
        }
        let offers = Planner.arrangements(for: request, planes: self.card.pipeline.planes.map { $0.capability })
        // Leave to set the mode may cost a dark moment: asked for when the screen is dark, or else in a second round.
        let modeset = UInt32(DRM_MODE_ATOMIC_ALLOW_MODESET)
        for flags in self.isLit ? [0, modeset] : [modeset] {
            for offer in offers where self.test(offer, pictures, flags: flags) {
                if self.found.count == Self.memoryMax { self.found.removeFirst() }
                // What was found in the dark needs no leave once the screen is lit, unless a test says so.
                if self.isLit {
                    self.found.removeAll { $0.request == request }
                    self.found.append((request, offer, flags))
                }
                return (offer, flags)
            }
        }
        throw .noArrangement
    }

    private func test(
        _ arrangement: Arrangement, _ pictures: [(layer: Layer, picture: HeldPicture)], flags: UInt32
    ) -> Bool {
        guard let shared = self.framebuffers(arrangement, pictures) else { return false }
        var request = AtomicRequest()
        self.light(&request)
        var buffers: [DumbBuffer] = []
        defer { buffers.forEach(self.pool.give) }
        for (plan, imported) in zip(arrangement.surfaces, shared) {
            guard let plane = self.card.pipeline.plane(plan.plane) else { return false }
            var shown = ShownBuffer(framebuffer: imported?.framebuffer ?? 0, colours: PictureColours())
            if imported == nil {
                guard let buffer = self.pool.take(BufferLayout(format: plan.format, size: plan.buffer)) else {
                    return false
                }
                buffers.append(buffer)
                shown.framebuffer = buffer.framebuffer
            }
            plane.show(plan, shown, on: self.card.pipeline.crtc, in: &request)
        }
        self.hide(except: arrangement.surfaces.map { $0.plane }, in: &request)
        return request.commit(self.card.descriptor, flags: flags | UInt32(DRM_MODE_ATOMIC_TEST_ONLY)) == 0
    }

    /// For each surface of an arrangement the shared picture that it would begin with, nil where it is drawn; nil for
    /// all where one cannot be had.
    private func framebuffers(
        _ arrangement: Arrangement, _ pictures: [(layer: Layer, picture: HeldPicture)]
    ) -> [ImportedBuffer?]? {
        var found: [ImportedBuffer?] = []
        for plan in arrangement.surfaces {
            guard plan.direct != nil else {
                found.append(nil)
                continue
            }
            guard let layer = plan.placements.first?.layer, let held = self.shared(layer, plan, pictures) else {
                return nil
            }
            found.append(held.imported)
        }
        return found
    }

    /// The newest picture of a layer that `plan` can show as it lies.
    private func shared(
        _ layer: Layer, _ plan: SurfacePlan, _ pictures: [(layer: Layer, picture: HeldPicture)]
    ) -> (image: SharedImage, imported: ImportedBuffer)? {
        if let held = pictures.first(where: { $0.layer == layer }) {
            guard let image = held.picture.shared, image.direct == plan.direct,
                let imported = self.imports.take(image, for: layer)
            else { return nil }
            return (image, imported)
        }
        guard let shown = self.surface(of: layer)?.0.image, shown.image.direct == plan.direct else { return nil }
        return shown
    }

    /// The surfaces for an arrangement; those in use now are used again where they fit.
    private func make(_ arrangement: Arrangement) throws(DisplayError) -> [Surface] {
        var surfaces: [Surface] = []
        for plan in arrangement.surfaces {
            if let old = self.surfaces.first(where: { $0.serves(plan) }) {
                surfaces.append(old)
                continue
            }
            if plan.direct != nil {
                surfaces.append(DirectSurface(plan))
                continue
            }
            let takesFullRange = self.card.pipeline.plane(plan.plane)?.takesFullRange ?? false
            let surface = DrawnSurface(plan, takesFullRange: takesFullRange, words: self.words, pool: self.pool)
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
            if plan.direct != nil {
                guard let held = self.shared(placement.layer, plan, pictures) else { continue }
                _ = surface.show(held.image, held.imported)
            } else if let held = pictures.first(where: { $0.layer == placement.layer }) {
                _ = held.picture.read { surface.draw($0, placement.source, placement: index) }
            } else if let image = self.surface(of: placement.layer)?.0.image?.image {
                _ = image.read { surface.draw($0, placement.source, placement: index) }
            } else if let (old, oldIndex) = self.surface(of: placement.layer), let shown = old.picture(oldIndex) {
                // What software has turned can only be used where it turns the same.
                let turned = old.plan.placements[oldIndex].orientation
                guard turned.isUpright || turned == placement.orientation else { continue }
                _ = surface.draw(
                    shown, Rectangle(shown.size), placement: index, isTurned: !turned.isUpright)
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
