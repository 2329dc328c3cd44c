// SPDX-License-Identifier: Apache-2.0

/// An image that a composed buffer is made of, and how often it has changed.
final class LayerImage {
    let image: PixelImage
    /// Where it is not transparent; nil for pictures, which are opaque.
    var ink: [Rectangle]?
    private(set) var generation: UInt64 = 1

    init(_ image: PixelImage, ink: [Rectangle]? = nil) {
        self.image = image
        self.ink = ink
    }

    func touch() {
        self.generation &+= 1
    }
}

/// The buffers that one plane shows in turn.
///
/// A surface of one picture is drawn when a picture comes, into the buffer that is neither on the screen nor on its
/// way there: three in all; a picture that was not shown yet is replaced. Everything else is drawn when it is about to
/// be shown, which takes two buffers.
final class DrawnSurface: Surface {
    private let buffers: [DumbBuffer]
    /// Generations of the layers that each buffer shows; 0 for none.
    private var drawn: [[UInt64]]
    /// Of the picture in each buffer.
    private var colours: [PictureColours]
    private var onScreen: Int?
    private var inFlight: Int?
    private var ready: Int?
    private let layers: [LayerImage?]
    /// By placement: takes a picture before software turns it.
    private let uprights: [PixelImage?]
    private let scratch: PixelImage?
    /// Whether the plane can show YUV of full range.
    private let takesFullRange: Bool
    /// One a placement, so that each keeps its scaler.
    private let converters: [Converter]

    /// nil where the controller is out of memory. `words` is as large as the screen.
    init?(_ plan: SurfacePlan, takesFullRange: Bool, words: LayerImage, pool: BufferPool) {
        let isSinglePicture = !plan.isComposed && plan.placements[0].layer != .words
        var buffers: [DumbBuffer] = []
        for _ in 0..<(isSinglePicture ? 3 : 2) {
            guard let buffer = pool.take(BufferLayout(format: plan.format, size: plan.buffer)) else {
                buffers.forEach(pool.give)
                return nil
            }
            buffers.append(buffer)
        }
        self.buffers = buffers
        self.takesFullRange = takesFullRange
        self.converters = plan.placements.map { _ in Converter() }
        self.drawn = buffers.map { _ in plan.placements.map { _ in 0 } }
        self.colours = buffers.map { _ in PictureColours() }
        self.layers = plan.placements.map { placement in
            if placement.layer == .words { return words }
            return isSinglePicture ? nil : LayerImage(PixelImage(placement.target.size))
        }
        self.uprights = plan.placements.map { placement in
            placement.orientation.isUpright ? nil : PixelImage(placement.uprightSize)
        }
        self.scratch = isSinglePicture ? nil : PixelImage(PixelSize(plan.buffer.width, 1))
        super.init(plan)
        // Buffers of another picture may hold anything; what this one does not cover is black.
        if isSinglePicture, self.hasBars { buffers.forEach { $0.clear(PictureColours(), isOpaque: true) } }
    }

    override func release(to pool: BufferPool) {
        self.buffers.forEach(pool.give)
    }

    /// Whether a single picture leaves a part of the buffer black.
    private var hasBars: Bool { self.plan.placements[0].target.size != self.plan.buffer }

    private var free: Int? {
        self.buffers.indices.first { $0 != self.onScreen && $0 != self.inFlight && $0 != self.ready }
            ?? self.buffers.indices.first { $0 != self.onScreen && $0 != self.inFlight }
    }

    // MARK: - Drawing

    override func draw(
        _ picture: PictureView, _ source: Rectangle, placement index: Int, isTurned: Bool = false
    ) -> Bool {
        let placement = self.plan.placements[index]
        let upright = isTurned ? nil : self.uprights[index]
        if let upright, !self.convert(picture, source, index, into: upright) { return false }
        guard let layer = self.layers[index] else {
            return self.draw(picture, source, placement, turning: upright)
        }
        if let upright {
            let target = PixelTarget(pixels: layer.image.pixels, rowPixels: layer.image.rowPixels)
            Compositor.turn(upright, placement.orientation, into: target, at: 0, 0)
        } else if !self.convert(picture, source, index, into: layer.image) {
            return false
        }
        layer.touch()
        return true
    }

    /// The same straight into a buffer that a plane will scan out.
    private func draw(
        _ picture: PictureView, _ source: Rectangle, _ placement: Placement, turning upright: PixelImage?
    ) -> Bool {
        guard let free = self.free else { return false }
        let buffer = self.buffers[free]
        let (x, y) = (placement.target.x, placement.target.y)
        if let upright {
            Compositor.turn(upright, placement.orientation, into: buffer.pixels, at: x, y)
        } else {
            let colours = PictureColours(
                picture.colours.matrix, isFullRange: picture.colours.isFullRange && self.takesFullRange)
            // Bars are black in the range of the picture between them.
            if self.hasBars, colours.isFullRange != self.colours[free].isFullRange {
                buffer.clear(colours, isOpaque: true)
            }
            self.colours[free] = colours
            let isDone = self.converters[0].convert(
                picture, source, to: self.plan.format, placement.target.size, buffer.planes(x: x, y: y),
                isFullRange: colours.isFullRange, keepsInside: self.hasBars)
            guard isDone else { return false }
        }
        self.ready = free
        return true
    }

    private func convert(_ picture: PictureView, _ source: Rectangle, _ index: Int, into image: PixelImage) -> Bool {
        self.converters[index].convert(
            picture, source, to: .argb8888, image.size, TargetPlanes(image), isFullRange: true)
    }

    /// Brings composed buffers up to date. The layers of which there is something new to show; none where there is no
    /// buffer to draw it in.
    override func prepare() -> [Layer] {
        guard self.scratch != nil else { return self.ready == nil ? [] : [self.plan.placements[0].layer] }
        let generations = self.layers.map { $0?.generation ?? 0 }
        let shown = (self.inFlight ?? self.onScreen).map { self.drawn[$0] }
        let fresh = generations.indices.filter { shown?[$0] != generations[$0] }
        guard !fresh.isEmpty else { return [] }
        if self.ready.map({ self.drawn[$0] != generations }) ?? true {
            guard let free = self.free else { return [] }
            self.compose(into: free, generations)
            self.ready = free
        }
        return fresh.map { self.plan.placements[$0].layer }
    }

    private func compose(into index: Int, _ generations: [UInt64]) {
        let stale = self.plan.placements.indices.filter { self.drawn[index][$0] != generations[$0] }
        let isFresh = self.drawn[index].contains(0)
        let hasNewWords = stale.contains { self.plan.placements[$0].layer == .words }
        var areas = isFresh || hasNewWords ? [Rectangle(self.plan.buffer)] : []
        for index in stale {
            let place = self.plan.placements[index].target
            if !areas.contains(where: { $0.contains(place) }) { areas.append(place) }
        }
        let composed = self.plan.placements.indices.compactMap { index in
            self.layers[index].map {
                ComposedLayer(image: $0.image, target: self.plan.placements[index].target, ink: $0.ink)
            }
        }
        guard let scratch = self.scratch else { return }
        let background: UInt32 = self.plan.format == .xrgb8888 ? 0xFF00_0000 : 0
        for area in areas {
            Compositor.compose(
                composed, over: background, area: area, into: self.buffers[index].pixels, scratch: scratch)
        }
        self.drawn[index] = generations
    }

    // MARK: - Showing

    override var next: ShownBuffer? { self.ready.map(self.shown) }

    override var latest: ShownBuffer? { (self.ready ?? self.inFlight ?? self.onScreen).map(self.shown) }

    private func shown(_ index: Int) -> ShownBuffer {
        ShownBuffer(framebuffer: self.buffers[index].framebuffer, colours: self.colours[index])
    }

    override func committed() {
        if let ready = self.ready { self.inFlight = ready }
        self.ready = nil
    }

    override func flipped() {
        if let inFlight = self.inFlight { self.onScreen = inFlight }
        self.inFlight = nil
    }

    override func picture(_ index: Int) -> PictureView? {
        let placement = self.plan.placements[index]
        if let layer = self.layers[index] {
            guard layer.generation > 1 else { return nil }
            return Self.view(TargetPlanes(layer.image), .argb8888, placement.target.size, PictureColours())
        }
        guard let shown = self.ready ?? self.inFlight ?? self.onScreen else { return nil }
        let planes = self.buffers[shown].planes(x: placement.target.x, y: placement.target.y)
        return Self.view(planes, self.plan.format, placement.target.size, self.colours[shown])
    }

    private static func view(
        _ planes: TargetPlanes, _ format: PixelFormat, _ size: PixelSize, _ colours: PictureColours
    ) -> PictureView {
        PictureView(
            size, format: format,
            planes: (
                PicturePlane(planes.bytes.0.map { UnsafePointer($0) }, stride: planes.strides.0),
                PicturePlane(planes.bytes.1.map { UnsafePointer($0) }, stride: planes.strides.1),
                PicturePlane(planes.bytes.2.map { UnsafePointer($0) }, stride: planes.strides.2)
            ), colours: colours)
    }
}
