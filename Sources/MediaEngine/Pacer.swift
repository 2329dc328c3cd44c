// SPDX-License-Identifier: Apache-2.0

import Bytes

/// Spreads the packets of a big picture over a part of its own time, so that a key frame does not fill the queues of
/// the path in one burst. Never holds more than one picture: the next pushes the rest of the last out.
struct Pacer {
    private var packets: [[UInt8]] = []
    private var head = 0
    private var perStep = 1
    /// When the next packets are due.
    private(set) var deadline: Instant?

    /// Takes the packets of a picture; gives those to send now.
    mutating func push(_ picture: [[UInt8]], frameTime: Duration, now: Instant) -> [[UInt8]] {
        let overdue = self.flush()
        guard picture.count > MediaLimits.paceBurstPackets else { return overdue + picture }
        let step = Duration.milliseconds(MediaLimits.paceStepMs)
        let spreadMs = min(MediaLimits.paceSpreadMsMax, frameTime.milliseconds / 2)
        let steps = max(1, spreadMs / MediaLimits.paceStepMs)
        let rest = picture.count - MediaLimits.paceBurstPackets
        self.packets = Array(picture[MediaLimits.paceBurstPackets...])
        self.head = 0
        self.perStep = (rest + steps - 1) / steps
        self.deadline = now + step
        return overdue + picture[..<MediaLimits.paceBurstPackets]
    }

    /// The packets whose time has come. Steps that were missed are made up for.
    mutating func expire(now: Instant) -> [[UInt8]] {
        var due: [[UInt8]] = []
        while let deadline = self.deadline, deadline <= now {
            let end = min(self.packets.count, self.head + self.perStep)
            due += self.packets[self.head..<end]
            self.head = end
            if end == self.packets.count {
                _ = self.flush()
            } else {
                self.deadline = deadline + Duration.milliseconds(MediaLimits.paceStepMs)
            }
        }
        return due
    }

    private mutating func flush() -> [[UInt8]] {
        let rest = Array(self.packets[self.head...])
        self.packets = []
        self.head = 0
        self.deadline = nil
        return rest
    }
}
