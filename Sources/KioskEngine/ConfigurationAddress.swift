// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// Readers of whom to call: whole addresses (`sip:`, `sips:`), numbers (`tel:`), links (`callbox://server?uri=…`), and
/// names or numbers alone, which are completed with the help point's own domain.
extension ConfigurationValue {
    static let stepsMax = 8
    static let postDialMax = 32
    /// Seconds, as `ring_timeout`.
    static let ringTimes = 5...600

    /// Targets in their order, with commas between them; those with a `+` between them, with blanks around it, are
    /// called at the same time.
    static func steps(_ value: ByteString) throws(BadValue) -> [CallStep] {
        var steps: [CallStep] = []
        for part in value.split(on: ASCII.comma) {
            var targets: [CallTarget] = []
            for word in self.together(part) { targets.append(try self.target(word)) }
            guard targets.count <= CallStep.targetsMax else {
                throw BadValue("calls more than " + ByteString(decimal: CallStep.targetsMax) + " at the same time")
            }
            steps.append(CallStep(targets))
        }
        guard steps.count <= self.stepsMax else {
            throw BadValue("names more than " + ByteString(decimal: self.stepsMax) + " one after the other")
        }
        return steps
    }

    /// Empty for `auto`.
    static func stepsOrAuto(_ value: ByteString) throws(BadValue) -> [CallStep] {
        value.equalsIgnoringCase("auto") ? [] : try self.steps(value)
    }

    /// Milliseconds; nil for `auto`.
    static func ringTimeoutOrAuto(_ value: ByteString) throws(BadValue) -> Int? {
        value.equalsIgnoringCase("auto") ? nil : try self.number(value, self.ringTimes, unit: "seconds") * 1000
    }

    /// What stands between the plus signs that have blanks on both sides: numbers begin with one that has not.
    private static func together(_ part: ByteString) -> [ByteString] {
        var words: [ByteString] = []
        var start = 0
        for index in 0..<part.count where part.bytes[index] == ASCII.plus {
            guard index > start, index + 1 < part.count, ASCII.isBlank(part.bytes[index - 1]),
                ASCII.isBlank(part.bytes[index + 1])
            else { continue }
            words.append(part.slice(start..<index).trimmed())
            start = index + 1
        }
        return words + [part.slice(start..<part.count).trimmed()]
    }

    /// One address, in any of its forms.
    static func target(_ value: ByteString) throws(BadValue) -> CallTarget {
        if value.hasPrefixIgnoringCase("callbox://") { return try self.linkTarget(value) }
        let options = try self.options(of: value)
        var target = try self.address(options.address)
        target.ringTimeoutMs = options.ringTimeoutMs
        target.postDial = options.postDial
        return target
    }

    private static func address(_ value: ByteString) throws(BadValue) -> CallTarget {
        if value.hasPrefixIgnoringCase("tel:") { return try self.number(value.slice(4..<value.count), of: value) }
        let colon = value.firstIndex(of: ASCII.colon) ?? value.count
        let at = value.firstIndex(of: ASCII.at) ?? value.count
        if colon <= at, colon < value.count { return CallTarget(try self.uri(value)) }
        if at < value.count { return CallTarget(try self.uri("sip:" + value)) }
        if IPAddress(value) != nil { return CallTarget(try self.uri("sip:" + value)) }
        // With a dot it is as likely a host.
        guard !value.isEmpty, !value.contains(ASCII.dot) else {
            throw BadValue(self.quoted(value) + " is neither a name nor an address; write sip:NAME@HOST or sip:HOST")
        }
        if let digits = self.digits(value) { return self.partial(digits) }
        return self.partial(try self.user(value))
    }

    private static func partial(_ user: ByteString) -> CallTarget {
        var target = CallTarget(SIPURI(user: SIPURI.escapedUser(user), host: .name("invalid")))
        target.isPartial = true
        return target
    }

    // MARK: - Numbers

    /// RFC 3966: a number as a telephone server's user (RFC 3261 section 19.1.6).
    private static func number(_ text: ByteString, of value: ByteString) throws(BadValue) -> CallTarget {
        let number = text.split(on: ASCII.semicolon)[0]
        guard let digits = self.digits(number) else {
            throw BadValue(self.quoted(value) + " is not a number, as in tel:+49-30-1234567")
        }
        var target = self.partial(digits)
        target.uri.parameters.set("user", "phone")
        return target
    }

    /// A number without what makes it easier to read; nil for what is none.
    private static func digits(_ text: ByteString) -> ByteString? {
        var digits = ByteString()
        for byte in text.bytes {
            switch byte {
            case ASCII.minus, ASCII.dot, ASCII.space, ASCII.openParenthesis, ASCII.closeParenthesis: continue
            case ASCII.plus where digits.isEmpty: digits.append(byte: byte)
            case ASCII.star, ASCII.hash, 0x30...0x39: digits.append(byte: byte)
            default: return nil
            }
        }
        return digits.bytes.contains { $0 != ASCII.plus } ? digits : nil
    }

    // MARK: - What belongs to one target

    private struct Options {
        var address: ByteString
        var ringTimeoutMs: Int?
        var postDial = ByteString()
    }

    /// Takes `;ring=` and `;postd=` out of an address: they are for us and not for the other side.
    private static func options(of value: ByteString) throws(BadValue) -> Options {
        var options = Options(address: value)
        let question = value.firstIndex(of: ASCII.question) ?? value.count
        // In a user part, a semicolon is only a character.
        let at = value.firstIndex(of: ASCII.at) ?? 0
        guard at < question,
            let semicolon = value.bytes[at..<question].firstIndex(of: ASCII.semicolon)
        else { return options }
        options.address = value.slice(0..<semicolon)
        for part in value.slice(semicolon + 1..<question).split(on: ASCII.semicolon) {
            let lower = part.lowercasedASCII()
            if lower.hasPrefix("ring=") {
                let seconds = try self.number(part.slice(5..<part.count), self.ringTimes, unit: "seconds")
                options.ringTimeoutMs = seconds * 1000
            } else if lower.hasPrefix("postd=") {
                options.postDial = try self.postDial(part.slice(6..<part.count))
            } else {
                options.address += ";" + part
            }
        }
        options.address += value.slice(question..<value.count)
        return options
    }

    private static func postDial(_ text: ByteString) throws(BadValue) -> ByteString {
        var keys = ByteString()
        for byte in self.unescaped(text).bytes {
            switch byte {
            case 0x30...0x39, ASCII.star, ASCII.hash, 0x41...0x44: keys.append(byte: byte)
            case 0x61...0x64: keys.append(byte: byte - 0x20)
            case UInt8(ascii: "p"), UInt8(ascii: "P"): keys.append(byte: UInt8(ascii: "p"))
            default: throw BadValue(self.quoted(text) + " after postd= is more than 0 to 9, *, #, A to D and p")
            }
        }
        guard !keys.isEmpty, keys.count <= self.postDialMax else {
            throw BadValue("postd= takes one to " + ByteString(decimal: self.postDialMax) + " keys and pauses")
        }
        return keys
    }

    // MARK: - Callers

    static let callersMax = 32

    /// Who may call: names, with or without a host, with commas between them; `anyone`, or `auto`.
    static func callers(_ value: ByteString) throws(BadValue) -> [CallerPattern] {
        if value.equalsIgnoringCase("auto") { return [] }
        if value.equalsIgnoringCase("anyone") { return [.anyone] }
        var callers: [CallerPattern] = []
        for word in value.split(on: ASCII.comma) {
            var text = word.trimmed()
            if text.hasPrefixIgnoringCase("sip:") { text = text.slice(4..<text.count) }
            let at = text.firstIndex(of: ASCII.at) ?? text.count
            let user = text.slice(0..<at)
            let place = at < text.count ? text.slice(at + 1..<text.count) : nil
            let host = place.flatMap { Host($0) }
            guard !user.isEmpty, user.bytes.allSatisfy({ !ASCII.isBlank($0) }), place == nil || host != nil else {
                throw BadValue(
                    self.quoted(text) + " is not a caller, as in desk, desk@example.com, *@example.com or +4930*")
            }
            callers.append(CallerPattern(user: user, host: host))
        }
        guard callers.count <= self.callersMax else {
            throw BadValue("names more than " + ByteString(decimal: self.callersMax) + " callers")
        }
        return callers
    }

    /// Seconds; zero for `none`.
    static func maxDuration(_ value: ByteString) throws(BadValue) -> Int {
        value.equalsIgnoringCase("none") ? 0 : try self.number(value, 20...86_400, unit: "seconds")
    }

    // MARK: - Links

    /// `callbox://server?uri=…`: the address, asked of that server.
    private static func linkTarget(_ value: ByteString) throws(BadValue) -> CallTarget {
        let rest = value.slice(10..<value.count)
        let question = rest.firstIndex(of: ASCII.question) ?? rest.count
        let place = rest.slice(0..<question).split(on: ASCII.slash)[0]
        guard question < rest.count, let server = SIPURI("sip:" + place), server.user == nil, server.port != 0 else {
            throw BadValue(self.quoted(value) + " is not a link, as in callbox://pbx.example.com?uri=help")
        }
        for pair in rest.slice(question + 1..<rest.count).split(on: ASCII.ampersand)
        where pair.hasPrefixIgnoringCase("uri=") {
            let address = self.unescaped(pair.slice(4..<pair.count))
            guard !address.hasPrefixIgnoringCase("callbox:") else { throw BadValue("a link in a link goes nowhere") }
            let target = try self.target(address)
            return target.isPartial ? target.completed(by: server) : try self.asked(of: server, target)
        }
        throw BadValue(self.quoted(value) + " has no uri= that says whom to call")
    }

    /// A whole address keeps its host; where that is another one, the way there leads over the server (RFC 3261 section
    /// 19.1.1: `maddr` overrides any address that the host leads to).
    private static func asked(of server: SIPURI, _ target: CallTarget) throws(BadValue) -> CallTarget {
        guard !target.uri.host.matches(server.host) else { return target }
        guard !target.uri.isSecure else { throw BadValue("a link cannot lead a sips: address over another server") }
        var target = target
        target.uri.parameters.set("maddr", server.host.printed)
        if let port = server.port { target.uri.port = port }
        return target
    }

    /// Percent escapes resolved; those that are none stay.
    private static func unescaped(_ text: ByteString) -> ByteString {
        var plain = ByteString()
        var index = 0
        while index < text.count {
            let byte = text.bytes[index]
            if byte == ASCII.percent, index + 2 < text.count, let high = ASCII.hexValue(text.bytes[index + 1]),
                let low = ASCII.hexValue(text.bytes[index + 2])
            {
                plain.append(byte: high << 4 | low)
                index += 3
            } else {
                plain.append(byte: byte)
                index += 1
            }
        }
        return plain
    }
}
