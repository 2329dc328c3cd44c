// SPDX-License-Identifier: Apache-2.0

import Bytes

/// Which provisional response a PRACK is for: its RSeq, and the CSeq it answered (RFC 3262 section 7.2).
public struct RAck: Hashable, Sendable {
    public var rseq: RSeq
    public var cseq: CSeq

    public init(_ rseq: RSeq, _ cseq: CSeq) {
        self.rseq = rseq
        self.cseq = cseq
    }

    /// Reads `response-num LWS CSeq-num LWS Method`; nil for a fault or a number out of range.
    public init?(_ value: ByteString) {
        var scanner = HeaderScanner(value)
        guard let rseq = RSeq(scanner.run(ASCII.isDigit)) else { return nil }
        let end = scanner.position
        scanner.skipBlanks()
        guard scanner.position > end, let cseq = CSeq(scanner.rest) else { return nil }
        self.init(rseq, cseq)
    }

    public var printed: ByteString { self.rseq.printed + " " + self.cseq.printed }
}
