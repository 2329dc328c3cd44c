// SPDX-License-Identifier: Apache-2.0

import Bytes
import CGPIO
import CSystem
import PanelEngine

/// A button, a switch or a contact on a GPIO line.
public final class InputLine {
    private let line: Line
    private let buffer: OpaquePointer
    private var filter: LineFilter
    /// What the contact really did.
    public var edges = EdgeLog()

    public enum Event: Equatable {
        case line(LineFilter.Event)
        /// The chip is not there any more, and the line is good for nothing.
        case gone
    }

    /// - Parameters:
    ///   - name: a line name, or `chip-label:offset`.
    ///   - known: whether it counts as pressed already: as it stands then is news where that is otherwise; nil: as it
    ///     stands at the beginning is none.
    public init(
        _ name: ByteString, settings: LineSettings, filter: LineFilter.Settings, known: Bool?, now: Instant
    ) throws(PanelError) {
        let line = try Line(name, settings: settings, use: .input)
        guard let buffer = gpiod_edge_event_buffer_new(Line.eventsMax) else { throw .refused(callbox_errno()) }
        self.line = line
        self.buffer = buffer
        let isActive = line.isActive ?? false
        self.filter = LineFilter(filter, isActive: isActive, isPressed: known ?? isActive, now: now)
    }

    deinit {
        gpiod_edge_event_buffer_free(self.buffer)
    }

    /// Becomes readable when edges wait.
    public var descriptor: Int32 { self.line.descriptor }
    /// Whether the descriptor is to be watched.
    public var isListening: Bool { self.filter.isListening }
    /// When `read` is to be called at the latest.
    public var deadline: Instant { self.filter.deadline }
    /// As it was told last.
    public var isPressed: Bool { self.filter.isPressed }

    /// What the edges that wait and the level say. Before a decision of the filter all that is known has been read.
    public func read(now: Instant) -> [Event] {
        var events: [Event] = []
        // A flood of edges does not keep the program here.
        for _ in 0..<4 {
            let count = self.line.read(into: self.buffer)
            guard count > 0 else { break }
            for index in 0..<UInt(count) {
                guard let event = gpiod_edge_event_buffer_get_event(self.buffer, index) else { continue }
                let isActive = gpiod_edge_event_get_event_type(event) == GPIOD_EDGE_EVENT_RISING_EDGE
                let at = Instant(nanoseconds: gpiod_edge_event_get_timestamp_ns(event))
                self.edges.note(isActive: isActive, at: at)
                events += self.filter.handle(.edge(isActive: isActive, at: at), now: now).map { .line($0) }
            }
        }
        guard let isActive = self.line.isActive else { return events + [.gone] }
        return events + self.filter.handle(.level(isActive: isActive), now: now).map { .line($0) }
    }
}
