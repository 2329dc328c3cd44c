// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire

/// The network changed under us: another address, another route, a link that is back.
extension KioskEngine {
    mutating func networkChanged(now: Instant) {
        self.reportNumber &+= 1
        guard self.leaveBy == nil else { return }
        self.locator.outdate(now: now)
        for index in self.accounts.indices {
            let action = self.accounts[index].networkChanged()
            self.carryOut(action, at: index, now: now)
        }
        guard case .connected = self.machine.state, let session = self.session else { return }
        let question = self.machine.newResolution()
        self.addressQuestion = question
        self.put(.route(question, to: [SocketAddress(session.signalling, port: SIPTransport.udp.standardPort)]))
    }

    /// A call that stands moves with us: the far end is told where its media and its requests are to go.
    /// - Parameter local: nil where no way leads there any more.
    mutating func ownAddressFound(_ local: SocketAddress?, now: Instant) {
        self.addressQuestion = nil
        self.machine.foundWay(local != nil, now: now)
        guard case .connected(let state) = self.machine.state, let session = self.session, let local,
            local.address != session.address
        else { return }
        self.session?.move(to: local.address)
        self.tell(.move(state.handle, to: local.address), now: now)
        // The ways of before lead nowhere.
        if session.ways != nil { return self.findOtherWays(state.handle, now: now) }
        self.changeTakenLate(state.handle, now: now)
    }
}
