// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// What our INVITE asks for, so that it can be asked again in other words where somebody on the way refuses it: 420 and
/// 421 (RFC 3261 sections 8.1.3.5 and 21.4.16), 422 (RFC 4028 section 7.3). Same Call-ID, To and From, next number.
struct Invitation {
    let request: InviteRequest
    /// CSeq.
    private(set) var number: UInt32 = 1
    /// Extensions that were refused: they are left out of Supported.
    private var withheld: [ByteString] = []
    /// Extensions that were demanded.
    private var required: [ByteString] = []
    /// 0 asks for none.
    private var sessionSeconds: UInt32
    private(set) var minSESeconds: UInt32
    private var retries = 0
    private var intervalRetries = 0

    init(_ request: InviteRequest, _ configuration: SIPConfiguration) {
        self.request = request
        self.sessionSeconds = configuration.sessionExpiresSeconds
        self.minSESeconds = configuration.minSESeconds
        // Without an offer of ours a reliable 1xx would bring theirs, and want our answer in its PRACK (RFC 3262
        // section 5).
        if request.offer.isEmpty { self.withheld.append("100rel") }
    }

    var isOffering: Bool { !self.request.offer.isEmpty }

    /// Supported, Require, Session-Expires and Min-SE.
    var headers: [Header] {
        let supported = Self.without(self.withheld, SIPEngine.extensions)
        var headers = [Header(.supported, ByteString.list(supported))]
        if !self.required.isEmpty { headers.append(Header(.require, ByteString.list(self.required))) }
        guard self.sessionSeconds > 0, ByteString.contains("timer", in: supported) else { return headers }
        headers.append(Header(.sessionExpires, SessionExpires(seconds: self.sessionSeconds).printed))
        if self.minSESeconds > Limits.sessionSecondsMin {
            headers.append(Header(.minSE, ByteString(decimal: self.minSESeconds)))
        }
        return headers
    }

    /// It goes out again as it is, with credentials.
    mutating func takeNumber() {
        self.number += 1
    }

    enum OnRefusal: Equatable {
        case retry
        case giveUp
    }

    /// Changes what is asked for as the refusal wants it.
    mutating func adapt(to response: SIPMessage, _ status: StatusCode) -> OnRefusal {
        guard self.retries < Limits.inviteRetriesMax, self.change(for: response, status) else { return .giveUp }
        self.retries += 1
        self.takeNumber()
        return .retry
    }

    private mutating func change(for response: SIPMessage, _ status: StatusCode) -> Bool {
        switch status {
        case .badExtension:
            let refused = response.unsupported
            let dropped = Self.without(self.withheld, SIPEngine.extensions)
                .filter { ByteString.contains($0, in: refused) && !self.isDemandedByUser($0) }
            self.withheld += dropped
            self.required = Self.without(dropped, self.required)
            return !dropped.isEmpty
        case .extensionRequired:
            let demanded = Self.without(self.required, response.require)
            let offered = Self.without(self.withheld, SIPEngine.extensions)
            guard !demanded.isEmpty, demanded.allSatisfy({ ByteString.contains($0, in: offered) }) else { return false }
            self.required += demanded
            return true
        case .sessionIntervalTooSmall:
            guard let minimum = response.minSESeconds, minimum > self.minSESeconds || minimum > self.sessionSeconds,
                self.intervalRetries < Limits.intervalRetriesMax
            else { return false }
            self.intervalRetries += 1
            self.minSESeconds = max(self.minSESeconds, minimum)
            self.sessionSeconds = max(self.sessionSeconds, self.minSESeconds)
            return true
        default:
            return false
        }
    }

    /// A call that is to replace another makes no sense without.
    private func isDemandedByUser(_ tag: ByteString) -> Bool {
        self.request.extraHeaders.contains { $0.name == .require && $0.value.containsIgnoringCase(tag) }
    }

    private static func without(_ unwanted: [ByteString], _ tags: [ByteString]) -> [ByteString] {
        tags.filter { !ByteString.contains($0, in: unwanted) }
    }
}

extension ByteString {
    /// `a, b, c`.
    static func list(_ tokens: [ByteString]) -> ByteString {
        guard let first = tokens.first else { return ByteString() }
        return tokens.dropFirst().reduce(first) { $0 + ", " + $1 }
    }

    static func contains(_ token: ByteString, in tokens: [ByteString]) -> Bool {
        tokens.contains { $0.equalsIgnoringCase(token) }
    }
}
