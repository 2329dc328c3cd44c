// SPDX-License-Identifier: Apache-2.0

import Bytes
import CTLS
import KioskEngine

/// What all TLS connections of the program have in common: whom we trust, who we are, and what is remembered.
public final class TLSContext {
    /// What is wrong with the files that `[tls]` names.
    public private(set) var problems: [ConfigurationProblem] = []
    /// Connections from outside can be taken.
    public private(set) var canListen = false
    let clock: WallClock
    private(set) var judge: CertificateJudge
    /// Told what is to be remembered, as a file.
    private let save: ([UInt8]) -> Void
    private let client: OpaquePointer?
    private let server: OpaquePointer?

    /// `memory` is what `save` was given last. Never fails: what cannot be had makes connections fail, each with its
    /// reason.
    public init(
        _ settings: TLSSettings, clock: WallClock, memory: [UInt8], now: Instant, save: @escaping ([UInt8]) -> Void
    ) {
        self.judge = CertificateJudge(settings, memory: CertificateMemory(memory))
        self.clock = clock
        self.save = save
        self.client = SSL_CTX_new(TLS_client_method())
        self.server = SSL_CTX_new(TLS_server_method())
        guard let client = self.client, let server = self.server else {
            self.problem("", "OpenSSL cannot be used: " + OpenSSL.takeError("no reason given"))
            return
        }
        callbox_tls_prepare(client)
        callbox_tls_prepare(server)
        self.trust(client, settings)
        self.identify(client, server, settings)
        SSL_CTX_set_cert_verify_callback(client, { chain, _ in TLSStream.verify(chain) }, nil)
    }

    deinit {
        SSL_CTX_free(self.client)
        SSL_CTX_free(self.server)
    }

    func newConnection(isServer: Bool) -> OpaquePointer? {
        if isServer && !self.canListen { return nil }
        return (isServer ? self.server : self.client).flatMap { SSL_new($0) }
    }

    // MARK: - Files

    private func trust(_ client: OpaquePointer, _ settings: TLSSettings) {
        SSL_CTX_set_default_verify_paths(client)
        if let path = settings.authorities, path.withCString({ SSL_CTX_load_verify_file(client, $0) }) != 1 {
            self.problem("ca", path, "is not a PEM file of certificates")
        }
        ERR_clear_error()
        if settings.verify == .pin && settings.pins.isEmpty {
            self.problem("verify", "pin takes no certificate as long as pins is empty")
        }
    }

    private func identify(_ client: OpaquePointer, _ server: OpaquePointer, _ settings: TLSSettings) {
        guard let certificate = settings.certificate else { return }
        guard let key = settings.key else {
            return self.problem("certificate", "is of no use without key")
        }
        for context in [client, server] {
            guard certificate.withCString({ SSL_CTX_use_certificate_chain_file(context, $0) }) == 1 else {
                return self.problem("certificate", certificate, "is not a PEM file of certificates")
            }
            // No terminal to ask for a password at.
            SSL_CTX_set_default_passwd_cb(context) { _, _, _, _ in -1 }
            guard key.withCString({ SSL_CTX_use_PrivateKey_file(context, $0, SSL_FILETYPE_PEM) }) == 1 else {
                return self.problem("key", key, "is not the key of the certificate, or is encrypted")
            }
        }
        self.canListen = true
    }

    /// Our own certificate, where it ends soon or has ended.
    public func ownWarning(now: Instant) -> CertificateRecord? {
        guard self.canListen, let own = self.client.flatMap({ SSL_CTX_get0_certificate($0) }) else { return nil }
        let time = self.clock.time(now)
        let notAfter = CertificateFacts.seconds(X509_get0_notAfter(own))
        guard CertificateJudge.endsSoon(notAfter, time: time) else { return nil }
        var record = CertificateFacts.record(own, for: "")
        if let notAfter, notAfter < time { record.reasons = [.expired] }
        return record
    }

    private func problem(_ key: ByteString, _ path: ByteString, _ what: ByteString) {
        self.problem(key, path + " " + what + ": " + OpenSSL.takeError("no reason given"))
    }

    private func problem(_ key: ByteString, _ reason: ByteString) {
        self.problems.append(ConfigurationProblem(.opening, section: "tls", key: key, reason: reason))
    }

    // MARK: - Judging

    func judge(_ check: inout CertificateCheck, now: Instant) -> CertificateJudge.Judgement {
        let before = self.judge.memory
        let judgement = self.judge.judge(
            &check, time: self.clock.time(now), isTimeKnown: self.clock.isTimeKnown)
        self.saveIfChanged(before)
        return judgement
    }

    func pin(_ check: CertificateCheck) {
        let before = self.judge.memory
        self.judge.pin(check)
        self.saveIfChanged(before)
    }

    private func saveIfChanged(_ before: CertificateMemory) {
        if self.judge.memory != before { self.save(self.judge.memory.file) }
    }
}
