// SPDX-License-Identifier: Apache-2.0

import CDRM
import CSystem

/// What the kernel tells of displays that are plugged in and pulled out.
final class DisplayNews {
    /// -1 where the kernel tells nothing: then what it knows by itself has to do.
    private let descriptor = callbox_open_device_news()

    deinit {
        if self.descriptor >= 0 { close(self.descriptor) }
    }

    /// Whether there were any since it was asked last.
    func take() -> Bool {
        self.descriptor >= 0 && callbox_take_display_news(self.descriptor) != 0
    }
}
