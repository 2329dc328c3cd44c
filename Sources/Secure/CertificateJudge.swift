// SPDX-License-Identifier: Apache-2.0

import Bytes
import KioskEngine

/// What the program of `[tls] ask` may answer.
public enum CertificateAnswer: Equatable, Sendable {
    case once
    case pin
    case refuse

    /// The first word it wrote; whatever else it wrote refuses.
    public init(_ output: [UInt8]) {
        let word = ByteString(trimming: output.prefix { $0 != ASCII.lineFeed })
        self = word == "once" ? .once : word == "pin" ? .pin : .refuse
    }
}

/// The policy of `[tls]`: takes what speaks against a certificate, and says what becomes of it.
struct CertificateJudge {
    enum Judgement: Equatable {
        /// With a verdict where somebody should know of it.
        case accept(CertificateVerdict?)
        case refuse(CertificateVerdict)
    }

    static let warningSeconds: Int64 = 30 * 24 * 3600

    let settings: TLSSettings
    private(set) var memory: CertificateMemory

    init(_ settings: TLSSettings, memory: CertificateMemory) {
        self.settings = settings
        self.memory = memory
    }

    /// Adds the reasons that the policy has to those that were found. `isTimeKnown` says whether somebody has set our
    /// clock.
    mutating func judge(_ check: inout CertificateCheck, time: Int64, isTimeKnown: Bool) -> Judgement {
        let name = check.record.name
        if self.memory.fingerprint(.pin, name) == check.fingerprint { return self.tolerate(check) }
        switch self.settings.verify {
        case .off:
            return self.tolerate(check)
        case .pin:
            if self.settings.pins.contains(check.fingerprint) { return self.tolerate(check) }
            check.add(.notPinned)
            return .refuse(.refused)
        case .firstSeen:
            guard let known = self.memory.fingerprint(.seen, name) else {
                self.memory.remember(.seen, name, check.fingerprint)
                return .accept(.firstSeen)
            }
            if known == check.fingerprint { return self.tolerate(check) }
            check.add(.changed)
            return .refuse(.refused)
        case .strict:
            if check.record.reasons == [.notYetValid] && !isTimeKnown { return .refuse(.waitsForTime) }
            guard check.record.reasons.isEmpty else { return .refuse(.refused) }
            return .accept(Self.endsSoon(check.notAfter, time: time) ? .endsSoon : nil)
        }
    }

    /// Known by its fingerprint, or of no matter: what speaks against it is told, no more.
    private func tolerate(_ check: CertificateCheck) -> Judgement {
        .accept(check.record.reasons.isEmpty ? nil : .tolerated)
    }

    mutating func pin(_ check: CertificateCheck) {
        self.memory.remember(.pin, check.record.name, check.fingerprint)
    }

    static func endsSoon(_ notAfter: Int64?, time: Int64) -> Bool {
        guard let notAfter else { return false }
        return notAfter < time + self.warningSeconds
    }
}
