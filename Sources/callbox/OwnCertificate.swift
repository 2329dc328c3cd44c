// SPDX-License-Identifier: Apache-2.0

import Bytes
import KioskEngine
import Secure

/// Our own certificate, looked at every day: a kiosk runs for years, and nobody looks at its log when it starts.
final class OwnCertificate {
    private let tls: TLSContext
    private(set) var looksAt: Instant
    private static let period = Duration.seconds(86_400)

    /// The first look is due at once.
    init(_ tls: TLSContext, now: Instant) {
        self.tls = tls
        self.looksAt = now
    }

    /// Where it is due: the certificate, if it ends soon or has ended.
    func lookWhenDue(now: Instant) -> CertificateRecord? {
        guard now >= self.looksAt else { return nil }
        self.looksAt = now + Self.period
        return self.tls.ownWarning(now: now)
    }
}
