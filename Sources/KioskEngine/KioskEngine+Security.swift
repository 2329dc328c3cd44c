// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire

/// Signalling that nobody on the way may read or change: which calls want it, and what is told where it cannot be had.
extension KioskEngine {
    // MARK: - Flows

    func transport(of uri: SIPURI) -> SIPTransport {
        if uri.isSecure { return .tls }
        return uri.transport.flatMap { SIPTransport($0) } ?? self.configuration.sip.transport
    }

    // MARK: - No way down

    /// Whoever speaks to us by TLS may send us to others by TLS only.
    func isAllowed(_ uri: SIPURI, after session: MediaSession?) -> Bool {
        guard session?.security.isSignallingPrivate ?? false else { return true }
        return self.transport(of: uri) == .tls
    }

    /// A redirection without the addresses that are less secure than who names them.
    func withoutDowngrade(_ reason: EndReason, of handle: CallHandle) -> EndReason {
        guard case .redirected(let status, let uris) = reason else { return reason }
        let other = self.otherCalls.first { $0.handle == handle }?.session
        let session = self.machine.state.handle == handle ? self.session : other ?? self.transferSession
        return .redirected(status, uris.filter { self.isAllowed($0, after: session) })
    }

    // MARK: - Keys

    /// A key that was used as often as it may be protects nothing more: the session is offered anew with other ones
    /// (RFC 4568 section 7.1.4).
    mutating func renewKeys(now: Instant) {
        guard case .connected(let state) = self.machine.state else { return }
        self.session?.renewKeys()
        self.changeTakenLate(state.handle, now: now)
    }

    // MARK: - Faults

    mutating func insecure(_ flow: Flow, _ fault: TLSFault, now: Instant) {
        self.emit(fault, of: flow.name, at: flow.remote, now: now)
        if case .refused = fault, let index = self.accounts.firstIndex(where: { $0.flow == flow }) {
            self.accounts[index].isUntrusted = true
        }
        self.tlsFault = fault
        self.tell(.flowFailed(flow), now: now)
    }

    mutating func emit(_ fault: TLSFault, of name: ByteString, at remote: SocketAddress, now: Instant) {
        switch fault {
        case .refused(let record): self.emit(record, .refused, now: now)
        case .waitsForTime(let record): self.emit(record, .waitsForTime, now: now)
        case .handshake(let text):
            self.emit("tls", now: now) {
                $0.put("name", name)
                $0.put("remote", remote.text)
                $0.put("text", text)
                $0.put(.handshake)
            }
        }
    }

    mutating func emit(_ record: CertificateRecord, _ verdict: CertificateVerdict, now: Instant) {
        self.emit("certificate", now: now) {
            $0.put("verdict", verdict.text)
            record.write(to: &$0)
            $0.put(record.fault(verdict))
        }
    }
}

extension TLSFault {
    /// Of a call that could not be placed.
    var outcome: CallOutcome {
        switch self {
        case .refused(let record):
            let reasons = ConfigurationValue.joined(record.reasons.map { $0.text })
            return .insecure("certificate refused: " + reasons, record.reasons.first ?? .other(0))
        case .waitsForTime: return .waitsForTime
        case .handshake(let text): return .insecure(text)
        }
    }
}
