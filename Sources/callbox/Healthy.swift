// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem
import KioskEngine
import Loop

/// Whether the kiosk runs and all its parts go on: 0, or 1 where it is not so after as many seconds as are waited.
func healthy(waitSeconds: Int, socket: ByteString) -> Int32 {
    let end = Clock.now() + .seconds(waitSeconds)
    var reason = ByteString()
    repeat {
        guard let answer = replyOfKiosk("healthy", socket: socket) else {
            reason = "no kiosk listens at " + socket
            usleep(retryUs)
            continue
        }
        if answer == Reply.done { return 0 }
        reason = Reply.refusal(in: answer) ?? "the kiosk does not know the word"
        usleep(retryUs)
    } while Clock.now() < end
    Log.write("callbox: " + reason)
    return 1
}

private let retryUs: UInt32 = 250_000
