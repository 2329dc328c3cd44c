// SPDX-License-Identifier: Apache-2.0

import CTLS
import KioskEngine

/// Whether the other side's certificate is taken.
extension TLSStream {
    /// Called by OpenSSL in the middle of the handshake: 1 goes on, 0 ends it.
    static func verify(_ chain: OpaquePointer?) -> Int32 {
        guard let chain, let connection = callbox_tls_of_chain(chain), let raw = SSL_get_ex_data(connection, 0) else {
            return 0
        }
        let stream = Unmanaged<TLSStream>.fromOpaque(raw).takeUnretainedValue()
        let isGood = stream.verify(chain, connection)
        if !isGood { X509_STORE_CTX_set_error(chain, X509_V_ERR_APPLICATION_VERIFICATION) }
        return isGood ? 1 : 0
    }

    private func verify(_ chain: OpaquePointer, _ connection: OpaquePointer) -> Bool {
        if let (answer, check) = self.answer {
            self.answer = nil
            return self.follow(answer, check)
        }
        let settings = self.context.judge.settings
        guard
            var check = CertificateCheck(
                chain, name: self.name, time: self.context.clock.time(self.now),
                allowsWildcard: settings.allowsWildcard)
        else { return false }
        // The faults that were passed over have left their words.
        ERR_clear_error()
        switch self.context.judge(&check, now: self.now) {
        case .accept(let verdict):
            if let verdict { self.outputs.append(.certificate(check.record, verdict)) }
            return true
        case .refuse(.waitsForTime):
            self.fault = .waitsForTime(check.record)
            return false
        case .refuse:
            self.fault = .refused(check.record)
            guard settings.ask != nil else { return false }
            self.question = check
            callbox_tls_retry_verify(connection)
            return true
        }
    }

    private func follow(_ answer: CertificateAnswer, _ check: CertificateCheck) -> Bool {
        switch answer {
        case .refuse: return false
        case .once: self.outputs.append(.certificate(check.record, .acceptedOnce))
        case .pin:
            self.context.pin(check)
            self.outputs.append(.certificate(check.record, .pinned))
        }
        self.fault = nil
        return true
    }
}
