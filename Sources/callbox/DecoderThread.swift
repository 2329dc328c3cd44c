// SPDX-License-Identifier: Apache-2.0

import Bytes
import KioskEngine
import Loop
import Picture
import RTPWire

/// What goes to the decoder thread.
enum DecoderMessage {
    /// A call's media begin.
    case start(Generation)
    case unit(AccessUnit, Generation)
    case stop
}

/// One picture of the far end, for the screen.
struct RemotePicture {
    var frame: VideoFrame
    var generation: Generation
}

/// Access units to pictures. A picture that is not whole never leaves this thread.
final class DecoderThread {
    private enum State {
        case idle
        case decoding(H264Decoder, Generation)
    }

    private let wires: Wires
    /// Without a screen the first decoded picture is the first one shown.
    private let hasScreen: Bool
    private var state = State.idle
    private var hasDecoded = false
    private var lost: UInt64 = 0

    init(wires: Wires, hasScreen: Bool) {
        self.wires = wires
        self.hasScreen = hasScreen
    }

    func run() {
        while true {
            self.wires.decoder.wait(limit: .seconds(3600))
            while let message = self.wires.decoder.take() { self.handle(message) }
        }
    }

    private func handle(_ message: DecoderMessage) {
        switch message {
        case .start(let generation):
            self.hasDecoded = false
            do {
                self.state = .decoding(try H264Decoder(), generation)
            } catch {
                Log.write("callbox: " + error.text)
                self.state = .idle
            }
        case .stop:
            self.state = .idle
        case .unit(let unit, let unitGeneration):
            guard case .decoding(let decoder, let generation) = self.state, unitGeneration == generation else { return }
            self.decode(unit, decoder, generation)
        }
    }

    private func decode(_ unit: AccessUnit, _ decoder: H264Decoder, _ generation: Generation) {
        let dropped = self.wires.decoder.dropped
        if dropped != self.lost {
            self.lost = dropped
            self.wires.media.put(.pictureBroken)
            if !unit.isKeyFrame { return }
        }
        switch decoder.decode(unit, captured: Clock.now()) {
        case .picture(let frame, let isKeyFrame):
            self.wires.counters.update { $0.framesDecoded &+= 1 }
            if isKeyFrame { self.wires.media.put(.keyFrameDecoded) }
            self.wires.remotePictures.put(RemotePicture(frame: frame, generation: generation))
            if !self.hasDecoded && !self.hasScreen { self.wires.report(.firstFrameShown, generation) }
            self.hasDecoded = true
        case .broken, .waiting:
            self.wires.media.put(.pictureBroken)
        case .nothing:
            break
        }
    }
}
