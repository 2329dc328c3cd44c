// SPDX-License-Identifier: Apache-2.0
import Bytes

/// The language of the screen: the next one a press, the first one again when whoever chose it has gone.
extension KioskEngine {
    static let languageShownMs = 60_000

    mutating func speak(_ language: Language, now: Instant) {
        guard language != self.language else { return }
        self.language = language
        self.languageEndsAt = nil
        self.settleLanguage(now: now)
        self.emit("language", now: now) { $0.put("code", language.code) }
    }

    /// The time runs from when there is neither a call nor the word of its end on the screen.
    mutating func settleLanguage(now: Instant) {
        let first = self.configuration.language.first
        guard case .idle = self.machine.state, self.language != first else {
            self.languageEndsAt = nil
            return
        }
        guard let end = self.languageEndsAt else {
            self.languageEndsAt = now + .milliseconds(Self.languageShownMs)
            return
        }
        if now >= end { self.speak(first, now: now) }
    }
}
