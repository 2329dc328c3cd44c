// SPDX-License-Identifier: Apache-2.0
import Bytes

/// What a contact really did, for the log: its raw edges and when they were, of a line that chatters only the first of
/// each second.
public struct EdgeLog {
    public struct Report: Equatable, Sendable {
        /// `on` and `off`, each with the microseconds since the first.
        public var edges: ByteString
        /// Since the first edge.
        public var age: Duration
        /// Edges that are not in any report, since the one before.
        public var leftOut: Int
    }

    static let edgesMax = 32
    static let windowMs = 1_000

    private var windowBegan: Instant?
    private var inWindow = 0
    private var first: Instant?
    private var edges = ByteString()
    private var leftOut = 0

    public init() {}

    public mutating func note(isActive: Bool, at: Instant) {
        if self.isWindowOver(at) {
            self.windowBegan = at
            self.inWindow = 0
        }
        self.inWindow += 1
        guard self.inWindow <= Self.edgesMax else { return self.leftOut += 1 }
        let first = self.first ?? at
        if self.first != nil { self.edges += ", " }
        self.first = first
        self.edges += isActive ? "on " : "off "
        self.edges.append(decimal: (at - first).nanoseconds / 1000)
    }

    /// What there is to tell now; what was left out alone once its second is over.
    public mutating func take(now: Instant) -> Report? {
        guard self.first != nil || self.leftOut > 0 && self.isWindowOver(now) else { return nil }
        let report = Report(edges: self.edges, age: now - (self.first ?? now), leftOut: self.leftOut)
        self.first = nil
        self.edges = ByteString()
        self.leftOut = 0
        return report
    }

    private func isWindowOver(_ now: Instant) -> Bool {
        self.windowBegan.map { now - $0 >= .milliseconds(Self.windowMs) } ?? true
    }
}
