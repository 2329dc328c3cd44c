// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire

/// What goes into the kiosk.
public enum KioskInput {
    /// The first input of all: devices were opened as far as they would, sockets are bound.
    case started
    case button(ButtonName, ButtonEdge)
    /// A key of the keypad went down: its ASCII character.
    case key(UInt8)
    /// An input stands the other way; at the start, one that is active.
    case input(InputName, isActive: Bool)
    /// What the contact of a button or input really did, as `EdgeLog` tells: for the log alone.
    case edges(ByteString, ByteString, age: Duration, leftOut: Int)
    /// One line of the control socket, without its line feed.
    case control(ClientID, line: ByteString)
    case clientGone(ClientID)
    /// SIP: one datagram, or what a stream had.
    case received([UInt8], on: Flow)
    /// SIP: ICMP error, refused, reset, closed, or could not be opened.
    case flowFailed(Flow)
    /// SIP: a TLS flow that we wanted could not be made secure.
    case insecure(Flow, TLSFault)
    /// A certificate was taken, or is our own, and somebody should know what speaks against it.
    case certificate(CertificateRecord, CertificateVerdict)
    /// The answer to `.ask`.
    case answer(QuestionID, NameAnswer)
    /// The answer to `.route`: for each address the local address and port from which SIP goes there, nil where no way
    /// leads there.
    case routed(ResolutionID, [SocketAddress?])
    case media(MediaReport)
    /// What became of `.findWays`, and of the ways that a call uses.
    case ice(ICEReport)
    case device(DeviceReport)
    case video(VideoReport)
    /// Pictures of the camera are of this size and rate from now on: it was turned, or came back as another one.
    case camera(PictureSize, fps: Int)
    /// Something beside the file is wrong that its owner should know: it stands as long as the program runs.
    case problem(ConfigurationProblem)
    /// The answer to `.collectCounters`.
    case localCounters(ClientID, LocalCounters)
    /// Addresses, routes or the link changed.
    case networkChanged
    /// The answer to `.readClock`; nil where nobody vouches for the time.
    case clock(LocalTime?)
    /// The passwords that there are now, in place of the former ones; the answer to `.readSecrets` too.
    case secrets([Credential])
    /// The file was read again; nil where it could not be.
    case reload(Configuration?, [ConfigurationProblem])
    /// SIGTERM: end the call, give accounts back, then exit. A second one: exit at once.
    case terminate
    /// The instant of `.wait(until:)` has come. Coming early or twice does no harm.
    case timeout
}

/// What the kiosk wants done, in order.
public enum KioskOutput {
    /// SIP. A TCP flow that is not open is to be opened.
    case send([UInt8], on: Flow)
    /// The stream holds something that cannot be SIP: close it.
    case close(Flow)
    /// Ask the name service. Answer with `.answer`, also where nobody answers.
    case ask(QuestionID, NameQuestion)
    /// Look which ways lead there. Answer with `.routed` at once.
    case route(ResolutionID, to: [SocketAddress])
    case media(MediaOrder)
    case lamp(LampName, on: Bool)
    /// By its index, from 0.
    case relay(Int, on: Bool)
    /// Keep over starts that the housing was opened, or that all is well again.
    case remember(tampered: Bool)
    case screen(ScreenState)
    case tone(Tone)
    case chime(Chime)
    /// Do without the camera, whose picture is replaced by a card in a call, and with little light behind the screen;
    /// or with both again.
    case savePower(Bool)
    /// Turn the camera's pictures by these degrees clockwise. `.camera` comes where their size is another one then.
    case turnCamera(degrees: Int)
    /// Speak at the panel, in place of what is spoken there.
    case say(PromptName, Language)
    /// Speak no more.
    case hush
    /// Say this to the far end in place of the microphone, over and over; nil: no more.
    case announce(PromptName?, Language)
    /// A JSON object for one client of the control socket, without line feed. Events for clients that asked for them
    /// come this way too.
    case reply(ClientID, ByteString)
    /// A JSON object for the log.
    case event(ByteString)
    /// A call that is over, for the call log.
    case record(CallRecord)
    /// The log is to keep this much from now on.
    case log(LogPolicy)
    /// Save the composed screen as PNG, then send the client `ScreenshotResult.line`.
    case screenshot(ClientID, path: ByteString)
    /// A client asked for the status: answer with `.localCounters`.
    case collectCounters(ClientID)
    /// A client asked whether all parts go on: answer it.
    case tellHealth(ClientID)
    /// Look what time it is here. Answer with `.clock`.
    case readClock
    /// A password was refused: read them again. Answer with `.secrets`.
    case readSecrets
    /// The file that was read is applied: passwords are looked for as it says, from now on. Answer with `.secrets`.
    case renewSecrets(Configuration)
    /// Read `callbox.conf` again. Answer with `.reload`.
    case readConfiguration
    /// Leave with this status; nothing comes after it.
    case exit(Int32)
    /// Begin anew, with the file as it is then; nothing comes after it.
    case restart
    /// The last output: nothing to do until then (or, if nil, until the next input).
    case wait(until: Instant?)
}

/// How a device changed. One report a change.
public enum DeviceReport: Equatable {
    /// Also for a device that could not be opened at the start. A sentence says why.
    case failed(DeviceFamily, ByteString)
    case restored(DeviceFamily)
}

/// What the process knows about itself.
public struct LocalCounters: Equatable, Sendable {
    public var descriptors: UInt64
    public var threads: UInt64
    public var residentKiB: UInt64
    public var framebuffers: UInt64
    /// How often words were drawn.
    public var drawings: UInt64

    public init(
        descriptors: UInt64, threads: UInt64, residentKiB: UInt64, framebuffers: UInt64, drawings: UInt64 = 0
    ) {
        self.descriptors = descriptors
        self.threads = threads
        self.residentKiB = residentKiB
        self.framebuffers = framebuffers
        self.drawings = drawings
    }
}

/// The line that answers a `screenshot` word.
public enum ScreenshotResult {
    case saved(path: ByteString)
    /// A sentence that says why not.
    case failed(ByteString)

    public var line: ByteString {
        switch self {
        case .saved(let path):
            return JSON.object {
                $0.put("ok", true)
                $0.put("path", path)
            }
        case .failed(let reason):
            return Reply.refused(reason)
        }
    }
}
