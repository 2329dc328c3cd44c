// SPDX-License-Identifier: Apache-2.0

import Bytes

// MARK: - Typed views of the fields that extensions added to calls

extension SIPMessage {
    // RFC 3262.
    public var rseq: RSeq? { self.only(.rseq).flatMap { RSeq($0) } }
    public var rack: RAck? { self.only(.rack).flatMap { RAck($0) } }

    // RFC 4028.
    public var sessionExpires: SessionExpires? { self.only(.sessionExpires).flatMap { SessionExpires($0) } }
    /// Nil where missing or not a number below 2^32.
    public var minSESeconds: UInt32? { self.only(.minSE).flatMap { DeltaSeconds.read($0)?.0 } }

    // RFC 3515, RFC 3892, RFC 4488, RFC 3891. More than one of any is as bad as an unreadable one: look at `values`
    // where that must be told from none.
    public var referTo: NameAddr? { self.only(.referTo).flatMap { NameAddr($0) } }
    public var referredBy: NameAddr? { self.only(.referredBy).flatMap { NameAddr($0) } }
    /// Whether the REFER makes a subscription; nil where nothing readable is said about it.
    public var referSub: Bool? {
        guard let value = self.only(.referSub) else { return nil }
        var scanner = HeaderScanner(value)
        guard let word = scanner.token(), scanner.parameters() != nil else { return nil }
        if word.equalsIgnoringCase("true") { return true }
        return word.equalsIgnoringCase("false") ? false : nil
    }
    public var replaces: Replaces? { self.only(.replaces).flatMap { Replaces($0) } }

    // RFC 6665.
    public var event: Event? { self.only(.event).flatMap { Event($0) } }
    public var subscriptionState: SubscriptionState? {
        self.only(.subscriptionState).flatMap { SubscriptionState($0) }
    }

    /// RFC 3325 section 9.1; what cannot be read is left out.
    public var assertedIdentities: [NameAddr] { self.readable(.pAssertedIdentity) }
    /// What some servers send in place of an asserted identity; `party`, `privacy` and `screen` are parameters. What
    /// cannot be read is left out.
    public var remotePartyIDs: [NameAddr] { self.readable(.remotePartyID) }

    // RFC 6086.
    public var infoPackage: ByteString? {
        guard let value = self.only(.infoPackage) else { return nil }
        var scanner = HeaderScanner(value)
        guard let package = scanner.token(), scanner.parameters() != nil else { return nil }
        return package
    }
    /// Nil where there is no such field; empty where the peer takes none.
    public var recvInfo: [ByteString]? { self.contains(.recvInfo) ? self.tokens(.recvInfo) : nil }

    /// RFC 5373; the privileged one counts before the other.
    public var answerMode: AnswerMode? {
        (self.only(.privAnswerMode) ?? self.only(.answerMode)).flatMap { AnswerMode($0) }
    }

    public var warnings: [Warning] { self.values(.warning).prefix(SIPLimits.listValues).compactMap { Warning($0) } }

    /// The challenges of a 401 (`.wwwAuthenticate`) or a 407 (`.proxyAuthenticate`), in order.
    public func challenges(_ name: HeaderName) -> [Challenge] {
        self.fields(name).prefix(SIPLimits.challenges).flatMap { Challenge.list($0) }
    }

    /// The value of a field that may stand only once; nil where it is missing or stands there again.
    private func only(_ name: HeaderName) -> ByteString? {
        let fields = self.fields(name)
        return fields.count == 1 ? fields[0] : nil
    }

    private func readable(_ name: HeaderName) -> [NameAddr] {
        self.values(name).prefix(SIPLimits.listValues).compactMap { NameAddr($0) }
    }
}
