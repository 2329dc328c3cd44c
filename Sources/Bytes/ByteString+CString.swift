// SPDX-License-Identifier: Apache-2.0

/// The border to C, where text ends in a zero byte.
extension ByteString {
    /// Copies the bytes before the first zero, at most `countMax` of them; nothing where there is no string.
    public init(cString: UnsafePointer<CChar>?, countMax: Int = 255) {
        self.init()
        guard let raw = UnsafeRawPointer(cString) else { return }
        while self.count < countMax {
            let byte = raw.load(fromByteOffset: self.count, as: UInt8.self)
            if byte == 0 { return }
            self.append(byte: byte)
        }
    }

    /// Calls `body` with a copy that ends in a zero byte.
    public func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        (self.bytes + [0]).withUnsafeBufferPointer { buffer in
            buffer.withMemoryRebound(to: CChar.self) { body($0.baseAddress!) }
        }
    }
}
