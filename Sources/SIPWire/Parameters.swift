// SPDX-License-Identifier: Apache-2.0

import Bytes

/// `;name=value` parameters of a header value or a URI, in order. Names are compared without case.
///
/// Values keep their bytes: a quoted string keeps its quotes (`text(of:)` takes them off), a URI's escapes stay.
public struct Parameters: Hashable, Sendable {
    public struct Parameter: Hashable, Sendable {
        public var name: ByteString
        /// Nil for a parameter that is only a name (`;lr`, `;rport`).
        public var value: ByteString?

        public init(_ name: ByteString, _ value: ByteString? = nil) {
            self.name = name
            self.value = value
        }
    }

    public private(set) var list: [Parameter]

    public init(_ list: [Parameter] = []) {
        self.list = list
    }

    public var isEmpty: Bool { self.list.isEmpty }

    public func contains(_ name: ByteString) -> Bool {
        self.list.contains { $0.name.equalsIgnoringCase(name) }
    }

    /// The value of the first parameter of this name; nil where it is missing or is only a name.
    public func value(_ name: ByteString) -> ByteString? {
        self.list.first { $0.name.equalsIgnoringCase(name) }?.value
    }

    /// As `value`, with the quotes and backslashes of a quoted string taken off.
    public func text(of name: ByteString) -> ByteString? {
        self.value(name).map { QuotedString.unquoted($0) }
    }

    /// As `value`, with the quotes of a quoted string taken off and its backslashes left.
    func rawText(of name: ByteString) -> ByteString? {
        self.value(name).map { QuotedString.raw($0) }
    }

    /// Sets the first parameter of this name or adds it. `nil` leaves only the name.
    public mutating func set(_ name: ByteString, _ value: ByteString?) {
        guard let index = self.list.firstIndex(where: { $0.name.equalsIgnoringCase(name) }) else {
            self.list.append(Parameter(name, value))
            return
        }
        self.list[index].value = value
    }

    public mutating func remove(_ name: ByteString) {
        self.list.removeAll { $0.name.equalsIgnoringCase(name) }
    }

    /// `;name=value;name`, empty where there are none.
    public var printed: ByteString {
        var text = ByteString()
        for parameter in self.list {
            text.append(byte: ASCII.semicolon)
            text.append(parameter.name)
            guard let value = parameter.value else { continue }
            text.append(byte: ASCII.equals)
            text.append(value)
        }
        return text
    }
}
