// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem

/// TCP connections, made on the first send and kept for reuse (RFC 3261 section 18).
///
/// Strangers, to whom we have never sent anything, share a few places and push out only each other: whoever we talk to
/// stays.
public struct TCPStreams: ~Copyable {
    public static let connectionsMax = 16
    /// Connections that were opened to us and on which we have sent nothing yet.
    public static let strangersMax = 6
    /// Bytes that may wait for a slow peer before it counts as failed.
    static let backlogMax = 256 * 1024
    static let readMax = 16 * 1024
    /// How long a peer may take to accept: the kernel itself would try for two minutes.
    static let connectMs = 3_000

    struct Connection {
        var descriptor: Int32
        var peer: StreamPeer
        var backlog: [UInt8]
        /// Nil once it is established.
        var connectsUntil: Instant?
        var lastUse: Instant
        /// We opened it, or have sent something on it.
        var isOwn: Bool
    }

    private(set) var connections: [Connection?]
    /// -1 where nobody is let in.
    private let listener: Int32
    private let tokenBase: UInt64
    let strangersMax: Int
    /// On which we listen; 0 where we do not.
    public let port: UInt16
    /// The differentiated services code point (RFC 2474) of streams that are made from now on, 0 to 63.
    public var codePoint: UInt8 = 0

    /// Streams out of here only.
    public init(tokenBase: UInt64) {
        self.connections = Array(repeating: nil, count: Self.connectionsMax)
        self.tokenBase = tokenBase
        self.listener = -1
        self.port = 0
        self.strangersMax = Self.strangersMax
    }

    /// Listens on `port` of `address`; nil is all addresses, IPv4 and IPv6. Tokens
    /// `tokenBase ... tokenBase + connectionsMax` belong to this object.
    public init(
        address: IPAddress? = nil, port: UInt16, strangersMax: Int = Self.strangersMax, tokenBase: UInt64,
        poller: borrowing Poller
    ) throws(SocketError) {
        let listener = try Self.listen(address: address, port: port)
        self.connections = Array(repeating: nil, count: Self.connectionsMax)
        self.tokenBase = tokenBase
        self.listener = listener
        self.strangersMax = strangersMax
        self.port = boundAddress(of: listener)?.port ?? port
        poller.watch(listener, token: tokenBase)
    }

    private static func listen(address: IPAddress?, port: UInt16) throws(SocketError) -> Int32 {
        let wantsV4 = address.map { !$0.isV6 } ?? false
        var descriptor = wantsV4 ? -1 : callbox_socket(1, 1)
        let isV6 = descriptor >= 0
        if descriptor < 0 { descriptor = callbox_socket(0, 1) }
        guard descriptor >= 0 else { throw .create(callbox_errno()) }
        callbox_prepare_listener(descriptor, isV6 ? 1 : 0)
        let wanted = SocketAddress(address ?? (isV6 ? .v6(high: 0, low: 0) : .v4(0)), port: port)
        guard wanted.withSockaddr(v6: isV6, { bind(descriptor, $0, $1) }) == 0,
            CSystem.listen(descriptor, Int32(Self.connectionsMax)) == 0
        else {
            let code = callbox_errno()
            CSystem.close(descriptor)
            throw .bind(code)
        }
        return descriptor
    }

    deinit {
        for connection in self.connections {
            if let connection { CSystem.close(connection.descriptor) }
        }
        if self.listener >= 0 { CSystem.close(self.listener) }
    }

    public func owns(token: UInt64) -> Bool {
        token >= self.tokenBase && token <= self.tokenBase + UInt64(Self.connectionsMax)
    }

    // MARK: - Sending

    /// Sends on the connection to `peer`, making it where there is none. With `isForStranger` it does not make a friend
    /// of who is none yet.
    public mutating func send(
        _ bytes: [UInt8], to peer: StreamPeer, isForStranger: Bool = false, now: Instant, poller: borrowing Poller
    ) -> StreamEvent? {
        guard let slot = self.slot(for: peer) ?? self.open(peer, now: now, poller: poller) else {
            return .failed(peer)
        }
        self.connections[slot]!.lastUse = now
        if !isForStranger { self.connections[slot]!.isOwn = true }
        guard self.connections[slot]!.backlog.count + bytes.count <= Self.backlogMax else {
            return self.drop(slot, poller: poller)
        }
        self.connections[slot]!.backlog += bytes
        return self.flush(slot, poller: poller)
    }

    /// Whether a connection to `peer` is open or being made.
    public func contains(_ peer: StreamPeer) -> Bool { self.slot(for: peer) != nil }

    private func slot(for peer: StreamPeer) -> Int? {
        self.connections.firstIndex { $0?.peer.isSame(as: peer) ?? false }
    }

    private mutating func open(_ peer: StreamPeer, now: Instant, poller: borrowing Poller) -> Int? {
        let isV6 = peer.remote.address.isV6
        let descriptor = callbox_socket(isV6 ? 1 : 0, 1)
        guard descriptor >= 0 else { return nil }
        callbox_prepare_stream(descriptor)
        callbox_mark(descriptor, Int32(self.codePoint))
        let result = peer.remote.withSockaddr(v6: isV6) { connect(descriptor, $0, $1) }
        guard result == 0 || callbox_errno() == EINPROGRESS else {
            CSystem.close(descriptor)
            return nil
        }
        let slot = self.slotForOwn(poller: poller)
        self.adopt(
            Connection(
                descriptor: descriptor, peer: peer, backlog: [],
                connectsUntil: result == 0 ? nil : now + .milliseconds(Self.connectMs), lastUse: now, isOwn: true),
            at: slot, poller: poller)
        return slot
    }

    private mutating func adopt(_ connection: Connection, at slot: Int, poller: borrowing Poller) {
        self.connections[slot] = connection
        poller.watch(
            connection.descriptor, token: self.tokenBase + 1 + UInt64(slot), forWriting: connection.connectsUntil != nil
        )
    }

    private mutating func flush(_ slot: Int, poller: borrowing Poller) -> StreamEvent? {
        guard var connection = self.connections[slot], connection.connectsUntil == nil else { return nil }
        while !connection.backlog.isEmpty {
            let sent = connection.backlog.withUnsafeBytes {
                callbox_send(connection.descriptor, $0.baseAddress, $0.count, nil, 0)
            }
            if sent < 0 {
                guard callbox_errno() == EAGAIN else { return self.drop(slot, poller: poller) }
                break
            }
            connection.backlog.removeFirst(sent)
        }
        poller.watch(
            connection.descriptor, token: self.tokenBase + 1 + UInt64(slot), forWriting: !connection.backlog.isEmpty)
        self.connections[slot] = connection
        return nil
    }

    // MARK: - Receiving

    /// Serves one ready descriptor of this object.
    public mutating func handle(_ ready: Readiness, now: Instant, poller: borrowing Poller) -> StreamEvent? {
        if ready.token == self.tokenBase {
            self.accept(now: now, poller: poller)
            return nil
        }
        let slot = Int(ready.token - self.tokenBase) - 1
        guard let connection = self.connections[slot] else { return nil }
        if connection.connectsUntil != nil, ready.isWritable || ready.hasError {
            guard callbox_socket_error(connection.descriptor) == 0 else { return self.drop(slot, poller: poller) }
            self.connections[slot]!.connectsUntil = nil
        }
        if ready.isWritable, let failure = self.flush(slot, poller: poller) { return failure }
        guard ready.isReadable || ready.hasError else { return nil }
        var buffer = [UInt8](repeating: 0, count: Self.readMax)
        let count = recv(connection.descriptor, &buffer, Self.readMax, 0)
        if count > 0 {
            self.connections[slot]!.lastUse = now
            return .received(Array(buffer[..<count]), connection.peer)
        }
        return count < 0 && callbox_errno() == EAGAIN ? nil : self.drop(slot, poller: poller)
    }

    private mutating func accept(now: Instant, poller: borrowing Poller) {
        var storage = sockaddr_storage()
        let descriptor = callbox_accept(self.listener, &storage)
        guard descriptor >= 0 else { return }
        guard let remote = SocketAddress(storage), let bound = boundAddress(of: descriptor),
            let slot = self.slotForStranger(poller: poller)
        else {
            CSystem.close(descriptor)
            return
        }
        callbox_prepare_stream(descriptor)
        callbox_mark(descriptor, Int32(self.codePoint))
        self.adopt(
            Connection(
                descriptor: descriptor, peer: StreamPeer(local: bound, remote: remote), backlog: [],
                connectsUntil: nil, lastUse: now, isOwn: false), at: slot, poller: poller)
    }

    // MARK: - Ends

    /// When `timePassed` is wanted; nil where nothing is waited for.
    public var deadline: Instant? { self.connections.compactMap { $0?.connectsUntil }.min() }

    /// Gives up the connections that were not made in time.
    public mutating func timePassed(now: Instant, poller: borrowing Poller) -> [StreamEvent] {
        var events: [StreamEvent] = []
        for slot in self.connections.indices {
            guard let until = self.connections[slot]?.connectsUntil, now >= until else { continue }
            if let event = self.drop(slot, poller: poller) { events.append(event) }
        }
        return events
    }

    /// Closes the connection to `peer`, without a word about it.
    public mutating func close(_ peer: StreamPeer, poller: borrowing Poller) {
        if let slot = self.slot(for: peer) { _ = self.drop(slot, poller: poller) }
    }

    mutating func drop(_ slot: Int, poller: borrowing Poller) -> StreamEvent? {
        guard let connection = self.connections[slot] else { return nil }
        poller.unwatch(connection.descriptor)
        CSystem.close(connection.descriptor)
        self.connections[slot] = nil
        return .failed(connection.peer)
    }
}
