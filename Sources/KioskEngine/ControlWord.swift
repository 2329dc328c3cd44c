// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire

/// A line of the control socket: a word, and for some an argument.
enum ControlWord: Equatable {
    /// Nil: whom the file names.
    case call([CallStep]?)
    /// The call from outside that alerts.
    case answer
    case hangUp
    case change(MediaChange)
    /// ASCII digits, `*`, `#`, `A`–`D`.
    case digits([UInt8])
    /// To the far end of the call; with an address, to that.
    case message(CallTarget?, ByteString)
    case press(ButtonName)
    case release(ButtonName)
    /// Out of service: no call begins until `resume`.
    case pause
    /// In service again, and a call that holds goes on.
    case resume
    /// The owner has looked at a housing that was opened.
    case clearTamper
    /// To the first of the servers that the file lists.
    case failback
    /// What `callbox.conf` says now.
    case reload
    case status
    /// Whether all parts go on.
    case healthy
    /// What is wrong, and what to do about it.
    case doctor
    /// By which way pictures go, and why by no better one.
    case doctorVideo
    case log(LogLevel, LogPart?)
    /// From here on every event goes to this client.
    case events
    case screenshot(path: ByteString)
    case trace(withMessages: Bool)
    /// What the screen speaks; nil for the next of those that are offered.
    case language(Language?)
    /// A page for whoever installs the kiosk; nil for none of them.
    case page(KioskEngine.ServicePage?)
    case nextPage
    /// Degrees clockwise by which the camera's pictures are turned from now on.
    case turnCamera(Int)

    static let lineBytesMax = 1024

    static func parse(_ line: ByteString) throws(BadValue) -> ControlWord {
        guard line.count <= Self.lineBytesMax else { throw BadValue("the line is too long") }
        let line = ConfigurationText.trimmed(line.bytes[...])
        let end = line.firstIndex(of: ASCII.space) ?? line.count
        let word = line.slice(0..<end)
        let argument = ConfigurationText.trimmed(line.bytes[end...])
        if word == "screenshot" {
            if argument.isEmpty { throw BadValue("screenshot needs a path") }
            return .screenshot(path: argument)
        }
        if word == "doctor" {
            guard argument.isEmpty || argument == "video" else { throw BadValue("doctor takes video or nothing") }
            return argument.isEmpty ? .doctor : .doctorVideo
        }
        if word == "trace" {
            guard argument.isEmpty || argument == "messages" else { throw BadValue("trace takes messages or nothing") }
            return .trace(withMessages: !argument.isEmpty)
        }
        if word == "call" { return .call(argument.isEmpty ? nil : try ConfigurationValue.steps(argument)) }
        if word == "log" {
            let (level, part) = try LogPolicy.parse(argument)
            return .log(level, part)
        }
        if word == "press" { return .press(try self.button(argument)) }
        if word == "release" { return .release(try self.button(argument)) }
        if word == "digits" { return .digits(try self.digits(argument)) }
        if word == "message" { return try self.message(argument) }
        if word == "language" {
            return .language(argument.isEmpty ? nil : try ConfigurationValue.language(argument))
        }
        if word == "page" {
            if argument.isEmpty { return .nextPage }
            let page = KioskEngine.ServicePage.named(argument)
            guard page != nil || argument == "none" else {
                throw BadValue("page takes health, problems, none or nothing")
            }
            return .page(page)
        }
        if word == "rotate" { return .turnCamera(try self.rotation(argument)) }
        if word == "video" { return .change(try self.video(argument)) }
        let plain: [(ByteString, ControlWord)] = [
            ("answer", .answer), ("hangup", .hangUp), ("hold", .change(.hold)), ("resume", .resume), ("pause", .pause),
            ("failback", .failback), ("reload", .reload), ("clear-tamper", .clearTamper), ("status", .status),
            ("events", .events), ("healthy", .healthy),
        ]
        guard let found = plain.first(where: { $0.0 == word }) else {
            throw BadValue(
                "unknown word " + ConfigurationValue.quoted(word)
                    + "; there are call, answer, hangup, hold, pause, resume, video, digits, message, press, release,"
                    + " language, page, rotate, clear-tamper, failback, reload, status, healthy, doctor, log, events,"
                    + " trace and screenshot")
        }
        if !argument.isEmpty { throw BadValue(word + " takes nothing after it") }
        return found.1
    }

    private static func video(_ argument: ByteString) throws(BadValue) -> MediaChange {
        if argument == "add" { return .addVideo }
        if argument == "remove" { return .removeVideo }
        throw BadValue(ConfigurationValue.quoted(argument) + " is neither add nor remove")
    }

    private static func rotation(_ argument: ByteString) throws(BadValue) -> Int {
        let turns: [(ByteString, Int)] = [("camera 0", 0), ("camera 90", 90), ("camera 180", 180), ("camera 270", 270)]
        guard let turn = turns.first(where: { $0.0 == argument }) else {
            throw BadValue("rotate takes camera and 0, 90, 180 or 270")
        }
        return turn.1
    }

    static let digitsMax = 16

    private static func digits(_ argument: ByteString) throws(BadValue) -> [UInt8] {
        let keys = argument.bytes.map { (0x61...0x64).contains($0) ? $0 - 0x20 : $0 }
        let isDialled = keys.allSatisfy {
            ASCII.isDigit($0) || $0 == UInt8(ascii: "*") || $0 == ASCII.hash || (0x41...0x44).contains($0)
        }
        guard isDialled, !keys.isEmpty, keys.count <= self.digitsMax else {
            throw BadValue("digits takes one to sixteen of 0 to 9, *, # and A to D")
        }
        return keys
    }

    private static func message(_ argument: ByteString) throws(BadValue) -> ControlWord {
        let end = argument.firstIndex(of: ASCII.space) ?? argument.count
        let first = argument.slice(0..<end)
        let schemes: [ByteString] = ["sip:", "sips:", "tel:", "callbox:"]
        let isAddressed = schemes.contains { first.hasPrefixIgnoringCase($0) }
        let text = isAddressed ? ConfigurationText.trimmed(argument.bytes[end...]) : argument
        guard !text.isEmpty else { throw BadValue("message needs a text") }
        guard text.count <= SIPEngine.messageBytesMax, UTF8Text.isPlain(text.bytes[...]) else {
            throw BadValue("the text is too long, or is no plain text")
        }
        return .message(isAddressed ? try ConfigurationValue.target(first) : nil, text)
    }

    private static func button(_ name: ByteString) throws(BadValue) -> ButtonName {
        if let button = ButtonName(name) { return button }
        throw BadValue(
            ConfigurationValue.quoted(name) + " is not one of "
                + ConfigurationValue.joined(ButtonName.all.map { $0.text }))
    }
}
