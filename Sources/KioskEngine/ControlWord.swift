// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// A line of the control socket: a word, and for some an argument.
enum ControlWord: Equatable {
    /// Nil: whom the file names.
    case call(SIPURI?)
    /// The call from outside that alerts.
    case answer
    case hangUp
    case change(MediaChange)
    case press(ButtonName)
    case release(ButtonName)
    case status
    /// From here on every event goes to this client.
    case events
    case screenshot(path: ByteString)
    case trace(withMessages: Bool)

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
        if word == "trace" {
            guard argument.isEmpty || argument == "messages" else { throw BadValue("trace takes messages or nothing") }
            return .trace(withMessages: !argument.isEmpty)
        }
        if word == "call" { return .call(argument.isEmpty ? nil : try ConfigurationValue.uri(argument)) }
        if word == "press" { return .press(try self.button(argument)) }
        if word == "release" { return .release(try self.button(argument)) }
        if word == "video" { return .change(try self.video(argument)) }
        let plain: [(ByteString, ControlWord)] = [
            ("answer", .answer), ("hangup", .hangUp), ("hold", .change(.hold)), ("resume", .change(.resume)),
            ("status", .status), ("events", .events),
        ]
        guard let found = plain.first(where: { $0.0 == word }) else {
            throw BadValue(
                "unknown word " + ConfigurationValue.quoted(word)
                    + "; there are call, answer, hangup, hold, resume, video, press, release, status, events, trace"
                    + " and screenshot")
        }
        if !argument.isEmpty { throw BadValue(word + " takes nothing after it") }
        return found.1
    }

    private static func video(_ argument: ByteString) throws(BadValue) -> MediaChange {
        if argument == "add" { return .addVideo }
        if argument == "remove" { return .removeVideo }
        throw BadValue(ConfigurationValue.quoted(argument) + " is neither add nor remove")
    }

    private static func button(_ name: ByteString) throws(BadValue) -> ButtonName {
        if let button = ButtonName(name) { return button }
        throw BadValue(
            ConfigurationValue.quoted(name) + " is not one of "
                + ConfigurationValue.joined(ButtonName.all.map { $0.text }))
    }
}
