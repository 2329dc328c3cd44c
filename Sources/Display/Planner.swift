// SPDX-License-Identifier: Apache-2.0

/// Finds the ways in which the planes of a controller could show what is wanted, cheapest first.
///
/// The stack of layers is cut into groups, each group goes to a plane, planes in rising order. A group of one picture
/// may be scaled by its plane or by software; larger groups are composed in software. The kernel then has the last
/// word: the caller offers it one arrangement after the other until one is accepted, and the last ones need nothing but
/// one RGB plane of the size of the screen.
///
/// What no plane covers is black, as the kernel promises ("Plane Composition Properties" and drm_plane.c), so no plane
/// is spent on a background. Where a primary plane must cover the screen, the bars are part of its buffer.
public struct Planner {
    /// At most so many arrangements are offered, composed ones beside.
    static let offersMax = 48
    /// How many of those that need one plane only are always among the offers.
    static let lastResortsMax = 4

    private let request: PlanRequest
    private let planes: [PlaneCapability]
    private var found: [Arrangement] = []

    private init(_ request: PlanRequest, _ planes: [PlaneCapability]) {
        self.request = request
        // A cursor plane may be as small as 64x64 and moves by rules of its own.
        self.planes = planes.filter { $0.kind != .cursor }
    }

    /// The arrangements worth trying, cheapest first; empty where no plane takes any of our formats.
    public static func arrangements(for request: PlanRequest, planes: [PlaneCapability]) -> [Arrangement] {
        var planner = Planner(request, planes)
        let layers = request.layers
        for cuts in 0..<(1 << (layers.count - 1)) {
            planner.search(Self.groups(of: layers, cuts: cuts), [], cost: 0)
        }
        let sorted = planner.found.sorted { $0.cost < $1.cost }
        let offers = sorted.prefix(Self.offersMax)
        let lastResorts = sorted.dropFirst(Self.offersMax).filter { $0.surfaces.count == 1 }
        return Array(offers) + lastResorts.prefix(Self.lastResortsMax)
    }

    /// Neighbours that share a plane: bit n of `cuts` parts layer n from layer n + 1.
    private static func groups(of layers: [Layer], cuts: Int) -> [[Layer]] {
        var groups: [[Layer]] = [[]]
        for (index, layer) in layers.enumerated() {
            groups[groups.count - 1].append(layer)
            if index < layers.count - 1, cuts & (1 << index) != 0 { groups.append([]) }
        }
        return groups
    }

    /// Puts the first of `groups` on every kind of plane that is left, and goes on with the others.
    private mutating func search(_ groups: [[Layer]], _ below: [SurfacePlan], cost: Int64) {
        guard let group = groups.first else {
            self.found.append(Arrangement(surfaces: below, cost: cost + self.penalty(below)))
            return
        }
        for candidate in self.candidates(above: below) {
            for (surface, price) in self.surfaces(group, on: candidate, isBottom: below.isEmpty) {
                self.search(Array(groups.dropFirst()), below + [surface], cost: cost + price)
            }
        }
    }

    /// The order that drivers are tested most with goes first among near equals: the primary plane at the bottom.
    private func penalty(_ surfaces: [SurfacePlan]) -> Int64 {
        let primary = self.planes.first { $0.kind == .primary }?.id
        if surfaces.first?.plane == primary { return 0 }
        let usesPrimary = surfaces.contains { $0.plane == primary }
        return self.request.screen.area / (usesPrimary ? 8 : 4)
    }
}

// MARK: - Which plane

extension Planner {
    /// A plane with its place in the stack.
    private struct Candidate {
        var plane: PlaneCapability
        var position: Int
    }

    /// The planes that can stand above those in use, one of each kind: twins would only repeat the search.
    private func candidates(above below: [SurfacePlan]) -> [Candidate] {
        let floor = below.last.flatMap(self.position) ?? -1
        var candidates: [Candidate] = []
        for plane in self.planes where !below.contains(where: { $0.plane == plane.id }) {
            let position = max(plane.order.lowest, floor + 1)
            guard position <= plane.order.highest else { continue }
            if let twin = candidates.firstIndex(where: { Self.areTwins($0.plane, plane) }) {
                // The lower one leaves more room above.
                if position < candidates[twin].position {
                    candidates[twin] = Candidate(plane: plane, position: position)
                }
            } else {
                candidates.append(Candidate(plane: plane, position: position))
            }
        }
        return candidates
    }

    private func position(_ surface: SurfacePlan) -> Int? {
        surface.position ?? self.planes.first { $0.id == surface.plane }?.order.lowest
    }

    private static func areTwins(_ one: PlaneCapability, _ other: PlaneCapability) -> Bool {
        one.kind == other.kind && one.formats == other.formats && one.shared == other.shared
            && one.reflectsX == other.reflectsX
            && one.quarters == other.quarters
            && one.order.isSettable == other.order.isSettable && (!one.order.isSettable || one.order == other.order)
    }
}

// MARK: - Which buffer

extension Planner {
    /// The ways in which `group` can be shown by one plane, each with its price.
    private func surfaces(_ group: [Layer], on candidate: Candidate, isBottom: Bool) -> [(SurfacePlan, Int64)] {
        var plans: [SurfacePlan] = []
        if group.count > 1 {
            plans = self.composed(group, candidate, isBottom)
        } else if let wish = self.request.picture(group[0]) {
            plans = self.single(wish, group[0], candidate, isBottom)
        } else {
            plans = self.words(candidate, isBottom)
        }
        return plans.map { ($0, self.price($0)) }
    }

    private func words(_ candidate: Candidate, _ isBottom: Bool) -> [SurfacePlan] {
        let formats = candidate.plane.formats
        let all = Rectangle(self.request.screen)
        let placement = Placement(layer: .words, source: all, target: all, orientation: .upright)
        if formats.contains(.argb8888) { return [self.screenful(.argb8888, candidate, [placement])] }
        return isBottom && formats.contains(.xrgb8888) ? [self.screenful(.xrgb8888, candidate, [placement])] : []
    }

    private func composed(_ group: [Layer], _ candidate: Candidate, _ isBottom: Bool) -> [SurfacePlan] {
        let formats = candidate.plane.formats
        let format: PixelFormat = isBottom && formats.contains(.xrgb8888) ? .xrgb8888 : .argb8888
        guard formats.contains(format) else { return [] }
        let all = Rectangle(self.request.screen)
        let placements = group.map { layer -> Placement in
            guard let wish = self.request.picture(layer) else {
                return Placement(layer: layer, source: all, target: all, orientation: .upright)
            }
            return Placement(
                layer: layer, source: wish.place.source, target: wish.place.destination,
                orientation: wish.orientation)
        }
        return [self.screenful(format, candidate, placements)]
    }

    private func single(
        _ wish: PictureWish, _ layer: Layer, _ candidate: Candidate, _ isBottom: Bool
    ) -> [SurfacePlan] {
        let isByPlane = candidate.plane.takes(wish.orientation)
        let byPlane = isByPlane ? wish.orientation : .upright
        let bySoftware = isByPlane ? .upright : wish.orientation
        let (source, destination) = (wish.place.source, wish.place.destination)
        let upright = byPlane.turned(destination.size)
        var plans: [SurfacePlan] = []
        if let direct = wish.direct, isByPlane, candidate.plane.takes(direct.kind) {
            let placement = Placement(
                layer: layer, source: source, target: Rectangle(source.size), orientation: .upright)
            plans.append(
                SurfacePlan(
                    plane: candidate.plane.id, position: self.settable(candidate), format: wish.format,
                    buffer: source.size, destination: destination, orientation: byPlane, placements: [placement],
                    direct: direct))
        }
        for format in Self.formats(for: wish.format, of: candidate.plane, rgbOnly: !bySoftware.isUpright) {
            // Software turns on the way out of its own memory, scaled already.
            let sizes = !bySoftware.isUpright || source.size == upright ? [upright] : [source.size, upright]
            for size in sizes {
                let placement = Placement(
                    layer: layer, source: source, target: Rectangle(size), orientation: bySoftware)
                plans.append(
                    SurfacePlan(
                        plane: candidate.plane.id, position: self.settable(candidate), format: format, buffer: size,
                        destination: destination, orientation: byPlane, placements: [placement]))
            }
            if isBottom, byPlane.isUpright, destination != Rectangle(self.request.screen) {
                let placement = Placement(
                    layer: layer, source: source, target: destination, orientation: bySoftware)
                plans.append(self.screenful(format, candidate, [placement]))
            }
        }
        return plans
    }

    private func screenful(_ format: PixelFormat, _ candidate: Candidate, _ placements: [Placement]) -> SurfacePlan {
        SurfacePlan(
            plane: candidate.plane.id, position: self.settable(candidate), format: format, buffer: self.request.screen,
            destination: Rectangle(self.request.screen), orientation: .upright,
            placements: placements)
    }

    private func settable(_ candidate: Candidate) -> Int? {
        candidate.plane.order.isSettable ? candidate.position : nil
    }

    /// The cheapest YUV format of the plane, and RGB for planes that refuse YUV in the case at hand.
    private static func formats(for format: PixelFormat, of plane: PlaneCapability, rgbOnly: Bool) -> [PixelFormat] {
        let preferences: [PixelFormat]
        switch format {
        case .yuv420: preferences = [.yuv420, .nv12, .yuyv]
        case .nv12: preferences = [.nv12, .yuv420, .yuyv]
        case .yuyv: preferences = [.yuyv, .nv12, .yuv420]
        case .xrgb8888, .argb8888: preferences = []
        }
        let yuv = rgbOnly ? nil : preferences.first { plane.formats.contains($0) }
        let rgb = [PixelFormat.xrgb8888, .argb8888].first { plane.formats.contains($0) }
        return [yuv, rgb].compactMap { $0 }
    }
}

// MARK: - Price

extension Planner {
    /// Bytes a new picture of each layer costs. The weights follow what libswscale takes for each kind of work, with
    /// copies counted for the slow memory of small boards.
    private func price(_ plan: SurfacePlan) -> Int64 {
        // Scan-out takes memory bandwidth at the screen's rate, but no processor.
        var price = plan.buffer.area * Int64(plan.format.bitsPerPixel) / 32
        if plan.direct != nil { return price }
        for placement in plan.placements {
            guard let wish = self.request.picture(placement.layer) else { continue }
            let area = placement.target.size.area
            if placement.isScaled {
                price += placement.source.size.area * 2 + area * (plan.format.isYUV ? 8 : 20)
            } else if plan.format == wish.format {
                price += area * Int64(plan.format.bitsPerPixel) / 8
            } else {
                price += area * (plan.format.isYUV ? 2 : 5)
            }
            // From memory of our own into the buffer, and the words over it where they share it.
            if plan.isComposed || !placement.orientation.isUpright { price += area * (plan.isComposed ? 6 : 4) }
        }
        let hidesBelow = plan.isComposed && plan.placements[0].layer == .remote
        return price + (hidesBelow ? plan.buffer.area / 2 : 0)
    }
}
