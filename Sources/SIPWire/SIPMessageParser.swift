// SPDX-License-Identifier: Apache-2.0

import Bytes

/// How a message's end is known, RFC 3261 section 18.3.
public enum SIPFraming: Hashable, Sendable {
    /// The datagram is the message: Content-Length may be missing, surplus bytes are ignored, missing ones are a fault.
    case datagram
    /// Cut out of a stream by `SIPStreamFramer`: Content-Length is required and exact.
    case stream
}

extension SIPMessage {
    /// Reads one message and checks what no part of the product can do without: Via, From, To, Call-ID, CSeq (its
    /// method that of the request), single fields single, readable contacts and record routes, sane lengths (RFC 3261
    /// sections 8.1.1, 18.3 and 20; the faults of RFC 4475).
    public static func parse(_ bytes: [UInt8], framing: SIPFraming) throws(SIPParseError) -> SIPMessage {
        guard bytes.count <= SIPLimits.messageBytes else { throw SIPParseError(.drop, "Message Too Long") }
        let start = bytes.firstIndex { $0 != ASCII.carriageReturn && $0 != ASCII.lineFeed } ?? bytes.count
        let bodyStart = HeaderSection.bodyStart(in: bytes[start...], from: start)
        let section = HeaderSection(bytes[start..<(bodyStart ?? bytes.count)])
        var (startLine, fault) = try StartLine.read(section.startLine)
        var message = SIPMessage(startLine: startLine, headers: section.headers)
        if let overstepped = section.fault { fault = fault ?? Fault(.badRequest, overstepped) }
        if bodyStart == nil { fault = fault ?? Fault(.badRequest, "Missing Empty Line") }
        fault = fault ?? message.fieldFault()
        fault = fault ?? message.takeBody(bytes[(bodyStart ?? bytes.count)...], framing)
        if let fault { throw message.error(fault) }
        return message
    }

    /// What is wrong with a message, and the status that says so.
    struct Fault {
        var status: StatusCode
        var reason: ByteString

        init(_ status: StatusCode, _ reason: ByteString) {
            self.status = status
            self.reason = reason
        }
    }

    /// Responses and ACKs are never answered, nor is what has no way back.
    private func error(_ fault: Fault) -> SIPParseError {
        guard let method = self.method, method != .ack, self.replyVia != nil else {
            return SIPParseError(.drop, fault.reason, message: self)
        }
        return SIPParseError(.answer(fault.status), fault.reason, message: self)
    }

    /// The body by Content-Length, RFC 3261 section 18.3.
    private mutating func takeBody(_ rest: ArraySlice<UInt8>, _ framing: SIPFraming) -> Fault? {
        guard let field = self.first(.contentLength) else {
            guard framing == .datagram else { return Fault(.badRequest, "Missing Content-Length") }
            self.body = Array(rest)
            return nil
        }
        guard let length = field.decimal() else { return Fault(.badRequest, "Bad Content-Length") }
        guard length <= UInt64(SIPLimits.messageBytes) else {
            return Fault(framing == .stream ? .requestEntityTooLarge : .badRequest, "Content-Length Too Large")
        }
        guard rest.count >= Int(length) else { return Fault(.badRequest, "Body Shorter Than Content-Length") }
        self.body = Array(rest.prefix(Int(length)))
        return nil
    }
}

// MARK: - Fields

extension SIPMessage {
    /// Fields that may appear only once (RFC 4475 sections 3.3.8 and 3.3.9).
    private static let single: [HeaderName] = [
        .callID, .cseq, .from, .to, .maxForwards, .contentLength, .contentType,
    ]

    private func fieldFault() -> Fault? {
        for name in Self.single where self.isRepeated(name) {
            return Fault(.badRequest, "Repeated " + name.token)
        }
        // Of a response only the top hop is ours.
        guard let top = self.isRequest ? self.vias?.first : self.topVia,
            top.parameters.list.count <= SIPLimits.parameters
        else { return self.fault(of: .via) }
        if !Self.isKeepable(self.from) { return self.fault(of: .from) }
        if !Self.isKeepable(self.to) { return self.fault(of: .to) }
        if self.callID == nil { return self.fault(of: .callID) }
        guard let cseq = self.cseq else { return self.fault(of: .cseq) }
        // What follows in a response is judged by whoever needs it: a 200 with an odd contact still answers the call.
        guard let method = self.method else { return nil }
        if cseq.method != method { return Fault(.badRequest, "CSeq Method Mismatch") }
        if self.contacts == nil { return self.fault(of: .contact) }
        if self.recordRoutes == nil { return self.fault(of: .recordRoute) }
        return nil
    }

    private func isRepeated(_ name: HeaderName) -> Bool {
        var isThere = false
        for header in self.headers where header.name == name {
            if isThere { return true }
            isThere = true
        }
        return false
    }

    private func fault(of name: HeaderName) -> Fault {
        Fault(.badRequest, (self.contains(name) ? "Bad " : "Missing ") + name.token)
    }

    private static func isKeepable(_ address: NameAddr?) -> Bool {
        guard let address else { return false }
        return (address.tag?.count ?? 0) <= SIPLimits.identifierBytes
    }
}

// MARK: - Start line

extension StartLine {
    /// Reads the first line. A fault that can be answered comes beside what could be read; noise is thrown.
    fileprivate static func read(_ line: ByteString) throws(SIPParseError) -> (StartLine, SIPMessage.Fault?) {
        if line.hasPrefixIgnoringCase("SIP/") { return (try self.statusLine(line), nil) }
        let words = line.split(on: ASCII.space).filter { !$0.isEmpty }
        guard words.count >= 3, let method = Method(words[0]), let version = words.last,
            version.hasPrefixIgnoringCase("SIP/")
        else { throw SIPParseError(.drop, "Not SIP") }
        let target = words[1..<words.count - 1].dropFirst().reduce(words[1]) { $0 + " " + $1 }
        func faulty(_ status: StatusCode, _ reason: ByteString) -> (StartLine, SIPMessage.Fault?) {
            (.request(method, .other(target)), SIPMessage.Fault(status, reason))
        }
        guard version.equalsIgnoringCase("SIP/2.0") else {
            return faulty(.versionNotSupported, "Version Not Supported")
        }
        guard line == method.token + " " + target + " " + version, let uri = URI(target) else {
            return faulty(.badRequest, "Bad Request Line")
        }
        guard uri.sip?.headers.isEmpty ?? true else { return faulty(.badRequest, "Headers In Request-URI") }
        return (.request(method, uri), nil)
    }

    /// `SIP/2.0 SP 3DIGIT SP reason`; the last blank may be missing with the reason.
    private static func statusLine(_ line: ByteString) throws(SIPParseError) -> StartLine {
        let version: ByteString = "SIP/2.0 "
        guard line.hasPrefixIgnoringCase(version),
            let code = line.slice(version.count..<version.count + 3).decimal(),
            let status = StatusCode(wire: code),
            line.count == version.count + 3 || line.bytes[version.count + 3] == ASCII.space
        else { throw SIPParseError(.drop, "Bad Status Line") }
        return .response(status, reason: line.slice(version.count + 4..<max(version.count + 4, line.count)))
    }
}
