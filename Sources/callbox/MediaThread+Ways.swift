// SPDX-License-Identifier: Apache-2.0

import Bytes
import KioskEngine
import Loop
import MediaEngine
import Reach

/// By which way packets go and come: our sockets, those of one call, or ICE.
extension MediaThread {
    /// A handshake begins with a few; what is lost it sends again.
    static let unsentMax = 8

    /// True for what is about ways, and not for the engine.
    func order(_ message: MediaMessage) -> Bool {
        switch message {
        case .findWays(let search): self.ways.search(search, self.poller, now: Clock.now())
        case .forgetWays: self.ways.forget(now: Clock.now())
        case .start, .update, .stop, .audioEncoded, .videoEncoded, .sendDigit, .keyFrameDecoded, .pictureBroken:
            return false
        }
        return true
    }

    /// False where there is no way yet: only ICE can say so.
    @discardableResult
    func transmit(
        _ packet: [UInt8], _ kind: StreamKind, _ channel: Channel, to remote: SocketAddress
    ) -> Bool {
        if self.ways.carries(kind) { return self.ways.send(packet, kind, channel) }
        if self.callSockets == nil {
            self.sockets.send(packet, kind, channel, to: remote)
        } else {
            self.callSockets?.send(packet, kind, channel, to: remote)
        }
        return true
    }

    /// What came by a way was sent by whom the plan names, or by nobody.
    func take(_ events: [MediaWays.Event]) {
        for event in events {
            switch event {
            case .received(let bytes, let kind, let channel):
                guard self.ways.carries(kind), let stream = self.stream(kind) else { continue }
                self.take(bytes, kind, channel, from: channel == .rtcp ? stream.remoteRTCP : stream.remoteRTP)
            case .report(let report):
                if case .selected(_, let kind, _) = report { self.wayFound(kind) }
                self.wires.reports.put(.ice(report))
            }
        }
    }

    private func wayFound(_ kind: StreamKind) {
        let waiting = self.unsent.filter { $0.1 == kind }
        self.unsent.removeAll { $0.1 == kind }
        for (datagram, kind, channel) in waiting { _ = self.ways.send(datagram, kind, channel) }
        // What was encoded before went nowhere.
        if kind == .video { self.wires.camera.order(.encodeKeyFrame) }
    }

    /// Sockets on the ports that a far end without ICE was offered. ICE gives them back a moment later than it is told
    /// to: until then they cannot be had.
    func open(_ ports: MediaPorts?) {
        self.wantedPorts = ports
        self.openWanted()
    }

    func openWanted() {
        guard let ports = self.wantedPorts else {
            self.callSockets = nil
            return
        }
        guard self.callSockets?.has(ports) != true else { return }
        self.callSockets = nil
        self.callSockets = MediaSockets(ports)
        self.callSockets?.watch(self.poller, tokenBase: UInt64(Self.order.count))
        self.callSockets?.mark(self.ways.network)
    }
}
