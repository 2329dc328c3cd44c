// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem
import Display
import KioskEngine
import Loop
import Panel
import Picture
import RTPWire
import Reach
import SDPWire
import Secure

let version: ByteString = "0.1.0"
/// What tells one build of a version from another; empty where nobody says.
let buildName: ByteString = ""

/// Is the kiosk until it is told to end, and ends the process; returns (an exit code) only where it cannot begin.
func run(_ options: RunOptions) -> Int32 {
    let signals = openSignals()
    makeFolder(options.dataPath)
    let time = SavedTime(data: options.dataPath, now: Clock.now())
    let wires = Wires()
    let boot = readBootNotes()
    let file = ConfigurationFile(options, wires, isSafe: boot.isSafe)
    var (configuration, problems) = file.readFirst()
    if !configuration.autoCall.zone.isEmpty { setTimeZone(configuration.autoCall.zone) }
    let relays = RelayGuard(guardedRelays(configuration.panel))
    // Early: whoever presses from now on is not forgotten.
    let panel = PanelLines(configuration, now: Clock.now())
    let records = Records(
        data: options.dataPath, policy: configuration.log.policy, time: time, file: file, wires: wires)
    let tamperMark = TamperMark(data: options.dataPath, wires: wires)
    let secrets = file.readSecrets(configuration, wires)
    let poller = Poller()
    var faults = boot.reports
    let tls = openTLS(configuration.tls, time.clock, options.dataPath, wires)
    let (picture, pictureProblems) = readPicture(configuration.screen)
    file.standing = tls.problems + pictureProblems
    problems += file.standing
    guard var signalling = openSignalling(configuration, tls, poller, &faults) else {
        Log.write("callbox: no socket for SIP can be opened; giving up")
        return 1
    }
    signalling.mark(configuration.network.signallingCodePoint)
    guard let sockets = try? MediaSockets(ports: configuration.rtp.ports) else {
        Log.write("callbox: four UDP ports in a row are not free in [rtp] ports; giving up")
        return 1
    }
    sockets.mark(configuration.network)
    if let fault = panel.fault { faults.append(.failed(.panel, fault)) }
    let control = ControlServer(path: options.controlPath, tokenBase: ControlThread.controlTokens, poller: poller)
    if control == nil { Log.write("callbox: the control socket " + options.controlPath + " cannot be made") }
    let display = openDisplay(configuration.display, picture, &faults)
    let camera = probeCamera(configuration.camera, &faults)
    let identity = configuration.media.encryption == .off ? nil : DTLSIdentity()
    var world = KioskWorld(
        hasCamera: configuration.camera.device != .none,
        hasScreen: configuration.display.connector != .none || options.display == "null",
        buttons: panel.buttons, audioPorts: sockets.audioPorts, videoPorts: sockets.videoPorts,
        cameraSize: camera.size, cameraFPS: camera.fps, version: version, ntpAtZero: NTPTime(Clock.ntpAtZero()),
        instanceID: boardInstanceID(data: options.dataPath, wires), fingerprint: identity?.fingerprint)
    world.facts = boardFacts()
    world.tlsPort = signalling.tlsPort
    world.hash = digestHash
    world.wasTampered = tamperMark.isSet
    let kiosk = KioskEngine(
        configuration: configuration, problems: problems, world: world, seed: entropySeed(), makeSecret: entropyBytes)
    let ports = sockets.portsLeft(of: configuration.rtp.ports)
    let ways = openWays(configuration, ports, time.clock, options.dataPath, wires)
    let media = MediaThread(sockets: sockets, ways: ways, wires: wires, seed: entropySeed(), identity: identity)
    let light = ScreenLight(data: options.dataPath, wires: wires)
    startThreads(configuration, wires, display, light, media, camera, data: options.dataPath)
    let prompts = PromptThread(configuration: options.configurationPath, wires: wires)
    Thread.start("prompts") { prompts.run() }
    faults.forEach { wires.report($0) }
    let thread = ControlThread(
        kiosk: kiosk, poller: poller, signalling: signalling, control: control, panel: panel, tamperMark: tamperMark,
        signals: signals, nameServers: configuration.network.nameServers, wires: wires, time: time, file: file,
        secrets: secrets, certificate: OwnCertificate(tls, now: Clock.now()), records: records)
    let watch = WatchThread(wires)
    Thread.start("watch") { watch.run() }
    // At once, without the libraries' exit handlers: the other threads are still at work in those libraries.
    let ending = thread.run()
    relays?.dismiss()
    end(ending)
}

private func end(_ ending: ControlThread.Ending) -> Never {
    switch ending {
    case .exit(let code): _exit(code)
    case .restart:
        replaceProcess()
        Log.write("callbox: the program cannot begin anew; whoever started it has to")
        _exit(1)
    }
}

func readBootNotes() -> BootNotes {
    BootNotes(readFile(BootNotes.path, sizeMax: BootNotes.fileBytesMax) ?? [])
}

private func guardedRelays(_ panel: PanelSettings) -> [RelayGuard.Relay] {
    panel.relays.compactMap { relay in
        relay.line.map { RelayGuard.Relay($0.text, isActiveLow: relay.isActiveLow) }
    }
}

/// Shows what there is to show before anything else happens.
private func openDisplay(
    _ settings: DisplaySettings, _ picture: OwnPicture?, _ faults: inout [DeviceReport]
) -> Display {
    let display = Display(settings, now: Clock.now())
    display.picture = picture
    display.turn(now: Clock.now())
    if let fault = display.fault { faults.append(.failed(.display, fault.sentence)) }
    return display
}

/// For all that tells the time. Before any other thread begins, because the C library reads it without a lock.
func setTimeZone(_ zone: ByteString) {
    zone.withCString { _ = setenv("TZ", $0, 1) }
    tzset()
}

/// The wanted port; where another program has it, any: calls out of the kiosk matter more than calls into it.
private func openSignalling(
    _ configuration: Configuration, _ tls: TLSContext, _ poller: borrowing Poller, _ faults: inout [DeviceReport]
) -> SignallingSockets? {
    let listen = configuration.sip.listen
    do throws(SocketError) {
        return try SignallingSockets(listen: listen, tls: tls, configuration.tls, poller: poller)
    } catch {
        faults.append(.failed(.network, "The SIP address " + listen.text + " cannot be had; another one is used."))
        let any = SocketAddress(.v6(high: 0, low: 0), port: 0)
        return try? SignallingSockets(listen: any, tls: tls, configuration.tls, poller: poller)
    }
}

/// ICE, with a TLS of its own, for it lives in another thread.
private func openWays(
    _ configuration: Configuration, _ ports: ClosedRange<UInt16>?, _ clock: WallClock, _ data: ByteString,
    _ wires: Wires
) -> MediaWays {
    let tls =
        configuration.ice.needsTLS
        ? openTLS(configuration.tls, clock, data, wires, remembering: "relay-certificates") : nil
    let ways = MediaWays(
        ports: ports, configuration.network, tls: tls, configuration.tls, tokenBase: MediaThread.waysTokens)
    if configuration.ice.use == .on { ways.prepare() }
    return ways
}

/// TLS with what the data directory remembers of certificates.
private func openTLS(
    _ settings: TLSSettings, _ clock: WallClock, _ data: ByteString, _ wires: Wires,
    remembering file: ByteString = "certificates"
) -> TLSContext {
    let path = data + "/" + file
    let memory = readFile(path, sizeMax: certificatesSizeMax) ?? []
    return TLSContext(settings, clock: clock, memory: memory, now: Clock.now()) { file in
        let failed = path + " cannot be written; certificates are forgotten"
        wires.records.order(.files([SmallFile(path: path, bytes: file, failed: failed)]))
    }
}

/// A longer list of known certificates is not ours.
private let certificatesSizeMax = 64 * 1024

private func startThreads(
    _ configuration: Configuration, _ wires: Wires, _ display: Display, _ light: ScreenLight, _ media: MediaThread,
    _ camera: CameraProbe, data: ByteString
) {
    let sound = SoundThread(configuration.audio, configuration.sound, wires: wires)
    let cameraThread = CameraThread(camera, wires: wires)
    let decoder = DecoderThread(
        configuration.video, data: data, wires: wires, hasScreen: configuration.display.connector != .none)
    let screen = DisplayThread(display: display, light: light, wires: wires)
    Thread.start("media", priority: .realTime(10)) { media.run() }
    Thread.start("sound", priority: .realTime(20)) { sound.run() }
    Thread.start("camera") { cameraThread.run() }
    Thread.start("decoder") { decoder.run() }
    Thread.start("display") { screen.run() }
}
