// SPDX-License-Identifier: Apache-2.0

import Bytes

/// An `a=rtcp-fb` line (RFC 4585 section 4.2, RFC 5104 section 7.1).
public struct RtcpFeedback: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// `nack pli`.
        case pli
        /// `ccm fir`.
        case fir
        /// `nack` alone.
        case nack
        /// `ccm tmmbr`.
        case tmmbr
        /// `goog-remb` (draft-alvestrand-rmcat-remb-03).
        case remb
        case other(ByteString)
    }

    /// Nil for `*`.
    public var payloadType: UInt8?
    public var kind: Kind

    public init(payloadType: UInt8? = nil, _ kind: Kind) {
        self.payloadType = payloadType
        self.kind = kind
    }

    /// Reads `PT|* kind`; nil for a fault.
    public init?(_ value: ByteString) {
        let text = value.trimmed()
        guard let end = text.firstIndex(of: ASCII.space) else { return nil }
        let target = text.slice(0..<end)
        if target != "*" {
            guard let type = target.decimal(max: 127) else { return nil }
            self.payloadType = UInt8(type)
        }
        self.kind = Self.kind(Fields.split(text.slice(end..<text.count)))
    }

    private static func kind(_ words: [ByteString]) -> Kind {
        if words == ["nack"] { return .nack }
        if words.starts(with: ["nack", "pli"]) { return .pli }
        if words.starts(with: ["ccm", "fir"]) { return .fir }
        if words.starts(with: ["ccm", "tmmbr"]) { return .tmmbr }
        if words == ["goog-remb"] { return .remb }
        return .other(words.reduce(ByteString()) { $0.isEmpty ? $1 : $0 + " " + $1 })
    }

    public var printed: ByteString {
        (self.payloadType.map { ByteString(decimal: $0) } ?? "*") + " " + self.kindText
    }

    private var kindText: ByteString {
        switch self.kind {
        case .pli: return "nack pli"
        case .fir: return "ccm fir"
        case .nack: return "nack"
        case .tmmbr: return "ccm tmmbr"
        case .remb: return "goog-remb"
        case .other(let text): return text
        }
    }
}
