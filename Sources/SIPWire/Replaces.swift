// SPDX-License-Identifier: Apache-2.0

import Bytes

/// The dialog whose place a new call takes, RFC 3891 section 6.1. The tags are named from the side of whoever receives
/// the field: `toTag` is its own.
public struct Replaces: Hashable, Sendable {
    public var callID: CallID
    public var toTag: ByteString
    public var fromTag: ByteString
    /// Only while the dialog is early.
    public var isEarlyOnly: Bool

    public init(callID: CallID, toTag: ByteString, fromTag: ByteString, isEarlyOnly: Bool = false) {
        self.callID = callID
        self.toTag = toTag
        self.fromTag = fromTag
        self.isEarlyOnly = isEarlyOnly
    }

    /// Reads `callid *(SEMI param)`, which has each tag exactly once; nil for a fault.
    public init?(_ value: ByteString) {
        var scanner = HeaderScanner(value)
        guard let callID = CallID(scanner.run(Self.isCallIDByte)), let parameters = scanner.parameters(),
            let toTag = Self.tag("to-tag", parameters), let fromTag = Self.tag("from-tag", parameters)
        else { return nil }
        self.init(
            callID: callID, toTag: toTag, fromTag: fromTag, isEarlyOnly: parameters.contains("early-only"))
    }

    /// As a header field; in a URI's header part it has to be escaped.
    public var printed: ByteString {
        let tags = ";to-tag=" + self.toTag + ";from-tag=" + self.fromTag
        return self.callID.text + tags + (self.isEarlyOnly ? ";early-only" : "")
    }

    private static func isCallIDByte(_ byte: UInt8) -> Bool { Token.isWordByte(byte) || byte == ASCII.at }

    private static func tag(_ name: ByteString, _ parameters: Parameters) -> ByteString? {
        let found = parameters.list.filter { $0.name.equalsIgnoringCase(name) }
        guard found.count == 1, let tag = found[0].value, tag.count <= SIPLimits.identifierBytes else { return nil }
        return tag
    }
}
