// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem

extension SocketAddress {
    /// From the kernel's form; IPv4-mapped addresses become IPv4.
    public init?(_ storage: sockaddr_storage) {
        var storage = storage
        switch Int32(storage.ss_family) {
        case AF_INET:
            let v4 = withUnsafePointer(to: &storage) {
                $0.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { $0.pointee }
            }
            self.init(.v4(UInt32(bigEndian: v4.sin_addr.s_addr)), port: UInt16(bigEndian: v4.sin_port))
        case AF_INET6:
            var v6 = withUnsafePointer(to: &storage) {
                $0.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { $0.pointee }
            }
            self.init(IPAddress(&v6.sin6_addr), port: UInt16(bigEndian: v6.sin6_port))
        default:
            return nil
        }
    }

    /// Into the kernel's form, of the address's own family.
    public func write(to storage: inout sockaddr_storage) {
        _ = self.withSockaddr(v6: self.address.isV6) { address, length in
            withUnsafeMutableBytes(of: &storage) {
                $0.copyMemory(from: UnsafeRawBufferPointer(start: address, count: Int(length)))
            }
        }
    }

    /// Calls `body` with the form that a dual-stack IPv6 socket (`v6` true) or an IPv4 socket wants; nil where an IPv6
    /// address meets an IPv4 socket.
    func withSockaddr<Result>(v6: Bool, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result? {
        if v6 {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = self.port.bigEndian
            self.address.write(to: &address.sin6_addr)
            return withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<sockaddr_in6>.size))
                }
            }
        }
        guard case .v4(let bits) = self.address else { return nil }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = self.port.bigEndian
        address.sin_addr.s_addr = bits.bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}

extension IPAddress {
    init(_ address: UnsafePointer<in6_addr>) {
        let raw = UnsafeRawPointer(address)
        let high = UInt64(bigEndian: raw.loadUnaligned(as: UInt64.self))
        let low = UInt64(bigEndian: raw.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        if high == 0 && low >> 32 == 0xFFFF {
            self = .v4(UInt32(truncatingIfNeeded: low))
        } else {
            self = .v6(high: high, low: low)
        }
    }

    /// IPv4 is written in its mapped form (RFC 4291 section 2.5.5.2).
    func write(to address: UnsafeMutablePointer<in6_addr>) {
        let raw = UnsafeMutableRawPointer(address)
        switch self {
        case .v4(let bits):
            raw.storeBytes(of: 0, as: UInt64.self)
            raw.storeBytes(of: (0xFFFF_0000_0000 | UInt64(bits)).bigEndian, toByteOffset: 8, as: UInt64.self)
        case .v6(let high, let low):
            raw.storeBytes(of: high.bigEndian, as: UInt64.self)
            raw.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
        }
    }
}

/// The address this machine would send from toward `remote`, by the routes of this moment: a datagram socket is
/// connected (which sends nothing) and asked for its name. Nil where there is no route.
public func localAddress(toward remote: SocketAddress) -> IPAddress? {
    let isV6 = remote.address.isV6
    let descriptor = callbox_socket(isV6 ? 1 : 0, 0)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    guard remote.withSockaddr(v6: isV6, { connect(descriptor, $0, $1) }) == 0 else { return nil }
    return boundAddress(of: descriptor)?.address
}

/// The local address and port of a socket.
func boundAddress(of descriptor: Int32) -> SocketAddress? {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let result = withUnsafeMutablePointer(to: &storage) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
    }
    return result == 0 ? SocketAddress(storage) : nil
}
