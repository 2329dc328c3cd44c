// SPDX-License-Identifier: Apache-2.0

/// What a plane is to show next: the framebuffer, how its numbers are read, and the dma-buf that somebody may still be
/// writing to (-1 where nobody is).
struct ShownBuffer {
    var framebuffer: UInt32
    var colours: PictureColours
    var dmaBuf: Int32 = -1
}

/// What one plane shows.
class Surface {
    var plan: SurfacePlan

    init(_ plan: SurfacePlan) {
        self.plan = plan
    }

    /// Whether another plan can be shown by the same buffers.
    func serves(_ other: SurfacePlan) -> Bool {
        self.plan.format == other.format && self.plan.buffer == other.buffer
            && self.plan.placements == other.placements && self.plan.direct == other.direct
    }

    func index(of layer: Layer) -> Int? {
        self.plan.placements.firstIndex { $0.layer == layer }
    }

    /// Draws `picture` for placement `index`; false where software does not draw here. `isTurned` says that it was
    /// turned before.
    func draw(_ picture: PictureView, _ source: Rectangle, placement index: Int, isTurned: Bool = false) -> Bool {
        false
    }

    /// Takes a shared picture as it lies; false where only software draws here.
    func show(_ image: SharedImage, _ imported: ImportedBuffer) -> Bool { false }

    /// The shared picture that is shown, or about to be.
    var image: (image: SharedImage, imported: ImportedBuffer)? { nil }

    /// Brings what is to be shown up to date. The layers of which there is something new.
    func prepare() -> [Layer] { [] }

    /// What is drawn last and not shown yet; nil where there is nothing new.
    var next: ShownBuffer? { nil }

    /// What is shown or about to be; for commits that change the plane but not its content.
    var latest: ShownBuffer? { nil }

    /// The kernel has taken `latest`.
    func committed() {}

    /// What the kernel had taken is on the screen.
    func flipped() {}

    /// The picture that this surface shows of a layer, for drawing it elsewhere; as software has turned it.
    func picture(_ index: Int) -> PictureView? { nil }

    func release(to pool: BufferPool) {}
}

/// A plane that shows the pictures of a codec as they lie in its memory. Each is kept until another one is on the
/// screen in its place; one that waits for the commit under way is replaced by a newer one.
final class DirectSurface: Surface {
    private typealias Held = (image: SharedImage, imported: ImportedBuffer)

    private var onScreen: Held?
    private var inFlight: Held?
    private var ready: Held?

    override func show(_ image: SharedImage, _ imported: ImportedBuffer) -> Bool {
        self.ready = (image, imported)
        return true
    }

    override var image: (image: SharedImage, imported: ImportedBuffer)? {
        self.ready ?? self.inFlight ?? self.onScreen
    }

    override func prepare() -> [Layer] {
        self.ready == nil ? [] : [self.plan.placements[0].layer]
    }

    override var next: ShownBuffer? { self.ready.map(self.buffer) }

    override var latest: ShownBuffer? { self.image.map(self.buffer) }

    private func buffer(_ held: Held) -> ShownBuffer {
        ShownBuffer(
            framebuffer: held.imported.framebuffer, colours: held.image.colours,
            dmaBuf: held.image.planes.first?.dmaBuf ?? -1)
    }

    override func committed() {
        if let ready = self.ready { self.inFlight = ready }
        self.ready = nil
    }

    override func flipped() {
        if let inFlight = self.inFlight { self.onScreen = inFlight }
        self.inFlight = nil
    }
}
