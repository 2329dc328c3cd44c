// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem
import KioskEngine
import Loop
import MediaEngine
import Panel
import SIPEngine
import SIPWire
import Secure

/// Runs the kiosk: inputs up, outputs down, one deadline. It decides nothing.
final class ControlThread {
    static let controlTokens: UInt64 = 200
    private static let signalsToken: UInt64 = 2
    private static let reportsToken: UInt64 = 3
    private static let answersToken: UInt64 = 4
    private static let routesToken: UInt64 = 5
    /// Of the panel: this and the descriptor's number, above all others.
    private static let panelTokens: UInt64 = 1 << 32

    let poller: Poller
    var kiosk: KioskEngine
    var signalling: SignallingSockets
    var control: ControlServer?
    let panel: PanelLines
    private var watchedOfPanel: [Int32] = []
    let tamperMark: TamperMark
    private let signals: Int32
    let wires: Wires
    let time: SavedTime
    private let certificate: OwnCertificate
    let file: ConfigurationFile
    var secrets: Secrets
    let records: Records
    let resolver: Resolver
    private var routes = RouteWatch()
    var generation: Generation = 0
    var promptNumber: PromptNumber = 0
    /// Answers to outputs that are known at once: put in when the outputs before them are drained.
    var pending: [KioskInput] = []
    /// Screen, tone and log wait until the network has its messages: a press is on the wire before it is drawn.
    var unhurried: [KioskOutput] = []
    var ending: Ending?
    /// The stream that the kiosk closed last: what else it had is of no interest.
    var closed: Flow?
    /// The kiosk was told that there is no network.
    private var isCutOff = false

    /// What becomes of the process.
    enum Ending {
        case exit(Int32)
        case restart
    }

    /// `signals` is a descriptor on which SIGTERM, SIGINT and SIGHUP arrive; `nameServers` are those that are asked, or
    /// empty.
    init(
        kiosk: KioskEngine, poller: consuming Poller, signalling: consuming SignallingSockets,
        control: consuming ControlServer?, panel: PanelLines, tamperMark: TamperMark, signals: Int32,
        nameServers: [SocketAddress], wires: Wires, time: SavedTime, file: ConfigurationFile, secrets: Secrets,
        certificate: OwnCertificate, records: Records
    ) {
        self.resolver = Resolver(servers: nameServers)
        self.kiosk = kiosk
        self.poller = poller
        self.signalling = signalling
        self.control = control
        self.panel = panel
        self.tamperMark = tamperMark
        self.signals = signals
        self.wires = wires
        self.time = time
        self.file = file
        self.secrets = secrets
        self.certificate = certificate
        self.records = records
    }

    /// Until the kiosk wants to leave.
    func run() -> Ending {
        self.watch()
        self.put(.started)
        self.pending.append(.secrets(self.secrets.read()))
        var deadline = self.drain()
        self.lookForAddresses()
        // What was pressed before, too.
        self.servePanel([])
        notifyServiceManager("READY=1")
        while self.ending == nil {
            for ready in self.poller.wait(until: self.soonest(deadline)) where self.ending == nil {
                self.serve(ready)
            }
            if self.routes.hasChanged(now: Clock.now()) {
                self.take(.networkChanged)
                self.lookForAddresses()
            }
            for input in self.signalling.timePassed(now: Clock.now(), poller: self.poller) { self.take(input) }
            if self.kiosk.isFaulty(.clock), self.time.clock.isTimeKnown { self.take(.device(.restored(.clock))) }
            self.records.saveTimeWhenDue(now: Clock.now())
            self.records.reportWhenDue(now: Clock.now()) { self.kiosk.report(file: $0, addresses: $1) }
            if let record = self.certificate.lookWhenDue(now: Clock.now()) {
                self.take(.certificate(record, .endsSoon))
            }
            if let due = self.panel.deadline, due <= Clock.now() { self.servePanel([]) }
            if self.ending == nil {
                self.put(.timeout)
                deadline = self.drain()
                self.noteVitals(deadline)
            }
        }
        self.records.finish(now: Clock.now())
        if case .restart? = self.ending { return .restart }
        notifyServiceManager("STOPPING=1")
        return self.ending ?? .exit(0)
    }

    /// What the watch cannot see by itself: whether what was due was done, and which parts have no device.
    private func noteVitals(_ deadline: Instant?) {
        let now = Clock.now()
        var away: [VitalPart] = []
        if self.kiosk.isFaulty(.playback), self.kiosk.isFaulty(.capture) { away.append(.sound) }
        if self.kiosk.isFaulty(.display) { away.append(.display) }
        if self.panel.deadline == nil { away.append(.panel) }
        self.wires.vitals.note(
            signallingDue: deadline, panelDue: self.panel.deadline, away: away, now: now)
    }

    /// Without an address nobody can be called, whatever the cable says.
    private func lookForAddresses() {
        let isCutOff = ownAddresses().isEmpty
        guard isCutOff != self.isCutOff else { return }
        self.isCutOff = isCutOff
        self.take(.device(isCutOff ? .failed(.network, "this board has no address.") : .restored(.network)))
    }

    private func watch() {
        self.poller.watch(self.signals, token: Self.signalsToken)
        self.poller.watch(self.wires.reports.wakeup, token: Self.reportsToken)
        self.poller.watch(self.resolver.answers.wakeup, token: Self.answersToken)
        if self.routes.descriptor >= 0 { self.poller.watch(self.routes.descriptor, token: Self.routesToken) }
        self.watchPanel()
    }

    /// A line that is too noisy is not watched for a while.
    private func watchPanel() {
        let descriptors = self.panel.descriptors
        for descriptor in descriptors where !self.watchedOfPanel.contains(descriptor) {
            self.poller.watch(descriptor, token: Self.panelTokens + UInt64(descriptor))
        }
        for descriptor in self.panel.deaf where self.watchedOfPanel.contains(descriptor) {
            self.poller.unwatch(descriptor)
        }
        self.watchedOfPanel = descriptors
    }

    private func servePanel(_ ready: [Int32]) {
        for input in self.panel.read(ready, now: Clock.now()) { self.take(input) }
        self.watchPanel()
    }

    /// The engine's deadline, or an earlier one of the sockets or of the clock's file.
    private func soonest(_ deadline: Instant?) -> Instant? {
        [
            self.panel.deadline, deadline, self.routes.settlesAt, self.signalling.deadline, self.time.savesAt,
            self.certificate.looksAt, self.records.reportsAt,
        ]
        .compactMap { $0 }.min()
    }

    func put(_ input: KioskInput) {
        self.kiosk.handle(input, now: Clock.now())
    }

    /// One input and all that it leads to.
    private func take(_ input: KioskInput) {
        guard self.ending == nil else { return }
        if case .received(let bytes, let flow) = input, flow.transport != .udp, bytes.count > Self.pieceMax {
            return self.take(bytes, on: flow)
        }
        self.put(input)
        _ = self.drain()
    }

    /// What a stream had, piece by piece: thousands of keep-alives would else be thousands of answers at a time.
    private func take(_ bytes: [UInt8], on flow: Flow) {
        self.closed = nil
        for start in stride(from: 0, to: bytes.count, by: Self.pieceMax) where self.closed != flow {
            let end = min(start + Self.pieceMax, bytes.count)
            self.take(.received(Array(bytes[start..<end]), on: flow))
        }
    }

    private static let pieceMax = 1024

    // MARK: - Inputs

    private func serve(_ ready: Readiness) {
        if self.signalling.owns(token: ready.token) {
            for input in self.signalling.handle(ready, now: Clock.now(), poller: self.poller) { self.take(input) }
        } else if self.control?.owns(token: ready.token) == true {
            self.serveControl(ready)
        } else if ready.token == Self.signalsToken {
            var signal = signalfd_siginfo()
            guard read(self.signals, &signal, MemoryLayout<signalfd_siginfo>.size) > 0 else { return }
            self.take(signal.ssi_signo == UInt32(SIGHUP) ? self.readConfiguration() : .terminate)
        } else if ready.token == Self.reportsToken {
            self.wires.reports.acknowledge()
            while let report = self.wires.reports.take() { self.serve(report) }
        } else if ready.token == Self.answersToken {
            self.resolver.answers.acknowledge()
            while let answer = self.resolver.answers.take() { self.take(.answer(answer.id, answer.answer)) }
        } else if ready.token == Self.routesToken {
            self.routes.read(now: Clock.now())
        } else if ready.token >= Self.panelTokens {
            self.servePanel([Int32(truncatingIfNeeded: ready.token - Self.panelTokens)])
        }
    }

    private func serveControl(_ ready: Readiness) {
        let events = self.control?.handle(ready, poller: self.poller) ?? []
        for event in events {
            switch event {
            case .line(let line, let client): self.take(.control(ClientID(client), line: line))
            case .gone(let client): self.take(.clientGone(ClientID(client)))
            }
        }
    }

    private func serve(_ report: Report) {
        switch report {
        case .media(let report, let generation):
            if generation == self.generation { self.take(.media(report)) }
        case .ice(let report):
            self.take(.ice(report))
        case .device(let report):
            self.take(.device(report))
        case .video(let report):
            self.take(.video(report))
        case .camera(let size, let fps):
            self.take(.camera(size, fps: fps))
        case .problem(let problem):
            self.take(.problem(problem))
        case .screenshot(let client, let result):
            self.reply(client, result.line)
        }
    }
}
