// SPDX-License-Identifier: Apache-2.0

import Bytes
import CTLS
import KioskEngine

/// TLS over one stream, without the stream: bytes of the wire and plain bytes go in and come out.
///
/// The engine's face: one input, then outputs until `.wait`.
public final class TLSStream {
    private enum State {
        case handshaking(until: Instant?)
        /// The handshake waits for an answer.
        case asking(CertificateCheck, until: Instant)
        case open
        case ended
    }

    let context: TLSContext
    let name: ByteString
    private let connection: OpaquePointer?
    private var state = State.handshaking(until: nil)
    var outputs: [Output] = []
    private var taken = 0
    /// What waits for the end of the handshake.
    private var backlog: [UInt8] = []
    /// What the certificate's check found, while the handshake fails over it.
    var fault: TLSFault?
    /// A question about a certificate that arose in this step.
    var question: CertificateCheck?
    /// The answer to it, until the check is called again.
    var answer: (CertificateAnswer, CertificateCheck)?
    private(set) var now = Instant.zero

    /// A client, for a server whose certificate must name `name` (a host name, or an address without brackets).
    public init(client context: TLSContext, name: ByteString) {
        self.context = context
        self.name = name
        self.connection = context.newConnection(isServer: false)
        guard let connection = self.connection else { return }
        SSL_set_connect_state(connection)
        SSL_set_verify(connection, SSL_VERIFY_PEER, nil)
        // RFC 6066 section 3: never an address.
        if IPAddress(name) == nil, !name.isEmpty {
            _ = name.withCString { callbox_tls_set_server_name(connection, $0) }
        }
        self.connect(connection)
    }

    public init(server context: TLSContext) {
        self.context = context
        self.name = ByteString()
        self.connection = context.newConnection(isServer: true)
        guard let connection = self.connection else { return }
        SSL_set_accept_state(connection)
        self.connect(connection)
    }

    private func connect(_ connection: OpaquePointer) {
        SSL_set_bio(connection, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()))
        SSL_set_ex_data(connection, 0, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit {
        SSL_free(self.connection)
    }

    public var isOpen: Bool {
        if case .open = self.state { return true }
        return false
    }

    // MARK: - The two verbs

    public func handle(_ input: Input, now: Instant) {
        precondition(self.taken == self.outputs.count, "every output is taken before the next input")
        self.outputs.removeAll(keepingCapacity: true)
        self.taken = 0
        self.now = now
        ERR_clear_error()
        switch self.state {
        case .handshaking(let until): self.handshaking(input, until)
        case .asking(let check, let until): self.asking(input, check, until)
        case .open: self.open(input)
        case .ended: break
        }
    }

    public func pollOutput() -> Output {
        guard self.taken < self.outputs.count else { return .wait(until: self.wakesAt) }
        defer { self.taken += 1 }
        return self.outputs[self.taken]
    }

    private var wakesAt: Instant? {
        switch self.state {
        case .handshaking(let until): return until
        case .asking(_, let until): return until
        case .open, .ended: return nil
        }
    }

    // MARK: - The handshake

    private func handshaking(_ input: Input, _ until: Instant?) {
        let until = until ?? self.now + .milliseconds(TLSLimits.handshakeMs)
        self.state = .handshaking(until: until)
        switch input {
        case .start: self.shake()
        case .received(let bytes): if self.take(bytes) { self.shake() }
        case .send(let bytes): self.keep(bytes)
        case .answered: break
        case .close: self.end(nil)
        case .timeout:
            if self.now >= until { self.end(.failed(.handshake("the other side did not finish the handshake"))) }
        }
    }

    private func asking(_ input: Input, _ check: CertificateCheck, _ until: Instant) {
        switch input {
        case .start: break
        case .received(let bytes): _ = self.take(bytes)
        case .send(let bytes): self.keep(bytes)
        case .answered(let answer): self.goOn(check, answer)
        case .close: self.end(nil)
        case .timeout: if self.now >= until { self.goOn(check, .refuse) }
        }
    }

    private func goOn(_ check: CertificateCheck, _ answer: CertificateAnswer) {
        self.answer = (answer, check)
        self.state = .handshaking(until: self.now + .milliseconds(TLSLimits.handshakeMs))
        self.shake()
    }

    /// Puts bytes of the wire before OpenSSL; false where that is too much and the connection has ended.
    private func take(_ bytes: [UInt8]) -> Bool {
        guard let connection = self.connection, let input = SSL_get_rbio(connection),
            BIO_ctrl_pending(input) + bytes.count <= TLSLimits.backlogMax
        else {
            self.end(.failed(.handshake("the other side sent too much at once")))
            return false
        }
        _ = bytes.withUnsafeBytes { BIO_write(input, $0.baseAddress, Int32($0.count)) }
        return true
    }

    private func keep(_ bytes: [UInt8]) {
        guard self.backlog.count + bytes.count <= TLSLimits.backlogMax else {
            return self.end(.failed(.handshake("too much waits for the end of the handshake")))
        }
        self.backlog += bytes
    }

    private func shake() {
        guard let connection = self.connection else {
            return self.end(.failed(.handshake("there is no certificate of our own, or no memory")))
        }
        let result = SSL_do_handshake(connection)
        let error = SSL_get_error(connection, result)
        self.transmit()
        if result == 1 {
            self.state = .open
            self.outputs.append(.opened)
            let waiting = self.backlog
            self.backlog = []
            if !waiting.isEmpty { self.encrypt(waiting) }
            self.decrypt()
        } else if let question = self.question, error == SSL_ERROR_WANT_RETRY_VERIFY {
            self.question = nil
            self.state = .asking(question, until: self.now + .milliseconds(TLSLimits.askMs))
            self.outputs.append(.ask(question.record))
        } else if error != SSL_ERROR_WANT_READ {
            self.end(.failed(self.fault ?? .handshake(OpenSSL.takeError("the other side broke the handshake off"))))
        }
    }

    // MARK: - Open

    private func open(_ input: Input) {
        switch input {
        case .start, .answered, .timeout: break
        case .received(let bytes): if self.take(bytes) { self.decrypt() }
        case .send(let bytes): self.encrypt(bytes)
        case .close:
            SSL_shutdown(self.connection)
            self.transmit()
            self.end(nil)
        }
    }

    private func encrypt(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        let written = bytes.withUnsafeBytes { SSL_write(self.connection, $0.baseAddress, Int32(clamping: $0.count)) }
        self.transmit()
        guard Int(written) == bytes.count else {
            return self.end(.failed(.handshake(OpenSSL.takeError("nothing can be sent any more"))))
        }
    }

    private func decrypt() {
        var buffer = [UInt8](repeating: 0, count: TLSLimits.readMax)
        while case .open = self.state {
            let count = buffer.withUnsafeMutableBytes { SSL_read(self.connection, $0.baseAddress, Int32($0.count)) }
            guard count <= 0 else {
                self.outputs.append(.deliver(Array(buffer.prefix(Int(count)))))
                continue
            }
            let error = SSL_get_error(self.connection, count)
            // A new key of the other side's may want an answer.
            self.transmit()
            if error == SSL_ERROR_WANT_READ { return }
            if error == SSL_ERROR_ZERO_RETURN {
                SSL_shutdown(self.connection)
                self.transmit()
                return self.end(.closed)
            }
            self.end(.failed(.handshake(OpenSSL.takeError("the other side broke the connection off"))))
        }
    }

    private func transmit() {
        guard let connection = self.connection else { return }
        let bytes = OpenSSL.drain(SSL_get_wbio(connection))
        if !bytes.isEmpty { self.outputs.append(.transmit(bytes)) }
    }

    private func end(_ last: Output?) {
        self.state = .ended
        self.backlog = []
        if let last { self.outputs.append(last) }
        ERR_clear_error()
    }
}
