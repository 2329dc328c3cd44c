// SPDX-License-Identifier: Apache-2.0

import Bytes

/// A response's status, RFC 3261 section 21: 100...699.
public struct StatusCode: Hashable, Comparable, Sendable {
    public let value: Int

    /// The six classes, and how a response of each moves a transaction.
    public enum Class: Hashable, Sendable {
        case provisional, success, redirection, requestFailure, serverFailure, globalFailure
    }

    /// A status of our own. Outside data goes through `init(wire:)`.
    public init(_ value: Int) {
        precondition((100...699).contains(value), "our own status codes are written by hand")
        self.value = value
    }

    /// A status from a peer; nil outside 100...699.
    public init?(wire value: UInt64) {
        guard value >= 100, value <= 699 else { return nil }
        self.value = Int(value)
    }

    public var statusClass: Class {
        switch self.value / 100 {
        case 1: return .provisional
        case 2: return .success
        case 3: return .redirection
        case 4: return .requestFailure
        case 5: return .serverFailure
        default: return .globalFailure
        }
    }

    public var isProvisional: Bool { self.value < 200 }
    public var isSuccess: Bool { self.value >= 200 && self.value < 300 }
    public var isFinal: Bool { self.value >= 200 }

    public static func < (left: StatusCode, right: StatusCode) -> Bool {
        left.value < right.value
    }
}

// MARK: - The codes this product sends or acts upon

extension StatusCode {
    public static let trying = StatusCode(100)
    public static let ringing = StatusCode(180)
    public static let sessionProgress = StatusCode(183)
    public static let ok = StatusCode(200)
    public static let accepted = StatusCode(202)
    public static let badRequest = StatusCode(400)
    public static let unauthorized = StatusCode(401)
    public static let forbidden = StatusCode(403)
    public static let notFound = StatusCode(404)
    public static let methodNotAllowed = StatusCode(405)
    public static let notAcceptable = StatusCode(406)
    public static let proxyAuthenticationRequired = StatusCode(407)
    public static let requestTimeout = StatusCode(408)
    public static let requestEntityTooLarge = StatusCode(413)
    public static let unsupportedMediaType = StatusCode(415)
    public static let unsupportedURIScheme = StatusCode(416)
    public static let badExtension = StatusCode(420)
    public static let extensionRequired = StatusCode(421)
    public static let sessionIntervalTooSmall = StatusCode(422)
    public static let intervalTooBrief = StatusCode(423)
    /// RFC 5626 section 11.6.
    public static let firstHopLacksOutbound = StatusCode(439)
    public static let badInfoPackage = StatusCode(469)
    public static let temporarilyUnavailable = StatusCode(480)
    public static let callOrTransactionDoesNotExist = StatusCode(481)
    public static let loopDetected = StatusCode(482)
    public static let busyHere = StatusCode(486)
    public static let requestTerminated = StatusCode(487)
    public static let notAcceptableHere = StatusCode(488)
    public static let requestPending = StatusCode(491)
    public static let serverInternalError = StatusCode(500)
    public static let notImplemented = StatusCode(501)
    public static let serviceUnavailable = StatusCode(503)
    public static let serverTimeout = StatusCode(504)
    public static let versionNotSupported = StatusCode(505)
    public static let messageTooLarge = StatusCode(513)
    public static let decline = StatusCode(603)

    /// The phrase registered with IANA; that of the class for a code without one (RFC 3261 section 8.1.3.2).
    public var reasonPhrase: ByteString {
        switch self.value {
        case 100: return "Trying"
        case 180: return "Ringing"
        case 181: return "Call Is Being Forwarded"
        case 182: return "Queued"
        case 183: return "Session Progress"
        case 200: return "OK"
        case 202: return "Accepted"
        case 300: return "Multiple Choices"
        case 301: return "Moved Permanently"
        case 302: return "Moved Temporarily"
        case 305: return "Use Proxy"
        case 380: return "Alternative Service"
        case 400...499: return self.requestFailurePhrase
        case 500: return "Server Internal Error"
        case 501: return "Not Implemented"
        case 502: return "Bad Gateway"
        case 503: return "Service Unavailable"
        case 504: return "Server Time-out"
        case 505: return "Version Not Supported"
        case 513: return "Message Too Large"
        case 580: return "Precondition Failure"
        case 600: return "Busy Everywhere"
        case 603: return "Decline"
        case 604: return "Does Not Exist Anywhere"
        case 606: return "Not Acceptable"
        default: return self.classPhrase
        }
    }

    private var requestFailurePhrase: ByteString {
        switch self.value {
        case 401: return "Unauthorized"
        case 403: return "Forbidden"
        case 404: return "Not Found"
        case 405: return "Method Not Allowed"
        case 406: return "Not Acceptable"
        case 407: return "Proxy Authentication Required"
        case 408: return "Request Timeout"
        case 410: return "Gone"
        case 413: return "Request Entity Too Large"
        case 414: return "Request-URI Too Long"
        case 415: return "Unsupported Media Type"
        case 416: return "Unsupported URI Scheme"
        case 420: return "Bad Extension"
        case 421: return "Extension Required"
        case 422: return "Session Interval Too Small"
        case 423: return "Interval Too Brief"
        case 439: return "First Hop Lacks Outbound Support"
        case 469: return "Bad Info Package"
        case 480: return "Temporarily Unavailable"
        case 481: return "Call/Transaction Does Not Exist"
        case 482: return "Loop Detected"
        case 483: return "Too Many Hops"
        case 484: return "Address Incomplete"
        case 485: return "Ambiguous"
        case 486: return "Busy Here"
        case 487: return "Request Terminated"
        case 488: return "Not Acceptable Here"
        case 491: return "Request Pending"
        case 493: return "Undecipherable"
        default: return self.classPhrase
        }
    }

    private var classPhrase: ByteString {
        switch self.statusClass {
        case .provisional: return "Session Progress"
        case .success: return "OK"
        case .redirection: return "Multiple Choices"
        case .requestFailure: return "Bad Request"
        case .serverFailure: return "Server Internal Error"
        case .globalFailure: return "Busy Everywhere"
        }
    }
}
