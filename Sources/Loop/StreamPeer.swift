// SPDX-License-Identifier: Apache-2.0

import Bytes

/// Names a connection: the address its messages speak of, to whom it goes, and where what it carries depends on it
/// (TLS) under which name the other side was looked for.
public struct StreamPeer: Hashable, Sendable {
    public var local: SocketAddress
    public var remote: SocketAddress
    public var name: ByteString

    public init(local: SocketAddress, remote: SocketAddress, name: ByteString = ByteString()) {
        self.local = local
        self.remote = remote
        self.name = name
    }

    /// The port of `local` aside, at which we listen. A connection from an address that we no longer have is another
    /// one than that from the address we have now.
    public func isSame(as other: StreamPeer) -> Bool {
        self.remote == other.remote && self.name == other.name && self.local.address == other.local.address
    }
}

/// What happened on the streams.
public enum StreamEvent {
    case received([UInt8], StreamPeer)
    /// Closed, reset, refused, not there in time, or too slow to take what we sent.
    case failed(StreamPeer)
}
