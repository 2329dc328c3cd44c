// SPDX-License-Identifier: Apache-2.0
import Bytes
import SDPWire

/// The four ports of a call's media.
public struct MediaPorts: Equatable, Sendable {
    public var audio: StreamPorts
    public var video: StreamPorts

    public init(audio: StreamPorts, video: StreamPorts) {
        self.audio = audio
        self.video = video
    }
}

extension MediaSession {
    func protection(_ session: NegotiatedSession) -> MediaProtection {
        var protection = MediaProtection(session)
        if !protection.isByICE { protection.ports = self.ports ?? (self.awaitsAnswer ? self.portsOfWays : nil) }
        return protection
    }

    /// Where a far end without ICE sends to that was offered our ways.
    var portsOfWays: MediaPorts? {
        guard let ways = self.ways?.ways, let audio = StreamPorts(ways.audio, self.address) else { return nil }
        return MediaPorts(audio: audio, video: StreamPorts(ways.video, self.address) ?? audio)
    }

    /// The far end begins ICE anew (RFC 8839 section 4.4.1.1.1): so do we.
    func restartsICE(_ session: NegotiatedSession) -> Bool {
        func differ(_ new: NegotiatedStream?, _ old: NegotiatedStream?) -> Bool {
            guard let new = new?.ice, let old = old?.ice else { return false }
            return new.remote.credentials != old.remote.credentials && new.local == old.local
        }
        return differ(session.audio, self.negotiated?.audio) || differ(session.video, self.negotiated?.video)
    }
}

extension StreamPorts {
    /// Of the host's own candidates that peers without ICE are sent to.
    fileprivate init?(_ candidates: [ICECandidate], _ address: IPAddress) {
        func port(_ component: UInt8) -> UInt16? {
            let own = candidates.filter { $0.component == component && $0.kind == .host }
            let same = own.first { $0.address.address == address } ?? own.first
            return same?.address.port
        }
        guard let rtp = port(1), let rtcp = port(2) else { return nil }
        self.init(rtp: rtp, rtcp: rtcp)
    }
}
