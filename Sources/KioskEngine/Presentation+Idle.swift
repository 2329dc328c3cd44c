// SPDX-License-Identifier: Apache-2.0
import Bytes

extension Presentation {
    /// What the owner wants to be seen while nobody calls, unless there is something to say.
    mutating func showIdle(_ around: Surroundings) {
        // What is about to happen, or is being done, is seen on every page.
        guard self.screen.countdown == nil, self.screen.keypad == nil else { return }
        let texts = around.texts.pages
        switch around.service {
        case .health(let lines):
            self.screen.page = .health
            self.screen.headline = texts.health
            self.screen.health = lines
        case .problems(let problems):
            self.screen.page = .problems
            self.screen.headline = texts.problems
            self.screen.problems = problems
        case nil:
            guard around.notice == nil, !around.isStopping, around.autoCallAt == nil else { return }
            guard !around.isDark else { return self.darken() }
            guard around.canCall, !around.isPaused else { return }
            self.screen.page = Self.idlePage(around)
            if self.screen.page == .black { self.screen.callBar = [] }
        }
    }

    private mutating func darken() {
        self.screen = ScreenState()
        self.screen.page = .dark
    }

    private static func idlePage(_ around: Surroundings) -> ScreenPage {
        switch around.screen.idle {
        case .text: return .card
        case .clock: return .clock
        case .image: return .image
        case .black: return .black
        case .selfView: return around.hasCamera ? .mirror : .card
        }
    }
}
