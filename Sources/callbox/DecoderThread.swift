// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem
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
    /// What the trial found out.
    case verdict(DecoderVerdict)
    /// What the display shows as it lies, the best first.
    case formats([SharedFormat])
    /// Neither a plane nor software can do with the pictures of this call.
    case notShown(Generation)
}

/// One picture of the far end, for the screen.
struct RemotePicture {
    /// In memory of our own, or as the board's decoder shares it.
    enum Content {
        case frame(VideoFrame)
        case shared(SharedPicture)
    }

    var content: Content
    var generation: Generation
}

/// Access units to pictures, by the board's decoder where a trial found it good, by software where not, or where it
/// fails. A picture that is not whole never leaves this thread.
final class DecoderThread {
    enum State {
        case idle
        case software(H264Decoder, Generation)
        case board(BoardDecoder, Generation)
    }

    let wires: Wires
    /// Without a screen the first decoded picture is the first one shown.
    private let hasScreen: Bool
    let trial: DecoderTrial
    let encoderRecord: TrialRecord
    /// Not where the owner wants software alone, or has not settled the licence.
    let mayTry: Bool
    let mayTryEncoder: Bool
    var verdict: DecoderVerdict?
    private var formats: [SharedFormat] = []
    /// When whoever started the board has seen it start.
    var triesAt: Instant?
    var state = State.idle
    private var hasDecoded = false
    private var lost: UInt64 = 0
    /// When what a call took goes back to the system.
    private var tidiesAt: Instant?
    private static let tidyDelay = Duration.seconds(2)
    static let trialDelay = Duration.seconds(3)
    private static let idleWait = Duration.seconds(3600)

    init(_ settings: VideoSettings, data: ByteString, wires: Wires, hasScreen: Bool) {
        self.wires = wires
        self.hasScreen = hasScreen
        self.trial = DecoderTrial(data: data)
        self.encoderRecord = TrialRecord(data: data, name: "encoder")
        self.mayTry = settings.decoder == .automatic && settings.mayUseH264
        self.mayTryEncoder = settings.encoder == .automatic && settings.mayUseH264
    }

    func run() {
        self.begin()
        while true {
            self.wait()
            while let message = self.wires.decoder.take() { self.handle(message) }
            self.takePictures()
            self.tryWhenDue()
            self.tidyWhenDue()
        }
    }

    private func wait() {
        guard case .board(let board, _) = self.state, board.isWaiting else {
            let due = [self.triesAt, self.tidiesAt].compactMap { $0 }.min()
            let limit = due.map { max($0 - Clock.now(), .zero) } ?? Self.idleWait
            return self.wires.decoder.wait(limit: limit)
        }
        let limit = board.deadline.map { max($0 - Clock.now(), .milliseconds(1)) } ?? Self.idleWait
        self.wires.decoder.wait(limit: limit, orDevice: board.descriptor)
    }

    private func handle(_ message: DecoderMessage) {
        switch message {
        case .start(let generation):
            self.hasDecoded = false
            self.tidiesAt = nil
            self.open(generation)
        case .stop:
            self.state = .idle
            self.tidiesAt = Clock.now() + Self.tidyDelay
        case .verdict(let verdict):
            self.take(verdict)
            self.wires.records.order(.files([self.trial.file(verdict)]))
        case .formats(let formats):
            self.formats = formats
        case .notShown(let generation):
            guard case .board(_, generation) = self.state else { return }
            self.fallBack(.notShown, generation)
        case .unit(let unit, let unitGeneration):
            let dropped = self.wires.decoder.dropped
            let isBehind = dropped != self.lost
            self.lost = dropped
            switch self.state {
            case .idle: return
            case .software(let decoder, let generation):
                guard unitGeneration == generation, !self.passesOver(unit, isBehind) else { return }
                self.decode(unit, decoder, generation)
            case .board(let board, let generation):
                guard unitGeneration == generation, !self.passesOver(unit, isBehind) else { return }
                self.decode(unit, board, generation)
            }
        }
    }

    /// The allocator keeps what the pictures of a call took, of all threads, until it is told otherwise.
    private func tidyWhenDue() {
        guard let due = self.tidiesAt, Clock.now() >= due else { return }
        self.tidiesAt = nil
        callbox_trim_memory()
    }

    /// What came before this unit was lost in the mailbox.
    private func passesOver(_ unit: AccessUnit, _ isBehind: Bool) -> Bool {
        if isBehind { self.wires.media.put(.pictureBroken) }
        return isBehind && !unit.isKeyFrame
    }

    private func show(_ content: RemotePicture.Content, isKeyFrame: Bool, _ generation: Generation) {
        self.wires.counters.update { $0.framesDecoded &+= 1 }
        if isKeyFrame { self.wires.media.put(.keyFrameDecoded) }
        self.wires.remotePictures.put(RemotePicture(content: content, generation: generation))
        if !self.hasDecoded && !self.hasScreen { self.wires.report(.firstFrameShown, generation) }
        self.hasDecoded = true
    }
}

// MARK: - Software

extension DecoderThread {
    private func decode(_ unit: AccessUnit, _ decoder: H264Decoder, _ generation: Generation) {
        switch decoder.decode(unit, captured: Clock.now()) {
        case .picture(let frame, let isKeyFrame): self.show(.frame(frame), isKeyFrame: isKeyFrame, generation)
        case .broken, .waiting: self.wires.media.put(.pictureBroken)
        case .nothing: break
        }
    }

    private func openSoftware(_ generation: Generation) {
        do throws(CodecError) {
            self.state = .software(try H264Decoder(), generation)
        } catch {
            Log.write("callbox: " + error.text)
            self.state = .idle
        }
    }
}

// MARK: - The board's decoder

extension DecoderThread {
    private func open(_ generation: Generation) {
        guard let verdict = self.verdict, verdict.usesBoard else { return self.openSoftware(generation) }
        do throws(HardwareCodecError) {
            self.state = .board(try BoardDecoder(formats: self.formats), generation)
        } catch {
            self.fallBack(error, generation)
        }
    }

    private func decode(_ unit: AccessUnit, _ board: BoardDecoder, _ generation: Generation) {
        do throws(HardwareCodecError) {
            switch try board.give(unit, now: Clock.now()) {
            case .taken: break
            case .waiting, .broken: self.wires.media.put(.pictureBroken)
            }
        } catch {
            self.fallBack(error, generation)
        }
    }

    private func takePictures() {
        guard case .board(let board, let generation) = self.state else { return }
        do throws(HardwareCodecError) {
            while true {
                switch try board.next(now: Clock.now()) {
                case .picture(let picture, let isKeyFrame):
                    self.show(.shared(picture), isKeyFrame: isKeyFrame, generation)
                case .broken: self.wires.media.put(.pictureBroken)
                case .nothing: return
                }
            }
        } catch {
            self.fallBack(error, generation)
        }
    }

    /// For the rest of the call: whoever looks should notice nothing.
    private func fallBack(_ error: HardwareCodecError, _ generation: Generation) {
        self.openSoftware(generation)
        self.wires.media.put(.pictureBroken)
        self.wires.report(.fellBack(.decoder, error.text))
    }
}
