// SPDX-License-Identifier: Apache-2.0

import Bytes

/// A session description (RFC 8866). What the product does not read is kept, so that a description prints as it came.
public struct SessionDescription: Hashable, Sendable {
    /// Nil where the peer left it out or it cannot be read.
    public var origin: Origin?
    public var name: ByteString
    /// The session's `c=`, which counts for media without their own.
    public var connection: Connection?
    /// The `t=` line.
    public var timing: ByteString
    public var attributes: [Attribute]
    /// `i=`, `u=`, `e=`, `p=`, `b=`, `r=`, `z=`, `k=`.
    public var otherLines: [OtherLine]
    public var media: [MediaDescription]

    public init(
        origin: Origin?, name: ByteString = "-", connection: Connection? = nil, timing: ByteString = "0 0",
        attributes: [Attribute] = [], otherLines: [OtherLine] = [], media: [MediaDescription] = []
    ) {
        self.origin = origin
        self.name = name
        self.connection = connection
        self.timing = timing
        self.attributes = attributes
        self.otherLines = otherLines
        self.media = media
    }

    /// Where media goes by the description: its own `c=` or the session's.
    public func connection(of media: MediaDescription) -> Connection? {
        media.connection ?? self.connection
    }

    /// The direction written for a medium: its own, the session's, or `sendrecv` (RFC 8866 section 6.7).
    public func direction(of media: MediaDescription) -> Direction {
        media.direction ?? self.attributes.last { Direction($0.name) != nil }.flatMap { Direction($0.name) }
            ?? .sendrecv
    }

    /// Whether the other description says the same, its version aside.
    public func isSame(as other: SessionDescription) -> Bool {
        var copy = other
        copy.origin = self.origin
        return copy == self
    }
}
