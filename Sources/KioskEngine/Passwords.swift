// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire

/// The passwords that we have, and which of them servers refuse. One that was refused again and again is kept back for
/// a while: servers lock out who tries too often. A press gives them all back, for a person waits.
struct Passwords {
    private struct Entry {
        let credential: Credential
        /// In a row.
        var refusals = 0
        var isHeldUntil: Instant?
    }

    private var entries: [Entry] = []
    /// What relays of media are told, and nobody else.
    private(set) var relay: Credential?

    /// So many refusals in a row are taken at face value.
    static let refusalsMax = 3
    static let holdMs = 60_000
    static let holdMsMax = 600_000

    /// What SIP was told last.
    private var told: [Credential] = []

    /// What SIP may use, where that is something else than before.
    mutating func news() -> [Credential]? {
        let usable = self.entries.filter { $0.isHeldUntil == nil }.map { $0.credential }
        guard usable != self.told else { return nil }
        self.told = usable
        return usable
    }

    /// When the next one is given back.
    var releasesAt: Instant? { self.entries.compactMap { $0.isHeldUntil }.min() }

    mutating func replace(with credentials: [Credential]) {
        let former = self.entries
        self.relay = credentials.first { PasswordUse($0) == .relay }
        self.entries = credentials.filter { PasswordUse($0) == .sip }.map { credential in
            former.first { $0.credential == credential } ?? Entry(credential: credential)
        }
    }

    enum OnRefusal: Equatable {
        case goOn
        case hold(ms: Int)
    }

    mutating func refused(_ credential: Credential, now: Instant) -> OnRefusal {
        guard let index = self.entries.firstIndex(where: { $0.credential == credential }) else { return .goOn }
        self.entries[index].refusals = min(self.entries[index].refusals + 1, 100)
        let extra = self.entries[index].refusals - Self.refusalsMax
        guard extra >= 0 else { return .goOn }
        let holdMs = min(Self.holdMs << min(extra, 8), Self.holdMsMax)
        self.entries[index].isHeldUntil = now + .milliseconds(holdMs)
        return .hold(ms: holdMs)
    }

    mutating func accepted(_ credential: Credential) {
        guard let index = self.entries.firstIndex(where: { $0.credential == credential }) else { return }
        self.entries[index].refusals = 0
    }

    /// Gives back those that were held long enough.
    mutating func release(now: Instant) {
        for index in self.entries.indices {
            guard let until = self.entries[index].isHeldUntil, until <= now else { continue }
            self.entries[index].isHeldUntil = nil
        }
    }

    /// Somebody wants to call: what was refused before may be right now.
    mutating func releaseAll() {
        for index in self.entries.indices { self.entries[index].isHeldUntil = nil }
    }
}

extension KioskEngine {
    /// A server did not accept one. SIP is being drained, and hears of the consequences from `settlePasswords`.
    mutating func refused(_ credential: Credential, _ realm: ByteString, now: Instant) {
        let action = self.passwords.refused(credential, now: now)
        self.emit("password_refused", now: now) {
            $0.put("realm", realm)
            $0.put("user", credential.username)
            if case .hold(let ms) = action { $0.put("held_ms", ms) }
            $0.put(.passwordRefused)
        }
        self.put(.readSecrets)
    }

    /// Tells SIP where it may use others than before.
    mutating func settlePasswords(now: Instant) {
        self.passwords.release(now: now)
        guard let usable = self.passwords.news() else { return }
        self.tell(.credentials(usable), now: now)
    }
}
