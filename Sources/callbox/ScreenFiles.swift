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

/// Takes languages away whose letters no font has: English is better than boxes.
func dropUnreadable(_ settings: inout LanguageSettings) -> [ConfigurationProblem] {
    let unreadable = ([settings.first] + settings.offered).filter {
        $0 != .english && !Fonts.canWrite($0.sample, in: $0)
    }
    guard !unreadable.isEmpty else { return [] }
    let first = settings.first
    if unreadable.contains(first) { settings.first = .english }
    settings.offered.removeAll { unreadable.contains($0) }
    return Language.all.filter { unreadable.contains($0) }.map { language in
        ConfigurationProblem(
            .opening, section: "language", key: language == first ? "first" : "offered",
            reason: "no font has the letters of " + language.code + "; it is left out")
    }
}
