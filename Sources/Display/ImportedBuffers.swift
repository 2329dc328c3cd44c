// SPDX-License-Identifier: Apache-2.0

import CDRM

/// A framebuffer over memory that another device shares (KMS documentation, "PRIME Buffer Sharing"). The kernel keeps
/// the memory as long as the framebuffer is.
final class ImportedBuffer {
    let framebuffer: UInt32
    fileprivate let pool: UInt64
    private let card: Card

    /// nil where the controller cannot read such memory, or such a layout.
    fileprivate init?(_ card: Card, _ image: SharedImage) {
        var handles = [UInt32](repeating: 0, count: 4)
        var pitches = [UInt32](repeating: 0, count: 4)
        var offsets = [UInt32](repeating: 0, count: 4)
        var modifiers = [UInt64](repeating: 0, count: 4)
        // The framebuffer keeps what it needs. One memory has one handle, however often it is named.
        defer { for handle in Set(handles) where handle != 0 { _ = callbox_close_handle(card.descriptor, handle) } }
        for (index, plane) in image.planes.prefix(4).enumerated() {
            guard drmPrimeFDToHandle(card.descriptor, plane.dmaBuf, &handles[index]) == 0 else { return nil }
            pitches[index] = plane.pitch
            offsets[index] = plane.offset
            modifiers[index] = image.direct.kind.modifier
        }
        let (width, height) = (UInt32(image.direct.coded.width), UInt32(image.direct.coded.height))
        let fourCC = image.direct.kind.fourCC
        var made: UInt32 = 0
        // Without a modifier the layout is linear; drivers that know no modifiers take that too.
        let failure =
            image.direct.kind.modifier == 0
            ? drmModeAddFB2(card.descriptor, width, height, fourCC, handles, pitches, offsets, &made, 0)
            : drmModeAddFB2WithModifiers(
                card.descriptor, width, height, fourCC, handles, pitches, offsets, modifiers, &made,
                UInt32(DRM_MODE_FB_MODIFIERS))
        guard failure == 0 else { return nil }
        self.framebuffer = made
        self.pool = image.pool
        self.card = card
    }

    deinit {
        _ = drmModeRmFB(self.card.descriptor, self.framebuffer)
    }
}

/// The framebuffers of shared pictures: one a memory, made when it comes for the first time, and gone with the others
/// of its pool when its layer shows those of another one.
final class ImportedBuffers {
    private let card: Card
    private var known: [(buffer: UInt64, imported: ImportedBuffer)] = []
    private var pools: [(layer: Layer, pool: UInt64)] = []

    /// Two layers of a codec's or a camera's buffers each; a pool that has more is imported anew as it goes round.
    private static let most = 64

    init(_ card: Card) {
        self.card = card
    }

    var count: Int { self.known.count }

    /// nil where the controller cannot read it.
    func take(_ image: SharedImage, for layer: Layer) -> ImportedBuffer? {
        self.settle(layer, image.pool)
        if let found = self.known.first(where: { $0.buffer == image.buffer }) { return found.imported }
        guard let imported = ImportedBuffer(self.card, image) else { return nil }
        if self.known.count == Self.most { self.known.removeFirst() }
        self.known.append((image.buffer, imported))
        return imported
    }

    /// The layer shows none any more.
    func forget(_ layer: Layer) {
        self.pools.removeAll { $0.layer == layer }
        self.sweep()
    }

    private func settle(_ layer: Layer, _ pool: UInt64) {
        if let index = self.pools.firstIndex(where: { $0.layer == layer }) {
            guard self.pools[index].pool != pool else { return }
            self.pools[index].pool = pool
        } else {
            self.pools.append((layer, pool))
        }
        self.sweep()
    }

    /// What is on the screen is kept by its surface until another picture is.
    private func sweep() {
        self.known.removeAll { entry in !self.pools.contains { $0.pool == entry.imported.pool } }
    }
}
