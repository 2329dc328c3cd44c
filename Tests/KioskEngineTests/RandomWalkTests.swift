// SPDX-License-Identifier: Apache-2.0
import Bytes
import MediaEngine
import SIPWire
import XCTest

@testable import KioskEngine
@testable import SIPEngine

/// Everything at any time: the kiosk never traps, screen and lamp always fit the state, and when all is quiet again it
/// is idle and can call.
final class RandomWalkTests: XCTestCase {
    private let words: [ByteString] = [
        "call", "hangup", "press call", "press hook", "status", "events", "x", "call sip:y@z", "answer", "hold",
        "resume",
        "video add", "video remove", "digits 12#", "message hello", "message sip:a@far hello",
        "call sip:a@far + sip:b@far, sip:c@far;postd=1p2",
    ]

    private func step(_ scene: Scene, _ generator: inout Generator) {
        let kind: StreamKind = generator.below(2) == 0 ? .audio : .video
        switch generator.below(28) {
        case 0...3: scene.press(.call)
        case 4: scene.press(.hook)
        case 5: scene.press(generator.below(2) == 0 ? .mute : .video)
        case 6...8: self.farActs(scene, &generator)
        case 9: scene.isCut.toggle()
        case 10: scene.resolver = [.answers, .answers, .knowsNothing, .isSilent][Int(generator.below(4))]
        case 11: self.nameServerActs(scene, &generator)
        case 12: scene.feed(.media(.firstPacket(kind)))
        case 13: scene.feed(.media(generator.below(2) == 0 ? .firstFrameShown : .firstSoundPlayed))
        case 14: scene.feed(.media(.silent(kind, since: scene.now)))
        case 15: scene.feed(.media(.resumed(kind)))
        case 16: scene.feed(.control(Scene.client, line: self.words[Int(generator.below(UInt64(self.words.count)))]))
        case 17: self.deviceChanges(scene, &generator)
        case 18: scene.feed(.flowFailed(Scene.toFar))
        case 19: scene.farCalls()
        case 20: self.garbage(scene, &generator)
        case 21: scene.feed(.timeout)
        case 22: self.sipTells(scene, &generator)
        case 23: scene.feed(.media(generator.below(2) == 0 ? .keyFrameWanted : .digit(ASCII.zero)))
        case 24: self.fileChanges(scene, &generator)
        case 25: self.panelMoves(scene, &generator)
        default: scene.pass(Int(generator.below(6_000)))
        }
    }

    private func panelMoves(_ scene: Scene, _ generator: inout Generator) {
        let inputs: [InputName] = [.hookSwitch, .tamper, .inhibit]
        switch generator.below(4) {
        case 0: scene.feed(.key(Keypad.keys[Int(generator.below(12))]))
        case 1: scene.feed(.input(inputs[Int(generator.below(3))], isActive: generator.below(2) == 0))
        case 2: scene.press(.further(Int(generator.below(7)) + 2))
        default: scene.press(generator.below(2) == 0 ? .keypad : .language)
        }
    }

    /// An answer that may be late, wrong, or to nothing that was asked.
    private func nameServerActs(_ scene: Scene, _ generator: inout Generator) {
        let answers: [NameAnswer] = [
            .none, .silent, .found(.addresses([Scene.farAddress.address, .v4(0)]), ttlSeconds: 0),
            .found(.srv([ServiceRecord(priority: 0, weight: 0, port: 0, target: "far")]), ttlSeconds: 9),
        ]
        let answer = answers[Int(generator.below(UInt64(answers.count)))]
        if generator.below(4) == 0 {
            scene.feed(.routed(ResolutionID(generator.below(9)), [nil, Scene.kioskAddress]))
        } else if let open = scene.questions.first {
            scene.answers(open.id, answer)
        } else {
            scene.feed(.answer(QuestionID(generator.below(40)), answer))
        }
    }

    private func farActs(_ scene: Scene, _ generator: inout Generator) {
        let calls = scene.callsAtFar.suffix(3)
        guard !calls.isEmpty else { return }
        let call = calls[calls.startIndex + Int(generator.below(UInt64(calls.count)))]
        let statuses: [StatusCode] = [.ringing, .sessionProgress, .ok, .ok, .busyHere, .notFound]
        switch generator.below(6) {
        case 0: scene.farDoes(.hangUp(call, .normal))
        case 1:
            let directions = ["sendrecv", "sendonly", "inactive", "recvonly"]
            let audio = directions[Int(generator.below(4))]
            let version = Int(generator.below(1_000_000))
            scene.farDoes(.reoffer(call, offer: Scene.description(audio: audio, version: version)))
        default:
            let status = statuses[Int(generator.below(UInt64(statuses.count)))]
            let hasBody = status == .ok || status == .sessionProgress
            scene.farDoes(.respond(call, status, body: hasBody ? Scene.description() : []))
        }
    }

    /// What a far end may say within a call.
    private func sipTells(_ scene: Scene, _ generator: inout Generator) {
        guard let target = SIPURI("sip:next@far"), scene.handle.number != 0 else { return }
        let handle = generator.below(8) == 0 ? CallHandle(number: 1000) : scene.handle
        let events: [CallEvent] = [
            .referred(Referral(target: target, headers: [])), .referred(Referral(target: target, headers: [])),
            .identified(NameAddr(displayName: "Ann", target)), .digit(ASCII.zero, durationMs: 100),
            .informed(isTaken: false), .changed(answer: Scene.description()), .changeRefused(.notAcceptableHere),
            .changeTakenLate,
            .reoffered(Scene.description(audio: "sendonly")), .reoffered(nil), .keyFrameRequested,
            .confirmed(answer: nil),
        ]
        scene.sipTells(events[Int(generator.below(UInt64(events.count)))], of: handle)
    }

    private func deviceChanges(_ scene: Scene, _ generator: inout Generator) {
        let family = DeviceFamily.all[Int(generator.below(UInt64(DeviceFamily.all.count)))]
        scene.feed(.device(generator.below(2) == 0 ? .failed(family, "x") : .restored(family)))
    }

    /// The file is read again.
    private func fileChanges(_ scene: Scene, _ generator: inout Generator) {
        let files = [
            "uri = sip:help@far", "uri = sip:desk@far\nincoming = ring", "uri = sip:help@far\n[sip]\nuser = south",
            "uri = sip:help@far\n[servers]\nproxies = sip:far, sip:other, sip:third",
            "uri = sip:help@far\n[servers]\nproxies = sip:far", "uri = nobody",
            "uri = sip:a@far + sip:b@far, sip:c@far;ring=5\ncycles = 2\npause = 1\ncall_back = 5",
            "uri = sip:a@far, sip:b@far + sip:c@far\nconfirm = dtmf\nmax_duration = 20",
            "uri = sip:help@far\n[button.call]\nlong = hook",
        ]
        let text = "[call]\n" + files[Int(generator.below(UInt64(files.count)))]
        let (configuration, problems) = Scene.parse(text)
        scene.feed(.reload(generator.below(6) == 0 ? nil : configuration, problems))
    }

    private func garbage(_ scene: Scene, _ generator: inout Generator) {
        let bytes = (0..<Int(generator.below(200))).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
        scene.feed(.received(bytes, on: Scene.toFar))
    }

    private func checkInvariants(_ scene: Scene, _ seed: UInt64) {
        let state = scene.kiosk.machine.state
        let screen = scene.lastScreen
        XCTAssertEqual(screen?.remote == .shown, scene.showsPicture, "seed \(seed) in \(scene.state)")
        XCTAssertEqual(scene.kiosk.mediaRuns && state.handle == nil, false, "media outlived their call, seed \(seed)")
        if case .connected = state { return }
        if case .early = state { return }
        XCTAssertFalse(scene.kiosk.mediaRuns, "media run in \(scene.state), seed \(seed)")
    }

    func testAnythingAtAnyTimeEndsInIdleAndTheNextPressWorks() {
        for seed in 1...UInt64(80) {
            var generator = Generator(seed: seed)
            let policies = ["", "incoming = answer\nincoming_from = anyone", "incoming = ring"]
            let addresses = ["sip:help@far", "sip:a@far + sip:b@far + sip:c@far, sip:d@far"]
            let scene = Scene(
                policies[Int(generator.below(3))], address: "uri = " + addresses[Int(generator.below(2))])
            for _ in 0..<60 {
                self.step(scene, &generator)
                self.checkInvariants(scene, seed)
            }
            scene.isCut = true
            scene.feed(.media(.silent(.audio, since: scene.now)))
            scene.feed(.media(.silent(.video, since: scene.now)))
            scene.pass(200_000)
            // On hold silence is no sign: somebody has to end that.
            if scene.isOnHold { scene.press(.hook) }
            scene.feed(.input(.inhibit, isActive: false))
            scene.pass(3_000)
            XCTAssertEqual(scene.state, "idle", "seed \(seed)")
            var isOpen = false
            for state in scene.callStates {
                if state == "ended" { XCTAssertTrue(isOpen, "each call ends once, seed \(seed)") }
                isOpen = state != "ended"
            }
            XCTAssertFalse(isOpen, "each call ends, seed \(seed)")
            scene.isCut = false
            scene.resolver = .answers
            scene.resolves(to: scene.addresses)
            scene.forget()
            scene.press(.call)
            scene.farAnswers()
            XCTAssertEqual(scene.state, "connected", "seed \(seed)")
        }
    }

    func testTerminateAtAnyTimeExitsWithinFourTenthsOfASecond() {
        for seed in 1...UInt64(80) {
            var generator = Generator(seed: seed &* 7919)
            let scene = Scene("incoming = answer\nincoming_from = anyone")
            for _ in 0..<generator.below(60) { self.step(scene, &generator) }
            scene.feed(.terminate)
            scene.pass(401)
            XCTAssertEqual(scene.exits, [0], "seed \(seed)")
        }
    }
}

extension Scene {
    fileprivate var callsAtFar: [CallHandle] {
        self.farEvents.compactMap { handle, event in
            if case .incoming = event { return handle }
            return nil
        }
    }

    fileprivate var isOnHold: Bool {
        guard case .connected(let call) = self.kiosk.machine.state else { return false }
        return call.shape.isHeld || call.intent.isHolding
    }

    fileprivate var lastScreen: ScreenState? { self.screen }

    fileprivate var showsPicture: Bool {
        guard case .connected(let call) = self.kiosk.machine.state else { return false }
        return call.showsPicture && self.kiosk.world.hasScreen
    }
}
