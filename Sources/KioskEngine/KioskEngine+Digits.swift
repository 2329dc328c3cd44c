// SPDX-License-Identifier: Apache-2.0
import Bytes
import SDPWire
import SIPEngine

/// Keys pressed in a call, and what else goes by INFO.
extension KioskEngine {
    private static let digitMs = 160

    /// How a key press reaches the far end of this call.
    private enum DigitWay {
        /// RFC 4733.
        case events
        case info
        /// As the tones themselves, in the sound that is sent.
        case inBand
    }

    /// Nil where there is no way at all.
    private func digitWay(_ handle: CallHandle) -> DigitWay? {
        let audio = self.session?.negotiated?.audio
        let sends = audio?.direction.sends ?? false
        if sends, audio?.telephoneEvent != nil { return .events }
        // A key must not overtake one that was sent before it, even where that one will be refused.
        if self.panel.informs.hasKeys(of: handle) { return .info }
        let takesInfo = self.panel.refusesInfo ? false : self.sip.takesInfo(handle)
        if takesInfo == true { return .info }
        if self.takesTones { return .inBand }
        // Who does not say what it takes may take it.
        return takesInfo == nil ? .info : nil
    }

    /// A codec for speech alone would spoil the tones.
    private var takesTones: Bool {
        guard let audio = self.session?.negotiated?.audio, audio.direction.sends else { return false }
        return audio.codec == .pcmu || audio.codec == .pcma
    }

    /// As the far end takes them, one after the other.
    mutating func sendDigits(_ keys: [UInt8], now: Instant) -> ByteString {
        guard case .connected(let state) = self.machine.state, self.mediaRuns else {
            return Reply.refused("there is no call")
        }
        guard let way = self.digitWay(state.handle) else { return Reply.refused("the other side takes no digits") }
        for key in keys {
            switch way {
            case .events: self.put(.media(.sendDigit(key, durationMs: Self.digitMs)))
            case .inBand: self.put(.media(.playDigit(key, durationMs: Self.digitMs)))
            case .info:
                guard self.panel.informs.add(.key(key), to: state.handle) else {
                    return Reply.refused("the other side is too slow in taking digits")
                }
                let body: ByteString =
                    "Signal=" + ByteString([key]) + "\r\nDuration=" + ByteString(decimal: Self.digitMs) + "\r\n"
                self.tell(
                    .inform(state.handle, contentType: "application/dtmf-relay", body: body.bytes), now: now)
            }
        }
        return Reply.done
    }

    mutating func digit(_ handle: CallHandle, _ key: UInt8, now: Instant) {
        guard self.machine.state.handle == handle else { return }
        self.emitDigit(key, by: "info", now: now)
        self.confirm(now: now)
    }

    /// The far end pressed a key. Where it may be part of a code, nobody is told which.
    mutating func emitDigit(_ key: UInt8, by way: ByteString, now: Instant) {
        let isSecret = self.mayHearCode
        self.emit("digit", now: now) {
            $0.put("key", isSecret ? "hidden" : ByteString([key]))
            $0.put("by", way)
        }
        self.heardKey(key, now: now)
    }

    /// RFC 5168 section 7.
    private static let keyFrameRequest: ByteString = """
        <?xml version="1.0" encoding="utf-8" ?>
        <media_control><vc_primitive><to_encoder><picture_fast_update/></to_encoder></vc_primitive></media_control>

        """

    mutating func askForKeyFrame(now: Instant) {
        guard case .connected(let state) = self.machine.state, state.shape.receivesVideo,
            self.panel.informs.add(.keyFrameRequest, to: state.handle)
        else { return }
        self.tell(
            .inform(
                state.handle, contentType: "application/media_control+xml", body: Self.keyFrameRequest.bytes), now: now)
    }

    /// A key that was refused goes another way, or whoever pressed it is told. A refusal to send a picture says nothing
    /// about keys.
    mutating func informed(_ handle: CallHandle, isTaken: Bool, now: Instant) {
        guard self.machine.state.handle == handle, let content = self.panel.informs.takeFirst(of: handle), !isTaken
        else { return }
        self.emit("info_refused", now: now) { _ in }
        guard case .key(let key) = content else { return }
        self.panel.refusesInfo = true
        if self.takesTones { return self.put(.media(.playDigit(key, durationMs: Self.digitMs))) }
        self.keyRefused(now: now)
    }

    mutating func keyRefused(now: Instant) {
        self.put(.chime(.lost))
        self.emit("key", now: now) { $0.put("state", "refused") }
    }
}
