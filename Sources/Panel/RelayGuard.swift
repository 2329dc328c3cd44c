// SPDX-License-Identifier: Apache-2.0

import Bytes
import CGPIO
import CSystem

/// A process beside the program that switches the relays off when the program dies: many chips leave a line as it was
/// when whoever had it is gone (docs/decisions/0036-relays-outlive-nobody.md).
public struct RelayGuard {
    /// A relay's line, as the file names it.
    public struct Relay {
        let name: ByteString
        let wiring: LineSettings

        public init(_ name: ByteString, isActiveLow: Bool) {
            self.name = name
            self.wiring = LineSettings(isActiveLow: isActiveLow, bias: .none)
        }
    }

    private let descriptor: Int32

    /// So long the lines are held off: a relay falls within some 20 ms, and the program is started again later.
    private static let holdUs: UInt32 = 500_000
    /// The kernel takes a moment to let go of what a dead program had.
    private static let tries = 500
    private static let tryUs: UInt32 = 2_000

    /// Nil where there is nothing to guard, or no process to be had. To be called before there are threads, and before
    /// the lines are opened.
    public init?(_ relays: [Relay]) {
        guard !relays.isEmpty else { return nil }
        let work = Unmanaged.passRetained(GuardWork(relays))
        defer { work.release() }
        self.descriptor = callbox_start_guard(
            { news, context in
                guard let context else { return }
                Unmanaged<GuardWork>.fromOpaque(context).takeUnretainedValue().wait(news)
            }, work.toOpaque())
        if self.descriptor < 0 { return nil }
    }

    /// The relays are off, and the program is about to end, or to begin anew: nothing is to be done.
    public func dismiss() {
        var word: UInt8 = 1
        _ = write(self.descriptor, &word, 1)
    }

    fileprivate static func switchOff(_ relays: [Relay]) {
        var held: [OutputLine] = []
        var left = relays
        for _ in 0..<self.tries where !left.isEmpty {
            left.removeAll { relay in
                // Off from the moment in which it is had.
                guard let line = try? OutputLine(relay.name, settings: relay.wiring) else { return false }
                held.append(line)
                return true
            }
            if !left.isEmpty { usleep(self.tryUs) }
        }
        usleep(self.holdUs)
        held.removeAll()
    }
}

/// What the other process does.
private final class GuardWork {
    private let relays: [RelayGuard.Relay]

    init(_ relays: [RelayGuard.Relay]) {
        self.relays = relays
    }

    func wait(_ news: Int32) {
        var word: UInt8 = 0
        var count = read(news, &word, 1)
        while count < 0, callbox_errno() == EINTR { count = read(news, &word, 1) }
        if count == 0 { RelayGuard.switchOff(self.relays) }
    }
}
