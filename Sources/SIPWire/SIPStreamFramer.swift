// SPDX-License-Identifier: Apache-2.0

import Bytes

/// Cuts a TCP byte stream into messages (RFC 3261 section 18.3, keep-alives of RFC 5626 section 4.4.1). Bytes may
/// come in any cut.
public struct SIPStreamFramer: Sendable {
    public enum Item: Equatable, Sendable {
        /// The bytes of one message, to be parsed with `.stream` framing.
        case message([UInt8])
        /// CRLF CRLF: answer with `pong`.
        case ping
        /// A lone CRLF after `pingSent`.
        case pong
        /// The stream cannot be cut any more: answer (where the verdict says so) and close it. Nothing comes after
        /// this.
        case broken(SIPParseError)
    }

    /// The bytes that answer a ping.
    public static let pong: [UInt8] = [ASCII.carriageReturn, ASCII.lineFeed]
    /// The bytes of a ping.
    public static let ping: [UInt8] = [
        ASCII.carriageReturn, ASCII.lineFeed, ASCII.carriageReturn, ASCII.lineFeed,
    ]

    private enum State {
        /// No header section is complete; `scanned` bytes of the buffer hold no end of one.
        case betweenMessages(scanned: Int)
        /// A header section is complete; the message ends at `end` of the buffer.
        case inBody(end: Int)
        case broken
    }

    private var state = State.betweenMessages(scanned: 0)
    private var buffer: [UInt8] = []
    /// Bytes of the buffer that were given out. Taken off when more come, not for each message.
    private var start = 0
    private var pongsExpected: UInt8 = 0

    public init() {}

    /// Tells that a ping went out, so that a lone CRLF is its answer and not half of the peer's own ping.
    public mutating func pingSent() {
        if self.pongsExpected < 8 { self.pongsExpected += 1 }
    }

    /// Takes in bytes, then `next()` until nil.
    public mutating func append(_ bytes: [UInt8]) {
        switch self.state {
        case .broken: return
        case .betweenMessages(let scanned): self.state = .betweenMessages(scanned: scanned - self.start)
        case .inBody(let end): self.state = .inBody(end: end - self.start)
        }
        self.buffer.removeFirst(self.start)
        self.start = 0
        self.buffer.append(contentsOf: bytes)
    }

    /// The next whole item; nil when more bytes are needed.
    public mutating func next() -> Item? {
        if case .betweenMessages(let scanned) = self.state {
            if let keepAlive = self.takeLineEnds() { return keepAlive }
            if let broken = self.findHeaderEnd(scanned: max(scanned, self.start)) { return broken }
        }
        guard case .inBody(let end) = self.state, end <= self.buffer.count else { return nil }
        defer {
            self.start = end
            self.state = .betweenMessages(scanned: end)
        }
        return .message(Array(self.buffer[self.start..<end]))
    }

    // MARK: - Between messages

    /// Passes line ends before a message. A lone CRLF at the end of the buffer is a pong where one is due; otherwise it
    /// waits, for it may be half a ping.
    private mutating func takeLineEnds() -> Item? {
        while self.start < self.buffer.count {
            let ahead = self.buffer[self.start...]
            if ahead.starts(with: Self.ping) {
                self.start += Self.ping.count
                return .ping
            }
            if ahead.starts(with: Self.pong) {
                if ahead.count == 3 && ahead.last == ASCII.carriageReturn { return nil }
                if self.pongsExpected > 0 {
                    self.pongsExpected -= 1
                    self.start += Self.pong.count
                    return .pong
                }
                if ahead.count == Self.pong.count { return nil }
                self.start += Self.pong.count
            } else if ahead.first == ASCII.lineFeed || ahead.first == ASCII.carriageReturn && ahead.count > 1 {
                self.start += 1
            } else {
                return nil
            }
        }
        return nil
    }

    private mutating func findHeaderEnd(scanned: Int) -> Item? {
        // The empty line may lie across the cut: look again at the last line end before it.
        let from = max(self.start, scanned - 3)
        guard let bodyStart = HeaderSection.bodyStart(in: self.buffer[self.start...], from: from) else {
            self.state = .betweenMessages(scanned: self.buffer.count)
            return self.buffer.count - self.start > SIPLimits.messageBytes
                ? self.fail(SIPParseError(.drop, "Header Section Too Long")) : nil
        }
        let head = self.buffer[self.start..<bodyStart]
        let lengths = HeaderSection(head).headers.filter { $0.name == .contentLength }.map { $0.value.decimal() }
        guard lengths.count == 1, let length = lengths[0] else { return self.fail(Self.error(Array(head))) }
        guard head.count <= SIPLimits.messageBytes, length <= UInt64(SIPLimits.messageBytes - head.count) else {
            return self.fail(Self.tooLarge(Self.error(Array(head))))
        }
        self.state = .inBody(end: bodyStart + Int(length))
        return nil
    }

    private mutating func fail(_ error: SIPParseError) -> Item {
        self.state = .broken
        self.buffer = []
        self.start = 0
        return .broken(error)
    }

    /// The parser's own words about a head whose length cannot be used.
    private static func error(_ head: [UInt8]) -> SIPParseError {
        do {
            let message = try SIPMessage.parse(head, framing: .stream)
            return SIPParseError(.drop, "Bad Content-Length", message: message)
        } catch {
            return error
        }
    }

    /// Without its body the parser can only see that one is missing.
    private static func tooLarge(_ error: SIPParseError) -> SIPParseError {
        switch error.verdict {
        case .answer: return SIPParseError(.answer(.requestEntityTooLarge), "Message Too Large", message: error.message)
        case .drop: return error
        }
    }
}
