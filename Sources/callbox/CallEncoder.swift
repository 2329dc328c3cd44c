// SPDX-License-Identifier: Apache-2.0

import Bytes
import KioskEngine
import Loop
import Picture

/// Own pictures to what is sent of them: by the board's encoder where a trial found it good, by software where not, or
/// where it fails. Owned by the camera's thread.
final class CallEncoder {
    private enum Codec {
        case software(H264Encoder)
        case board(BoardEncoder)
    }

    private struct Opened {
        let codec: Codec
        /// What it was opened for, and how much of that it was told to make.
        let plan: EncoderPlan
        let format: PictureFormat
        var kbps: Int

        init(_ codec: Codec, for plan: EncoderPlan, _ format: PictureFormat) {
            self.codec = codec
            self.plan = plan
            self.format = format
            self.kbps = plan.bitrateKbps
        }

        /// No more than it was opened for: its level goes by that.
        func serves(_ other: EncoderPlan) -> Bool {
            var same = other
            same.bitrateKbps = self.plan.bitrateKbps
            return same == self.plan && other.bitrateKbps <= self.plan.bitrateKbps
        }
    }

    private let wires: Wires
    private var opened: Opened?
    private var verdict: EncoderVerdict?
    /// In this call: what went wrong may have been the call.
    private var isBoardGivenUp = false
    private var limitKbps = Int.max

    init(wires: Wires) {
        self.wires = wires
    }

    func take(_ verdict: EncoderVerdict) {
        self.verdict = verdict
        self.wires.report(.link(.encoder, verdict.words))
        Log.write("callbox: pictures are encoded by " + verdict.words)
    }

    /// At most so much from the next picture on, whatever the plan allows.
    func limit(kbps: Int) { self.limitKbps = kbps }

    /// The next picture begins a stream of its own.
    func beginAnew() { self.opened = nil }

    func endCall() {
        self.opened = nil
        self.isBoardGivenUp = false
    }

    /// Sends one picture, unless pictures come faster than the plan's rate. A key frame that was asked for with a
    /// picture that is passed over comes with the next. Another bit rate than before is one order to the encoder that
    /// is open; any other change of the plan begins a stream of its own.
    func encode(_ frame: VideoFrame, _ plan: EncoderPlan, format: PictureFormat, forceKeyFrame: Bool) {
        if case .board(let encoder)? = self.opened?.codec, !encoder.takes(frame) { self.opened = nil }
        if let opened = self.opened, !opened.serves(plan) { self.opened = nil }
        if self.opened == nil { self.open(plan, format, first: frame) }
        self.follow(plan)
        switch self.opened?.codec {
        case nil: return
        case .software(let encoder)?: self.encode(frame, encoder, forceKeyFrame: forceKeyFrame)
        case .board(let encoder)?:
            do throws(HardwareCodecError) {
                let done = try encoder.encode(frame, forceKeyFrame: forceKeyFrame, clock: Clock.now)
                done.forEach(self.send)
            } catch {
                self.giveUp(error, plan, format)
                self.follow(plan)
                guard case .software(let encoder)? = self.opened?.codec else { return }
                self.encode(frame, encoder, forceKeyFrame: true)
            }
        }
    }

    private func encode(_ frame: VideoFrame, _ encoder: H264Encoder, forceKeyFrame: Bool) {
        do throws(CodecError) {
            if let picture = try encoder.encode(frame, forceKeyFrame: forceKeyFrame) { self.send(picture) }
        } catch {
            // Without an encoder there is no picture to send; the next one makes a new one.
            self.opened = nil
            Log.write("callbox: " + error.text)
        }
    }

    private func send(_ picture: EncodedPicture) {
        self.wires.counters.update { $0.framesEncoded &+= 1 }
        self.wires.media.put(.videoEncoded(picture))
    }

    /// A board's encoder that knows no rate goes on as it was: a new one would know no more of it.
    private func follow(_ plan: EncoderPlan) {
        let kbps = min(plan.bitrateKbps, self.limitKbps)
        guard let opened = self.opened, kbps != opened.kbps else { return }
        self.opened?.kbps = kbps
        switch opened.codec {
        case .software(let encoder): encoder.setBitrate(kbps: kbps)
        case .board(let encoder): guard encoder.setBitrate(kbps: kbps) else { return }
        }
        self.tell()
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
            self.opened = Opened(.board(board), for: plan, format)
            self.tell()
        } catch {
            self.giveUp(error, plan, format)
        }
    }

    private func openSoftware(_ plan: EncoderPlan, _ format: PictureFormat) {
        self.opened = nil
        do throws(CodecError) {
            let encoder = try H264Encoder(
                H264EncoderSettings(
                    width: plan.size.width, height: plan.size.height, format: format, rate: FrameRate(plan.fps),
                    bitrateKbps: plan.bitrateKbps, nalUnitBytesMax: plan.nalSizeMax))
            self.opened = Opened(.software(encoder), for: plan, format)
            self.tell()
        } catch {
            Log.write("callbox: " + error.text)
        }
    }

    private func tell() {
        guard let opened = self.opened else { return }
        var plan = opened.plan
        plan.bitrateKbps = opened.kbps
        switch opened.codec {
        case .software: self.wires.report(.link(.encoder, plan.words(from: opened.format)))
        case .board(let encoder):
            self.wires.report(.link(.encoder, plan.words(by: encoder, from: opened.format)))
        }
    }

    /// For the rest of the call: whoever looks should notice nothing.
    private func giveUp(_ error: HardwareCodecError, _ plan: EncoderPlan, _ format: PictureFormat) {
        self.isBoardGivenUp = true
        self.openSoftware(plan, format)
        self.wires.report(.fellBack(.encoder, error.text))
    }
}
