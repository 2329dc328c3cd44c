// SPDX-License-Identifier: Apache-2.0
import Bytes

/// Devices that fail and come back, and what the screen says of faults.
extension KioskEngine {
    mutating func device(_ report: DeviceReport, now: Instant) {
        self.reportNumber &+= 1
        switch report {
        case .failed(let family, let text):
            if self.faults.failed(family, text, now: now) { self.tellLost(family) }
            self.somebodyIsThere(now: now)
            self.setFitted(family, false)
            self.emit(Self.faultLine(family, text, now: now))
        case .restored(let family):
            guard self.faults.restored(family) else { return }
            if self.faults.wasTold(family) { self.chimeStatus(.back) }
            self.setFitted(family, true)
            self.emit("restored", now: now) { $0.put("device", family.text) }
            self.offerReturned(now: now)
        }
    }

    /// A call goes on as it was agreed: it is sent a card in place of the camera's picture, and the screen shows the
    /// far end's as soon as it is back. The next call is offered what there is.
    private mutating func setFitted(_ family: DeviceFamily, _ isFitted: Bool) {
        switch family {
        case .camera: self.world.hasCamera = isFitted
        case .display: self.world.hasScreen = isFitted
        case .playback, .capture, .panel, .network, .storage, .housing, .supply, .safeMode, .bootPartition, .bootWrite,
            .dataLost, .dataPartition, .clock:
            break
        }
    }

    /// What was not there when the call was agreed upon is offered now.
    private mutating func offerReturned(now: Instant) {
        guard case .connected(let state) = self.machine.state, let session = self.session,
            self.configuration.video.mayUseH264, session.couldOfferMore(self.world)
        else { return }
        self.changeTakenLate(state.handle, now: now)
    }

    /// Whether a fault of that family stands.
    public func isFaulty(_ family: DeviceFamily) -> Bool { self.faults[family] != nil }

    /// The first problem of the file, then the faults that stand, then that nobody can call us.
    var banner: ByteString {
        let texts = Texts.of(self.language)
        var parts: [ByteString] = []
        if let problem = self.problems.first { parts.append(self.language.apart("callbox.conf: " + problem.sentence)) }
        for family in DeviceFamily.all {
            guard let text = self.faults[family] else { continue }
            parts.append(texts.fault(family) + ": " + self.language.apart(text))
        }
        if self.isCutOff {
            let isUntrusted = self.accounts.contains { $0.isUntrusted }
            parts.append(isUntrusted ? texts.faults.untrusted : texts.faults.cutOff)
        }
        var banner = ByteString()
        for part in parts { banner += banner.isEmpty ? part : " · " + part }
        return UTF8Text.displayable(banner, bytesMax: Self.bannerBytesMax)
    }

    private static let bannerBytesMax = 300
}
