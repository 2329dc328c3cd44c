// SPDX-License-Identifier: Apache-2.0

import Bytes
import CDTLS
import SDPWire

/// Keys of both directions, as a handshake gave them.
public struct HandshakeKeys: Equatable {
    public var suite: CryptoSuite
    /// Master key and salt.
    public var send: [UInt8]
    public var receive: [UInt8]
}

/// One DTLS handshake (RFC 5764) without sockets and clock: datagrams go in and come out.
///
/// After each `begin`, `receive` or `expire` the datagrams are taken by `takeDatagrams`.
public final class DTLSHandshake {
    public enum State: Equatable {
        case running
        case done(HandshakeKeys)
        /// A sentence for the log.
        case failed(ByteString)
    }

    public private(set) var state = State.running
    private let ssl: OpaquePointer
    private let incoming: OpaquePointer
    private let outgoing: OpaquePointer
    private let isClient: Bool
    private let fingerprints: [Fingerprint]
    private let endsAt: Instant
    private var datagrams = 0
    /// Keeps the context alive.
    private let identity: DTLSIdentity

    /// Nil where OpenSSL has no memory for it.
    public init?(_ agreed: NegotiatedHandshake, _ identity: DTLSIdentity, now: Instant) {
        guard let ssl = SSL_new(identity.context) else { return nil }
        guard let incoming = BIO_new(BIO_s_mem()) else {
            SSL_free(ssl)
            return nil
        }
        guard let outgoing = BIO_new(BIO_s_mem()) else {
            BIO_free(incoming)
            SSL_free(ssl)
            return nil
        }
        callbox_bio_wait_when_empty(incoming)
        callbox_bio_wait_when_empty(outgoing)
        // From here on both belong to it.
        SSL_set_bio(ssl, incoming, outgoing)
        callbox_dtls_set_up(ssl, SecureLimits.handshakeMTU)
        if agreed.isClient { SSL_set_connect_state(ssl) } else { SSL_set_accept_state(ssl) }
        self.ssl = ssl
        self.incoming = incoming
        self.outgoing = outgoing
        self.isClient = agreed.isClient
        self.fingerprints = agreed.fingerprints
        self.identity = identity
        self.endsAt = now + .seconds(SecureLimits.handshakeSeconds)
    }

    deinit { SSL_free(self.ssl) }

    /// The side that begins sends its first flight; the other waits.
    public func begin() { if self.isClient { self.advance() } }

    /// Takes one datagram.
    public func receive(_ datagram: [UInt8]) {
        guard self.datagrams < SecureLimits.handshakeDatagrams, !datagram.isEmpty,
            datagram.count <= SecureLimits.handshakeDatagramBytes
        else { return }
        switch self.state {
        case .failed: return
        case .running, .done: break
        }
        self.datagrams += 1
        _ = datagram.withUnsafeBytes { BIO_write(self.incoming, $0.baseAddress, Int32($0.count)) }
        self.advance()
    }

    /// When `expire` wants to be called, given that it is `now`; nil where it does not.
    public func deadline(now: Instant) -> Instant? {
        guard self.state == .running else { return nil }
        let again = callbox_dtls_timeout_us(self.ssl)
        guard again >= 0 else { return self.endsAt }
        return min(self.endsAt, now + Duration(nanoseconds: Int64(clamping: again) * 1_000))
    }

    public func expire(now: Instant) {
        guard self.state == .running else { return }
        if now >= self.endsAt { return self.fail("the other side did not finish the handshake") }
        ERR_clear_error()
        if callbox_dtls_handle_timeout(self.ssl) < 0 { self.fail("the other side did not take part in the handshake") }
    }

    // MARK: - Steps

    private func advance() {
        ERR_clear_error()
        switch self.state {
        case .failed: return
        case .done: self.listen()
        case .running:
            let result = SSL_do_handshake(self.ssl)
            if result == 1 { return self.finish() }
            let reason = SSL_get_error(self.ssl, result)
            guard reason != SSL_ERROR_WANT_READ, reason != SSL_ERROR_WANT_WRITE else { return }
            self.fail("the handshake failed: " + OpenSSL.takeError("no reason was given"))
        }
    }

    /// A flight of the other side that came again is answered again; what else is said means nothing here.
    private func listen() {
        var bytes = [UInt8](repeating: 0, count: 256)
        for _ in 0..<8 {
            let count = bytes.withUnsafeMutableBytes { SSL_read(self.ssl, $0.baseAddress, Int32($0.count)) }
            if count <= 0 { break }
        }
        ERR_clear_error()
    }

    private func fail(_ text: ByteString) {
        self.state = .failed(text)
        ERR_clear_error()
    }

    /// The far end is who its description said, or nobody.
    private func finish() {
        guard let certificate = SSL_get1_peer_certificate(self.ssl) else {
            return self.fail("the other side showed no certificate")
        }
        defer { X509_free(certificate) }
        let isNamed = self.fingerprints.contains { Fingerprint($0.hash, of: certificate) == $0 }
        guard isNamed else { return self.fail("the other side's certificate is not the one that it named") }
        guard let keys = self.exportKeys() else { return self.fail("no way to encrypt was agreed upon") }
        self.state = .done(keys)
    }

    /// RFC 5764 section 4.2.
    private func exportKeys() -> HandshakeKeys? {
        let suite: CryptoSuite
        switch callbox_dtls_srtp_profile(self.ssl) {
        case 1: suite = .aesCM128SHA180
        case 2: suite = .aesCM128SHA132
        case 7: suite = .aeadAES128GCM
        case 8: suite = .aeadAES256GCM
        default: return nil
        }
        let (key, salt) = (suite.keyBytes, suite.saltBytes)
        var bytes = [UInt8](repeating: 0, count: 2 * (key + salt))
        let label = "EXTRACTOR-dtls_srtp"
        guard SSL_export_keying_material(self.ssl, &bytes, bytes.count, label, 19, nil, 0, 0) == 1 else { return nil }
        let client = Array(bytes[..<key] + bytes[2 * key..<2 * key + salt])
        let server = Array(bytes[key..<2 * key] + bytes[(2 * key + salt)...])
        return HandshakeKeys(
            suite: suite, send: self.isClient ? client : server, receive: self.isClient ? server : client)
    }

    // MARK: - Datagrams

    /// What is to be sent: records (RFC 6347 section 4.1) in as few datagrams as they fit into.
    public func takeDatagrams() -> [[UInt8]] {
        let bytes = OpenSSL.drain(self.outgoing)
        var datagrams: [[UInt8]] = []
        var start = 0
        while start + 13 <= bytes.count {
            let length = 13 + Int(bytes[start + 11]) << 8 + Int(bytes[start + 12])
            let end = min(start + length, bytes.count)
            let record = bytes[start..<end]
            if let last = datagrams.last, last.count + record.count <= SecureLimits.handshakeMTU {
                datagrams[datagrams.count - 1] += record
            } else {
                datagrams.append(Array(record))
            }
            start = end
        }
        return datagrams
    }
}
