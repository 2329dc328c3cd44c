// SPDX-License-Identifier: Apache-2.0

/// What a session description may hold. Lists are cut at their limit; a description over the whole is refused.
public enum SDPLimits {
    public static let bytes = 32_768
    public static let media = 32
    /// Attributes of the session, and of each medium.
    public static let attributes = 128
    /// Formats of one medium.
    public static let formats = 64
    /// Other lines (`i=`, `u=`, `b=` …) of the session, and of each medium.
    public static let otherLines = 16
    /// Bytes of decoded parameter sets taken from one `sprop-parameter-sets`.
    public static let parameterSetBytes = 1_024
    /// `a=crypto` lines of one medium that are looked at, and keys in one of them.
    public static let cryptoLines = 32
    public static let cryptoKeys = 4
    /// Bytes of a master key identifier (RFC 4568 section 6.1).
    public static let mkiBytes = 128
    /// Fingerprints of one medium that are looked at.
    public static let fingerprints = 16
    /// Candidates of one medium that are kept.
    public static let candidates = 32
}

/// Why a body is not a session description.
public struct SDPParseError: Error, Hashable, Sendable {
    /// Counted from 1; 0 where the whole is meant.
    public var line: Int
    public var reason: Fault

    /// The faults that cost the whole description. All others cost only their line.
    public enum Fault: Hashable, Sendable {
        case empty, tooLong, notVersionZero
    }

    init(line: Int, _ reason: Fault) {
        self.line = line
        self.reason = reason
    }
}
