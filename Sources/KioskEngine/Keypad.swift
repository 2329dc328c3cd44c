// SPDX-License-Identifier: Apache-2.0
import Bytes

/// The keypad on the screen and what was typed in this call.
struct Keypad: Equatable {
    static let keys: [UInt8] = Array("123456789*0#".utf8)
    /// What is shown of what was typed: the last ones.
    static let shownMax = 16
    /// As many as the media threads keep.
    static let queuedMax = 16

    private(set) var isShown = false
    private(set) var typed: [UInt8] = []
    /// Which of `keys` is chosen where other buttons scroll.
    private(set) var selected = 4
    /// Typed before the answer.
    private(set) var queued: [UInt8] = []

    mutating func toggle() {
        self.isShown.toggle()
    }

    mutating func scroll(by step: Int) {
        let count = Self.keys.count
        self.selected = (self.selected + step % count + count) % count
    }

    var selectedKey: UInt8 { Self.keys[self.selected] }

    /// What was typed stands on the screen.
    mutating func type(_ key: UInt8) {
        if self.typed.count >= Self.shownMax { self.typed.removeFirst() }
        self.typed.append(key)
    }

    /// False where no more can wait.
    mutating func queue(_ key: UInt8) -> Bool {
        guard self.queued.count < Self.queuedMax else { return false }
        self.queued.append(key)
        return true
    }

    mutating func takeQueued() -> [UInt8] {
        defer { self.queued = [] }
        return self.queued
    }

    /// Nothing of a call is left for the next one.
    mutating func clear() {
        self = Keypad()
    }
}
