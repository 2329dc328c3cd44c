// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSRTP
import SDPWire

/// libsrtp2 is started once in the life of the process.
private let srtpIsReady = srtp_init() == srtp_err_status_ok

/// Makes what libsrtp2 keeps of one direction; nil where it does not take the keys.
func makeSRTPSession(_ suite: CryptoSuite, _ keys: [CryptoKey], _ direction: srtp_ssrc_type_t) -> srtp_t? {
    guard srtpIsReady, suite.isUsable, !keys.isEmpty,
        keys.allSatisfy({ $0.secret.count == suite.secretBytes })
    else { return nil }
    var policy = srtp_policy_t()
    suite.set(&policy)
    policy.ssrc.type = direction
    policy.window_size = SecureLimits.replayWindow
    let masters = MasterKeys(keys)
    defer { masters.erase() }
    if keys[0].mki.isEmpty {
        policy.key = masters.first
    } else {
        policy.keys = masters.pointers
        policy.num_master_keys = UInt(keys.count)
    }
    var session: srtp_t?
    guard srtp_create(&session, &policy) == srtp_err_status_ok else { return nil }
    return session
}

extension CryptoSuite {
    /// RTCP has the long tag even where RTP has the short one (RFC 4568 section 6.2.2).
    fileprivate func set(_ policy: inout srtp_policy_t) {
        switch self {
        case .aeadAES128GCM:
            srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtp)
            srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtcp)
        case .aeadAES256GCM:
            srtp_crypto_policy_set_aes_gcm_256_16_auth(&policy.rtp)
            srtp_crypto_policy_set_aes_gcm_256_16_auth(&policy.rtcp)
        case .aesCM128SHA180, .f8128SHA180:
            srtp_crypto_policy_set_rtp_default(&policy.rtp)
            srtp_crypto_policy_set_rtcp_default(&policy.rtcp)
        case .aesCM128SHA132:
            srtp_crypto_policy_set_aes_cm_128_hmac_sha1_32(&policy.rtp)
            srtp_crypto_policy_set_rtcp_default(&policy.rtcp)
        case .aesCM192SHA180:
            srtp_crypto_policy_set_aes_cm_192_hmac_sha1_80(&policy.rtp)
            srtp_crypto_policy_set_aes_cm_192_hmac_sha1_80(&policy.rtcp)
        case .aesCM192SHA132:
            srtp_crypto_policy_set_aes_cm_192_hmac_sha1_32(&policy.rtp)
            srtp_crypto_policy_set_aes_cm_192_hmac_sha1_80(&policy.rtcp)
        case .aesCM256SHA180:
            srtp_crypto_policy_set_aes_cm_256_hmac_sha1_80(&policy.rtp)
            srtp_crypto_policy_set_aes_cm_256_hmac_sha1_80(&policy.rtcp)
        case .aesCM256SHA132:
            srtp_crypto_policy_set_aes_cm_256_hmac_sha1_32(&policy.rtp)
            srtp_crypto_policy_set_aes_cm_256_hmac_sha1_80(&policy.rtcp)
        }
    }
}

/// Keys where C can read them, for as long as it takes to make a session.
private struct MasterKeys {
    private var secrets: [UnsafeMutableBufferPointer<UInt8>] = []
    private var names: [UnsafeMutableBufferPointer<UInt8>] = []
    private let masters: UnsafeMutableBufferPointer<srtp_master_key_t>
    private let list: UnsafeMutableBufferPointer<UnsafeMutablePointer<srtp_master_key_t>?>

    init(_ keys: [CryptoKey]) {
        self.masters = .allocate(capacity: keys.count)
        self.list = .allocate(capacity: keys.count)
        for (index, key) in keys.enumerated() {
            let secret = Self.copy(key.secret)
            let name = Self.copy(key.mki)
            self.secrets.append(secret)
            self.names.append(name)
            self.masters.initializeElement(
                at: index,
                to: srtp_master_key_t(
                    key: secret.baseAddress, mki_id: name.baseAddress, mki_size: UInt32(key.mki.count)))
            self.list.initializeElement(at: index, to: self.masters.baseAddress.map { $0 + index })
        }
    }

    private static func copy(_ bytes: [UInt8]) -> UnsafeMutableBufferPointer<UInt8> {
        let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
        _ = copy.initialize(from: bytes)
        return copy
    }

    var first: UnsafeMutablePointer<UInt8>? { self.secrets.first?.baseAddress }
    var pointers: UnsafeMutablePointer<UnsafeMutablePointer<srtp_master_key_t>?>? { self.list.baseAddress }

    func erase() {
        for secret in self.secrets {
            secret.update(repeating: 0)
            secret.deallocate()
        }
        self.names.forEach { $0.deallocate() }
        self.masters.deallocate()
        self.list.deallocate()
    }
}
