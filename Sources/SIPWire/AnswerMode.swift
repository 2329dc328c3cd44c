// SPDX-License-Identifier: Apache-2.0

import Bytes

/// How a caller wants to be answered, RFC 5373 section 4. A wish, never a right.
public struct AnswerMode: Hashable, Sendable {
    public var isAutomatic: Bool
    /// The caller wants to be refused rather than answered in another way.
    public var isRequired: Bool

    public init(isAutomatic: Bool, isRequired: Bool = false) {
        self.isAutomatic = isAutomatic
        self.isRequired = isRequired
    }

    /// Reads `token *(SEMI param)`; nil for a fault. Every mode that is not `Auto` leaves it to people.
    public init?(_ value: ByteString) {
        var scanner = HeaderScanner(value)
        guard let mode = scanner.token(), let parameters = scanner.parameters() else { return nil }
        self.init(isAutomatic: mode.equalsIgnoringCase("Auto"), isRequired: parameters.contains("require"))
    }

    public var printed: ByteString {
        (self.isAutomatic ? "Auto" : "Manual") + (self.isRequired ? ";require" : "")
    }
}
