// SPDX-License-Identifier: Apache-2.0
import Bytes
import MediaEngine
import SIPEngine
import SIPWire
import XCTest

@testable import KioskEngine

/// Every (state × input) cell of the kiosk's call, what the far end and its media do.
final class KioskMachineFarTests: XCTestCase {
    private typealias Row = KioskMachineTests.Row

    private func check(
        _ rows: [Row], line: UInt = #line, _ input: (inout KioskMachine) -> Any
    ) {
        KioskMachineTests.check(rows, line: line, input)
    }

    func testProgressInEveryState() {
        self.check([
            ("idle", "ignore", "idle"), ("lookingUp", "ignore", "lookingUp"), ("calling", "ignore", "calling"),
            ("ringing", "ignore", "ringing"), ("early", "ignore", "early"),
            ("alerting", "ignore", "alerting"), ("connected", "ignore", "connected"),
            ("transferring", "ignore", "transferring"),
            ("ending", "ignore", "ending"), ("outcome", "ignore", "outcome"), ("stopping", "ignore", "stopping"),
        ]) { $0.progressed(States.handle, .trying, now: States.now) }
        self.check([
            ("idle", "ignore", "idle"), ("lookingUp", "ignore", "lookingUp"), ("calling", "tell", "ringing"),
            ("ringing", "ignore", "ringing"), ("early", "ignore", "early"),
            ("alerting", "ignore", "alerting"), ("connected", "ignore", "connected"),
            ("transferring", "ignore", "transferring"),
            ("ending", "ignore", "ending"), ("outcome", "ignore", "outcome"), ("stopping", "ignore", "stopping"),
        ]) { $0.progressed(States.handle, .ringing, now: States.now) }
        self.check([
            ("idle", "ignore", "idle"), ("lookingUp", "ignore", "lookingUp"), ("calling", "startMedia", "early"),
            ("ringing", "startMedia", "early"), ("early", "updateMedia", "early"),
            ("alerting", "ignore", "alerting"),
            ("connected", "ignore", "connected"),
            ("transferring", "ignore", "transferring"), ("ending", "ignore", "ending"),
            ("outcome", "ignore", "outcome"),
            ("stopping", "ignore", "stopping"),
        ]) { $0.progressed(States.handle, .media, now: States.now) }
    }

    func testAnsweredInEveryState() {
        self.check([
            ("idle", "ignore", "idle"), ("lookingUp", "ignore", "lookingUp"), ("calling", "startMedia", "connected"),
            ("ringing", "startMedia", "connected"), ("early", "updateMedia", "connected"),
            ("alerting", "ignore", "alerting"),
            ("connected", "ignore", "connected"),
            ("transferring", "ignore", "transferring"), ("ending", "ignore", "ending"),
            ("outcome", "ignore", "outcome"),
            ("stopping", "ignore", "stopping"),
        ]) { $0.answered(States.handle, States.talk, now: States.now) }
    }

    func testFailedInEveryState() {
        self.check([
            ("idle", "ignore", "idle"), ("lookingUp", "ignore", "lookingUp"), ("calling", "failed", "outcome"),
            ("ringing", "failed", "outcome"), ("early", "failed", "outcome"),
            ("alerting", "giveUp", "outcome"), ("connected", "giveUp", "outcome"),
            ("transferring", "giveUp", "outcome"),
            ("ending", "ignore", "ending"), ("outcome", "ignore", "outcome"), ("stopping", "ignore", "stopping"),
        ]) { $0.failed(States.handle, .unusableMedia, now: States.now) }
    }

    func testEndedInEveryState() {
        let reasons: [EndReason] = [
            .refused(.busyHere, phrase: "x", q850: nil), .timedOut, .flowFailed, .protocolFault("x"), .tooManyCalls,
            .remoteHangUp(cause: nil, q850: nil, text: ""),
        ]
        for reason in reasons {
            self.check([
                ("idle", "ignore", "idle"), ("lookingUp", "ignore", "lookingUp"), ("calling", "failed", "outcome"),
                ("ringing", "failed", "outcome"), ("early", "failed", "outcome"),
                ("alerting", "finish", "outcome"), ("connected", "finish", "outcome"),
                ("transferring", "waitForTransfer", "ringing"),
                ("ending", "finish", "idle"), ("outcome", "ignore", "outcome"), ("stopping", "exit", "idle"),
            ]) { $0.ended(States.handle, reason, now: States.now) }
        }
        for reason in [EndReason.localHangUp, .cancelled] {
            self.check([
                ("idle", "ignore", "idle"), ("lookingUp", "ignore", "lookingUp"), ("calling", "failed", "idle"),
                ("ringing", "failed", "idle"), ("early", "failed", "idle"),
                ("alerting", "finish", "outcome"), ("connected", "finish", "idle"),
                ("transferring", "waitForTransfer", "ringing"),
                ("ending", "finish", "idle"), ("outcome", "ignore", "outcome"), ("stopping", "exit", "idle"),
            ]) { $0.ended(States.handle, reason, now: States.now) }
        }
    }

    func testReofferedAndRenegotiatedInEveryState() {
        self.check([
            ("idle", "refuse", "idle"), ("lookingUp", "refuse", "lookingUp"), ("calling", "negotiateEarly", "calling"),
            ("ringing", "negotiateEarly", "ringing"), ("early", "negotiateEarly", "early"),
            ("alerting", "refuse", "alerting"), ("connected", "negotiate", "connected"),
            ("transferring", "negotiate", "transferring"),
            ("ending", "refuse", "ending"), ("outcome", "refuse", "outcome"), ("stopping", "refuse", "stopping"),
        ]) { $0.reoffered(States.handle) }
        self.check([
            ("idle", "ignore", "idle"), ("lookingUp", "ignore", "lookingUp"), ("calling", "ignore", "calling"),
            ("ringing", "ignore", "ringing"), ("early", "ignore", "early"),
            ("alerting", "ignore", "alerting"), ("connected", "updateMedia", "connected"),
            ("transferring", "updateMedia", "transferring"),
            ("ending", "ignore", "ending"), ("outcome", "ignore", "outcome"), ("stopping", "ignore", "stopping"),
        ]) { $0.renegotiated(States.handle, States.talk, now: States.now) }
    }

    func testMediaReportsInEveryState() {
        let reports: [MediaReport] = [
            .firstPacket(.audio), .firstPacket(.video), .silent(.audio, since: States.now),
            .silent(.video, since: States.now), .resumed(.audio), .resumed(.video), .byeReceived(.audio),
            .counters(MediaCounters()),
        ]
        for report in reports {
            self.check(States.all.map { ($0.name, "doNothing", $0.name) }) { $0.media(report, now: States.now) }
        }
        for (report, action) in [(MediaReport.firstFrameShown, "firstFrame"), (.firstSoundPlayed, "firstSound")] {
            let rows = States.all.map {
                ($0.name, ["connected", "transferring"].contains($0.name) ? action : "doNothing", $0.name)
            }
            self.check(rows) { $0.media(report, now: States.now) }
        }
    }

    func testReportedInEveryStateChangesOnlyACall() {
        for (name, state) in States.all {
            var machine = States.machine(state)
            machine.reported(now: States.later(1))
            XCTAssertEqual(machine.state == state, !["connected", "transferring"].contains(name), name)
        }
    }

    /// Whatever comes for another call than the one at hand changes nothing, in any state.
    func testEventsOfOtherCallsAreIgnoredInEveryState() {
        for (name, state) in States.all {
            var machine = States.machine(state)
            let other = States.stranger
            XCTAssertEqual(machine.progressed(other, .media, now: States.now), .ignore, name)
            XCTAssertEqual(machine.answered(other, States.talk, now: States.now), .ignore, name)
            XCTAssertEqual(machine.failed(other, .vanished, now: States.now), .ignore, name)
            XCTAssertEqual(machine.ended(other, .flowFailed, now: States.now), .ignore, name)
            XCTAssertEqual(machine.reoffered(other), .refuse(.callOrTransactionDoesNotExist), name)
            XCTAssertEqual(machine.renegotiated(other, States.talk, now: States.now), .ignore, name)
            if name != "idle", name != "outcome" {
                XCTAssertEqual(machine.accepted(other, States.talk, now: States.now), .ignore, name)
            }
            XCTAssertEqual(machine.state, state, name)
        }
    }

    // MARK: - Single behaviours

    func testFirstFrameAndFirstSoundAreToldOnceWithTheTimeSinceTheAnswer() {
        var machine = States.machine(States.connected)
        XCTAssertEqual(machine.media(.firstFrameShown, now: States.later(321)), .firstFrame(after: .milliseconds(321)))
        XCTAssertEqual(machine.media(.firstFrameShown, now: States.later(400)), .doNothing)
        XCTAssertEqual(machine.media(.firstSoundPlayed, now: States.later(95)), .firstSound(after: .milliseconds(95)))
        XCTAssertEqual(machine.media(.firstSoundPlayed, now: States.later(99)), .doNothing)
    }

    func testSoundHeardBeforeTheAnswerIsKnownAfterIt() {
        var machine = States.machine(States.early)
        _ = machine.media(.firstPacket(.audio), now: States.now)
        _ = machine.media(.firstSoundPlayed, now: States.now)
        XCTAssertEqual(
            machine.answered(States.handle, States.talk, now: States.now), .updateMedia(Wishes(), isHeard: true))
        XCTAssertNil(machine.state.alarm, "it is heard, so it has not vanished")
        XCTAssertEqual(machine.media(.firstSoundPlayed, now: States.now), .doNothing)
    }

    /// Silence is told once: a far end whose early media stopped, and that never sends again, is missed all the same.
    func testSoundThatStoppedBeforeTheAnswerIsMissedAfterIt() {
        var machine = States.machine(States.early)
        _ = machine.media(.firstPacket(.audio), now: States.now)
        _ = machine.media(.silent(.audio, since: States.now), now: States.now)
        _ = machine.answered(States.handle, States.talk, now: States.later(5_000))
        XCTAssertEqual(machine.state.alarm?.at, States.later(15_000))
        machine = States.machine(States.early)
        _ = machine.media(.firstPacket(.audio), now: States.now)
        _ = machine.media(.silent(.audio, since: States.now), now: States.now)
        _ = machine.media(.resumed(.audio), now: States.later(4_000))
        _ = machine.answered(States.handle, States.talk, now: States.later(5_000))
        XCTAssertNil(machine.state.alarm)
    }

    func testAPeerVanishesOnlyWhenNeitherRTPNorRTCPComes() {
        var machine = States.machine(States.connected)
        XCTAssertEqual(machine.state.alarm?.at, States.later(10_000), "nothing came since the answer")
        _ = machine.media(.firstPacket(.audio), now: States.later(100))
        XCTAssertNil(machine.state.alarm, "sound comes; that no picture does is no reason to end a call")
        _ = machine.media(.firstPacket(.video), now: States.later(200))
        _ = machine.media(.silent(.audio, since: States.later(1_000)), now: States.later(6_000))
        XCTAssertNil(machine.state.alarm, "the picture still moves")
        _ = machine.media(.silent(.video, since: States.later(3_000)), now: States.later(8_000))
        XCTAssertEqual(machine.state.alarm?.at, States.later(13_000), "ten seconds after the last packet")
        machine.reported(now: States.later(9_000))
        XCTAssertEqual(machine.state.alarm?.at, States.later(19_000), "RTCP is a sign of life")
        _ = machine.media(.resumed(.audio), now: States.later(9_500))
        XCTAssertNil(machine.state.alarm)
    }

    func testHoldIsToldAndSilenceOnHoldEndsNothing() {
        var machine = States.machine(States.connected)
        let held = MediaShape(hasAudio: true)
        XCTAssertEqual(
            machine.renegotiated(States.handle, held, now: States.now), .updateMedia(hold: true, waiting: nil))
        XCTAssertNil(machine.state.alarm, "on hold nothing is to be heard")
        XCTAssertEqual(
            machine.renegotiated(States.handle, held, now: States.now), .updateMedia(hold: nil, waiting: nil))
        XCTAssertEqual(
            machine.renegotiated(States.handle, States.talk, now: States.later(50_000)),
            .updateMedia(hold: false, waiting: nil))
        XCTAssertEqual(machine.state.alarm?.at, States.later(60_000), "time to begin again")
    }

    func testMusicOnHoldIsHold() {
        let music = MediaShape(hasAudio: true, sendsAudio: false, receivesAudio: true)
        XCTAssertTrue(music.isHeld)
        XCTAssertFalse(MediaShape(receivesVideo: true).isHeld, "a call without sound is no call on hold")
    }
}
