// SPDX-License-Identifier: Apache-2.0

import Bytes
import KioskEngine
import Loop
import Picture

/// Own pictures to what is sent of them: by the board's encoder where a trial found it good, by software where not, or
/// where it fails. Owned by the camera's thread.
final class CallEncoder {
    private enum State {
        case none
        case software(H264Encoder)
        case board(BoardEncoder)
    }

    private let wires: Wires
    private var state = State.none
    private var verdict: EncoderVerdict?
    /// In this call: what went wrong may have been the call.
    private var isBoardGivenUp = false

    init(wires: Wires) {
        self.wires = wires
    }

    func take(_ verdict: EncoderVerdict) {
        self.verdict = verdict
        self.wires.report(.link(.encoder, verdict.words))
        Log.write("callbox: pictures are encoded by " + verdict.words)
    }

    /// The next picture begins a stream of its own.
    func beginAnew() { self.state = .none }

    func endCall() {
        self.state = .none
        self.isBoardGivenUp = false
    }

    /// Sends one picture, unless pictures come faster than the plan's rate. A key frame that was asked for with a
    /// picture that is passed over comes with the next.
    func encode(_ frame: VideoFrame, _ plan: EncoderPlan, format: PictureFormat, forceKeyFrame: Bool) {
        if case .board(let encoder) = self.state, !encoder.takes(frame) { self.state = .none }
        if case .none = self.state { self.open(plan, format, first: frame) }
        switch self.state {
        case .none: return
        case .software(let encoder): self.encode(frame, encoder, forceKeyFrame: forceKeyFrame)
        case .board(let encoder):
            do throws(HardwareCodecError) {
                let done = try encoder.encode(frame, forceKeyFrame: forceKeyFrame, clock: Clock.now)
                done.forEach(self.send)
            } catch {
                self.giveUp(error, plan, format)
                guard case .software(let encoder) = self.state else { return }
                self.encode(frame, encoder, forceKeyFrame: true)
            }
        }
    }

    private func encode(_ frame: VideoFrame, _ encoder: H264Encoder, forceKeyFrame: Bool) {
        do throws(CodecError) {
            if let picture = try encoder.encode(frame, forceKeyFrame: forceKeyFrame) { self.send(picture) }
        } catch {
            // Without an encoder there is no picture to send; the next one makes a new one.
            self.state = .none
            Log.write("callbox: " + error.text)
        }
    }

    private func send(_ picture: EncodedPicture) {
        self.wires.counters.update { $0.framesEncoded &+= 1 }
        self.wires.media.put(.videoEncoded(picture))
    }

    // MARK: - Who does it

    private func open(_ plan: EncoderPlan, _ format: PictureFormat, first: VideoFrame) {
        guard case .board = self.verdict, !self.isBoardGivenUp, plan.nalSizeMax == nil else {
            // No board's encoder makes slices of a size that the other side's packetization mode wants.
            return self.openSoftware(plan, format)
        }
        do throws(HardwareCodecError) {
            let board = try BoardEncoder(
                HardwareEncoderSettings(
                    width: plan.size.width, height: plan.size.height, rate: FrameRate(plan.fps),
                    bitrateKbps: plan.bitrateKbps), first: first)
            self.state = .board(board)
            self.wires.report(.link(.encoder, plan.words(by: board, from: format)))
        } catch {
            self.giveUp(error, plan, format)
        }
    }

    private func openSoftware(_ plan: EncoderPlan, _ format: PictureFormat) {
        do throws(CodecError) {
            self.state = .software(
                try H264Encoder(
                    H264EncoderSettings(
                        width: plan.size.width, height: plan.size.height, format: format, rate: FrameRate(plan.fps),
                        bitrateKbps: plan.bitrateKbps, nalUnitBytesMax: plan.nalSizeMax)))
            self.wires.report(.link(.encoder, plan.words(from: format)))
        } catch {
            self.state = .none
            Log.write("callbox: " + error.text)
        }
    }

    /// For the rest of the call: whoever looks should notice nothing.
    private func giveUp(_ error: HardwareCodecError, _ plan: EncoderPlan, _ format: PictureFormat) {
        self.isBoardGivenUp = true
        self.openSoftware(plan, format)
        self.wires.report(.fellBack(.encoder, error.text))
    }
}
