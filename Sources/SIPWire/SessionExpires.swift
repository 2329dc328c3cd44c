// SPDX-License-Identifier: Apache-2.0

import Bytes

/// How long a session lives without a refresh, and who refreshes it: RFC 4028 section 4.
public struct SessionExpires: Hashable, Sendable {
    /// Roles in the transaction that carries the field, not in the dialog.
    public enum Refresher: Hashable, Sendable {
        case uac, uas

        public var token: ByteString {
            switch self {
            case .uac: return "uac"
            case .uas: return "uas"
            }
        }
    }

    public var seconds: UInt32
    /// Nil where the field leaves it open.
    public var refresher: Refresher?

    public init(seconds: UInt32, refresher: Refresher? = nil) {
        self.seconds = seconds
        self.refresher = refresher
    }

    /// Reads `delta-seconds *(SEMI param)`; nil for a fault or a number above 2^32 - 1. A refresher that is neither of
    /// the two counts as none.
    public init?(_ value: ByteString) {
        guard let (seconds, parameters) = DeltaSeconds.read(value) else { return nil }
        self.init(seconds: seconds)
        guard let refresher = parameters.value("refresher") else { return }
        if refresher.equalsIgnoringCase("uac") { self.refresher = .uac }
        if refresher.equalsIgnoringCase("uas") { self.refresher = .uas }
    }

    public var printed: ByteString {
        let seconds = ByteString(decimal: self.seconds)
        guard let refresher = self.refresher else { return seconds }
        return seconds + ";refresher=" + refresher.token
    }
}

/// `delta-seconds *(SEMI generic-param)`: Session-Expires and Min-SE.
enum DeltaSeconds {
    static func read(_ value: ByteString) -> (UInt32, Parameters)? {
        var scanner = HeaderScanner(value)
        guard let seconds = scanner.run(ASCII.isDigit).decimal(max: UInt64(UInt32.max)),
            let parameters = scanner.parameters()
        else { return nil }
        return (UInt32(seconds), parameters)
    }
}
