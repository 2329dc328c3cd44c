// SPDX-License-Identifier: Apache-2.0
import Bytes
import MediaEngine
import SDPWire
import SIPWire

/// `[ice]`
public struct ICESettings: Equatable, Sendable {
    public enum Use: Sendable {
        case off
        /// Where the far end offers it.
        case offered
        /// We offer it too.
        case on
    }

    public var use = Use.offered
    /// Tells us how others see our address.
    public var stun: ICEServerName?
    /// They pass media on where nothing else works; best first.
    public var relays: [ICEServerName] = []
    public var user = ByteString()
    /// Empty where it was never here, or was moved to a place of its own.
    public var password = ByteString()

    /// The realm under which the relays' password is kept: no SIP server is ever told it.
    public static let realm: ByteString = "turn:"
    public static let relaysMax = 3

    /// What the file itself has to say to relays.
    public var credentials: [Credential] {
        self.password.isEmpty ? [] : [Credential(username: self.user, password: self.password, realm: Self.realm)]
    }

    /// Whether a relay is spoken to by TLS.
    public var needsTLS: Bool { self.use != .off && self.relays.contains { $0.transport == .tls } }

    var servers: [ICEServerName] { (self.stun.map { [$0] } ?? []) + self.relays }
}

/// How a relay is reached (RFC 8656 section 2.1). What it passes on goes by UDP in any case.
public enum ICETransport: Equatable, Sendable {
    case udp, tcp, tls
}

/// A server for ICE as the file names it.
public struct ICEServerName: Equatable, Sendable {
    public var host: Host
    public var port: UInt16
    public var transport: ICETransport

    public init(_ host: Host, port: UInt16, transport: ICETransport = .udp) {
        self.host = host
        self.port = port
        self.transport = transport
    }

    /// Where to ask for its address.
    var uri: SIPURI { SIPURI(host: self.host, port: self.port) }

    /// What a certificate must name.
    var name: ByteString {
        switch self.host {
        case .name(let name): return name
        case .address(let address): return address.text
        }
    }
}

/// A relay whose address is known.
public struct ICERelay: Equatable, Sendable {
    public var address: SocketAddress
    public var transport: ICETransport
    /// What a certificate must name.
    public var name: ByteString

    public init(address: SocketAddress, transport: ICETransport, name: ByteString) {
        self.address = address
        self.transport = transport
        self.name = name
    }
}

/// What the media thread is to find out: by which ways media can come to us.
public struct ICESearch: Equatable, Sendable {
    /// Names the search in reports.
    public var number: UInt64
    public var credentials: ICECredentials
    public var stun: SocketAddress?
    public var relays: [ICERelay]
    public var user: ByteString
    public var password: ByteString
    /// After so long what is known by then is told.
    public var limitMs: Int
}

/// What the media thread tells of ICE. `number` is that of the search.
public enum ICEReport: Equatable {
    /// The search is over: what we have, best first, at most `ICELimits.candidates` of each stream.
    case found(UInt64, ICEWays)
    /// Media of a stream go this way from now on.
    case selected(UInt64, StreamKind, ICEPair)
    /// No way works, or one that worked does no more.
    case failed(UInt64, StreamKind)
    /// A relay could not be spoken to by TLS.
    case relayInsecure(ICERelay, TLSFault)
}

/// The candidates of both streams.
public struct ICEWays: Equatable, Sendable {
    public var audio: [ICECandidate]
    public var video: [ICECandidate]

    public init(audio: [ICECandidate] = [], video: [ICECandidate] = []) {
        self.audio = audio
        self.video = video
    }

    var isUsable: Bool { self.audio.contains { $0.component == 1 } }
}

/// A way that works.
public struct ICEPair: Equatable, Sendable {
    public var local: ICECandidate.Kind
    public var remote: ICECandidate.Kind
    /// Where the far end is.
    public var address: SocketAddress

    public init(local: ICECandidate.Kind, remote: ICECandidate.Kind, address: SocketAddress) {
        self.local = local
        self.remote = remote
        self.address = address
    }
}

public enum ICELimits {
    /// Of one stream, in a description.
    public static let candidates = 12
    /// A call waits so long for its ways to be found out, and then goes on with those there are.
    public static let searchMs = 1_000
    /// The media thread itself did not tell anything: the call goes on without ICE.
    static let silenceMs = 1_500
    /// One way that fails may be the network's whim; where the next fails too, there is none.
    static let restartsMax = 1
}
