// SPDX-License-Identifier: Apache-2.0

import Bytes
import Loop

/// What the command line asks for.
enum Command {
    case run(RunOptions)
    case check(ByteString)
    /// A fresh `callbox.conf`.
    case sample
    /// What is wrong; of a kiosk that runs, or with the options of one.
    case doctor(RunOptions)
    /// Whether all goes on.
    case healthy(waitSeconds: Int, socket: ByteString)
    /// Write what brings the network up.
    case network(RunOptions, below: ByteString)
    /// A bundle to install, or nil for one that is looked for.
    case update(RunOptions, ByteString?, isByItself: Bool)
    /// What was written down.
    case show(KeptLines)
    /// A line for the control socket of the running kiosk.
    case tell(ByteString, follow: Bool, socket: ByteString)
    case help
    case version
    /// A sentence that says what is wrong with the arguments.
    case misuse(ByteString)
}

/// Where `run` finds its parts. A value given here wins over the configuration file.
struct RunOptions {
    var configurationPath: ByteString = "/boot/callbox/callbox.conf"
    var controlPath: ByteString = defaultControlPath
    /// What outlives a new image: the time, known certificates, passwords.
    var dataPath: ByteString = "/data/callbox"
    /// Nil: in `dataPath`.
    var secretsPath: ByteString?
    var display: ByteString?
    var camera: ByteString?
    var audio: ByteString?
}

let defaultControlPath: ByteString = "/run/callbox/control"

let usage: ByteString = """
    callbox turns a small board into a video help point.

    callbox run [--config FILE] [--data FOLDER] [--secrets FILE] [--control SOCKET]
                [--display NAME|none|null] [--camera NAME|file:CLIP.y4m|none] [--audio DEVICE|null]
                                        be the kiosk; FILE is /boot/callbox/callbox.conf where not given,
                                        FOLDER /data/callbox: what it has to remember, passwords
                                        in its file secrets, or in that of --secrets;
                                        a null display takes pictures and shows none, for trials
    callbox check FILE                  print every problem of a configuration file
    callbox config                      print a fresh configuration file, every key with its meaning and default
    callbox doctor [--config FILE] [--data FOLDER]
                                        what is wrong and what to do about it; also where no kiosk runs
    callbox doctor video                by which way pictures go, from the camera to the network and from there
                                        to the screen, by whom they are coded, and why not better
    callbox healthy [--wait SECONDS] [--control SOCKET]
                                        whether the kiosk runs and all its parts go on; exit status 1 where not
    callbox network [--config FILE] [--data FOLDER] [--out FOLDER]
                                        write what brings the network up, as [network] says, below FOLDER (/run)
    callbox update [FILE|URL]           install a bundle (.raucb): that one, or the first on the boot partition,
                                        on a USB stick, or at [update] url; between calls; the board starts anew
    callbox logs [-n LINES] [--follow] [--data FOLDER]
                                        the log: the last 50 lines, or so many; and what comes
    callbox calls [-n CALLS] [--data FOLDER]
                                        the last calls, one JSON object a line
    callbox log LEVEL [PART]            log error, warning, info or debug of calls, media, servers, devices,
                                        panel, settings or sip, or of all, until the next start
    callbox status                      what the running kiosk is doing
    callbox call [URI]                  call URI, as in callbox.conf, or the configured address
    callbox answer                      answer the call from outside that rings
    callbox hangup                      end the call, or decline the one that rings
    callbox hold                        make the other side wait
    callbox pause                       out of service: no call begins until resume
    callbox resume                      in service again; a call that waits goes on
    callbox video add|remove            with pictures, or with sound alone
    callbox digits KEYS                 press keys of a telephone (0-9 * # A-D) in the call
    callbox message [URI] TEXT          send a text to the other side of the call, or to URI
    callbox language [CODE]             speak the next language on the screen, or en, de, fr, es, ar, zh
    callbox page [health|problems|none] show a page for whoever installs the kiosk, or the next, for a minute
    callbox clear-tamper                the housing was looked at: relays work again
    callbox rotate camera 0|90|180|270  turn the camera's picture clockwise, until the next start
    callbox failback                    go back to the first of the servers in the file
    callbox reload                      read the configuration file again; between calls
    callbox press NAME                  as if the button NAME (call, hook, mute, video) was pressed
    callbox events                      print events until interrupted, one JSON object a line
    callbox trace [--messages]          the last dialogs as ladders, with their messages; without secrets
    callbox screenshot FILE.png         save the composed screen, where the display can be read back
    callbox --help, --version

    Those from log on speak to the running kiosk through /run/callbox/control, or --control SOCKET.
    """

/// The arguments, program name left out: from /proc, as bytes (proc(5)), which needs no runtime.
func commandLineArguments() -> [ByteString] {
    let raw = readFile("/proc/self/cmdline", sizeMax: 64 * 1024) ?? []
    return Array(ByteString(raw).split(on: 0).dropFirst().dropLast())
}

func parseCommand(_ arguments: [ByteString]) -> Command {
    guard let verb = arguments.first else { return .help }
    let rest = Array(arguments.dropFirst())
    if verb == "--help" || verb == "-h" || verb == "help" || rest.contains("--help") { return .help }
    if verb == "--version" || verb == "version" { return .version }
    if verb == "run" { return parseRun(rest).map { .run($0) } }
    if verb == "check" {
        return rest.count == 1 ? .check(rest[0]) : .misuse("check takes one file: callbox check FILE")
    }
    if verb == "config" { return rest.isEmpty ? .sample : .misuse("config takes nothing after it") }
    if verb == "doctor", rest.first == "video" { return parseTell("doctor", rest) }
    if verb == "doctor" { return parseRun(rest).map { .doctor($0) } }
    if verb == "healthy" { return parseHealthy(rest) }
    if verb == "network" { return parseNetwork(rest) }
    if verb == "update" { return parseUpdate(rest) }
    if verb == "logs" || verb == "calls" { return parseKept(verb, rest) }
    return parseTell(verb, rest)
}

/// Options, or what is wrong with them.
private enum Parsed {
    case options(RunOptions)
    case misuse(ByteString)

    func map(_ command: (RunOptions) -> Command) -> Command {
        switch self {
        case .options(let options): return command(options)
        case .misuse(let sentence): return .misuse(sentence)
        }
    }
}

private func parseRun(_ arguments: [ByteString]) -> Parsed {
    var options = RunOptions()
    var index = 0
    while index < arguments.count {
        let name = arguments[index]
        guard index + 1 < arguments.count else { return .misuse(name + " wants a value") }
        let value = arguments[index + 1]
        if name == "--config" {
            options.configurationPath = value
        } else if name == "--control" {
            options.controlPath = value
        } else if name == "--data" {
            options.dataPath = value
        } else if name == "--secrets" {
            options.secretsPath = value
        } else if name == "--display" {
            options.display = value
        } else if name == "--camera" {
            options.camera = value
        } else if name == "--audio" {
            options.audio = value
        } else {
            return .misuse("unknown option " + name + "; see callbox --help")
        }
        index += 2
    }
    return .options(options)
}

private func parseHealthy(_ arguments: [ByteString]) -> Command {
    var waitSeconds = 0
    var socket = defaultControlPath
    var index = 0
    while index + 1 < arguments.count {
        if arguments[index] == "--wait", let seconds = arguments[index + 1].decimal(max: 3600) {
            waitSeconds = Int(seconds)
        } else if arguments[index] == "--control" {
            socket = arguments[index + 1]
        } else {
            break
        }
        index += 2
    }
    guard index == arguments.count else { return .misuse("healthy takes --wait SECONDS and --control SOCKET") }
    return .healthy(waitSeconds: waitSeconds, socket: socket)
}

private func parseNetwork(_ arguments: [ByteString]) -> Command {
    var rest = arguments
    var folder: ByteString = "/run"
    if let index = rest.firstIndex(of: "--out"), index + 1 < rest.count {
        folder = rest[index + 1]
        rest.removeSubrange(index...index + 1)
    }
    return parseRun(rest).map { .network($0, below: folder) }
}

private func parseUpdate(_ arguments: [ByteString]) -> Command {
    var rest = arguments
    let isByItself = rest.first == "--by-itself"
    if isByItself { rest.removeFirst() }
    var source: ByteString?
    if let first = rest.first, first.bytes.first != ASCII.minus { source = rest.removeFirst() }
    return parseRun(rest).map { .update($0, source, isByItself: isByItself) }
}

/// Words of a text, or of a list of addresses, on the command line; the kiosk bounds the text itself.
private let wordsMax = 1000

private func parseTell(_ verb: ByteString, _ arguments: [ByteString]) -> Command {
    let counts: [(ByteString, ClosedRange<Int>)] = [
        ("status", 0...0), ("call", 0...wordsMax), ("answer", 0...0), ("hangup", 0...0), ("hold", 0...0),
        ("pause", 0...0), ("resume", 0...0), ("failback", 0...0), ("clear-tamper", 0...0), ("log", 1...2),
        ("language", 0...1), ("page", 0...1), ("rotate", 2...2), ("reload", 0...0), ("video", 1...1),
        ("digits", 1...1), ("message", 1...wordsMax), ("press", 1...1), ("release", 1...1),
        ("events", 0...0), ("screenshot", 1...1), ("trace", 0...0),
        ("doctor", 1...1),
    ]
    guard let expected = counts.first(where: { $0.0 == verb }) else {
        return .misuse("unknown command " + verb + "; see callbox --help")
    }
    var socket = defaultControlPath
    var words: [ByteString] = []
    var option = ByteString()
    var index = 0
    while index < arguments.count {
        if arguments[index] == "--control" {
            guard index + 1 < arguments.count else { return .misuse("--control wants a socket") }
            socket = arguments[index + 1]
            index += 1
        } else if verb == "trace" && arguments[index] == "--messages" {
            option = " messages"
        } else {
            words.append(arguments[index])
        }
        index += 1
    }
    guard expected.1.contains(words.count) else { return .misuse(verb + ": see callbox --help for what it takes") }
    let line = words.reduce(verb) { $0 + " " + $1 } + option
    return .tell(line, follow: verb == "events", socket: socket)
}
