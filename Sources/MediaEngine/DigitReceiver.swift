// SPDX-License-Identifier: Apache-2.0

import RTPWire

/// Makes one key press out of the packets of a telephone event (RFC 4733 section 2.5.2.2).
///
/// Any packet of an event may be lost, markers are not trusted, and some senders give the closing packets new
/// timestamps: a closing packet of the same key within the span of the last press belongs to it.
struct DigitReceiver {
    private struct Press {
        var event: UInt8
        var started: RTPTimestamp
        var duration: UInt16
    }

    /// Closing packets are sent over at most about 100 ms more than the event itself; in units of an 8 kHz clock.
    private static let closingSlack: UInt32 = 800

    private var latest: Press?

    /// The ASCII key when this packet is the first seen of a press.
    mutating func take(_ event: TelephoneEvent, timestamp: RTPTimestamp) -> UInt8? {
        guard let key = TelephoneEvent.key(ofEvent: event.event) else { return nil }
        if let press = self.latest {
            let ahead = timestamp.distance(from: press.started)
            if ahead == 0 && event.event == press.event {
                self.latest?.duration = max(press.duration, event.duration)
                return nil
            }
            let span = UInt32(max(press.duration, event.duration)) + Self.closingSlack
            if ahead < 0 && ahead.magnitude <= span { return nil }
            if event.isEnd && event.event == press.event && ahead.magnitude <= span { return nil }
        }
        self.latest = Press(event: event.event, started: timestamp, duration: event.duration)
        return key
    }

    mutating func reset() {
        self.latest = nil
    }
}
