// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire

/// One TCP connection: bytes in order, in pieces of any size.
final class Connection {
    /// What is under way in one direction.
    struct Direction {
        var bytes: [UInt8] = []
        /// Where in `bytes` a message ends.
        var ends: [(offset: Int, parcel: Parcel)] = []
        /// When the last of it arrives.
        var arrives = Instant.zero
        var isScheduled = false
    }

    enum State {
        case connecting, open, closed
    }

    /// Who opened it, and who listened.
    let ends: [any Node]
    let flows: [Flow]
    var state = State.connecting
    /// By the sender's end.
    var directions = [Direction(), Direction()]

    init(from opener: any Node, to acceptor: any Node, port: UInt16) {
        self.ends = [opener, acceptor]
        self.flows = [
            Flow(transport: .tcp, local: opener.address, remote: acceptor.address),
            Flow(
                transport: .tcp, local: acceptor.address,
                remote: SocketAddress(opener.address.address, port: port)),
        ]
    }

    func end(of node: any Node, on flow: Flow) -> Int? {
        (0..<2).first { self.ends[$0] === node && self.flows[$0].remote == flow.remote }
    }
}

extension World {
    private static let connectPatienceMs = 20_000

    func sendStream(_ parcel: Parcel, from node: any Node, on flow: Flow) {
        for connection in self.network.connections {
            guard let end = connection.end(of: node, on: flow) else { continue }
            return self.append(parcel, to: connection, end)
        }
        self.open(parcel, from: node, on: flow)
    }

    private func open(_ parcel: Parcel, from node: any Node, on flow: Flow) {
        let rtt = 2 * self.network.weather(of: node, self).delayMs
        let isRefused = self.hasFaults && self.network.draw.below(100) < self.options.refusePercent
        guard let target = self.network.node(at: flow.remote), target.isUp, !isRefused else {
            self.note("\(node.name) -> \(flow.remote.text.string) \(parcel.text): refused")
            return self.after(ms: rtt) { _ in node.failed(flow) }
        }
        let connection = Connection(from: node, to: target, port: self.network.takePort())
        self.network.connections.append(connection)
        self.note("\(node.name) opens a stream to \(target.name)")
        self.append(parcel, to: connection, 0)
        let open = self.network.cutEnd(from: node.index, to: target.index, self) ?? self.now
        let limit = self.now + .milliseconds(Self.connectPatienceMs)
        if open > limit {
            self.at(limit) { $0.close(connection, telling: [0]) }
        } else {
            self.at(open + .milliseconds(rtt)) { world in
                guard connection.state == .connecting else { return }
                guard target.isUp else { return world.close(connection, telling: [0]) }
                connection.state = .open
                world.schedule(connection, 0)
            }
        }
    }

    private func append(_ parcel: Parcel, to connection: Connection, _ end: Int) {
        self.draw(parcel.text, from: connection.ends[end], to: connection.ends[1 - end], "stream")
        connection.directions[end].bytes += parcel.bytes
        connection.directions[end].ends.append((connection.directions[end].bytes.count, parcel))
        if connection.state == .open { self.schedule(connection, end) }
    }

    /// What was lost is sent again below us: it only comes later.
    private func schedule(_ connection: Connection, _ end: Int) {
        guard !connection.directions[end].isScheduled, !connection.directions[end].bytes.isEmpty else { return }
        let sender = connection.ends[end]
        let weather = self.network.weather(of: sender, self)
        var at = self.now + .milliseconds(weather.delayMs)
        for ms in [200, 400, 800, 1600] {
            guard self.network.draw.below(1000) < weather.lossPerMille else { break }
            at = at + .milliseconds(ms)
        }
        if let open = self.network.cutEnd(from: sender.index, to: connection.ends[1 - end].index, self) {
            at = max(at, open + .milliseconds(weather.delayMs))
        }
        at = max(at, connection.directions[end].arrives)
        connection.directions[end].arrives = at
        connection.directions[end].isScheduled = true
        self.at(at) { $0.deliver(connection, end) }
    }

    private func deliver(_ connection: Connection, _ end: Int) {
        connection.directions[end].isScheduled = false
        guard connection.state == .open else { return }
        let receiver = connection.ends[1 - end]
        let waiting = connection.directions[end].bytes.count
        var count = waiting
        if receiver.readsBytes, self.hasFaults {
            if self.options.dripFeeds {
                count = 1 + Int(self.network.draw.below(40))
            } else if self.network.draw.below(3) == 0 {
                count = 1 + Int(self.network.draw.below(UInt64(waiting)))
            }
            count = min(count, waiting)
        }
        let piece = Array(connection.directions[end].bytes[..<count])
        connection.directions[end].bytes.removeFirst(count)
        let whole = connection.directions[end].ends.prefix { $0.offset <= count }.map { $0.parcel }
        connection.directions[end].ends.removeFirst(whole.count)
        for index in connection.directions[end].ends.indices { connection.directions[end].ends[index].offset -= count }
        let flow = connection.flows[1 - end]
        if receiver.readsBytes {
            receiver.receive(piece, ending: whole, on: flow)
        } else {
            for parcel in whole { receiver.receive(parcel, on: flow) }
        }
        if connection.state == .open { self.schedule(connection, end) }
    }

    /// Closes it, and tells those ends after a while.
    func close(_ connection: Connection, telling ends: [Int]) {
        guard connection.state != .closed else { return }
        connection.state = .closed
        self.network.connections.removeAll { $0 === connection }
        for end in ends {
            let node = connection.ends[end]
            let other = connection.ends[1 - end]
            let open = self.network.cutEnd(from: other.index, to: node.index, self) ?? self.now
            self.at(open + .milliseconds(self.network.weather(of: other, self).delayMs)) { _ in
                if node.isUp { node.failed(connection.flows[end]) }
            }
        }
    }

    /// A node closes its end of a flow.
    func close(_ flow: Flow, of node: any Node) {
        for connection in self.network.connections {
            guard let end = connection.end(of: node, on: flow) else { continue }
            return self.close(connection, telling: [1 - end])
        }
    }

    /// All streams of a node that is gone.
    func closeAll(of node: any Node) {
        for connection in self.network.connections where connection.ends.contains(where: { $0 === node }) {
            self.close(connection, telling: connection.ends[0] === node ? [1] : [0])
        }
    }

    func resetAny() {
        guard !self.network.connections.isEmpty else { return }
        let index = Int(self.network.draw.below(UInt64(self.network.connections.count)))
        self.note("a stream is reset")
        self.close(self.network.connections[index], telling: [0, 1])
    }
}
