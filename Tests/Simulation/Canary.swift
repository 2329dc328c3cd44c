// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// A fault that is put between the kiosks and the world on purpose: a simulation that does not notice it notices
/// nothing.
enum Canary: String, CaseIterable {
    /// The ACK for a 2xx is never sent.
    case swallowAck = "swallow-ack"
    /// BYE is never sent.
    case swallowBye = "swallow-bye"
    /// REGISTER is never sent.
    case swallowRegister = "swallow-register"
    /// The second kiosk is never woken.
    case deafClock = "deaf-clock"
    /// Every request has the same branch.
    case sameBranch = "same-branch"
    /// Half of the 2xx say 486, whatever was said before.
    case otherFinal = "other-final"
    /// Some messages lose their end.
    case cutMessage = "cut-message"
    /// Media never stop.
    case keepMedia = "keep-media"
    /// CANCEL goes out as soon as the INVITE is there to be cancelled.
    case hastyCancel = "hasty-cancel"
    /// BYE has a number too low.
    case oldNumber = "old-number"
    /// Every description has the same version.
    case oldVersion = "old-version"

    /// What the kiosk sends instead; nothing where it is swallowed. Nil where it stays as it is.
    func change(_ bytes: [UInt8], atMs now: UInt64) -> [UInt8]? {
        switch self {
        case .deafClock, .keepMedia: return nil
        case .swallowAck: return bytes.starts(with: "ACK ".utf8) ? [] : nil
        case .swallowBye: return bytes.starts(with: "BYE ".utf8) ? [] : nil
        case .swallowRegister: return bytes.starts(with: "REGISTER ".utf8) ? [] : nil
        case .cutMessage: return bytes.starts(with: "SIP/2.0 200".utf8) ? Array(bytes.dropLast(5)) : nil
        case .sameBranch, .otherFinal, .hastyCancel, .oldNumber, .oldVersion: return self.rewrite(bytes, atMs: now)
        }
    }

    private func rewrite(_ bytes: [UInt8], atMs now: UInt64) -> [UInt8]? {
        guard var message = try? SIPMessage.parse(bytes, framing: .datagram), let cseq = message.cseq,
            var via = message.topVia
        else { return nil }
        switch self {
        case .sameBranch:
            guard message.isRequest else { return nil }
            via.parameters.set("branch", "z9hG4bKsame")
            message.replaceTopVia(via)
        case .otherFinal:
            guard message.status?.isSuccess ?? false, now % 2 == 0 else {
                return nil
            }
            message.startLine = .response(.busyHere, reason: "Busy Here")
        case .hastyCancel:
            guard message.method == .invite else { return nil }
            message.startLine = .request(.cancel, message.requestURI ?? .other("x"))
            message.set(.cseq, CSeq(cseq.number, .cancel).printed)
        case .oldNumber:
            guard message.method == .bye else { return nil }
            message.set(.cseq, CSeq(max(cseq.number, 1) - 1, cseq.method).printed)
        case .oldVersion:
            guard let start = message.body.firstRange(of: "o=- ".utf8),
                let end = message.body.firstRange(of: " IN IP4".utf8), start.upperBound + 20 < end.lowerBound
            else { return nil }
            let session = message.body[start.upperBound...].prefix { $0 != ASCII.space }
            message.body.replaceSubrange(start.upperBound..<end.lowerBound, with: session + Array(" 1".utf8))
        case .deafClock, .keepMedia, .swallowAck, .swallowBye, .swallowRegister, .cutMessage: return nil
        }
        return message.printed()
    }
}
