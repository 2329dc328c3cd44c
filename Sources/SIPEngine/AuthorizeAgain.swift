// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// A challenged request goes out again as the next one of its dialog, or of its own Call-ID: RFC 3261 section 22.2.
extension SIPEngine {
    /// False where nobody wants it any more, or where it cannot be: a CANCEL has the number of its INVITE (RFC 3261
    /// section 22.1).
    mutating func sendAuthorized(_ index: Int, _ authorization: Authorization, now: Instant) -> Bool {
        let entry = self.clients[index]
        switch entry.purpose {
        case .cancel: return false
        case .invite(let handle):
            guard let call = self.callIndex(handle), var invitation = self.calls[call].invitation else { return false }
            invitation.takeNumber()
            return self.inviteAgain(call, invitation, authorization, now: now)
        case .reinvite, .bye, .lastBye, .refresh, .prack, .discard, .inform, .message, .notify, .register, .probe:
            guard self.isStillWanted(entry.purpose) else { return false }
        }
        var message = entry.request
        message.remove(.via)
        message.set(.cseq, CSeq(self.takeNumber(after: entry), entry.method).printed)
        self.sendRequest(message, on: entry.dialogFlow, for: entry.purpose, in: entry.dialog, authorization, now: now)
        return true
    }

    /// The number of a request that takes the place of `entry`: the next of its dialog. What has no dialog, or one that
    /// no call has any more, counts for itself.
    private mutating func takeNumber(after entry: ClientEntry) -> UInt32 {
        guard let (dialog, number) = self.takeDialogNumber(for: entry.request) else { return entry.lastNumber &+ 1 }
        self.noteNumber(number, in: dialog)
        return number
    }

    private mutating func takeDialogNumber(for request: SIPMessage) -> (Dialog, UInt32)? {
        for index in self.calls.indices {
            if var dialog = self.calls[index].dialog, dialog.owns(request) {
                let number = dialog.takeNumber()
                self.calls[index].dialog = dialog
                return (dialog, number)
            }
            for early in self.calls[index].early.indices
            where self.calls[index].early[early].dialog.owns(request) {
                let number = self.calls[index].early[early].dialog.takeNumber()
                let dialog = self.calls[index].early[early].dialog
                if let invite = self.inviteIndex(of: self.calls[index].handle) {
                    self.clients[invite].noteEarly(number, dialog.remoteTag)
                }
                return (dialog, number)
            }
        }
        for index in self.referrals.indices {
            if var dialog = self.referrals[index].dialog, dialog.owns(request) {
                let number = dialog.takeNumber()
                self.referrals[index].dialog = dialog
                return (dialog, number)
            }
        }
        return nil
    }
}
