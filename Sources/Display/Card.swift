// SPDX-License-Identifier: Apache-2.0

import Bytes
import CDRM
import CSystem
import KioskEngine

/// An open /dev/dri/card* of which we are the master, with the way to one display.
final class Card {
    let descriptor: Int32
    let pipeline: Pipeline
    /// The connector's name, as in `HDMI-A-1`.
    let name: ByteString
    /// No display was noticed; it is driven all the same.
    let isForced: Bool

    /// Numbers of cards that are looked at.
    private static let cards = 0..<16

    private init(_ descriptor: Int32, _ pipeline: Pipeline, _ name: ByteString, isForced: Bool) {
        self.descriptor = descriptor
        self.pipeline = pipeline
        self.name = name
        self.isForced = isForced
    }

    deinit {
        close(self.descriptor)
    }

    /// The first display that is plugged in, on whatever card it is, or the one on the connector of that name; where
    /// there is none, and a mode is forced, the first connector with that.
    static func open(connector wanted: ByteString?, forced: ScreenMode?) throws(DisplayError) -> Card {
        do throws(DisplayError) {
            return try self.find(wanted, forced: nil)
        } catch {
            guard case .notConnected = error, let forced else { throw error }
            return try self.find(wanted, forced: forced)
        }
    }

    private static func find(_ wanted: ByteString?, forced: ScreenMode?) throws(DisplayError) -> Card {
        var names: [ByteString] = []
        var failure: DisplayError?
        for number in self.cards {
            let descriptor = callbox_open_card(Int32(number))
            guard descriptor >= 0 else { continue }
            do throws(DisplayError) {
                if let card = try Self.take(descriptor, number, wanted, forced, &names) { return card }
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

    /// Whether a display is plugged in or not, as it was when this began, by what the kernel knows. After news it is to
    /// ask the display itself, which may take a while.
    func isUnchanged(asking: Bool) -> Bool {
        let id = self.pipeline.connector
        guard
            let connector = asking
                ? drmModeGetConnector(self.descriptor, id) : drmModeGetConnectorCurrent(self.descriptor, id)
        else { return false }
        defer { drmModeFreeConnector(connector) }
        let isConnected = connector.pointee.connection != DRM_MODE_DISCONNECTED
        return isConnected != self.isForced
    }

    /// nil where the card has no such display; it then stays the caller's to close.
    private static func take(
        _ descriptor: Int32, _ number: Int, _ wanted: ByteString?, _ forced: ScreenMode?, _ names: inout [ByteString]
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
            let display = Self.display(descriptor, id, forced)
            // Only the master may ask the display itself: to all others it seems to be as it was last seen.
            guard Self.isMaster(descriptor) else { throw Self.otherMaster(number) }
            guard let display else { continue }
            guard isAtomic else { throw .notAtomic(driver: Self.driver(descriptor)) }
            let pipeline = try Self.pipeline(descriptor, resources.pointee, display)
            return Card(descriptor, pipeline, name, isForced: forced != nil)
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
}
