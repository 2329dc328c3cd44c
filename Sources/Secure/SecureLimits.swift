// SPDX-License-Identifier: Apache-2.0

/// Bounds of what protects media.
enum SecureLimits {
    /// Packets that may come out of order, and in which one that came already is known again (RFC 3711 section 3.3.2).
    static let replayWindow: UInt = 1024
    /// Sources of one sender that are kept at a time. It takes the key to make more.
    static let sources = 8
    /// Most control packets that a key is good for (RFC 3711 section 9.2).
    static let controlPackets: UInt64 = 1 << 31
    /// What protection adds to a packet at most: tag, index of RTCP, and as many bytes again.
    static let trailerBytes = 40
    /// Longest datagram of a handshake that we send; those that come may be longer.
    static let handshakeMTU = 1200
    static let handshakeDatagramBytes = 4096
    /// Datagrams of one handshake that are looked at.
    static let handshakeDatagrams = 400
    static let handshakeSeconds = 20
}

/// The bounds of one TLS connection.
enum TLSLimits {
    /// From the first byte that we send (or get, as a server) to the end of the handshake.
    static let handshakeMs = 3_000
    /// What the program of `[tls] ask` has.
    static let askMs = 3_000
    /// What may wait for the end of the handshake, in bytes, each way.
    static let backlogMax = 256 * 1024
    /// One record holds less.
    static let readMax = 16 * 1024
}
