// SPDX-License-Identifier: Apache-2.0

import Bytes

/// The H.264 parameters of one payload type (RFC 6184 section 8.1).
public struct H264Parameters: Hashable, Sendable {
    public var profileLevelID: H264ProfileLevelID
    /// 0 or 1: the two modes this product speaks.
    public var packetizationMode: UInt8
    public var isLevelAsymmetryAllowed: Bool
    /// What the writer can receive: the level's own limits, raised by `max-mbps`, `max-fs` and `max-br`.
    public var receiveLimits: H264Limits
    /// Decoded `sprop-parameter-sets`: NAL units that can be read before the first key frame. Empty and faulty parts
    /// left out.
    public var parameterSets: [[UInt8]]

    public init(profileLevelID: H264ProfileLevelID = .constrainedBaseline31, packetizationMode: UInt8 = 1) {
        precondition(packetizationMode <= 1, "interleaved mode is not written anywhere here")
        self.profileLevelID = profileLevelID
        self.packetizationMode = packetizationMode
        self.isLevelAsymmetryAllowed = true
        self.receiveLimits = profileLevelID.level.limits
        self.parameterSets = []
    }

    /// Reads the format parameters of a payload type; nil only for a packetization mode that is not ours. A missing or
    /// faulty `profile-level-id` counts as `H264ProfileLevelID.missing`.
    public init?(_ fmtp: Fmtp?) {
        let mode = fmtp?.value("packetization-mode")?.decimal() ?? 0
        guard mode <= 1 else { return nil }
        self.packetizationMode = UInt8(mode)
        self.profileLevelID = fmtp?.value("profile-level-id").flatMap { H264ProfileLevelID($0) } ?? .missing
        self.isLevelAsymmetryAllowed = fmtp?.value("level-asymmetry-allowed") == "1"
        let most = H264Level(levelIDC: 62).limits
        var limits = self.profileLevelID.level.limits
        limits.macroblocksPerSecond = Self.raised(
            limits.macroblocksPerSecond, fmtp?.value("max-mbps"), most.macroblocksPerSecond)
        limits.frameMacroblocks = Self.raised(limits.frameMacroblocks, fmtp?.value("max-fs"), most.frameMacroblocks)
        limits.bitrateKbps = Self.raised(limits.bitrateKbps, fmtp?.value("max-br"), most.bitrateKbps)
        self.receiveLimits = limits
        self.parameterSets = Self.parameterSets(fmtp?.value("sprop-parameter-sets"))
    }

    /// These parameters only ever raise a limit; a lower value is a fault of the peer's (RFC 6184 section 8.1).
    private static func raised(_ limit: Int, _ value: ByteString?, _ most: Int) -> Int {
        guard let value = value?.decimal() else { return limit }
        return max(limit, Int(min(value, UInt64(most))))
    }

    private static func parameterSets(_ value: ByteString?) -> [[UInt8]] {
        var sets: [[UInt8]] = []
        var count = 0
        for part in value?.split(on: ASCII.comma) ?? [] {
            guard let set = Base64.decoded(part.trimmed()), !set.isEmpty else { continue }
            count += set.count
            guard count <= SDPLimits.parameterSetBytes else { break }
            sets.append(set)
        }
        return sets
    }

    /// The parameters as an `fmtp` value without its payload type. Mode 0 is left unsaid, for some gateways know no
    /// other.
    public var printed: ByteString {
        var text: ByteString = "profile-level-id="
        text.append(self.profileLevelID.printed)
        if self.packetizationMode != 0 { text += ";packetization-mode=" + ByteString(decimal: self.packetizationMode) }
        if self.isLevelAsymmetryAllowed { text.append(";level-asymmetry-allowed=1") }
        return text
    }
}
