// SPDX-License-Identifier: Apache-2.0
import Bytes
import KioskEngine
import RTPWire
import SIPEngine
import SIPWire

/// What an agent says of its media.
struct AgentMedia {
    enum Stance: String {
        case sendrecv, sendonly, recvonly, inactive
        /// The hold of RFC 2543: `c=IN IP4 0.0.0.0`.
        case zero
    }

    var stance = Stance.sendrecv
    var hasVideo = true
    var version = 1

    /// An offer of sound and picture, or the answer to `offer` line by line.
    func description(_ address: IPAddress, answering offer: [UInt8]? = nil) -> [UInt8] {
        var text: ByteString = "v=0\r\no=agent 1 "
        text.append(decimal: self.version)
        text += " IN IP4 " + address.text + "\r\ns=-\r\nc=IN IP4 "
        text += (self.stance == .zero ? "0.0.0.0" : address.text) + "\r\nt=0 0\r\n"
        guard let offer else {
            self.add("audio", nil, to: &text)
            if self.hasVideo { self.add("video", nil, to: &text) }
            return text.bytes
        }
        for stream in OfferedStream.read(offer) {
            self.add(stream.kind, stream.isRefused ? "refused" : stream.direction, to: &text)
        }
        return text.bytes
    }

    /// - Parameter offered: the direction that is answered; nil in an offer.
    private func add(_ kind: ByteString, _ offered: ByteString?, to text: inout ByteString) {
        let isRefused = offered == "refused" || (kind == "video" && !self.hasVideo)
        text += "m=" + kind + " "
        text.append(decimal: isRefused ? 0 : kind == "audio" ? Agent.audioPort : Agent.videoPort)
        if kind == "audio" {
            text += " RTP/AVP 0\r\n"
        } else {
            text += " RTP/AVP 102\r\na=rtpmap:102 H264/90000\r\n"
            text += "a=fmtp:102 profile-level-id=42e01f;packetization-mode=1\r\n"
        }
        text += "a=" + self.direction(answering: offered) + "\r\n"
    }

    private func direction(answering offered: ByteString?) -> ByteString {
        let sends = self.sends && offered != "sendonly" && offered != "inactive"
        let receives = self.receives && offered != "recvonly" && offered != "inactive"
        return sends ? (receives ? "sendrecv" : "sendonly") : (receives ? "recvonly" : "inactive")
    }

    var sends: Bool { self.stance == .sendrecv || self.stance == .sendonly }
    var receives: Bool { self.stance == .sendrecv || self.stance == .recvonly }
}

/// One media line of a description, as far as agents look at it.
struct OfferedStream {
    var kind: ByteString
    var isRefused: Bool
    var direction: ByteString = "sendrecv"

    static func read(_ description: [UInt8]) -> [OfferedStream] {
        var streams: [OfferedStream] = []
        for line in ByteString(description).split(on: ASCII.lineFeed).map({ $0.trimmed() }) {
            if line.hasPrefix("m=") {
                let words = line.slice(2..<line.count).split(on: ASCII.space)
                streams.append(OfferedStream(kind: words[0], isRefused: words.count > 1 && words[1] == "0"))
            } else if line == "a=sendonly" || line == "a=recvonly" || line == "a=inactive", !streams.isEmpty {
                streams[streams.count - 1].direction = line.slice(2..<line.count)
            }
        }
        return streams
    }
}

/// One dialog of an agent, or one that it is about to have.
final class AgentCall {
    enum State {
        case early, standing, over
    }

    let callID: ByteString
    let localTag: ByteString
    var remoteTag: ByteString?
    /// From and To as our requests have them.
    var local: ByteString
    var remote: ByteString
    var target: SIPURI?
    var routes: [NameAddr] = []
    var number: UInt32 = 0
    /// The way of whoever answered or asked first.
    var hop: Hop
    var state = State.early
    /// As callee: the ACK came. As caller: it was sent.
    var isAcknowledged = false
    var media = AgentMedia()
    /// Where the other end wants sound; nil where it does not want any.
    var soundTo: SocketAddress?
    /// The other end.
    var peer: IPAddress?
    /// As callee: the INVITE, while it is not answered.
    var invite: (request: SIPMessage, flow: Flow)?
    /// As caller.
    var client: Element.Client?
    /// The 2xx to the first or a further INVITE, until its ACK.
    var accept: (response: SIPMessage, request: SIPMessage, flow: Flow)?
    /// The other end hung up, or refused to know us.
    var wasTold = false
    /// Nothing keeps the other end's BYE from coming.
    var expectsNews = false
    /// The other end may be told reliably (RFC 3262), and which of our 1xx waits for its PRACK.
    var knowsPrack = false
    var reliable: (number: UInt32, response: SIPMessage)?
    var reliableNumber: UInt32 = 0
    /// The last reliable 1xx of the other end's that we took.
    var takenNumber: UInt32 = 0
    /// Our description is in a 1xx that was acknowledged.
    var isDescribed = false
    /// A re-INVITE or UPDATE of ours is open.
    var isChanging = false
    var packets: UInt16 = 0

    init(
        callID: ByteString, localTag: ByteString, remoteTag: ByteString?, local: ByteString, remote: ByteString,
        hop: Hop
    ) {
        self.callID = callID
        self.localTag = localTag
        self.remoteTag = remoteTag
        self.local = local
        self.remote = remote
        self.hop = hop
    }

    /// Takes what the other end says of its media.
    func take(_ description: [UInt8]) {
        let key: ByteString = "c=IN IP4 "
        let lines = ByteString(description).split(on: ASCII.lineFeed)
        let address = lines.first { $0.hasPrefix(key) }.flatMap { IPAddress($0.slice(key.count..<$0.count).trimmed()) }
        let sound = OfferedStream.read(description).first { $0.kind == "audio" && !$0.isRefused }
        self.peer = address ?? self.peer
        self.soundTo = nil
        guard let address, let sound, !address.isUnspecified else { return }
        if sound.direction == "sendrecv" || sound.direction == "recvonly" {
            self.soundTo = SocketAddress(address, port: MediaModel.audioPort)
        }
    }

    /// A request within the dialog (RFC 3261 section 12.2.1.1).
    func request(_ method: Method, number: UInt32? = nil) -> SIPMessage {
        var target: URI = .sip(self.target ?? SIPURI(host: .address(self.hop.address.address)))
        var routes = self.routes
        if let first = routes.first, let strict = first.uri.sip, !strict.isLooseRoute {
            routes.removeFirst()
            routes.append(NameAddr(uri: target))
            target = .sip(strict)
        }
        if number == nil { self.number += 1 }
        var message = SIPMessage(startLine: .request(method, target))
        message.add(.maxForwards, "70")
        for route in routes { message.add(.route, route.printed) }
        message.add(.from, self.local)
        message.add(.to, self.remote)
        message.add(.callID, self.callID)
        message.add(.cseq, CSeq(number ?? self.number, method).printed)
        return message
    }

    var nextHop: Hop {
        let uri = self.routes.first?.uri.sip ?? self.target
        guard let uri, case .address(let address) = uri.host else { return self.hop }
        let unspoken = self.hop.address.address == address ? self.hop.transport : .udp
        let transport = uri.transport.flatMap { SIPTransport($0) } ?? unspoken
        return Hop(transport: transport, address: SocketAddress(address, port: uri.port ?? 5060))
    }
}
