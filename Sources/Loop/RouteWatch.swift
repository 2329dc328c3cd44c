// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem

/// Hears from the kernel (rtnetlink(7)) that addresses, routes or links changed.
///
/// What changed is not looked at: whoever wants to know asks for the route of the moment. One change comes as many
/// messages, and an address is of use only with its route: so a change is told a little later, once.
public struct RouteWatch: ~Copyable {
    /// -1 where the kernel gives no such socket: then nothing is ever heard.
    public let descriptor: Int32
    /// When the change that was heard is to be told; nil where there is none.
    public private(set) var settlesAt: Instant?

    /// From the first message of a change until it is told.
    public static let settleMs = 300
    private static let messagesATurn = 64

    public init() {
        self.descriptor = callbox_watch_routes()
    }

    deinit {
        if self.descriptor >= 0 { close(self.descriptor) }
    }

    /// The descriptor is readable.
    public mutating func read(now: Instant) {
        var message = [UInt8](repeating: 0, count: 4_096)
        for _ in 0..<Self.messagesATurn {
            let count = recv(self.descriptor, &message, message.count, 0)
            // Messages that were lost for want of room are a change as well.
            guard count > 0 || count < 0 && callbox_errno() == ENOBUFS else { return }
            self.settlesAt = self.settlesAt ?? now + .milliseconds(Self.settleMs)
        }
    }

    /// True once for each change, when it has settled.
    public mutating func hasChanged(now: Instant) -> Bool {
        guard let due = self.settlesAt, now >= due else { return false }
        self.settlesAt = nil
        return true
    }
}
