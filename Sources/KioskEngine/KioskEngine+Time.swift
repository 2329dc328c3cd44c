// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine

/// What the engine does because time has passed, and when that is.
extension KioskEngine {
    var wakesAt: Instant? {
        guard !self.hasExited else { return nil }
        var soonest: Instant?
        for instant in [
            self.sipWakesAt, self.ice.isAnswerWaiting ? nil : self.machine.state.alarm?.at, self.panel.wakesAt,
            self.servers.asksAt, self.notice?.until,
            self.accountsWakeAt, self.leaveBy, self.passwords.releasesAt, self.locator.wakesAt, self.serversWakeAt,
            self.callBacks.endsAt, self.postDial?.dueAt, self.autoCall.wakesAt, self.ice.wakesAt,
            self.iceServers.asksAt, self.textsWakeAt, self.faults.alarmUntil, self.languageEndsAt, self.pagesWakeAt,
        ] {
            guard let instant else { continue }
            soonest = min(soonest ?? instant, instant)
        }
        return soonest
    }

    mutating func timePassed(now: Instant) {
        if let due = self.sipWakesAt, now >= due { self.tell(.timeout, now: now) }
        self.settle(now: now)
        self.alarm(now: now)
        self.locator.timePassed(now: now)
        self.pressPostDial(now: now)
        self.autoCall(now: now)
        if self.callBacks.expire(now: now) { self.tell(.trust(self.trusted), now: now) }
        self.refreshServers(now: now)
        self.iceTimePassed(now: now)
        self.refreshAccounts(now: now)
        self.exitWhereLeft(now: now)
        self.settlePasswords(now: now)
        self.watchServers(now: now)
        self.hurryTexts(now: now)
        self.applyReload(now: now)
        self.faults.timePassed(now: now)
        self.settleLanguage(now: now)
        self.settlePages(now: now)
        if let notice = self.notice, now >= notice.until { self.notice = nil }
        self.gesturesTimePassed(now: now)
        self.keypadTimePassed(now: now)
        self.lampsTimePassed(now: now)
    }
}
