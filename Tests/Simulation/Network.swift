// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire

/// A message under way. What the kiosks send has bytes and was read once; what the scripted elements send is printed
/// only where a kiosk gets it.
final class Parcel {
    let message: SIPMessage?
    private var printed: [UInt8]?

    init(_ message: SIPMessage?, bytes: [UInt8]? = nil) {
        self.message = message
        self.printed = bytes
    }

    var bytes: [UInt8] {
        if let printed = self.printed { return printed }
        let bytes = self.message?.printed() ?? []
        self.printed = bytes
        return bytes
    }

    /// For the log.
    var text: String {
        guard let message = self.message else { return "\(self.bytes.count) bytes" }
        let number = message.cseq.map { "\($0.number)" } ?? "?"
        let body = message.body.isEmpty ? "" : " (\(message.body.count) bytes)"
        switch message.startLine {
        case .request(let method, let uri): return "\(method.token.string) \(number) \(uri.printed.string)\(body)"
        case .response(let status, _):
            return "\(status.value) \(message.cseq?.method.token.string ?? "?") \(number)\(body)"
        }
    }
}

/// Anything with an address.
protocol Node: AnyObject {
    /// 0 and 1 are the kiosks, 2 is the proxy, the agents follow.
    var index: Int { get }
    var name: String { get }
    var address: SocketAddress { get }
    /// Whether it listens.
    var isUp: Bool { get }
    /// Wants a stream's bytes as they come, not its messages.
    var readsBytes: Bool { get }
    func receive(_ parcel: Parcel, on flow: Flow)
    /// A piece of a stream, and the messages that end in it.
    func receive(_ bytes: [UInt8], ending parcels: [Parcel], on flow: Flow)
    func failed(_ flow: Flow)
}

/// Carries datagrams and streams between nodes as the seed's weather has it.
struct Network {
    var nodes: [any Node] = []
    var connections: [Connection] = []
    var draw: Generator
    private var nextPort: UInt16 = 49_152
    /// Until when nothing goes from one node (row) to another (column).
    private var cutUntil: [[Instant]] = []

    init(seed: UInt64) {
        self.draw = Generator(seed: seed ^ 0x4E37_0001)
    }

    mutating func add(_ node: any Node) {
        self.nodes.append(node)
        for row in self.cutUntil.indices { self.cutUntil[row].append(.zero) }
        self.cutUntil.append(Array(repeating: .zero, count: self.nodes.count))
    }

    func node(at address: SocketAddress) -> (any Node)? {
        self.nodes.first { $0.address == address }
    }

    mutating func cut(from: Int, to: Int, until: Instant) {
        self.cutUntil[from][to] = max(self.cutUntil[from][to], until)
    }

    /// When the way from one node to the other is open again; nil where it is open now.
    func cutEnd(from: Int, to: Int, _ world: World) -> Instant? {
        guard world.hasFaults, self.cutUntil[from][to] > world.now else { return nil }
        return self.cutUntil[from][to]
    }

    mutating func takePort() -> UInt16 {
        self.nextPort = self.nextPort == .max ? 49_152 : self.nextPort + 1
        return self.nextPort
    }

    func weather(of node: any Node, _ world: World) -> Weather {
        world.hasFaults ? world.options.weather[node.index] : .fine
    }
}

// MARK: - Datagrams

extension World {
    func send(_ parcel: Parcel, from node: any Node, on flow: Flow) {
        switch flow.transport {
        case .udp: self.sendDatagram(parcel, from: node, to: flow.remote)
        case .tcp, .tls: self.sendStream(parcel, from: node, on: flow)
        }
    }

    private func sendDatagram(_ parcel: Parcel, from node: any Node, to remote: SocketAddress) {
        guard let target = self.network.node(at: remote), target.isUp else {
            self.note("\(node.name) -> \(remote.text.string) \(parcel.text): nobody there")
            // The network says so, sometimes.
            if self.network.draw.below(2) == 0 {
                let flow = Flow(transport: .udp, local: node.address, remote: remote)
                self.after(ms: 5) { _ in node.failed(flow) }
            }
            return
        }
        if self.network.cutEnd(from: node.index, to: target.index, self) != nil {
            return self.draw(parcel.text, from: node, to: target, "cut off")
        }
        let weather = self.network.weather(of: node, self)
        let copies = self.network.draw.below(1000) < weather.copiesPerMille ? 2 : 1
        for _ in 0..<copies {
            if self.network.draw.below(1000) < weather.lossPerMille {
                self.draw(parcel.text, from: node, to: target, "lost")
                continue
            }
            var delayMs = weather.delayMs + Int(self.network.draw.below(weather.jitterMs + 1))
            if self.network.draw.below(1000) < weather.slowPerMille { delayMs += Int(self.network.draw.below(2000)) }
            self.draw(parcel.text, from: node, to: target, "\(delayMs) ms")
            let flow = Flow(transport: .udp, local: target.address, remote: node.address)
            self.after(ms: delayMs) { _ in if target.isUp { target.receive(parcel, on: flow) } }
        }
    }
}
