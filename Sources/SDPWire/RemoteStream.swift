// SPDX-License-Identifier: Apache-2.0

import Bytes

/// What a peer's description of one medium says about the way there, codecs aside.
struct RemoteStream {
    var rtp: SocketAddress
    var rtcp: SocketAddress
    /// In the peer's eyes. Nothing may be sent to an unspecified address: the old way to say hold (RFC 3264 section
    /// 8.4).
    var direction: Direction
    var ptimeMs: Int
    var bandwidthKbps: Int?

    /// Stands for whoever the checks find, where no candidate was named: an address that belongs to nobody (RFC 5737).
    private static let anyone = SocketAddress(.v4(0xC000_0201), port: 9)

    /// Nil where nothing can be sent that way: refused, not RTP, a name or group for an address, another IP family. On
    /// hold in the old style the family says nothing. Where the way is found by ICE, none of this matters.
    init?(_ media: MediaDescription, of description: SessionDescription, isV6: Bool, _ ice: RemoteICE?) {
        guard media.port != 0, media.profile.isRTP else { return nil }
        let written = description.direction(of: media)
        if let ice {
            let first = ice.candidates.first { $0.component == 1 }
            self.rtp = first?.address ?? Self.anyone
            self.rtcp = self.rtp
            self.direction = written
        } else {
            guard let address = description.connection(of: media)?.address,
                address.isV6 == isV6 || address.isUnspecified
            else { return nil }
            self.rtp = SocketAddress(address, port: media.port)
            self.rtcp = media.rtcpAddress(beside: self.rtp)
            self.direction = Direction(sends: written.sends, receives: written.receives && !address.isUnspecified)
        }
        self.ptimeMs = Self.packetTime(media, of: description)
        self.bandwidthKbps = media.otherLines.bandwidthKbps ?? description.otherLines.bandwidthKbps
    }

    /// Of the packet times that every codec here can make, the longest that does not exceed what the peer asks for.
    /// The attributes belong to media, but some write them for the session.
    private static func packetTime(_ media: MediaDescription, of description: SessionDescription) -> Int {
        let session = MediaDescription(
            kind: media.kind, port: 0, profile: media.profile, formats: [], attributes: description.attributes)
        let asked = min(media.ptimeMs ?? session.ptimeMs ?? 20, media.maxPtimeMs ?? session.maxPtimeMs ?? 60)
        return [60, 40, 20].first { $0 <= asked } ?? 10
    }
}

extension MediaDescription {
    /// Whether RTCP may come to the RTP port: it is offered or answered, and no payload type looks like RTCP there (RFC
    /// 5761 section 4).
    var canMux: Bool { self.has("rtcp-mux") && !self.payloadTypes.contains { (64...95).contains($0) } }

    /// Where RTCP goes: `a=rtcp` (RFC 3605), or the next port.
    fileprivate func rtcpAddress(beside rtp: SocketAddress) -> SocketAddress {
        let next = SocketAddress(rtp.address, port: rtp.port == .max ? rtp.port : rtp.port + 1)
        let fields = Fields.split(self.first("rtcp") ?? "")
        guard let port = fields.first?.decimal(max: 65_535), port > 0 else { return next }
        guard fields.count == 4 else { return SocketAddress(rtp.address, port: UInt16(port)) }
        let address = Connection(fields[1] + " " + fields[2] + " " + fields[3]).address
        guard let address, address.isV6 == rtp.address.isV6 else { return next }
        return SocketAddress(address, port: UInt16(port))
    }
}

extension [OtherLine] {
    /// What a receiver wants at most: `TIAS` (RFC 3890) rather than `AS` (RFC 8866 section 5.8). Nil where it does
    /// not say, says nothing sensible, or says 0, which some phones write for a medium on hold.
    fileprivate var bandwidthKbps: Int? {
        self.bandwidth("TIAS").map { $0 / 1_000 } ?? self.bandwidth("AS")
    }

    private func bandwidth(_ type: ByteString) -> Int? {
        for line in self where line.type == UInt8(ascii: "b") {
            let parts = line.value.trimmed().split(on: ASCII.colon)
            guard parts.count == 2, parts[0].equalsIgnoringCase(type),
                let value = parts[1].decimal(max: UInt64(Int32.max)), value > 0
            else { continue }
            return Int(value)
        }
        return nil
    }
}
