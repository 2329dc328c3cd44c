// SPDX-License-Identifier: Apache-2.0

import Bytes

/// How SRTP encrypts and authenticates (RFC 4568 section 6.2, RFC 6188 section 4, RFC 7714 section 14.2).
public enum CryptoSuite: Hashable, Sendable, CaseIterable {
    case aeadAES128GCM, aeadAES256GCM
    /// `80` and `32`: bits of the tag on each RTP packet.
    case aesCM128SHA180, aesCM256SHA180, aesCM192SHA180, aesCM128SHA132, aesCM256SHA132, aesCM192SHA132
    /// Known by name, but nothing here can do it.
    case f8128SHA180

    /// What our offers name, best first: what authenticates with the cipher itself, then what everybody has. The place
    /// here, counted from 1, is the tag.
    static let offered: [CryptoSuite] = [.aeadAES128GCM, .aeadAES256GCM, .aesCM128SHA180, .aesCM256SHA180]
    /// What every peer that does RFC 4568 has, and so all of an offer that has to be short.
    static let common = CryptoSuite.aesCM128SHA180

    /// All that can be used.
    public static var usable: [CryptoSuite] { Self.allCases.filter { $0.isUsable } }

    public var isUsable: Bool { self != .f8128SHA180 }

    /// Reads a suite's name; nil for one that is not known. Names are compared as they are written (RFC 4568 section
    /// 9.2); old equipment puts the key's length of the longer ones last.
    public init?(_ name: ByteString) {
        switch name {
        case "AES_CM_256_HMAC_SHA1_80": self = .aesCM256SHA180
        case "AES_CM_256_HMAC_SHA1_32": self = .aesCM256SHA132
        case "AES_CM_192_HMAC_SHA1_80": self = .aesCM192SHA180
        case "AES_CM_192_HMAC_SHA1_32": self = .aesCM192SHA132
        default:
            guard let suite = Self.allCases.first(where: { $0.name == name }) else { return nil }
            self = suite
        }
    }

    public var name: ByteString {
        switch self {
        case .aeadAES128GCM: return "AEAD_AES_128_GCM"
        case .aeadAES256GCM: return "AEAD_AES_256_GCM"
        case .aesCM128SHA180: return "AES_CM_128_HMAC_SHA1_80"
        case .aesCM256SHA180: return "AES_256_CM_HMAC_SHA1_80"
        case .aesCM192SHA180: return "AES_192_CM_HMAC_SHA1_80"
        case .aesCM128SHA132: return "AES_CM_128_HMAC_SHA1_32"
        case .aesCM256SHA132: return "AES_256_CM_HMAC_SHA1_32"
        case .aesCM192SHA132: return "AES_192_CM_HMAC_SHA1_32"
        case .f8128SHA180: return "F8_128_HMAC_SHA1_80"
        }
    }

    /// Bytes of the master key.
    public var keyBytes: Int {
        switch self {
        case .aeadAES128GCM, .aesCM128SHA180, .aesCM128SHA132, .f8128SHA180: return 16
        case .aesCM192SHA180, .aesCM192SHA132: return 24
        case .aeadAES256GCM, .aesCM256SHA180, .aesCM256SHA132: return 32
        }
    }

    /// Bytes of the master salt.
    public var saltBytes: Int {
        switch self {
        case .aeadAES128GCM, .aeadAES256GCM: return 12
        case .aesCM128SHA180, .aesCM256SHA180, .aesCM192SHA180, .aesCM128SHA132, .aesCM256SHA132, .aesCM192SHA132,
            .f8128SHA180:
            return 14
        }
    }

    /// Bytes of master key and salt, which travel together.
    public var secretBytes: Int { self.keyBytes + self.saltBytes }
}
