// SPDX-License-Identifier: Apache-2.0

import KioskEngine
import Loop
import MediaEngine

/// The mailboxes between the threads: who may tell what to whom.
///
///     control ──orders──▶ media, sound, prompts, records, camera, decoder, display
///     camera ──pictures──▶ media (encoded), display (self view);   media ──rates──▶ camera
///     media ──packets──▶ sound, decoder;   sound ──packets──▶ media;   decoder ──pictures──▶ display
///     prompts ──what is spoken──▶ sound
///     all ──reports──▶ control
///
/// Orders (of the control thread, and for key frames) always arrive. The bounds are what a part may lag behind before
/// media are dropped, oldest first.
final class Wires {
    let reports = Reports(capacity: reportsMax)
    let media = Mailbox<MediaMessage>(capacity: 256)
    /// A second of packets.
    let sound = Mailbox<SoundMessage>(capacity: 64)
    let prompts = Mailbox<PromptMessage>(capacity: 4)
    let records = Mailbox<RecordMessage>(capacity: 16)
    /// All that was to be written when the program ended is written.
    let recorded = Mailbox<Void>(capacity: 1)
    let camera = Mailbox<CameraMessage>(capacity: 16)
    /// Half a second of pictures: a decoder that lags more is asked for a key frame anew.
    let decoder = Mailbox<DecoderMessage>(capacity: 16)
    let display = Mailbox<DisplayMessage>(capacity: 16)
    /// One picture: a late one is replaced, not shown late.
    let remotePictures = Mailbox<RemotePicture>(capacity: 1)
    let selfPictures = Mailbox<SelfPicture>(capacity: 1)
    let counters = SharedCounters()
    let vitals = Vitals()

    func report(_ report: MediaReport, _ generation: Generation) {
        self.reports.put(.media(report, generation))
    }

    func report(_ report: DeviceReport) {
        self.reports.put(.device(report))
    }

    func report(_ report: VideoReport) {
        self.reports.put(.video(report))
    }
}
