// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire

/// The product's behaviour without devices, sockets, clock or randomness: press, call, picture, outcome.
///
/// One mutation, then drain, then the next mutation:
/// 1. something happens in the world, or the time of the last `wait` is there;
/// 2. `handle(_:now:)` takes it; the very first input is `.started`;
/// 3. `pollOutput()` is called until it says `.wait`; each output is carried out in order;
/// 4. the loop sleeps until that instant, or until 1.
public struct KioskEngine {
    var configuration: Configuration
    var problems: [ConfigurationProblem]
    /// Those that were found beside the file.
    var problemsBeside: [ConfigurationProblem] = []
    var world: KioskWorld
    var machine: KioskMachine
    /// Who may talk to us because the file names it.
    var servers = ServerAddresses([], now: .zero)
    var locator = ServerLocator()
    /// Found, and their routes are being looked up.
    var routings: [Routing] = []
    var hopMemory = HopMemory()
    var policy: ServerPolicy
    var probes: [ServerProbe] = []
    /// The way by which the call that is made goes first.
    var placedBy: Flow?
    /// Calls that are placed at the same time as the one that leads.
    var otherCalls: [OtherCall] = []
    /// Who was called, and may call back.
    var callBacks = CallBacks()
    var autoCall: AutoCall
    /// Keys that are still to be pressed in the call.
    var postDial: PostDial?
    /// Those that are to be registered.
    var accounts: [Account]
    /// Those that the file no longer has, as long as they are being given back.
    var formerAccounts: [Account] = []
    var registrationNext: UInt64 = 1
    /// A file that was read during a call, and waits for its end.
    var pendingReload: Reload?
    /// The program ends only to begin anew.
    var isRestarting = false
    /// The program ends, at the latest then.
    var leaveBy: Instant?
    /// The question about our address toward the far end of the call, after the network changed.
    var addressQuestion: ResolutionID?
    /// It ends, and there is no call any more.
    var isCallOver = false
    var passwords = Passwords()
    /// The ways of media that are found by ICE.
    var ice = ICEMachine()
    var iceServers: ICEServers
    /// The call from outside that alerts; nil where none does.
    var alerting: IncomingCall?
    /// The descriptions of the call that the machine has; nil between calls.
    var session: MediaSession?
    /// Those of the call that is to take its place; nil where none is placed.
    var transferSession: MediaSession?
    /// Our 2xx had an offer: the ACK is to bring the answer.
    var awaitsAnswerInACK = false
    /// Texts outside of a call that are on their way.
    var texts: [OutgoingText] = []
    var textNumber: UInt64 = 0
    /// The text that stands on the screen.
    var notice: Notice?
    /// Why TLS failed, while the input that told of it is at work.
    var tlsFault: TLSFault?
    /// What the screen speaks.
    var language: Language
    /// When it speaks the first language again; nil while it does, and as long as somebody is there.
    var languageEndsAt: Instant?
    /// A page for whoever installs the kiosk, and how long it stays.
    var servicePage: (page: ServicePage, until: Instant)?
    /// The question for our own address, and the answer, for the health page.
    var healthQuestion: ResolutionID?
    var healthAddress = ByteString()
    /// Since when nobody was there; nil while there is a call.
    var quietSince: Instant?
    /// Media were started and not stopped.
    var mediaRuns = false
    /// What comes was ordered not to be heard.
    var isDeaf = false
    /// The far end is being told to press a key.
    var isAnnouncing = false
    var faults = DeviceFaults()
    var chain = VideoChain()
    /// The operator has taken the kiosk out of service.
    var isPaused = false
    /// The supply fails.
    var isPowerFailing = false
    /// The newest counts of this call, or of the last one.
    var counters: MediaCounters?
    /// What is known of the call that is made, and the last ones that were.
    var notes = CallNotes()
    var recentCalls: [CallRecord] = []
    /// Another one each time when `report` may say something else.
    public internal(set) var reportNumber: UInt64 = 0
    /// What the log keeps now, and how many messages of SIP it has seen.
    var logPolicy: LogPolicy
    var loggedMessages: UInt64 = 0
    /// Clients that asked for events.
    var subscribers: [ClientID] = []
    var generator: Generator
    /// Gives as many bytes as are asked for, for keys.
    let makeSecret: (Int) -> [UInt8]
    var sip: SIPEngine
    /// Calls that SIP told about and that were not looked at yet.
    var sipEvents: [(CallHandle, CallEvent)] = []
    /// The same about accounts.
    var registrationEvents: [(RegistrationID, RegistrationEvent)] = []
    /// The same about texts.
    var messageEvents: [(MessageID, StatusCode)] = []
    var sipWakesAt: Instant?
    var panel = PanelState()
    private(set) var shown: Presentation?
    /// What was told by ear.
    var announced = Announcement(.idle, hasScreen: false)
    var wasCutOff = false
    /// A prompt was ordered, and may still be spoken.
    var isSpeaking = false
    private var outputs: [KioskOutput] = []
    /// How many of `outputs` were taken.
    private var taken = 0
    private(set) var hasExited = false

    static let subscribersMax = 8

    /// `seed` decides all that is random in the signalling (tags, branches, SSRCs): take it from the operating system.
    /// Keys do not come from it, but from `makeSecret`, which gives as many bytes as are asked for.
    public init(
        configuration: Configuration, problems: [ConfigurationProblem], world: KioskWorld, seed: UInt64,
        makeSecret: @escaping (Int) -> [UInt8]
    ) {
        self.configuration = configuration
        self.problems = problems
        self.world = world
        self.machine = KioskMachine(
            ringTimeout: .milliseconds(configuration.call.ringTimeoutMs),
            mediaTimeout: .milliseconds(configuration.call.mediaTimeoutMs))
        self.autoCall = AutoCall(configuration.autoCall, isStart: true, now: .zero)
        self.machine.maxDuration = configuration.call.maxDuration
        self.accounts = []
        self.logPolicy = configuration.log.policy
        self.language = configuration.language.first
        self.policy = ServerPolicy(configuration.servers, now: .zero)
        self.iceServers = ICEServers(configuration.ice, now: .zero)
        self.panel.wasTampered = world.wasTampered
        self.generator = Generator(seed: seed)
        self.makeSecret = makeSecret
        self.sip = SIPEngine(
            configuration: SIPConfiguration(configuration, world), seed: self.generator.next())
        self.accounts = self.newAccounts(of: configuration)
    }

    public mutating func handle(_ input: KioskInput, now: Instant) {
        precondition(self.taken == self.outputs.count, "every output is taken before the next input")
        self.outputs.removeAll(keepingCapacity: true)
        self.taken = 0
        guard !self.hasExited else { return }
        self.take(input, now: now)
        if self.changedNothing(input) { return }
        self.settle(now: now)
        self.timePassed(now: now)
        self.settle(now: now)
        self.tlsFault = nil
        self.announce(after: input, now: now)
        self.present(now: now)
    }

    /// Nearly all that strangers send: a flood of it must cost no more than the look at it. Time passes at `.timeout`.
    private func changedNothing(_ input: KioskInput) -> Bool {
        guard case .received = input else { return false }
        return self.outputs.isEmpty && self.sipEvents.isEmpty && self.registrationEvents.isEmpty
            && self.messageEvents.isEmpty
    }

    /// The next thing to do; `wait` when there is nothing more.
    public mutating func pollOutput() -> KioskOutput {
        guard self.taken < self.outputs.count else { return .wait(until: self.wakesAt) }
        defer { self.taken += 1 }
        return self.outputs[self.taken]
    }

    private mutating func take(_ input: KioskInput, now: Instant) {
        switch input {
        case .started: self.started(now: now)
        case .button(let button, let edge): self.button(button, edge, now: now)
        case .key(let key): self.key(key, now: now)
        case .input(let name, let isActive): self.input(name, isActive: isActive, now: now)
        case .edges(let part, let edges, let age, let leftOut):
            self.logEdges(part, edges, age: age, leftOut: leftOut, now: now)
        case .control(let client, let line): self.control(client, line, now: now)
        case .clientGone(let client): self.subscribers.removeAll { $0 == client }
        case .received(let bytes, let flow): self.tell(.received(bytes, on: flow), now: now)
        case .flowFailed(let flow): self.tell(.flowFailed(flow), now: now)
        case .insecure(let flow, let fault): self.insecure(flow, fault, now: now)
        case .certificate(let record, let verdict): self.emit(record, verdict, now: now)
        case .answer(let id, let answer): self.locator.answered(id, answer, &self.generator, now: now)
        case .routed(let id, let locals): self.routed(id, locals, now: now)
        case .media(let report): self.media(report, now: now)
        case .ice(let report): self.ice(report, now: now)
        case .device(let report): self.device(report, now: now)
        case .video(let report): self.video(report, now: now)
        case .camera(let size, let fps): self.camera(gives: size, fps: fps, now: now)
        case .problem(let problem): self.found(problem, now: now)
        case .localCounters(let client, let counters): self.put(.reply(client, self.status(counters, now: now)))
        case .networkChanged: self.networkChanged(now: now)
        case .clock(let time): self.autoCall.clock(time, now: now)
        case .secrets(let credentials): self.passwords.replace(with: credentials)
        case .reload(let configuration, let problems): self.reload(configuration, problems, now: now)
        case .terminate: self.terminate(now: now)
        case .timeout: break
        }
    }

    /// Nothing is ordered after `.exit` and `.restart`.
    mutating func put(_ output: KioskOutput) {
        if !self.hasExited { self.outputs.append(output) }
    }

    // MARK: - Screen, lamp and tone

    /// Orders what changed since the last input, and nothing else.
    private mutating func present(now: Instant) {
        guard !self.hasExited else { return }
        let next = Presentation(self.machine.state, self.surroundings(now))
        if self.shown?.tone ?? .none != next.tone { self.put(.tone(next.tone)) }
        self.show(next.signal, now: now)
        if self.shown?.screen != next.screen { self.put(.screen(next.screen)) }
        self.shown = next
    }

    private func surroundings(_ now: Instant) -> Presentation.Surroundings {
        Presentation.Surroundings(
            hasCamera: self.world.hasCamera, hasScreen: self.world.hasScreen, buttons: self.world.buttons,
            selfView: self.configuration.display.selfView, callEndsCall: self.configuration[.call].endsCall,
            canCall: self.canCall, isStopping: self.leaveBy != nil && !self.isRestarting,
            banner: self.banner, notice: self.notice, autoCallAt: self.autoCall.countsUntil, language: self.language,
            screen: self.configuration.screen, layout: self.configuration.display.layout, isDark: self.isDark(now: now),
            service: self.serviceView,
            soundsAlarm: self.faults.soundsAlarm, isPaused: self.isOutOfService, isPowerFailing: self.isPowerFailing,
            mayUseH264: self.configuration.video.mayUseH264, panel: self.panelView)
    }

    /// The file names somebody to call.
    private var canCall: Bool { self.configuration.call.uri != nil }

    /// The last thing the engine does.
    mutating func exit(now: Instant) {
        self.darken(now: now)
        self.put(self.isRestarting ? .restart : .exit(0))
        self.hasExited = true
    }
}
