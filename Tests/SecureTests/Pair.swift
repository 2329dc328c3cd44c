// SPDX-License-Identifier: Apache-2.0

import Bytes
import CTLS
import KioskEngine

@testable import Secure

/// A client and a server whose bytes are carried by hand.
final class Pair {
    let client: TLSStream
    let server: TLSStream
    var now = Instant.zero
    /// What each side gave, wire bytes and waits aside.
    var clientTold: [TLSStream.Output] = []
    var serverTold: [TLSStream.Output] = []
    private var toServer: [UInt8] = []
    private var toClient: [UInt8] = []

    init(client: TLSContext, server: TLSContext, name: ByteString) {
        self.client = TLSStream(client: client, name: name)
        self.server = TLSStream(server: server)
    }

    /// One input of the client's and all that it leads to, on both sides.
    func client(_ input: TLSStream.Input) {
        self.put(self.client, input)
        self.carry()
    }

    func server(_ input: TLSStream.Input) {
        self.put(self.server, input)
        self.carry()
    }

    private func carry() {
        while !self.toServer.isEmpty || !self.toClient.isEmpty {
            let (up, down) = (self.toServer, self.toClient)
            self.toServer = []
            self.toClient = []
            if !up.isEmpty { self.put(self.server, .received(up)) }
            if !down.isEmpty { self.put(self.client, .received(down)) }
        }
    }

    private func put(_ stream: TLSStream, _ input: TLSStream.Input) {
        stream.handle(input, now: self.now)
        while true {
            let output = stream.pollOutput()
            switch output {
            case .wait: return
            case .transmit(let bytes):
                if stream === self.client { self.toServer += bytes } else { self.toClient += bytes }
            case .deliver, .opened, .certificate, .ask, .closed, .failed:
                if stream === self.client { self.clientTold.append(output) } else { self.serverTold.append(output) }
            }
        }
    }

    /// Why the client gave up.
    var fault: TLSFault? {
        for case .failed(let fault) in self.clientTold { return fault }
        return nil
    }

    /// What speaks against the certificate that the client refused.
    var reasons: [CertificateReason]? {
        switch self.fault {
        case .refused(let record), .waitsForTime(let record): return record.reasons
        case .handshake, nil: return nil
        }
    }
}

extension TLSContext {
    /// A client that trusts `authority`, on `day` (from `Authority.today`).
    static func client(
        _ authority: Authority, day: Int64 = 0, isTimeKnown: Bool = true, memory: [UInt8] = [],
        save: @escaping ([UInt8]) -> Void = { _ in }, change: (inout TLSSettings) -> Void = { _ in }
    ) -> TLSContext {
        var settings = TLSSettings()
        settings.authorities = authority.file(certificate: authority.own.certificate)
        change(&settings)
        let time = Authority.today + day * Authority.day
        let clock = WallClock(system: { time }, isSet: { isTimeKnown }, built: 0, saved: nil, now: .zero)
        return TLSContext(settings, clock: clock, memory: memory, now: .zero, save: save)
    }

    static func server(_ authority: Authority, _ identity: Authority.Identity) -> TLSContext {
        self.client(
            authority,
            change: {
                $0.certificate = authority.file(certificate: identity.certificate)
                $0.key = authority.file(key: identity.key)
            })
    }
}
