// SPDX-License-Identifier: Apache-2.0

import Bytes
import Display
import KioskEngine
import Loop
import Picture

/// What goes to the display thread.
enum DisplayMessage {
    case draw(ScreenState)
    /// A call's media begin: pictures of a former call are not shown any more.
    case start(Generation)
    case stop
    case screenshot(ClientID, path: ByteString)
}
