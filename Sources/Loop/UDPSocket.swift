// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem

/// What a read of a datagram socket gave.
public enum Datagram {
    /// A whole datagram, who sent it, and which of our addresses it was sent to.
    case received([UInt8], from: SocketAddress, to: SocketAddress)
    /// An ICMP error about an earlier datagram of ours to this address.
    case refused(SocketAddress)
    /// The datagram was longer than any we accept, or from no address we know; it is gone.
    case unusable
    case empty
}

public enum SocketError: Error {
    /// The address or port could not be had; errno.
    case bind(Int32)
    case create(Int32)
}

/// A datagram socket for IPv4 and IPv6, or for IPv4 alone where the kernel has no IPv6.
public struct UDPSocket: ~Copyable {
    public let descriptor: Int32
    public let port: UInt16
    private let isV6: Bool
    private var buffer: [UInt8]

    /// `address` nil binds all addresses. `datagramMax` is the longest datagram that is accepted, in bytes.
    public init(address: IPAddress?, port: UInt16, datagramMax: Int) throws(SocketError) {
        let wantsV4 = address.map { !$0.isV6 } ?? false
        var descriptor = wantsV4 ? -1 : callbox_socket(1, 0)
        let isV6 = descriptor >= 0
        if descriptor < 0 { descriptor = callbox_socket(0, 0) }
        guard descriptor >= 0 else { throw .create(callbox_errno()) }
        callbox_prepare_datagram_socket(descriptor, isV6 ? 1 : 0)
        let wanted = SocketAddress(address ?? (isV6 ? .v6(high: 0, low: 0) : .v4(0)), port: port)
        guard wanted.withSockaddr(v6: isV6, { bind(descriptor, $0, $1) }) == 0,
            let bound = boundAddress(of: descriptor)
        else {
            let code = callbox_errno()
            close(descriptor)
            throw .bind(code)
        }
        // Nothing is stored before the last throw: a half-made struct without copies is torn down wrongly by Swift 6.3.
        self.isV6 = isV6
        self.descriptor = descriptor
        self.port = bound.port
        self.buffer = [UInt8](repeating: 0, count: datagramMax + 1)
    }

    deinit {
        close(self.descriptor)
    }

    /// What is sent has this differentiated services code point (RFC 2474), 0 to 63.
    public func mark(_ codePoint: UInt8) {
        callbox_mark(self.descriptor, Int32(codePoint))
    }

    /// Sends now or never: a full buffer here or in the kernel loses the datagram, as the network would. False where it
    /// was refused.
    @discardableResult
    public func send(_ bytes: [UInt8], to remote: SocketAddress) -> Bool {
        // The first try may only tell the error of an earlier datagram to somebody else (udp(7)), and clears it.
        for _ in 0..<2 {
            let sent = remote.withSockaddr(v6: self.isV6) { address, length in
                bytes.withUnsafeBytes {
                    callbox_send(self.descriptor, $0.baseAddress, $0.count, address, length)
                }
            }
            guard let sent else { return false }
            if sent >= 0 { return true }
            let code = callbox_errno()
            if code == EAGAIN || code == ENOBUFS { return true }
        }
        return false
    }

    public mutating func receive() -> Datagram {
        var from = sockaddr_storage()
        var destination = in6_addr()
        var isError: Int32 = 0
        let count = self.buffer.withUnsafeMutableBytes {
            callbox_receive(self.descriptor, $0.baseAddress, $0.count, &from, &destination, &isError)
        }
        if count < 0 { return .empty }
        guard let remote = SocketAddress(from) else { return .unusable }
        if isError != 0 { return .refused(remote) }
        guard count < self.buffer.count else { return .unusable }
        let local = SocketAddress(IPAddress(&destination), port: self.port)
        return .received(Array(self.buffer[..<count]), from: remote, to: local)
    }
}
