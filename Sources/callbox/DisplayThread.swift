// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem
import Display
import KioskEngine
import Loop
import Picture

/// What goes to the display thread.
enum DisplayMessage {
    case draw(ScreenState)
    /// A call's media begin: pictures of a former call are not shown any more.
    case start(Generation)
    case stop
    case screenshot(ClientID, path: ByteString)
    /// The light behind the screen, to save power; or as it was.
    case dim(Bool)
}

/// Owns the screen: words, pictures, flips.
final class DisplayThread {
    /// How far the far end's picture of this call has come.
    private enum Remote {
        /// No call's media run.
        case none
        /// None has been decoded.
        case awaited(Generation)
        /// The first one was put on its layer; shown when `shown` has grown beyond this count.
        case revealing(Generation, shownBefore: UInt64)
        /// It is on the screen and the kiosk knows it. Until the kiosk has drawn anew, the layer stays as it is.
        case revealed(Generation, kioskHasDrawn: Bool)
    }

    private let display: Display
    private let wires: Wires
    private let light: ScreenLight
    private var state = ScreenState()
    private var remote = Remote.none
    private var fault: ByteString?
    private var isForced = false
    /// For pictures of the board's decoder that no plane takes.
    private let converter = SharedPictureConverter()
    private var told = ByteString()
    /// The call whose shared pictures nobody can show.
    private var unshown: Generation?
    private var sharedIn: Generation?
    /// The display counts for its whole life, a call for its own.
    private var atStart = PictureCounters()
    private static let messagesToken: UInt64 = 1
    private static let remoteToken: UInt64 = 2
    private static let selfToken: UInt64 = 3
    private static let screenToken: UInt64 = 4

    init(display: Display, light: ScreenLight, wires: Wires) {
        self.display = display
        self.light = light
        self.wires = wires
        self.fault = display.fault?.sentence
    }

    func run() {
        let poller = Poller()
        poller.watch(self.wires.display.wakeup, token: Self.messagesToken)
        poller.watch(self.wires.remotePictures.wakeup, token: Self.remoteToken)
        poller.watch(self.wires.selfPictures.wakeup, token: Self.selfToken)
        var watched: Int32?
        while true {
            let descriptor = self.display.fileDescriptor
            if let descriptor {
                poller.watch(descriptor, token: Self.screenToken)
            } else if let gone = watched {
                poller.unwatch(gone)
            }
            if descriptor != watched { self.tellFormats() }
            watched = descriptor
            for ready in poller.wait(until: self.display.deadline) {
                switch ready.token {
                case Self.messagesToken: self.readMessages()
                case Self.remoteToken: self.readRemote()
                case Self.selfToken: self.readSelf()
                default: break
                }
            }
            self.display.turn(now: Clock.now())
            self.takeNote()
        }
    }

    // MARK: - Inputs

    private func readMessages() {
        self.wires.display.acknowledge()
        while let message = self.wires.display.take() {
            switch message {
            case .draw(let state):
                self.state = state
                if case .revealed(let generation, _) = self.remote {
                    self.remote = .revealed(generation, kioskHasDrawn: true)
                }
                self.draw()
            case .start(let generation):
                self.remote = .awaited(generation)
                self.atStart = self.display.counters(.remote)
            case .stop:
                self.remote = .none
            case .screenshot(let client, let path):
                self.screenshot(client, path)
            case .dim(let isOn): self.light.dim(isOn)
            }
        }
    }

    private func readRemote() {
        self.wires.remotePictures.acknowledge()
        guard let picture = self.wires.remotePictures.take() else { return }
        switch self.remote {
        case .none:
            return
        case .awaited(let generation):
            guard picture.generation == generation else { return }
            let shown = self.display.counters(.remote).shown
            self.remote = .revealing(generation, shownBefore: shown)
            self.draw()
        case .revealing(let generation, _), .revealed(let generation, _):
            guard picture.generation == generation else { return }
        }
        switch picture.content {
        case .frame(let frame): self.display.submit(frame.view, on: .remote, now: Clock.now())
        case .shared(let shared):
            self.sharedIn = picture.generation
            self.display.submit(shared.image(self.converter), on: .remote, now: Clock.now())
        }
    }

    private func readSelf() {
        self.wires.selfPictures.acknowledge()
        guard let picture = self.wires.selfPictures.take() else { return }
        self.display.submit(picture.frame.view, on: .selfView, now: Clock.now())
    }

    /// The kiosk learns of the first picture when it is on the screen; the layer has to be there before.
    private func draw() {
        var state = self.state
        switch self.remote {
        case .none, .awaited, .revealed(_, kioskHasDrawn: true): break
        case .revealing, .revealed(_, kioskHasDrawn: false): state.remote = .shown
        }
        self.display.draw(state)
    }

    private func screenshot(_ client: ClientID, _ path: ByteString) {
        do throws(DisplayError) {
            try self.display.screenshot(to: path, now: Clock.now())
            self.wires.reports.put(.screenshot(client, .saved(path: path)))
        } catch {
            self.wires.reports.put(.screenshot(client, .failed(error.sentence)))
        }
    }

    // MARK: - What the turn brought

    private func takeNote() {
        let counters = self.display.counters(.remote)
        if case .revealing(let generation, let before) = self.remote, counters.shown > before {
            self.remote = .revealed(generation, kioskHasDrawn: false)
            self.wires.report(.firstFrameShown, generation)
        }
        let shown = counters.shown &- self.atStart.shown
        let submitted = counters.submitted &- self.atStart.submitted
        self.wires.counters.update {
            $0.framesShown = shown
            $0.framesDropped = submitted > shown ? submitted - shown : 0
        }
        self.wires.counters.display = DisplayCounters(
            framebuffers: UInt64(self.display.framebufferCount), drawings: self.display.drawings)
        self.noteForcing()
        self.noteRefusal(counters)
        self.tellWay(counters)
        let fault = self.display.fault?.sentence
        guard fault != self.fault else { return }
        self.fault = fault
        self.wires.report(fault.map { .failed(.display, $0) } ?? .restored(.display))
    }

    /// Rows one after the other come first: those software can read too, should the display refuse them.
    private func tellFormats() {
        let kinds = self.display.sharedKinds
        let all = kinds.filter { $0.modifier == 0 } + kinds.filter { $0.modifier != 0 }
        self.wires.decoder.order(.formats(all.map { $0.format }))
    }

    /// A codec whose pictures are seen by nobody is worth nothing.
    private func noteRefusal(_ counters: PictureCounters) {
        let refused = counters.refused &- self.atStart.refused
        guard refused > 0, let generation = self.sharedIn, self.unshown != generation else { return }
        self.unshown = generation
        self.wires.decoder.order(.notShown(generation))
    }

    /// By which way the far end's pictures come to the screen.
    private func tellWay(_ counters: PictureCounters) {
        guard case .revealed = self.remote else { return }
        let way: ByteString
        if let reason = self.display.copyReason(.remote) {
            way = "1 copy by software. " + reason
        } else if self.display.isDirect(.remote) {
            way = "from the decoder's memory to a plane as they lie, 0 copies"
        } else {
            way = "1 copy by software, from the decoder into the memory of a plane"
        }
        guard way != self.told else { return }
        self.told = way
        self.wires.report(.link(.display, way))
    }

    /// Whether anybody sees it is the owner's affair.
    private func noteForcing() {
        guard self.display.isForced != self.isForced else { return }
        self.isForced = self.display.isForced
        guard self.isForced, let name = self.display.connectorName, let size = self.display.screenSize else { return }
        Log.write(
            "callbox: no display is noticed at " + name + "; it is driven all the same, with "
                + ByteString(decimal: size.width) + "x" + ByteString(decimal: size.height))
    }
}
