// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// A value that cannot be used, and why: a clause that follows the key's name.
struct BadValue: Error {
    var reason: ByteString

    init(_ reason: ByteString) {
        self.reason = reason
    }
}

/// Readers of values. Each either gives what the configuration holds or says what is wrong in words that help.
enum ConfigurationValue {
    static let deviceNameBytesMax = 200
    static let displayNameBytesMax = 64

    /// The value in quotes, cut where it is long.
    static func quoted(_ value: ByteString) -> ByteString {
        let lengthMax = 40
        let shown = UTF8Text.displayable(value, bytesMax: lengthMax)
        return "\"" + shown + (value.count > shown.count ? "…\"" : "\"")
    }

    static func number(_ value: ByteString, _ range: ClosedRange<Int>, unit: ByteString) throws(BadValue) -> Int {
        if let number = value.decimal(max: UInt64(range.upperBound)), number >= UInt64(range.lowerBound) {
            return Int(number)
        }
        var reason = self.quoted(value) + " is not a whole number"
        reason += unit.isEmpty ? "" : " of " + unit
        reason += " from " + ByteString(decimal: range.lowerBound) + " to " + ByteString(decimal: range.upperBound)
        throw BadValue(reason)
    }

    static func yesOrNo(_ value: ByteString) throws(BadValue) -> Bool {
        let word = value.lowercasedASCII()
        if word == "yes" || word == "true" || word == "on" || word == "1" { return true }
        if word == "no" || word == "false" || word == "off" || word == "0" { return false }
        throw BadValue(self.quoted(value) + " is neither yes nor no")
    }

    /// The choice whose word this is.
    static func choice<Choice>(_ value: ByteString, _ choices: [(ByteString, Choice)]) throws(BadValue) -> Choice {
        let word = value.lowercasedASCII()
        if let found = choices.first(where: { $0.0 == word }) { return found.1 }
        throw BadValue(self.quoted(value) + " is not one of " + self.joined(choices.map { $0.0 }))
    }

    static func joined(_ words: [ByteString]) -> ByteString {
        var text = ByteString()
        for (index, word) in words.enumerated() {
            if index > 0 { text += index == words.count - 1 ? " and " : ", " }
            text += word
        }
        return text
    }

    // MARK: - Addresses

    /// An address to call.
    static func uri(_ value: ByteString) throws(BadValue) -> SIPURI {
        if value.hasPrefixIgnoringCase("tel:") {
            throw BadValue("tel: needs a server to ask; write sip:NUMBER@SERVER")
        }
        guard value.hasPrefixIgnoringCase("sip:") || value.hasPrefixIgnoringCase("sips:") else {
            throw BadValue(self.quoted(value) + " does not begin with sip:, as in sip:help@example.com")
        }
        guard let uri = SIPURI(value), uri.port != 0 else {
            throw BadValue(self.quoted(value) + " is not a SIP address, as in sip:help@example.com")
        }
        if !uri.headers.isEmpty { throw BadValue("an address to call has no ?headers") }
        if let transport = uri.transport {
            guard let spoken = SIPTransport(transport) else {
                throw BadValue("the transport " + self.quoted(transport) + " is not one of udp, tcp and tls")
            }
            if uri.isSecure, spoken == .udp { throw BadValue("sips: does not go by udp; leave ;transport= out") }
        }
        return uri
    }

    /// A server to register with; nil for `auto`.
    static func registrar(_ value: ByteString) throws(BadValue) -> SIPURI? {
        value.equalsIgnoringCase("auto") ? nil : try self.uri(value)
    }

    static func listen(_ value: ByteString) throws(BadValue) -> SocketAddress {
        try self.listen(value, standard: SIPSettings().listen)
    }

    static func listenForTLS(_ value: ByteString) throws(BadValue) -> SocketAddress {
        try self.listen(value, standard: TLSSettings().listen)
    }

    /// `ADDRESS`, `ADDRESS:PORT`, `:PORT` or `any:PORT`.
    private static func listen(_ value: ByteString, standard: SocketAddress) throws(BadValue) -> SocketAddress {
        var host = value
        var port = standard.port
        if let address = IPAddress(value) { return SocketAddress(address, port: standard.port) }
        if let colon = value.bytes.lastIndex(of: ASCII.colon), value.bytes.last != ASCII.closeBracket {
            guard let number = value.slice(colon + 1..<value.count).decimal(max: 65_535), number > 0 else {
                throw BadValue(self.quoted(value) + " has no port from 1 to 65535 after its colon")
            }
            port = UInt16(number)
            host = value.slice(0..<colon)
        }
        if host.isEmpty || host.equalsIgnoringCase("any") { return SocketAddress(standard.address, port: port) }
        if host.bytes.first == ASCII.openBracket, host.bytes.last == ASCII.closeBracket {
            host = host.slice(1..<max(1, host.count - 1))
        }
        guard let address = IPAddress(host) else {
            throw BadValue(self.quoted(value) + " is not an address and port, as in 192.0.2.1:5060 or any:5060")
        }
        return SocketAddress(address, port: port)
    }

    static let addressRangesMax = 32

    /// `servers`, `anyone`, or a list of addresses and ranges.
    static func peers(_ value: ByteString) throws(BadValue) -> SIPPeers {
        if value.equalsIgnoringCase("servers") { return .servers }
        if value.equalsIgnoringCase("anyone") { return .anyone }
        return .listed(try self.ranges(value))
    }

    /// A list of addresses and ranges with commas or blanks between them; `none` for an empty one.
    static func ranges(_ value: ByteString) throws(BadValue) -> [AddressRange] {
        if value.equalsIgnoringCase("none") { return [] }
        var ranges: [AddressRange] = []
        let words = value.bytes.split { $0 == ASCII.comma || ASCII.isBlank($0) }.map { ByteString($0) }
        for word in words {
            guard let range = AddressRange(word) else {
                throw BadValue(self.quoted(word) + " is not an address or a range, as in 192.0.2.7 or 192.0.2.0/24")
            }
            ranges.append(range)
        }
        guard !ranges.isEmpty, ranges.count <= self.addressRangesMax else {
            throw BadValue("names no address, or more than " + ByteString(decimal: self.addressRangesMax))
        }
        return ranges
    }

    /// `FIRST-LAST`: an even first port, at least the four that a call needs.
    static func ports(_ value: ByteString) throws(BadValue) -> ClosedRange<UInt16> {
        let parts = value.split(on: ASCII.minus).map { $0.trimmed() }
        guard parts.count == 2, let first = parts[0].decimal(max: 65_535), let last = parts[1].decimal(max: 65_535),
            first >= 1024, last >= first + 3, first % 2 == 0
        else {
            throw BadValue(
                self.quoted(value) + " is not a range of at least four ports above 1023 that begins with an even one, "
                    + "as in 40000-40099")
        }
        return UInt16(first)...UInt16(last)
    }

    static func user(_ value: ByteString) throws(BadValue) -> ByteString {
        let isPlain = value.bytes.allSatisfy {
            ASCII.isLetter($0) || ASCII.isDigit($0) || $0 == ASCII.minus || $0 == ASCII.dot || $0 == 0x5F
                || $0 == ASCII.plus
        }
        guard isPlain, value.count <= self.displayNameBytesMax else {
            throw BadValue(self.quoted(value) + " has more than letters, digits and + - . _, or is too long")
        }
        return value
    }

    static func displayName(_ value: ByteString) throws(BadValue) -> ByteString {
        guard value.count <= self.displayNameBytesMax else {
            throw BadValue("longer than " + ByteString(decimal: self.displayNameBytesMax) + " bytes")
        }
        return value
    }

    // MARK: - Pictures and sound

    /// `WIDTHxHEIGHT`, both even.
    static func size(_ value: ByteString) throws(BadValue) -> PictureSize {
        let parts = value.lowercasedASCII().split(on: UInt8(ascii: "x")).map { $0.trimmed() }
        guard parts.count == 2, let width = parts[0].decimal(max: 3840), let height = parts[1].decimal(max: 2160),
            width >= 64, height >= 64, width % 2 == 0, height % 2 == 0
        else {
            throw BadValue(
                self.quoted(value) + " is not a size of even numbers from 64x64 to 3840x2160, as in 1280x720")
        }
        return PictureSize(width: Int(width), height: Int(height))
    }

    static func codecs(_ value: ByteString) throws(BadValue) -> [AudioCodecName] {
        let known: [(ByteString, AudioCodecName)] = [("opus", .opus), ("pcmu", .pcmu), ("pcma", .pcma)]
        var codecs: [AudioCodecName] = []
        for word in value.split(on: ASCII.comma).map({ $0.trimmed() }) {
            let codec = try self.choice(word, known)
            if codecs.contains(codec) { throw BadValue(self.quoted(word) + " is listed twice") }
            codecs.append(codec)
        }
        return codecs
    }
}
