// SPDX-License-Identifier: Apache-2.0

import Bytes
import KioskEngine

/// Pictures in memory that other devices share with the display.
extension Display {
    /// Takes a new picture as it lies: it goes to its plane without being touched if the controller can do with its
    /// layout, size and place; else software draws it once, and `copyReason` tells why. It is kept until another one is
    /// on the screen in its place. All else as for pictures of our own memory.
    public func submit(_ image: SharedImage, on pictureLayer: PictureLayer, now: Instant) {
        let layer = pictureLayer.layer
        guard image.isSane else {
            self[layer].counters.refused &+= 1
            return
        }
        self[layer].counters.submitted &+= 1
        guard let screen = self.screen else { return }
        if self[layer].shown == PictureShape(image), let (surface, index) = screen.surface(of: layer) {
            if !self.put(image, layer, surface, index, screen) { self[layer].counters.refused &+= 1 }
            return
        }
        self.hold(HeldPicture(image), layer, now)
    }

    private func put(_ image: SharedImage, _ layer: Layer, _ surface: Surface, _ index: Int, _ screen: Screen) -> Bool {
        if surface.plan.direct != nil {
            guard let imported = screen.imports.take(image, for: layer) else { return false }
            return surface.show(image, imported)
        }
        let source = surface.plan.placements[index].source
        guard image.read({ surface.draw($0, source, placement: index) }) else { return false }
        self[layer].counters.copies &+= 1
        return true
    }

    /// A shared picture that no layer has taken goes back: its codec has few.
    func dropLate(_ now: Instant) {
        for layer in [Layer.remote, .selfView] {
            if let held = self[layer].held, held.picture.shared != nil, now > held.until { self[layer].held = nil }
        }
    }

    /// Counts a shared picture that came with a new arrangement, where software drew it.
    func noteCopy(_ layer: Layer) {
        guard let (surface, _) = self.screen?.surface(of: layer), surface.plan.direct == nil else { return }
        self[layer].counters.copies &+= 1
    }

    /// Whether pictures of that layer are shown as they lie in the memory of whoever made them.
    public func isDirect(_ pictureLayer: PictureLayer) -> Bool {
        self.screen?.surface(of: pictureLayer.layer)?.0.plan.direct != nil
    }

    /// What the planes of the display take as it lies; empty without a display. A codec that has a choice is to take
    /// one of these.
    public var sharedKinds: [SharedKind] {
        let planes = self.screen?.card.pipeline.planes.filter { $0.capability.kind != .cursor } ?? []
        return planes.reduce(into: []) { found, plane in
            for kind in plane.capability.shared where !found.contains(kind) { found.append(kind) }
        }
    }

    /// Why shared pictures of a layer are drawn by software, in words; nil where they are not, or none are shown.
    public func copyReason(_ pictureLayer: PictureLayer) -> ByteString? {
        let layer = pictureLayer.layer
        guard let screen = self.screen, let direct = screen.request?.picture(layer)?.direct,
            let (surface, _) = screen.surface(of: layer), surface.plan.direct == nil
        else { return nil }
        let able = screen.card.pipeline.planes.filter { $0.capability.takes(direct.kind) }
        guard !able.isEmpty else { return "No plane of the display takes " + direct.kind.text + "." }
        guard let wish = screen.request?.picture(layer), able.contains(where: { $0.capability.takes(wish.orientation) })
        else { return "No plane that takes " + direct.kind.text + " turns pictures so." }
        let (from, to) = (wish.place.source.size, wish.orientation.turned(wish.place.destination.size))
        if from != to {
            return "The display does not scale " + direct.kind.text + " from " + from.text + " to " + to.text + "."
        }
        return "The display refused " + direct.kind.text + " of " + direct.coded.text + "."
    }
}
