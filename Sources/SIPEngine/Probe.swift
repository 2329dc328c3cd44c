// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// Names one probe of ours.
public struct ProbeID: Hashable, Sendable {
    public let number: UInt64

    public init(_ number: UInt64) {
        self.number = number
    }
}

/// OPTIONS of ours outside of any dialog (RFC 3261 section 11.1): whether a server is there. Whatever it answers, it
/// is.
extension SIPEngine {
    mutating func probe(_ id: ProbeID, _ target: SIPURI, _ flow: Flow, now: Instant) {
        guard self.outstandingProbes < Limits.probesMax else { return self.put(.probed(id, .serviceUnavailable)) }
        let tag = self.newTag()
        var message = SIPMessage(startLine: .request(.options, .sip(target.asRequestURI)))
        message.add(.maxForwards, "70")
        message.add(.from, self.from(flow, tag: tag, by: Sender()).printed)
        message.add(.to, NameAddr(uri: .sip(target.asAddress)).printed)
        message.add(.callID, self.newCallID())
        message.add(.cseq, CSeq(1, .options).printed)
        message.add(.accept, "application/sdp")
        if !self.configuration.userAgent.isEmpty { message.add(.userAgent, self.configuration.userAgent) }
        self.sendRequest(message, on: flow, for: .probe(id), now: now)
    }

    private var outstandingProbes: Int {
        self.clients.filter {
            if case .probe = $0.purpose { return !$0.isTerminated && !$0.isLingering }
            return false
        }.count
    }
}
