// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import SIPEngine

/// Two engines mouth to ear, in virtual time, over a network that loses, delays and reorders as its seed says.
final class World {
    enum Side: Int, CaseIterable {
        case left, right

        var other: Side { self == .left ? .right : .left }
        var address: SocketAddress {
            SocketAddress(.v4(self == .left ? 0xC000_0201 : 0xC000_0202), port: 5060)
        }
    }

    struct Network {
        /// Of a thousand datagrams, how many are lost.
        var lossPerMille: UInt64 = 0
        var delayMs = 10
        /// Up to so much more, drawn for each datagram: reorders.
        var jitterMs: UInt64 = 0
        /// Of a thousand datagrams, how many come twice.
        var copiesPerMille: UInt64 = 0
        /// Streams bring their bytes one at a time.
        var dripFeeds = false
    }

    private struct Parcel {
        let at: Instant
        let order: UInt64
        let to: Side
        let bytes: [UInt8]
        let flow: Flow
    }

    private(set) var now = Instant.zero
    var engines: [SIPEngine]
    var network: Network
    private(set) var events: [[(handle: CallHandle, event: CallEvent)]] = [[], []]
    /// Every message that was sent, whether it arrived or not: who, and its first line.
    private(set) var sent: [(side: Side, line: String)] = []
    /// What each side does about an event.
    var reactions: [(World, CallHandle, CallEvent) -> Void] = [{ _, _, _ in }, { _, _, _ in }]
    private var parcels: [Parcel] = []
    private var generator: Generator
    private var order: UInt64 = 0
    /// When the last parcel of a stream arrives: streams keep their order.
    private var streamEnds: [Side: Instant] = [:]

    /// - Parameter configurations: of the left and the right engine.
    init(
        seed: UInt64, network: Network = Network(), configurations: [SIPConfiguration] = [.standard, .standard]
    ) {
        self.engines = Side.allCases.map {
            SIPEngine(configuration: configurations[$0.rawValue], seed: seed &* 2 &+ UInt64($0.rawValue))
        }
        self.network = network
        self.generator = Generator(seed: seed ^ 0xABCD)
    }

    func flow(from side: Side, _ transport: SIPTransport = .udp) -> Flow {
        Flow(transport: transport, local: side.address, remote: side.other.address)
    }

    /// Lets one side place a call to the other.
    func call(
        from side: Side, over transport: SIPTransport = .udp, offer: [UInt8] = World.offer, headers: [Header] = []
    ) -> CallHandle {
        let handle = self.engines[side.rawValue].newHandle()
        let other = side.other.address
        let target = SIPURI(user: "desk", host: .address(other.address), port: other.port)
        let request = InviteRequest(
            target: target, flow: self.flow(from: side, transport), offer: offer, extraHeaders: headers)
        self.input(.invite(handle, request), to: side)
        return handle
    }

    func input(_ input: SIPEngine.Input, to side: Side) {
        self.engines[side.rawValue].handle(input, now: self.now)
        var events: [(CallHandle, CallEvent)] = []
        draining: while true {
            switch self.engines[side.rawValue].pollOutput() {
            case .send(let bytes, let flow): self.carry(bytes, on: flow, from: side)
            case .close, .message, .messageFinished, .registration: break
            case .event(let handle, let event): events.append((handle, event))
            case .wait: break draining
            }
        }
        for (handle, event) in events {
            self.events[side.rawValue].append((handle, event))
            self.reactions[side.rawValue](self, handle, event)
        }
    }

    private func carry(_ bytes: [UInt8], on flow: Flow, from side: Side) {
        let line = String(decoding: bytes.prefix { $0 != ASCII.carriageReturn }, as: UTF8.self)
        self.sent.append((side, line))
        guard let to = Side.allCases.first(where: { $0.address == flow.remote }) else { return }
        let arriving = Flow(transport: flow.transport, local: flow.remote, remote: flow.local)
        switch flow.transport {
        case .udp:
            let copies = self.generator.below(1000) < self.network.copiesPerMille ? 2 : 1
            for _ in 0..<copies where self.generator.below(1000) >= self.network.lossPerMille {
                let delayMs = self.network.delayMs + Int(self.generator.below(self.network.jitterMs + 1))
                self.put(bytes, to, arriving, at: self.now + .milliseconds(delayMs))
            }
        case .tcp, .tls:
            let at = max(self.now + .milliseconds(self.network.delayMs), self.streamEnds[to] ?? .zero)
            self.streamEnds[to] = at
            if self.network.dripFeeds {
                for byte in bytes { self.put([byte], to, arriving, at: at) }
            } else {
                self.put(bytes, to, arriving, at: at)
            }
        }
    }

    private func put(_ bytes: [UInt8], _ to: Side, _ flow: Flow, at: Instant) {
        self.order += 1
        self.parcels.append(Parcel(at: at, order: self.order, to: to, bytes: bytes, flow: flow))
    }

    /// Runs until nothing is left to happen, or to the end of `duration`.
    func run(for duration: Duration) {
        let end = self.now + duration
        while let at = self.nextInstant, at <= end {
            self.now = max(self.now, at)
            self.step()
        }
        self.now = end
    }

    /// Runs until both engines are idle; the time is bounded, for a timer that never ends is a fault.
    func runUntilIdle(file: StaticString = #filePath, line: UInt = #line) {
        let limit = self.now + .seconds(600)
        while let at = self.nextInstant {
            guard at <= limit else { return XCTFail("still busy after ten minutes", file: file, line: line) }
            self.now = max(self.now, at)
            self.step()
        }
    }

    private var nextInstant: Instant? {
        let timers = self.engines.compactMap { $0.nextWakeUp?.at }
        return (timers + self.parcels.map { $0.at }).min()
    }

    private func step() {
        let first = self.parcels.indices.min {
            (self.parcels[$0].at, self.parcels[$0].order) < (self.parcels[$1].at, self.parcels[$1].order)
        }
        if let first, self.parcels[first].at <= self.now {
            let parcel = self.parcels.remove(at: first)
            return self.input(.received(parcel.bytes, on: parcel.flow), to: parcel.to)
        }
        for side in Side.allCases {
            guard let wakeUp = self.engines[side.rawValue].nextWakeUp, wakeUp.at <= self.now else { continue }
            self.input(.timeout, to: side)
            if let next = self.engines[side.rawValue].nextWakeUp {
                XCTAssertGreaterThan(next.at, self.now, "\(next.reason) would fire for ever")
            }
        }
    }

    static let offer = Array("v=0\r\no=- 1 1 IN IP4 192.0.2.1\r\ns=-\r\n".utf8)
    static let answer = Array("v=0\r\no=- 2 2 IN IP4 192.0.2.2\r\ns=-\r\n".utf8)
}

// MARK: - What happened

extension World {
    /// The events of one call, in short names.
    func story(_ side: Side, _ handle: CallHandle) -> [String] {
        self.events[side.rawValue].filter { $0.handle == handle }.map { $0.event.name }
    }

    func story(_ side: Side) -> [String] {
        self.events[side.rawValue].map { $0.event.name }
    }

    func ends(_ side: Side) -> [EndReason] {
        self.events[side.rawValue].compactMap { if case .ended(let reason) = $0.event { reason } else { nil } }
    }

    func lines(_ side: Side) -> [String] {
        self.sent.filter { $0.side == side }.map { $0.line.replacingOccurrences(of: "SIP/2.0 ", with: "") }
            .map { $0.contains(" sip:") ? String($0.prefix { $0 != " " }) : String($0.prefix(3)) }
    }

    /// Answers every incoming call with 180 and, so much later, with 200.
    func answerCalls(on side: Side, with body: [UInt8] = World.answer) {
        self.reactions[side.rawValue] = { world, handle, event in
            switch event {
            case .incoming:
                world.input(.respond(handle, .ringing, body: []), to: side)
                world.input(.respond(handle, .ok, body: body), to: side)
            case .reoffered: world.input(.respond(handle, .ok, body: body), to: side)
            default: break
            }
        }
    }
}

extension CallEvent {
    var name: String {
        switch self {
        case .trying: return "trying"
        case .ringing(let status): return "ringing \(status.value)"
        case .earlyMedia(_, let status): return "earlyMedia \(status.value)"
        case .answered: return "answered"
        case .incoming: return "incoming"
        case .confirmed(let answer): return answer == nil ? "confirmed" : "confirmed with answer"
        case .reoffered(let offer): return offer == nil ? "reoffered empty" : "reoffered"
        case .keyFrameRequested: return "keyFrameRequested"
        case .answeredWithOffer: return "answeredWithOffer"
        case .changed: return "changed"
        case .changeTakenLate: return "changeTakenLate"
        case .changeRefused(let status): return "changeRefused \(status.value)"
        case .identified(let who): return "identified " + who.printed.string
        case .digit(let digit, let ms): return "digit \(Character(UnicodeScalar(digit))) \(ms)"
        case .informed(let isTaken): return "informed \(isTaken)"
        case .referred(let referral): return "referred " + referral.target.printed.string
        case .ended(let reason): return "ended \(reason.name)"
        }
    }
}

extension EndReason {
    var name: String {
        switch self {
        case .localHangUp: return "localHangUp"
        case .replaced: return "replaced"
        case .redirected(let status, let targets):
            return "redirected \(status.value) " + targets.map { $0.printed.string }.joined(separator: " ")
        case .remoteHangUp(nil, _, let text): return "remoteHangUp \(text.string)"
        case .remoteHangUp(let cause?, _, let text): return "remoteHangUp \(cause.value) \(text.string)"
        case .cancelled: return "cancelled"
        case .refused(let status, let phrase, _): return "refused \(status.value) \(phrase.string)"
        case .timedOut: return "timedOut"
        case .flowFailed: return "flowFailed"
        case .protocolFault(let words): return "protocolFault \(words.string)"
        case .tooManyCalls: return "tooManyCalls"
        }
    }
}
