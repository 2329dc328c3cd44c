// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem
import Display
import KioskEngine
import Loop
import Picture

/// The screen with the far end's pictures on it.
final class Show {
    let display = Display(DisplaySettings(), now: Clock.now())
    private let converter = SharedPictureConverter()
    private static let limit = Duration.seconds(3)

    init() {
        var state = ScreenState()
        state.remote = .shown
        self.display.draw(state)
        self.display.turn(now: Clock.now())
    }

    /// Puts a picture on the screen, by the way that is to be tried. False where it does not get there.
    func put(_ picture: SharedPicture, bySoftware: Bool) -> Bool {
        let before = self.display.counters(.remote).shown
        if bySoftware {
            let isRead = picture.image(self.converter).read { view in
                self.display.submit(view, on: .remote, now: Clock.now())
                return true
            }
            guard isRead else { return false }
        } else {
            self.display.submit(picture.image(self.converter), on: .remote, now: Clock.now())
        }
        return self.turn { self.display.counters(.remote).shown > before }
    }

    /// Turns until it is so and all of it is on the screen; false where that takes too long.
    private func turn(_ isDone: () -> Bool) -> Bool {
        let until = Clock.now() + Self.limit
        while Clock.now() < until {
            self.display.turn(now: Clock.now())
            let hasFlipped = self.wait(limitMs: 40)
            if isDone(), hasFlipped {
                self.display.turn(now: Clock.now())
                return true
            }
        }
        return false
    }

    /// Whether something has reached the screen.
    func wait(limitMs: Int32) -> Bool {
        guard let descriptor = self.display.fileDescriptor else { return false }
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, limitMs) > 0
    }

    /// Lets go of what is on the screen.
    func clear() {
        self.display.draw(ScreenState())
        for _ in 0..<3 {
            self.display.turn(now: Clock.now())
            _ = self.wait(limitMs: 60)
        }
        self.display.turn(now: Clock.now())
    }
}
