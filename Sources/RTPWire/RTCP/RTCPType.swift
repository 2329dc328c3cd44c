// SPDX-License-Identifier: Apache-2.0

/// RTCP packet types (RFC 3550 section 12.1, RFC 4585 section 6.1) and the feedback formats used.
enum RTCPType {
    /// Full intra request of RFC 2032: header and SSRC only.
    static let legacyFullIntra: UInt8 = 192
    static let senderReport: UInt8 = 200
    static let receiverReport: UInt8 = 201
    static let sourceDescription: UInt8 = 202
    static let bye: UInt8 = 203
    static let application: UInt8 = 204
    static let transportFeedback: UInt8 = 205
    static let payloadFeedback: UInt8 = 206

    static let formatNACK: UInt8 = 1
    static let formatPictureLoss: UInt8 = 1
    static let formatFullIntra: UInt8 = 4
    static let formatRateRequest: UInt8 = 3
    static let formatRateNotice: UInt8 = 4
    /// Of payload-specific feedback: whatever an application likes (RFC 4585 section 6.4).
    static let formatApplication: UInt8 = 15

    static let itemEnd: UInt8 = 0
    static let itemCNAME: UInt8 = 1
}
