// SPDX-License-Identifier: Apache-2.0

import Bytes

/// An `a=fmtp` line (RFC 8866 section 6.15), read as `name=value` parameters between semicolons.
public struct Fmtp: Hashable, Sendable {
    public struct Parameter: Hashable, Sendable {
        public var name: ByteString
        /// Empty for a parameter without an equals sign (`0-15` of telephone-event).
        public var value: ByteString
    }

    public var payloadType: UInt8
    public var parameters: [Parameter]

    /// Reads `PT parameters`; nil where there is no payload type. Faulty parameters are only left out.
    public init?(_ value: ByteString) {
        let text = value.trimmed()
        guard let end = text.firstIndex(of: ASCII.space), let type = text.slice(0..<end).decimal(max: 127) else {
            return nil
        }
        self.payloadType = UInt8(type)
        self.parameters = Self.parameters(text.slice(end..<text.count))
    }

    /// Reads `name=value;name=value` with blanks anywhere around.
    static func parameters(_ text: ByteString) -> [Parameter] {
        text.split(on: ASCII.semicolon).prefix(SDPLimits.attributes).compactMap { part in
            let part = part.trimmed()
            guard !part.isEmpty else { return nil }
            let equals = part.firstIndex(of: ASCII.equals) ?? part.count
            return Parameter(
                name: part.slice(0..<equals).trimmed(),
                value: part.slice(equals + 1..<max(equals + 1, part.count)).trimmed())
        }
    }

    /// The first value of this name, names compared without case.
    public func value(_ name: ByteString) -> ByteString? {
        self.parameters.first { $0.name.equalsIgnoringCase(name) }?.value
    }
}
