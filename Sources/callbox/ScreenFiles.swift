// SPDX-License-Identifier: Apache-2.0

import Bytes
import Display
import KioskEngine

/// The owner's picture for the idle screen; nil where there is none, or it cannot be shown, which is a problem of the
/// file.
func readPicture(_ settings: ScreenSettings) -> (OwnPicture?, [ConfigurationProblem]) {
    guard let path = settings.image else { return (nil, []) }
    do throws(OwnPicture.Refusal) {
        return (try OwnPicture.read(path), [])
    } catch {
        let reason = path + " cannot be shown: " + error.reason
        return (nil, [ConfigurationProblem(.opening, section: "screen", key: "image", reason: reason)])
    }
}

/// Takes languages away whose letters no font has: English is better than boxes. English stays: names and numbers are
/// written in its letters, and boxes are better than a help point that does not call.
func dropUnreadable(_ settings: inout LanguageSettings) -> [ConfigurationProblem] {
    let wanted = [.english, settings.first] + settings.offered
    let unreadable = Language.all.filter { wanted.contains($0) && !Fonts.canWrite($0.sample, in: $0) }
    guard !unreadable.isEmpty else { return [] }
    let first = settings.first
    if unreadable.contains(first) { settings.first = .english }
    settings.offered.removeAll { $0 != .english && unreadable.contains($0) }
    return unreadable.map { language in
        let end: ByteString = language == .english ? "; the screen shows boxes" : "; it is left out"
        return ConfigurationProblem(
            .opening, section: "language", key: language == first ? "first" : "offered",
            reason: "no font has the letters of " + language.code + end)
    }
}
