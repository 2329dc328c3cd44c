// SPDX-License-Identifier: Apache-2.0

import Bytes
import CDRM
import CSystem

/// An open /dev/dri/card* of which we are the master, with the way to one display.
final class Card {
    let descriptor: Int32
    let pipeline: Pipeline
    /// The connector's name, as in `HDMI-A-1`.
    let name: ByteString

    /// Numbers of cards that are looked at.
    private static let cards = 0..<16

    private init(_ descriptor: Int32, _ pipeline: Pipeline, _ name: ByteString) {
        self.descriptor = descriptor
        self.pipeline = pipeline
        self.name = name
    }

    deinit {
        close(self.descriptor)
    }

    /// The first display that is plugged in, on whatever card it is, or the one on the connector of that name.
    static func open(connector wanted: ByteString?) throws(DisplayError) -> Card {
        var names: [ByteString] = []
        var failure: DisplayError?
        for number in self.cards {
            let descriptor = callbox_open_card(Int32(number))
            guard descriptor >= 0 else { continue }
            do throws(DisplayError) {
                if let card = try Self.take(descriptor, number, wanted, &names) { return card }
            } catch {
                failure = failure ?? error
            }
            close(descriptor)
        }
        if let failure { throw failure }
        if names.isEmpty { throw .noController }
        if let wanted, !names.contains(wanted) { throw .noConnector(wanted: wanted, present: names) }
        throw .notConnected(wanted.map { [$0] } ?? names)
    }

    /// Whether the display is still plugged in, by what the kernel knows. After news it is to ask the display itself,
    /// which may take a while.
    func isConnected(asking: Bool) -> Bool {
        let id = self.pipeline.connector
        guard
            let connector = asking
                ? drmModeGetConnector(self.descriptor, id) : drmModeGetConnectorCurrent(self.descriptor, id)
        else { return false }
        defer { drmModeFreeConnector(connector) }
        return connector.pointee.connection != DRM_MODE_DISCONNECTED
    }

    /// nil where the card has no such display; it then stays the caller's to close.
    private static func take(
        _ descriptor: Int32, _ number: Int, _ wanted: ByteString?, _ names: inout [ByteString]
    ) throws(DisplayError) -> Card? {
        // Before the resources are read: writeback connectors are hidden without.
        let isAtomic = drmSetClientCap(descriptor, UInt64(DRM_CLIENT_CAP_ATOMIC), 1) == 0
        _ = drmSetClientCap(descriptor, UInt64(DRM_CLIENT_CAP_WRITEBACK_CONNECTORS), 1)
        // A card that only renders has none.
        guard let resources = drmModeGetResources(descriptor) else { return nil }
        defer { drmModeFreeResources(resources) }
        for index in 0..<Int(resources.pointee.count_connectors) {
            let id = resources.pointee.connectors[index]
            guard let connector = drmModeGetConnectorCurrent(descriptor, id) else { continue }
            let isWriteback = connector.pointee.connector_type == UInt32(DRM_MODE_CONNECTOR_WRITEBACK)
            let name = Self.name(connector.pointee)
            drmModeFreeConnector(connector)
            guard !isWriteback else { continue }
            names.append(name)
            guard wanted == nil || wanted == name else { continue }
            let display = Self.display(descriptor, id)
            // Only the master may ask the display itself: to all others it seems to be as it was last seen.
            guard Self.isMaster(descriptor) else { throw Self.otherMaster(number) }
            guard let display else { continue }
            guard isAtomic else { throw .notAtomic(driver: Self.driver(descriptor)) }
            let pipeline = try Self.pipeline(descriptor, resources.pointee, display)
            return Card(descriptor, pipeline, name)
        }
        return nil
    }

    private static func name(_ connector: drmModeConnector) -> ByteString {
        var name = text(drmModeGetConnectorTypeName(connector.connector_type))
        name.append(byte: ASCII.minus)
        name.append(decimal: connector.connector_type_id)
        return name
    }

    private static func driver(_ descriptor: Int32) -> ByteString {
        guard let version = drmGetVersion(descriptor) else { return "" }
        defer { drmFreeVersion(version) }
        return text(version.pointee.name)
    }

    // MARK: - Master

    private static func isMaster(_ descriptor: Int32) -> Bool {
        drmIsMaster(descriptor) != 0 || drmSetMaster(descriptor) == 0
    }

    private static func otherMaster(_ number: Int) -> DisplayError {
        var name = [CChar](repeating: 0, count: 64)
        let process = callbox_find_card_user(Int32(number), &name, name.count)
        return .heldByAnother(name: name.withUnsafeBufferPointer { text($0.baseAddress) }, process: Int(process))
    }

    // MARK: - The way to the display

    /// A display that is plugged in.
    private struct Plugged {
        var connector: UInt32
        var mode: drmModeModeInfo
        /// A bit for each CRTC that can feed it.
        var crtcs: UInt32
        /// The CRTC that feeds it now, 0 for none.
        var current: UInt32
    }

    /// Asks the display itself, which may take a while; nil where nothing is plugged in.
    private static func display(_ descriptor: Int32, _ id: UInt32) -> Plugged? {
        guard let connector = drmModeGetConnector(descriptor, id) else { return nil }
        defer { drmModeFreeConnector(connector) }
        let content = connector.pointee
        guard content.connection == DRM_MODE_CONNECTED, content.count_modes > 0 else { return nil }
        let modes = (0..<Int(content.count_modes)).map { content.modes[$0] }
        let preferred = modes.first { $0.type & UInt32(DRM_MODE_TYPE_PREFERRED) != 0 } ?? modes[0]
        var plugged = Plugged(connector: id, mode: preferred, crtcs: 0, current: 0)
        for index in 0..<Int(content.count_encoders) {
            guard let encoder = drmModeGetEncoder(descriptor, content.encoders[index]) else { continue }
            plugged.crtcs |= encoder.pointee.possible_crtcs
            if encoder.pointee.encoder_id == content.encoder_id { plugged.current = encoder.pointee.crtc_id }
            drmModeFreeEncoder(encoder)
        }
        return plugged
    }

    private static func pipeline(
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
