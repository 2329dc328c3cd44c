// SPDX-License-Identifier: Apache-2.0

import Bytes

/// The first word of an `m=` line (RFC 8866 section 5.14).
public enum MediaKind: Hashable, Sendable {
    case audio, video
    /// `application`, `text`, `image`, `message` and whatever comes.
    case other(ByteString)

    public init(_ word: ByteString) {
        if word == "audio" {
            self = .audio
        } else if word == "video" {
            self = .video
        } else {
            self = .other(word)
        }
    }

    public var word: ByteString {
        switch self {
        case .audio: return "audio"
        case .video: return "video"
        case .other(let word): return word
        }
    }
}

/// How media travels: the third word of an `m=` line.
public enum TransportProfile: Hashable, Sendable {
    /// RFC 3551.
    case avp
    /// RFC 4585.
    case avpf
    /// Secure RTP with keys from the description (RFC 3711, RFC 4568) and, with feedback, RFC 5124.
    case savp, savpf
    /// Secure RTP with keys from a DTLS handshake (RFC 5764).
    case dtlsSavp, dtlsSavpf
    /// All else: kept as written, answered with port 0.
    case other(ByteString)

    private static let known: [TransportProfile] = [.avp, .avpf, .savp, .savpf, .dtlsSavp, .dtlsSavpf]

    public init(_ word: ByteString) {
        self = Self.known.first { $0.word.equalsIgnoringCase(word) } ?? .other(word)
    }

    public var word: ByteString {
        switch self {
        case .avp: return "RTP/AVP"
        case .avpf: return "RTP/AVPF"
        case .savp: return "RTP/SAVP"
        case .savpf: return "RTP/SAVPF"
        case .dtlsSavp: return "UDP/TLS/RTP/SAVP"
        case .dtlsSavpf: return "UDP/TLS/RTP/SAVPF"
        case .other(let word): return word
        }
    }

    /// RTP over UDP, plain or secure.
    var isRTP: Bool {
        switch self {
        case .avp, .avpf, .savp, .savpf, .dtlsSavp, .dtlsSavpf: return true
        case .other: return false
        }
    }

    /// Whether media must not go unprotected.
    var isSecure: Bool {
        switch self {
        case .savp, .savpf, .dtlsSavp, .dtlsSavpf: return true
        case .avp, .avpf, .other: return false
        }
    }

    /// Whether keys may come from there. Plain profiles leave it to the lines that are there (RFC 8643); some write
    /// `RTP/SAVPF` and mean a handshake.
    func allows(_ keying: Keying) -> Bool {
        switch self {
        case .avp, .avpf, .savp, .savpf: return true
        case .dtlsSavp, .dtlsSavpf: return keying == .dtls
        case .other: return false
        }
    }
}

/// An `m=` line with all that belongs to it.
public struct MediaDescription: Hashable, Sendable {
    public var kind: MediaKind
    /// 0 means refused, or not wanted.
    public var port: UInt16
    public var profile: TransportProfile
    /// As written. `payloadTypes` reads those that are RTP payload types.
    public var formats: [ByteString]
    /// The medium's own `c=`; nil where the session's counts.
    public var connection: Connection?
    public var attributes: [Attribute]
    /// `i=`, `b=`, `k=`.
    public var otherLines: [OtherLine]
    /// Lines of candidates beyond their limit, which were not kept.
    public var candidatesCut = 0

    public init(
        kind: MediaKind, port: UInt16, profile: TransportProfile, formats: [ByteString], connection: Connection? = nil,
        attributes: [Attribute] = [], otherLines: [OtherLine] = []
    ) {
        self.kind = kind
        self.port = port
        self.profile = profile
        self.formats = formats
        self.connection = connection
        self.attributes = attributes
        self.otherLines = otherLines
    }
}

// MARK: - Typed views

extension MediaDescription {
    /// Formats that are payload types (0...127), in order, each once.
    public var payloadTypes: [UInt8] {
        var seen: [UInt8] = []
        for format in self.formats {
            guard let type = format.decimal(max: 127).map({ UInt8($0) }), !seen.contains(type) else { continue }
            seen.append(type)
        }
        return seen
    }

    public func first(_ name: ByteString) -> ByteString? {
        self.attributes.first { $0.name == name }?.value
    }

    func has(_ name: ByteString) -> Bool {
        self.attributes.contains { $0.name == name }
    }

    public func values(_ name: ByteString) -> [ByteString] {
        self.attributes.filter { $0.name == name }.compactMap { $0.value }
    }

    /// The last direction written here; nil where none is.
    public var direction: Direction? {
        self.attributes.last { Direction($0.name) != nil }.flatMap { Direction($0.name) }
    }

    /// The encoding that a payload type stands for here: by its `rtpmap`, or by the static table of RFC 3551.
    public func rtpMap(for payloadType: UInt8) -> RTPMap? {
        self.values("rtpmap").lazy.compactMap { RTPMap($0) }.first { $0.payloadType == payloadType }
            ?? RTPMap.fixed(payloadType)
    }

    public func fmtp(for payloadType: UInt8) -> Fmtp? {
        self.values("fmtp").lazy.compactMap { Fmtp($0) }.first { $0.payloadType == payloadType }
    }

    public var feedback: [RtcpFeedback] { self.values("rtcp-fb").compactMap { RtcpFeedback($0) } }

    /// Milliseconds of `a=ptime`; nil where missing or not a number of 1...1000.
    public var ptimeMs: Int? { self.first("ptime").flatMap(Self.milliseconds) }
    /// Milliseconds of `a=maxptime`.
    public var maxPtimeMs: Int? { self.first("maxptime").flatMap(Self.milliseconds) }

    private static func milliseconds(_ value: ByteString) -> Int? {
        guard let value = value.trimmed().decimal(max: 1_000), value > 0 else { return nil }
        return Int(value)
    }
}
