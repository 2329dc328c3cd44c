// SPDX-License-Identifier: Apache-2.0

@testable import Display

/// What a driver's atomic check asks of one plane.
struct PlaneRule {
    /// Factors by which the plane enlarges and shrinks, 1 for not at all.
    var enlarges = 1
    var shrinks = 1
    /// False where the plane must cover the screen.
    var isPlaced = true
    var sideMin = 1

    func accepts(_ surface: SurfacePlan, on screen: PixelSize) -> Bool {
        let (from, to) = (surface.orientation.turned(surface.buffer), surface.destination)
        guard self.isPlaced || to == Rectangle(screen) else { return false }
        guard min(from.width, from.height, to.width, to.height) >= self.sideMin else { return false }
        return Rectangle(screen).intersection(to) == to
            && to.width <= from.width * self.enlarges && to.height <= from.height * self.enlarges
            && from.width <= to.width * self.shrinks && from.height <= to.height * self.shrinks
    }
}

/// A display controller as user space sees it, and the rules of its driver (Linux 7.2) that user space does not see.
struct Controller {
    var name: String
    var planes: [PlaneCapability]
    var rules: [UInt32: PlaneRule]
    /// The driver refuses to light the screen without its primary plane.
    var needsPrimary = false

    /// Stands in for DRM_MODE_ATOMIC_TEST_ONLY.
    func accepts(_ arrangement: Arrangement, on screen: PixelSize) -> Bool {
        if self.needsPrimary {
            let primary = self.planes.first { $0.kind == .primary }
            guard arrangement.surfaces.contains(where: { $0.plane == primary?.id }) else { return false }
        }
        return arrangement.surfaces.allSatisfy { surface in
            guard let plane = self.planes.first(where: { $0.id == surface.plane }) else { return false }
            return plane.formats.contains(surface.format) && plane.takes(surface.orientation)
                && (self.rules[plane.id] ?? PlaneRule()).accepts(surface, on: screen)
        }
    }
}

extension Controller {
    private static let rgb: [PixelFormat] = [.xrgb8888, .argb8888]

    static let all: [Controller] = [vkms, vc4, vop2, meson, sun8i, imx6, lcdif, virtio]

    /// vkms_plane.c: every plane takes all formats and reflects, none scales; no zpos, the order is that of the ids.
    static let vkms = Controller(
        name: "vkms",
        planes: (0..<10).map { index in
            PlaneCapability(
                UInt32(31 + index), index == 0 ? .primary : index == 9 ? .cursor : .overlay,
                PixelFormats([.xrgb8888, .argb8888, .nv12, .yuv420]), PlaneOrder(fixed: index), reflectsX: true)
        },
        rules: [:])

    /// vc4_plane.c: the primary plane at the bottom, sixteen overlays above it; each scales, reflects and is placed.
    static let vc4: Controller = {
        let formats = PixelFormats([.xrgb8888, .argb8888, .nv12, .yuv420])
        let primary = PlaneCapability(44, .primary, formats, PlaneOrder(fixed: 0), reflectsX: true)
        let overlays = (0..<16).map { index in
            PlaneCapability(UInt32(100 + index), .overlay, formats, PlaneOrder(1...17), reflectsX: true)
        }
        let cursor = PlaneCapability(200, .cursor, formats, PlaneOrder(1...17), reflectsX: true)
        let planes = [primary] + overlays + [cursor]
        let rule = PlaneRule(enlarges: 64, shrinks: 64)
        return Controller(
            name: "vc4", planes: planes, rules: Dictionary(uniqueKeysWithValues: planes.map { ($0.id, rule) }))
    }()

    /// rockchip_vop2_reg.c for RK3568 with one output: the primary plane is the RGB window Smart0; Smart1 is RGB too,
    /// the Esmart windows know NV12; the Cluster windows take AFBC only, nothing linear. All scale by 8, none reflects.
    static let vop2: Controller = {
        let order = PlaneOrder(0...5)
        let esmart = PixelFormats([.xrgb8888, .argb8888, .nv12])
        let planes = [
            PlaneCapability(58, .primary, PixelFormats(rgb), order),
            PlaneCapability(64, .overlay, PixelFormats(rgb), order),
            PlaneCapability(70, .overlay, esmart, order),
            PlaneCapability(76, .overlay, esmart, order),
            PlaneCapability(82, .overlay, [], order, reflectsX: true),
            PlaneCapability(88, .overlay, [], order, reflectsX: true),
        ]
        let rule = PlaneRule(enlarges: 8, shrinks: 8, sideMin: 4)
        return Controller(
            name: "rockchip VOP2", planes: planes,
            rules: Dictionary(uniqueKeysWithValues: planes.map { ($0.id, rule) }))
    }()

    /// meson_overlay.c, meson_plane.c: the only overlay takes video and lies *below* the primary plane, which must
    /// cover the screen.
    static let meson = Controller(
        name: "meson",
        planes: [
            PlaneCapability(32, .primary, PixelFormats(rgb), PlaneOrder(fixed: 1)),
            PlaneCapability(36, .overlay, PixelFormats([.nv12, .yuv420, .yuyv]), PlaneOrder(fixed: 0)),
        ],
        rules: [32: PlaneRule(enlarges: 5, isPlaced: false), 36: PlaneRule(enlarges: 5, shrinks: 5)])

    /// sun8i_vi_layer.c, sun8i_ui_layer.c for the first mixer of the H3: one video layer without alpha, three RGB
    /// layers, all of them scale and are placed anywhere in the stack.
    static let sun8i: Controller = {
        let order = PlaneOrder(0...3)
        let planes = [
            PlaneCapability(33, .overlay, PixelFormats([.xrgb8888, .nv12, .yuv420, .yuyv]), order),
            PlaneCapability(38, .primary, PixelFormats(rgb), order),
            PlaneCapability(41, .overlay, PixelFormats(rgb), order),
            PlaneCapability(44, .overlay, PixelFormats(rgb), order),
        ]
        let rule = PlaneRule(enlarges: 16, shrinks: 16)
        return Controller(
            name: "sun8i", planes: planes, rules: Dictionary(uniqueKeysWithValues: planes.map { ($0.id, rule) }))
    }()

    /// ipuv3-plane.c: a primary plane of the screen's size and one overlay, which can go below it; nothing scales.
    static let imx6: Controller = {
        let formats = PixelFormats([.xrgb8888, .argb8888, .nv12, .yuv420, .yuyv])
        return Controller(
            name: "imx6",
            planes: [
                PlaneCapability(31, .primary, formats, PlaneOrder(fixed: 1)),
                PlaneCapability(35, .overlay, formats, PlaneOrder(0...2)),
            ],
            rules: [31: PlaneRule(isPlaced: false, sideMin: 13), 35: PlaneRule()])
    }()

    /// lcdif_kms.c: one plane of the screen's size without NV12, always on.
    static let lcdif = Controller(
        name: "imx8mp lcdif",
        planes: [PlaneCapability(31, .primary, PixelFormats([.xrgb8888, .yuyv]), PlaneOrder(fixed: 0))],
        rules: [31: PlaneRule(isPlaced: false)], needsPrimary: true)

    /// virtgpu_plane.c: one XRGB8888 plane of the screen's size, and a cursor.
    static let virtio = Controller(
        name: "virtio-gpu",
        planes: [
            PlaneCapability(31, .primary, PixelFormats([.xrgb8888]), PlaneOrder(fixed: 0)),
            PlaneCapability(34, .cursor, PixelFormats([.argb8888]), PlaneOrder(fixed: 1)),
        ],
        rules: [31: PlaneRule(isPlaced: false)])
}
