// SPDX-License-Identifier: Apache-2.0

import KioskEngine
import Loop

/// Counts the calls' media since the start of the program: what a thread reports of a former call is known by it.
typealias Generation = UInt32

/// What the other threads tell the control thread.
enum Report {
    case media(MediaReport, Generation)
    case ice(ICEReport)
    case device(DeviceReport)
    case video(VideoReport)
    /// Of the camera's pictures, as they are sent.
    case camera(PictureSize, fps: Int)
    /// Something beside the file that its owner should know.
    case problem(ConfigurationProblem)
    case screenshot(ClientID, ScreenshotResult)
}

/// The mailbox of the control thread. A call makes a few reports a second; the room is for a control thread that is
/// kept from running for long.
typealias Reports = Mailbox<Report>
let reportsMax = 256
