// SPDX-License-Identifier: Apache-2.0

import Bytes

/// A header field's name, RFC 3261 section 7.3.1: compared without case, compact forms (section 7.3.3) read as their
/// long ones.
public enum HeaderName: Hashable, Sendable {
    case accept, acceptEncoding, acceptLanguage, alertInfo, allow, allowEvents, answerMode, authenticationInfo
    case authorization
    case callID, callInfo, contact, contentDisposition, contentEncoding, contentLanguage, contentLength, contentType
    case cseq, date, errorInfo, event, expires, from, infoPackage, inReplyTo, maxForwards, mimeVersion, minExpires
    case minSE, organization, pAssertedIdentity, priority, privacy, privAnswerMode, proxyAuthenticate
    case proxyAuthorization, proxyRequire, rack, reason, recordRoute, recvInfo, referSub, referTo, referredBy
    case remotePartyID, replaces, replyTo, require, retryAfter, route, rseq, server, sessionExpires
    case subject, subscriptionState, supported, timestamp, to, unsupported, userAgent, via, warning, wwwAuthenticate
    case other(FoldedToken)
}

// MARK: - Names on the wire

extension HeaderName {
    /// Reads a name; nil where it is not a token.
    public init?(_ token: ByteString) {
        guard Token.isToken(token) else { return nil }
        if token.count == 1 {
            self = Self.expanded(ASCII.lowercased(token.bytes[0])) ?? .other(FoldedToken(token))
        } else {
            let known = token.count < Self.known.count ? Self.known[token.count] : []
            self = known.first { $0.token.equalsIgnoringCase(token) }?.name ?? .other(FoldedToken(token))
        }
    }

    /// By the length of the names, so that a name is compared only with those that are as long.
    private static let known: [[(token: ByteString, name: HeaderName)]] = {
        let names = Self.all.map { (token: $0.token, name: $0) }
        let longest = names.reduce(0) { max($0, $1.token.count) }
        return (0...longest).map { length in names.filter { $0.token.count == length } }
    }()

    private static let all: [HeaderName] = [
        .accept, .acceptEncoding, .acceptLanguage, .alertInfo, .allow, .allowEvents, .answerMode,
        .authenticationInfo, .authorization, .callID, .callInfo, .contact, .contentDisposition, .contentEncoding,
        .contentLanguage, .contentLength, .contentType, .cseq, .date, .errorInfo, .event, .expires, .from,
        .infoPackage, .inReplyTo, .maxForwards, .mimeVersion, .minExpires, .minSE, .organization,
        .pAssertedIdentity, .priority, .privacy, .privAnswerMode, .proxyAuthenticate, .proxyAuthorization,
        .proxyRequire, .rack, .reason, .recordRoute, .recvInfo, .referSub, .referTo, .referredBy, .remotePartyID,
        .replaces, .replyTo, .require, .retryAfter, .route, .rseq, .server, .sessionExpires, .subject,
        .subscriptionState, .supported, .timestamp, .to, .unsupported, .userAgent, .via, .warning,
        .wwwAuthenticate,
    ]

    private static func expanded(_ letter: UInt8) -> HeaderName? {
        switch letter {
        case UInt8(ascii: "b"): return .referredBy
        case UInt8(ascii: "c"): return .contentType
        case UInt8(ascii: "e"): return .contentEncoding
        case UInt8(ascii: "f"): return .from
        case UInt8(ascii: "i"): return .callID
        case UInt8(ascii: "k"): return .supported
        case UInt8(ascii: "l"): return .contentLength
        case UInt8(ascii: "m"): return .contact
        case UInt8(ascii: "o"): return .event
        case UInt8(ascii: "r"): return .referTo
        case UInt8(ascii: "s"): return .subject
        case UInt8(ascii: "t"): return .to
        case UInt8(ascii: "u"): return .allowEvents
        case UInt8(ascii: "v"): return .via
        case UInt8(ascii: "x"): return .sessionExpires
        default: return nil
        }
    }

    /// The long form, as it is printed.
    public var token: ByteString {
        var token = ByteString()
        self.append(to: &token)
        return token
    }

    /// As `token`, without a copy in between.
    func append(to text: inout ByteString) {
        switch self {
        case .other(let token): text.append(token.text)
        default: text.append(literal: self.literal)
        }
    }

    private var literal: StaticString {
        switch self {
        case .accept: return "Accept"
        case .acceptEncoding: return "Accept-Encoding"
        case .acceptLanguage: return "Accept-Language"
        case .alertInfo: return "Alert-Info"
        case .allow: return "Allow"
        case .allowEvents: return "Allow-Events"
        case .answerMode: return "Answer-Mode"
        case .authenticationInfo: return "Authentication-Info"
        case .authorization: return "Authorization"
        case .callID: return "Call-ID"
        case .callInfo: return "Call-Info"
        case .contact: return "Contact"
        case .contentDisposition: return "Content-Disposition"
        case .contentEncoding: return "Content-Encoding"
        case .contentLanguage: return "Content-Language"
        case .contentLength: return "Content-Length"
        case .contentType: return "Content-Type"
        case .cseq: return "CSeq"
        case .date: return "Date"
        case .errorInfo: return "Error-Info"
        case .event: return "Event"
        case .expires: return "Expires"
        case .from: return "From"
        case .infoPackage: return "Info-Package"
        case .inReplyTo: return "In-Reply-To"
        case .maxForwards: return "Max-Forwards"
        case .mimeVersion: return "MIME-Version"
        case .minExpires: return "Min-Expires"
        case .minSE: return "Min-SE"
        case .organization: return "Organization"
        default: return self.laterLiteral
        }
    }

    /// The second half of the alphabet.
    private var laterLiteral: StaticString {
        switch self {
        case .pAssertedIdentity: return "P-Asserted-Identity"
        case .priority: return "Priority"
        case .privacy: return "Privacy"
        case .privAnswerMode: return "Priv-Answer-Mode"
        case .proxyAuthenticate: return "Proxy-Authenticate"
        case .proxyAuthorization: return "Proxy-Authorization"
        case .proxyRequire: return "Proxy-Require"
        case .rack: return "RAck"
        case .reason: return "Reason"
        case .recordRoute: return "Record-Route"
        case .recvInfo: return "Recv-Info"
        case .referSub: return "Refer-Sub"
        case .referTo: return "Refer-To"
        case .referredBy: return "Referred-By"
        case .remotePartyID: return "Remote-Party-ID"
        case .replaces: return "Replaces"
        case .replyTo: return "Reply-To"
        case .require: return "Require"
        case .retryAfter: return "Retry-After"
        case .route: return "Route"
        case .rseq: return "RSeq"
        case .server: return "Server"
        case .sessionExpires: return "Session-Expires"
        case .subject: return "Subject"
        case .subscriptionState: return "Subscription-State"
        case .supported: return "Supported"
        case .timestamp: return "Timestamp"
        case .to: return "To"
        case .unsupported: return "Unsupported"
        case .userAgent: return "User-Agent"
        case .via: return "Via"
        case .warning: return "Warning"
        case .wwwAuthenticate: return "WWW-Authenticate"
        default: preconditionFailure("the first half of the alphabet and unknown names are answered before")
        }
    }
}

/// A token that is compared without case and printed as it came.
public struct FoldedToken: Hashable, Sendable, ExpressibleByStringLiteral {
    public let text: ByteString

    public init(_ text: ByteString) {
        self.text = text
    }

    public init(stringLiteral value: StaticString) {
        self.text = ByteString(value)
    }

    public static func == (left: FoldedToken, right: FoldedToken) -> Bool {
        left.text.equalsIgnoringCase(right.text)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.text.lowercasedASCII())
    }
}
