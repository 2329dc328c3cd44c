// SPDX-License-Identifier: Apache-2.0
import Bytes
import SDPWire
import SIPEngine

/// Keys pressed in a call, and what else goes by INFO.
extension KioskEngine {
    private static let digitMs = 160

    /// As telephone events where the far end takes them, else one INFO a key: the engine keeps their order.
    mutating func sendDigits(_ keys: [UInt8], now: Instant) -> ByteString {
        guard case .connected(let state) = self.machine.state, self.mediaRuns else {
            return Reply.refused("there is no call")
        }
        let audio = self.session?.negotiated?.audio
        for key in keys {
            if let audio, audio.telephoneEvent != nil, audio.direction.sends {
                self.put(.media(.sendDigit(key, durationMs: Self.digitMs)))
            } else {
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

    mutating func emitDigit(_ key: UInt8, by way: ByteString, now: Instant) {
        self.emit("digit", now: now) {
            $0.put("key", ByteString([key]))
            $0.put("by", way)
        }
    }

    /// RFC 5168 section 7.
    private static let keyFrameRequest: ByteString = """
        <?xml version="1.0" encoding="utf-8" ?>
        <media_control><vc_primitive><to_encoder><picture_fast_update/></to_encoder></vc_primitive></media_control>

        """

    mutating func askForKeyFrame(now: Instant) {
        guard case .connected(let state) = self.machine.state, state.shape.receivesVideo else { return }
        self.tell(
            .inform(
                state.handle, contentType: "application/media_control+xml", body: Self.keyFrameRequest.bytes), now: now)
    }

    mutating func informed(_ handle: CallHandle, isTaken: Bool, now: Instant) {
        guard self.machine.state.handle == handle, !isTaken else { return }
        self.emit("info_refused", now: now) { _ in }
    }
}
