// SPDX-License-Identifier: Apache-2.0

import Bytes

/// A lamp, a relay, or anything else that is switched, on a GPIO line. Off from the start, and off again when let go.
public final class OutputLine {
    private let line: Line

    public init(_ name: ByteString, settings: LineSettings) throws(PanelError) {
        self.line = try Line(name, settings: settings, use: .output)
    }

    deinit {
        _ = self.set(false)
    }

    /// False where the chip is gone.
    public var isPresent: Bool { self.line.isActive != nil }

    /// False where the chip is gone.
    public func set(_ isOn: Bool) -> Bool {
        self.line.set(isOn)
    }
}
