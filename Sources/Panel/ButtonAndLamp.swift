// SPDX-License-Identifier: Apache-2.0

import Bytes
import CGPIO
import CSystem

/// A push button on a GPIO line.
public final class ButtonLine {
    /// One debounced change.
    public struct Edge {
        public var isPressed: Bool
        /// When the kernel saw it, on the monotonic clock.
        public var at: Instant
    }

    private let line: Line
    private let buffer: OpaquePointer
    private static let edgesMax = 16
    /// The level as last reported, so that a lost edge is made up for.
    public private(set) var isPressed: Bool

    /// `name` is a line name, or `chip-label:offset`.
    public init(_ name: ByteString, settings: LineSettings) throws(PanelError) {
        let line = try Line(name, settings: settings, use: .input)
        guard let buffer = gpiod_edge_event_buffer_new(Self.edgesMax) else { throw .refused(callbox_errno()) }
        self.line = line
        self.buffer = buffer
        self.isPressed = Self.level(line)
    }

    deinit {
        gpiod_edge_event_buffer_free(self.buffer)
    }

    /// Becomes readable when edges wait.
    public var descriptor: Int32 { gpiod_line_request_get_fd(self.line.request) }

    /// The edges that wait, oldest first; repeated ones (the kernel dropped their counterpart) are left out.
    public func readEdges() -> [Edge] {
        let count = gpiod_line_request_read_edge_events(self.line.request, self.buffer, Self.edgesMax)
        guard count > 0 else { return [] }
        var edges: [Edge] = []
        for index in 0..<UInt(count) {
            guard let event = gpiod_edge_event_buffer_get_event(self.buffer, index) else { continue }
            let isPressed = gpiod_edge_event_get_event_type(event) == GPIOD_EDGE_EVENT_RISING_EDGE
            let at = Instant(nanoseconds: gpiod_edge_event_get_timestamp_ns(event))
            if isPressed != self.isPressed {
                self.isPressed = isPressed
                edges.append(Edge(isPressed: isPressed, at: at))
            }
        }
        return edges
    }

    private static func level(_ line: Line) -> Bool {
        gpiod_line_request_get_value(line.request, line.offset) == GPIOD_LINE_VALUE_ACTIVE
    }
}

/// A lamp, or anything else that is switched, on a GPIO line. Off from the start, and off again when let go.
public final class LampLine {
    private let line: Line

    public init(_ name: ByteString, settings: LineSettings) throws(PanelError) {
        self.line = try Line(name, settings: settings, use: .output)
    }

    deinit {
        self.set(false)
    }

    public func set(_ isOn: Bool) {
        gpiod_line_request_set_value(
            self.line.request, self.line.offset, isOn ? GPIOD_LINE_VALUE_ACTIVE : GPIOD_LINE_VALUE_INACTIVE)
    }
}
