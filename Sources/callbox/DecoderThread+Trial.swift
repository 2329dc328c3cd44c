// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem
import KioskEngine
import Loop

/// The trials of the board's decoder and encoder, which this thread has time for between calls.
extension DecoderThread {
    /// What was kept holds; a trial is due where something is missing.
    func begin() {
        var isMissing = false
        if !self.mayTry {
            self.wires.report(.link(.decoder, "software (libavcodec), as the file says"))
        } else if let kept = self.trial.kept {
            self.take(kept)
        } else {
            isMissing = true
        }
        if self.mayTryEncoder, let kept = self.encoderRecord.lines.flatMap({ EncoderVerdict($0) }) {
            self.wires.camera.order(.verdict(kept))
        } else if self.mayTryEncoder {
            isMissing = true
        }
        if isMissing { self.triesAt = Clock.now() + Self.trialDelay }
    }

    /// Not in a call, which has software for so long; and in a thread of its own, for a call may begin meanwhile.
    func tryWhenDue() {
        guard let due = self.triesAt, Clock.now() >= due else { return }
        guard case .idle = self.state else {
            self.triesAt = Clock.now() + Self.trialDelay
            return
        }
        self.triesAt = nil
        let (wires, record) = (self.wires, self.encoderRecord)
        let trial = self.mayTry && self.verdict == nil ? self.trial : nil
        let triesEncoder = self.mayTryEncoder
        Thread.start("trial") {
            // Ten large pictures are not to be held for ever.
            defer { callbox_trim_memory() }
            if let verdict = trial?.run() { wires.decoder.order(.verdict(verdict)) }
            guard triesEncoder else { return }
            let verdict = EncoderVerdict.run()
            wires.records.order(.files([record.file(verdict.lines)]))
            wires.camera.order(.verdict(verdict))
        }
    }

    func take(_ verdict: DecoderVerdict) {
        self.verdict = verdict
        self.wires.report(.ability(verdict.ability))
        self.wires.report(.link(.decoder, verdict.words))
        Log.write("callbox: pictures are decoded by " + verdict.words)
    }
}
