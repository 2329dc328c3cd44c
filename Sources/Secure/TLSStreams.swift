// SPDX-License-Identifier: Apache-2.0

import Bytes
import KioskEngine
import Loop

/// What happened on the TLS connections.
public enum TLSEvent {
    /// Plain bytes.
    case received([UInt8], StreamPeer)
    /// The stream failed or ended, as one without TLS does.
    case failed(StreamPeer)
    /// It could not be made secure.
    case insecure(StreamPeer, TLSFault)
    /// A certificate was taken, and somebody should know.
    case certificate(CertificateRecord, CertificateVerdict)
}

/// TLS connections over streams of their own, with the face of `TCPStreams`.
public struct TLSStreams: ~Copyable {
    /// One connection; programs that are asked about its certificate have the token of its place.
    private struct Session {
        var peer: StreamPeer
        var stream: TLSStream
        var program: Program?
        var wakesAt: Instant?
    }

    private let context: TLSContext
    private let asked: ByteString?
    private var tcp: TCPStreams
    private var sessions = [Session?](repeating: nil, count: TCPStreams.connectionsMax)
    private let tokenBase: UInt64
    private var programTokens: UInt64 { self.tokenBase + UInt64(TCPStreams.connectionsMax) + 1 }

    /// How many tokens from `tokenBase` on belong to this object.
    public static let tokensCount = UInt64(2 * TCPStreams.connectionsMax + 1)

    /// Listens where `[tls]` says and there is a certificate of our own; where another program has the port,
    /// connections go out only (`port` is 0).
    public init(_ context: TLSContext, _ settings: TLSSettings, tokenBase: UInt64, poller: borrowing Poller) {
        let listen = settings.listen
        let address = listen.address.isUnspecified && listen.address.isV6 ? nil : listen.address
        var tcp = TCPStreams(tokenBase: tokenBase)
        if context.canListen,
            let listening = try? TCPStreams(address: address, port: listen.port, tokenBase: tokenBase, poller: poller)
        {
            tcp = listening
        }
        self.tcp = tcp
        self.context = context
        self.asked = settings.ask
        self.tokenBase = tokenBase
    }

    /// As that of `TCPStreams`.
    public mutating func mark(_ codePoint: UInt8) {
        self.tcp.codePoint = codePoint
    }

    /// On which we listen; 0 where we do not.
    public var port: UInt16 { self.tcp.port }

    public func owns(token: UInt64) -> Bool {
        token >= self.tokenBase && token < self.tokenBase + Self.tokensCount
    }

    // MARK: - The face of streams

    /// Sends on the connection to `peer`, making it where there is none and `peer` has a name.
    public mutating func send(
        _ bytes: [UInt8], to peer: StreamPeer, now: Instant, poller: borrowing Poller
    ) -> [TLSEvent] {
        if let slot = self.slot(for: peer), self.tcp.contains(peer) {
            return self.put(.send(bytes), slot, now, poller)
        }
        guard !peer.name.isEmpty else { return [.failed(peer)] }
        self.tcp.makeRoom(poller: poller)
        guard let slot = self.newSlot(poller) else { return [.failed(peer)] }
        self.sessions[slot] = Session(peer: peer, stream: TLSStream(client: self.context, name: peer.name))
        return self.put(.send(bytes), slot, now, poller) + self.put(.start, slot, now, poller)
    }

    public mutating func close(_ peer: StreamPeer, now: Instant, poller: borrowing Poller) {
        guard let slot = self.slot(for: peer) else { return }
        _ = self.put(.close, slot, now, poller)
        self.end(slot, poller)
    }

    public mutating func handle(_ ready: Readiness, now: Instant, poller: borrowing Poller) -> [TLSEvent] {
        if ready.token >= self.programTokens {
            return self.readProgram(Int(ready.token - self.programTokens), now, poller)
        }
        return self.tcp.handle(ready, now: now, poller: poller).map { self.take($0, now, poller) } ?? []
    }

    /// When `timePassed` is wanted; nil where nothing is waited for.
    public var deadline: Instant? {
        (self.sessions.compactMap { $0?.wakesAt } + [self.tcp.deadline].compactMap { $0 }).min()
    }

    public mutating func timePassed(now: Instant, poller: borrowing Poller) -> [TLSEvent] {
        var events: [TLSEvent] = []
        for event in self.tcp.timePassed(now: now, poller: poller) { events += self.take(event, now, poller) }
        for slot in self.sessions.indices {
            guard let wakesAt = self.sessions[slot]?.wakesAt, now >= wakesAt else { continue }
            events += self.put(.timeout, slot, now, poller)
        }
        return events
    }

    // MARK: - Below and above

    private mutating func take(_ event: StreamEvent, _ now: Instant, _ poller: borrowing Poller) -> [TLSEvent] {
        switch event {
        case .received(let bytes, let peer):
            if let slot = self.slot(for: peer) { return self.put(.received(bytes), slot, now, poller) }
            guard let slot = self.newSlot(poller) else {
                self.tcp.close(peer, poller: poller)
                return []
            }
            self.sessions[slot] = Session(peer: peer, stream: TLSStream(server: self.context))
            return self.put(.received(bytes), slot, now, poller)
        case .failed(let peer):
            guard let slot = self.slot(for: peer) else { return [] }
            self.end(slot, poller)
            return [.failed(peer)]
        }
    }

    /// One input of a session and all that it leads to.
    private mutating func put(
        _ input: TLSStream.Input, _ slot: Int, _ now: Instant, _ poller: borrowing Poller
    ) -> [TLSEvent] {
        guard let session = self.sessions[slot] else { return [] }
        var events: [TLSEvent] = []
        var isBroken = false
        var question: CertificateRecord?
        session.stream.handle(input, now: now)
        while true {
            switch session.stream.pollOutput() {
            case .transmit(let bytes):
                let failure = self.tcp.send(
                    bytes, to: session.peer, isForStranger: !input.isOurs, now: now, poller: poller)
                isBroken = isBroken || failure != nil
            case .deliver(let bytes): events.append(.received(bytes, session.peer))
            case .opened: break
            case .certificate(let record, let verdict): events.append(.certificate(record, verdict))
            case .ask(let record): question = record
            case .closed:
                self.end(slot, poller)
                events.append(.failed(session.peer))
            case .failed(let fault):
                self.end(slot, poller)
                // What strangers cannot do is no news.
                events.append(session.peer.name.isEmpty ? .failed(session.peer) : .insecure(session.peer, fault))
            case .wait(let until):
                guard self.sessions[slot] != nil else { return events }
                self.sessions[slot]?.wakesAt = until
                if isBroken {
                    self.end(slot, poller)
                    return events + [.failed(session.peer)]
                }
                guard let question, !self.ask(question, slot, poller) else { return events }
                return events + self.put(.answered(.refuse), slot, now, poller)
            }
        }
    }

    // MARK: - Places

    private func slot(for peer: StreamPeer) -> Int? {
        self.sessions.firstIndex { $0?.peer.isSame(as: peer) ?? false }
    }

    /// A free place. A stream that was pushed out by another one leaves its session behind.
    private mutating func newSlot(_ poller: borrowing Poller) -> Int? {
        for slot in self.sessions.indices {
            if let session = self.sessions[slot], !self.tcp.contains(session.peer) { self.end(slot, poller) }
        }
        return self.sessions.firstIndex { $0 == nil }
    }

    private mutating func end(_ slot: Int, _ poller: borrowing Poller) {
        guard let session = self.sessions[slot] else { return }
        if let program = session.program { poller.unwatch(program.descriptor) }
        self.sessions[slot] = nil
        self.tcp.close(session.peer, poller: poller)
    }

    // MARK: - Questions

    /// False where nobody can be asked.
    private mutating func ask(_ record: CertificateRecord, _ slot: Int, _ poller: borrowing Poller) -> Bool {
        guard let asked = self.asked, let program = Program(asked, input: (record.line + "\n").bytes) else {
            return false
        }
        self.sessions[slot]?.program = program
        poller.watch(program.descriptor, token: self.programTokens + UInt64(slot))
        return true
    }

    private mutating func readProgram(_ slot: Int, _ now: Instant, _ poller: borrowing Poller) -> [TLSEvent] {
        guard self.sessions.indices.contains(slot), let program = self.sessions[slot]?.program,
            let output = program.read()
        else { return [] }
        poller.unwatch(program.descriptor)
        self.sessions[slot]?.program = nil
        return self.put(.answered(CertificateAnswer(output)), slot, now, poller)
    }
}

extension TLSStream.Input {
    /// We want something of the other side, and do not only answer it.
    fileprivate var isOurs: Bool {
        switch self {
        case .start, .send: return true
        case .received, .answered, .close, .timeout: return false
        }
    }
}
