// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem

/// What the clients of the control socket did.
public enum ControlEvent {
    case line(ByteString, client: UInt64)
    case gone(client: UInt64)
}

/// The control socket: a Unix stream socket on which commands come, and replies and events go, one line each.
///
/// Who may write to the socket is the file's mode: the owner and its group.
public struct ControlServer: ~Copyable {
    public static let clientsMax = 16
    static let lineMax = 1024
    /// What may wait for a client that does not read; beyond it the client is cut off.
    static let backlogMax = 256 * 1024

    private struct Client {
        var descriptor: Int32
        var id: UInt64
        var partial: [UInt8]
        var backlog: [UInt8]
    }

    private var clients: [Client?]
    private let listener: Int32
    private let tokenBase: UInt64
    private var idNext: UInt64 = 1

    /// Listens at `path`, replacing a socket that a former run left. Nil where the folder does not allow it.
    public init?(path: ByteString, tokenBase: UInt64, poller: borrowing Poller) {
        let listener = path.withCString { callbox_listen_unix($0) }
        guard listener >= 0 else { return nil }
        self.clients = Array(repeating: nil, count: Self.clientsMax)
        self.listener = listener
        self.tokenBase = tokenBase
        poller.watch(listener, token: tokenBase)
    }

    deinit {
        for client in self.clients {
            if let client { close(client.descriptor) }
        }
        close(self.listener)
    }

    public func owns(token: UInt64) -> Bool {
        token >= self.tokenBase && token <= self.tokenBase + UInt64(Self.clientsMax)
    }

    /// Sends one line; the line feed is added here.
    public mutating func send(_ line: ByteString, to client: UInt64, poller: borrowing Poller) {
        guard let slot = self.clients.firstIndex(where: { $0?.id == client }) else { return }
        self.clients[slot]!.backlog += line.bytes
        self.clients[slot]!.backlog.append(ASCII.lineFeed)
        self.flush(slot, poller: poller)
    }

    /// Serves one ready descriptor of this object.
    public mutating func handle(_ ready: Readiness, poller: borrowing Poller) -> [ControlEvent] {
        if ready.token == self.tokenBase {
            self.accept(poller: poller)
            return []
        }
        let slot = Int(ready.token - self.tokenBase) - 1
        guard let client = self.clients[slot] else { return [] }
        if ready.isWritable { self.flush(slot, poller: poller) }
        guard ready.isReadable || ready.hasError else { return [] }
        var buffer = [UInt8](repeating: 0, count: Self.lineMax)
        let count = recv(client.descriptor, &buffer, buffer.count, 0)
        if count < 0 && callbox_errno() == EAGAIN { return [] }
        guard count > 0 else {
            self.drop(slot, poller: poller)
            return [.gone(client: client.id)]
        }
        return self.lines(in: Array(buffer[..<count]), slot: slot, poller: poller)
    }

    private mutating func lines(in bytes: [UInt8], slot: Int, poller: borrowing Poller) -> [ControlEvent] {
        guard var client = self.clients[slot] else { return [] }
        var events: [ControlEvent] = []
        for byte in bytes {
            if byte == ASCII.lineFeed {
                events.append(.line(ByteString(client.partial).trimmed(), client: client.id))
                client.partial = []
            } else if client.partial.count < Self.lineMax {
                client.partial.append(byte)
            } else {
                self.drop(slot, poller: poller)
                return events + [.gone(client: client.id)]
            }
        }
        self.clients[slot] = client
        return events
    }

    private mutating func accept(poller: borrowing Poller) {
        let descriptor = callbox_accept(self.listener, nil)
        guard descriptor >= 0 else { return }
        guard let slot = self.clients.firstIndex(where: { $0 == nil }) else {
            close(descriptor)
            return
        }
        self.clients[slot] = Client(descriptor: descriptor, id: self.idNext, partial: [], backlog: [])
        self.idNext += 1
        poller.watch(descriptor, token: self.tokenBase + 1 + UInt64(slot))
    }

    private mutating func flush(_ slot: Int, poller: borrowing Poller) {
        guard var client = self.clients[slot] else { return }
        while !client.backlog.isEmpty {
            let sent = client.backlog.withUnsafeBytes {
                callbox_send(client.descriptor, $0.baseAddress, $0.count, nil, 0)
            }
            if sent < 0 { break }
            client.backlog.removeFirst(sent)
        }
        self.clients[slot] = client
        if client.backlog.count > Self.backlogMax {
            // Its end is seen as a hang-up at the next turn, where it is reported.
            shutdown(client.descriptor, Int32(SHUT_RDWR))
            self.clients[slot]!.backlog = []
        }
        poller.watch(
            client.descriptor, token: self.tokenBase + 1 + UInt64(slot),
            forWriting: !self.clients[slot]!.backlog.isEmpty)
    }

    private mutating func drop(_ slot: Int, poller: borrowing Poller) {
        guard let client = self.clients[slot] else { return }
        poller.unwatch(client.descriptor)
        close(client.descriptor)
        self.clients[slot] = nil
    }
}

/// The other end: a connection to the control socket of a running kiosk.
public struct ControlConnection: ~Copyable {
    private let descriptor: Int32

    /// Nil where no kiosk listens at `path`.
    public init?(path: ByteString) {
        self.descriptor = path.withCString { callbox_connect_unix($0) }
        if self.descriptor < 0 { return nil }
    }

    deinit {
        close(self.descriptor)
    }

    public func send(_ line: ByteString) {
        let bytes = line.bytes + [ASCII.lineFeed]
        _ = bytes.withUnsafeBytes { write(self.descriptor, $0.baseAddress, $0.count) }
    }

    /// The next bytes, or nil at the end or when `limit` is over. Nil limit waits for ever.
    public func receive(limit: Duration?) -> [UInt8]? {
        var poll = pollfd(fd: self.descriptor, events: Int16(POLLIN), revents: 0)
        guard CSystem.poll(&poll, 1, limit.map { Int32(clamping: $0.milliseconds) } ?? -1) > 0 else { return nil }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = read(self.descriptor, &buffer, buffer.count)
        return count > 0 ? Array(buffer[..<count]) : nil
    }
}
