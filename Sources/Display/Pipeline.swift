// SPDX-License-Identifier: Apache-2.0

import Bytes
import CDRM

/// One plane with the ids of its properties.
struct PlaneHandle {
    let capability: PlaneCapability
    let framebuffer: UInt32
    let crtc: UInt32
    /// SRC_X, SRC_Y, SRC_W, SRC_H in 16.16 pixels of the buffer.
    let source: [UInt32]
    /// CRTC_X, CRTC_Y, CRTC_W, CRTC_H in pixels of the screen.
    let destination: [UInt32]
    let position: UInt32?
    /// "IN_FENCE_FD": what the controller waits for before it reads the buffer.
    let fence: UInt32?
    let rotation: RotationProperty?
    /// "COLOR_ENCODING" with its values for BT.601 and BT.709.
    let encoding: (id: UInt32, bt601: UInt64, bt709: UInt64?)?
    /// "COLOR_RANGE" with its values for limited and full range.
    let range: (id: UInt32, limited: UInt64, full: UInt64?)?
    /// Properties that have one right value for us: full opacity, premultiplied alpha.
    let constants: [(id: UInt32, value: UInt64)]

    /// Whether YUV of full range can be shown as it is.
    var takesFullRange: Bool { self.range?.full != nil }

    /// nil for planes that cannot stand on CRTC number `crtcIndex`. `index` is its place among all planes.
    init?(_ card: Int32, _ id: UInt32, index: Int, crtcIndex: Int) throws(DisplayError) {
        guard let plane = drmModeGetPlane(card, id) else { return nil }
        defer { drmModeFreePlane(plane) }
        guard plane.pointee.possible_crtcs >> UInt32(crtcIndex) & 1 == 1 else { return nil }
        let properties = Properties(card, id, kind: Int64(DRM_MODE_OBJECT_PLANE))
        let listed = (0..<Int(plane.pointee.count_formats)).compactMap {
            PixelFormat(rawValue: plane.pointee.formats[$0])
        }
        let content = blob(card, properties["IN_FORMATS"]?.value ?? 0)
        let linear = PlaneFormats.linear(inFormats: content)
        let shared =
            PlaneFormats.all(inFormats: content)
            ?? (0..<Int(plane.pointee.count_formats)).map { SharedKind(plane.pointee.formats[$0]) }
        self.fence = properties["IN_FENCE_FD"]?.id
        self.rotation = RotationProperty(properties)
        self.encoding = Self.encoding(properties)
        self.range = Self.range(properties)
        self.position = properties["zpos"].flatMap { $0.isImmutable ? nil : $0.id }
        self.capability = PlaneCapability(
            id, Self.kind(properties), linear ?? PixelFormats(listed), Self.order(properties, index),
            reflectsX: self.rotation?.reflectX != nil, quarters: self.rotation?.quarters ?? [0],
            shared: shared)
        self.framebuffer = try properties.require("FB_ID")
        self.crtc = try properties.require("CRTC_ID")
        self.source = [
            try properties.require("SRC_X"), try properties.require("SRC_Y"), try properties.require("SRC_W"),
            try properties.require("SRC_H"),
        ]
        self.destination = [
            try properties.require("CRTC_X"), try properties.require("CRTC_Y"), try properties.require("CRTC_W"),
            try properties.require("CRTC_H"),
        ]
        let alpha = properties["alpha"].map { (id: $0.id, value: UInt64(0xFFFF)) }
        let blending = properties["pixel blend mode"].flatMap { property in
            property.choice("Pre-multiplied").map { (id: property.id, value: $0) }
        }
        self.constants = [alpha, blending].compactMap { $0 }
    }

    private static func kind(_ properties: Properties) -> PlaneKind {
        switch properties["type"]?.value {
        case UInt64(DRM_PLANE_TYPE_PRIMARY): return .primary
        case UInt64(DRM_PLANE_TYPE_CURSOR): return .cursor
        default: return .overlay
        }
    }

    /// Without "zpos", planes lie in the order of their ids.
    private static func order(_ properties: Properties, _ index: Int) -> PlaneOrder {
        guard let property = properties["zpos"] else { return PlaneOrder(fixed: index) }
        let limits = property.limits.map { Int(clamping: $0) }
        if property.isImmutable || limits.count != 2 || limits[0] > limits[1] {
            return PlaneOrder(fixed: Int(clamping: property.value))
        }
        return PlaneOrder(limits[0]...limits[1])
    }

    private static func encoding(_ properties: Properties) -> (id: UInt32, bt601: UInt64, bt709: UInt64?)? {
        guard let property = properties["COLOR_ENCODING"], let bt601 = property.choice("ITU-R BT.601 YCbCr") else {
            return nil
        }
        return (property.id, bt601, property.choice("ITU-R BT.709 YCbCr"))
    }

    private static func range(_ properties: Properties) -> (id: UInt32, limited: UInt64, full: UInt64?)? {
        guard let property = properties["COLOR_RANGE"], let limited = property.choice("YCbCr limited range") else {
            return nil
        }
        return (property.id, limited, property.choice("YCbCr full range"))
    }
}

/// The connector that composed pictures can be read back from.
struct WritebackHandle {
    let connector: UInt32
    let crtc: UInt32
    let framebuffer: UInt32
    let fence: UInt32
}

/// What leads from buffers to the glass: planes, CRTC, connector, mode.
struct Pipeline {
    let connector: UInt32
    let connectorCRTC: UInt32
    let crtc: UInt32
    let active: UInt32
    let modeID: UInt32
    let mode: drmModeModeInfo
    let planes: [PlaneHandle]
    let writeback: WritebackHandle?

    var screen: PixelSize { PixelSize(Int(self.mode.hdisplay), Int(self.mode.vdisplay)) }

    func plane(_ id: UInt32) -> PlaneHandle? {
        self.planes.first { $0.capability.id == id }
    }
}

extension PlaneHandle {
    /// Puts a buffer on the plane as `plan` says.
    func show(
        _ plan: SurfacePlan, _ shown: ShownBuffer, on crtc: UInt32, in request: inout AtomicRequest
    ) {
        let id = self.capability.id
        let colours = shown.colours
        request.set(id, self.framebuffer, UInt64(shown.framebuffer))
        if let fence = self.fence, shown.dmaBuf >= 0 { request.wait(id, fence, forDMABuf: shown.dmaBuf) }
        request.set(id, self.crtc, UInt64(crtc))
        let from = [plan.source.x, plan.source.y, plan.source.width, plan.source.height]
        let to = [plan.destination.x, plan.destination.y, plan.destination.width, plan.destination.height]
        for index in 0..<4 {
            request.set(id, self.source[index], UInt64(from[index]) << 16)
            request.set(id, self.destination[index], signed: to[index])
        }
        if let position = self.position, let wanted = plan.position { request.set(id, position, signed: wanted) }
        if let rotation = self.rotation {
            request.set(id, rotation.id, rotation.value(plan.orientation))
        }
        for constant in self.constants { request.set(id, constant.id, constant.value) }
        guard plan.format.isYUV || plan.direct != nil else { return }
        if let encoding = self.encoding {
            request.set(id, encoding.id, colours.matrix == .bt709 ? encoding.bt709 ?? encoding.bt601 : encoding.bt601)
        }
        if let range = self.range {
            request.set(id, range.id, colours.isFullRange ? range.full ?? range.limited : range.limited)
        }
    }

    func hide(in request: inout AtomicRequest) {
        request.set(self.capability.id, self.framebuffer, 0)
        request.set(self.capability.id, self.crtc, 0)
    }
}

/// "rotation" of a plane: which turns and reflections it has (KMS documentation, "Plane Composition Properties"). Its
/// turns are counterclockwise, and come after the reflection.
struct RotationProperty {
    let id: UInt32
    /// Bits for no, one, two and three quarter turns clockwise; nil for what the plane lacks.
    private let turns: [UInt64?]
    let reflectX: UInt64?

    /// nil where the plane has none, or none that leaves it upright.
    init?(_ properties: Properties) {
        guard let property = properties["rotation"] else { return nil }
        func bit(_ name: ByteString) -> UInt64? { property.choice(name).flatMap { $0 < 64 ? 1 << $0 : nil } }
        guard let plain = bit("rotate-0") else { return nil }
        self.id = property.id
        self.turns = [plain, bit("rotate-270"), bit("rotate-180"), bit("rotate-90")]
        self.reflectX = bit("reflect-x")
    }

    var quarters: [Int] { (0..<4).filter { self.turns[$0] != nil } }

    func value(_ orientation: Orientation) -> UInt64 {
        let turn = self.turns[orientation.quarters] ?? self.turns[0] ?? 1
        return orientation.isMirrored ? turn | (self.reflectX ?? 0) : turn
    }
}
