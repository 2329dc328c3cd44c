// SPDX-License-Identifier: Apache-2.0

import Bytes
import CDRM
import KioskEngine

/// The way from a card's planes to a display.
extension Card {
    /// A display that is plugged in, or driven as if it were.
    struct Plugged {
        var connector: UInt32
        var mode: drmModeModeInfo
        /// A bit for each CRTC that can feed it.
        var crtcs: UInt32
        /// The CRTC that feeds it now, 0 for none.
        var current: UInt32
    }

    /// Asks the display itself, which may take a while; nil where nothing is plugged in and no mode is forced.
    static func display(_ descriptor: Int32, _ id: UInt32, _ forced: ScreenMode?) -> Plugged? {
        guard let connector = drmModeGetConnector(descriptor, id) else { return nil }
        defer { drmModeFreeConnector(connector) }
        let content = connector.pointee
        let modes = (0..<Int(content.count_modes)).map { content.modes[$0] }
        let mode: drmModeModeInfo
        if let forced {
            mode = DisplayTiming(forced).modeInfo
        } else if content.connection == DRM_MODE_CONNECTED, let first = modes.first {
            mode = modes.first { $0.type & UInt32(DRM_MODE_TYPE_PREFERRED) != 0 } ?? first
        } else {
            return nil
        }
        var plugged = Plugged(connector: id, mode: mode, crtcs: 0, current: 0)
        for index in 0..<Int(content.count_encoders) {
            guard let encoder = drmModeGetEncoder(descriptor, content.encoders[index]) else { continue }
            plugged.crtcs |= encoder.pointee.possible_crtcs
            if encoder.pointee.encoder_id == content.encoder_id { plugged.current = encoder.pointee.crtc_id }
            drmModeFreeEncoder(encoder)
        }
        return plugged
    }

    static func pipeline(
        _ descriptor: Int32, _ resources: drmModeRes, _ display: Plugged
    ) throws(DisplayError) -> Pipeline {
        let crtcs = (0..<min(32, Int(resources.count_crtcs))).map { resources.crtcs[$0] }
        let usable = crtcs.indices.filter { display.crtcs >> UInt32($0) & 1 == 1 }
        // The one that is lit already shows no flicker when taken over.
        guard let index = usable.first(where: { crtcs[$0] == display.current }) ?? usable.first else {
            throw .noArrangement
        }
        let crtc = Properties(descriptor, crtcs[index], kind: Int64(DRM_MODE_OBJECT_CRTC))
        let connector = Properties(descriptor, display.connector, kind: Int64(DRM_MODE_OBJECT_CONNECTOR))
        return Pipeline(
            connector: display.connector, connectorCRTC: try connector.require("CRTC_ID"), crtc: crtcs[index],
            active: try crtc.require("ACTIVE"), modeID: try crtc.require("MODE_ID"), mode: display.mode,
            planes: try Self.planes(descriptor, crtcIndex: index),
            writeback: Self.writeback(descriptor, resources, crtcIndex: index))
    }

    private static func planes(_ descriptor: Int32, crtcIndex: Int) throws(DisplayError) -> [PlaneHandle] {
        guard let list = drmModeGetPlaneResources(descriptor) else { throw .noArrangement }
        defer { drmModeFreePlaneResources(list) }
        var planes: [PlaneHandle] = []
        for index in 0..<Int(list.pointee.count_planes) {
            let id = list.pointee.planes[index]
            if let plane = try PlaneHandle(descriptor, id, index: index, crtcIndex: crtcIndex) { planes.append(plane) }
        }
        return planes
    }

    private static func writeback(_ descriptor: Int32, _ resources: drmModeRes, crtcIndex: Int) -> WritebackHandle? {
        for index in 0..<Int(resources.count_connectors) {
            let id = resources.connectors[index]
            guard let connector = drmModeGetConnectorCurrent(descriptor, id) else { continue }
            defer { drmModeFreeConnector(connector) }
            guard connector.pointee.connector_type == UInt32(DRM_MODE_CONNECTOR_WRITEBACK),
                connector.pointee.count_encoders > 0,
                let encoder = drmModeGetEncoder(descriptor, connector.pointee.encoders[0])
            else { continue }
            defer { drmModeFreeEncoder(encoder) }
            let properties = Properties(descriptor, id, kind: Int64(DRM_MODE_OBJECT_CONNECTOR))
            guard encoder.pointee.possible_crtcs >> UInt32(crtcIndex) & 1 == 1,
                let crtc = properties["CRTC_ID"], let framebuffer = properties["WRITEBACK_FB_ID"],
                let fence = properties["WRITEBACK_OUT_FENCE_PTR"]
            else { continue }
            return WritebackHandle(connector: id, crtc: crtc.id, framebuffer: framebuffer.id, fence: fence.id)
        }
        return nil
    }
}
