// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import SIPEngine

/// Seeded calls over a bad network, and seeded nonsense: nothing may be left behind, nothing may trap.
final class StressTests: XCTestCase {
    /// `SIP_STRESS_CALLS=1000000` makes a long night of it.
    private var callCount: Int {
        ProcessInfo.processInfo.environment["SIP_STRESS_CALLS"].flatMap { Int($0) } ?? 2000
    }

    func testCallsOverALossyNetworkLeaveNothingBehind() {
        var answered = 0
        for seed in 0..<UInt64(self.callCount) {
            answered += self.oneCall(seed: seed, transport: seed % 8 == 7 ? .tcp : .udp) ? 1 : 0
        }
        // With 40 % loss most calls still stand: else the test would prove nothing.
        XCTAssertGreaterThan(answered, self.callCount / 3)
    }

    /// One call with random wills at random times. Whether it was answered.
    private func oneCall(seed: UInt64, transport: SIPTransport) -> Bool {
        var dice = Generator(seed: seed)
        let world = World(
            seed: seed, network: World.Network(lossPerMille: 400, jitterMs: 60, copiesPerMille: 100))
        let rings = Int(dice.below(3000))
        let verdict = dice.below(10)
        world.reactions[1] = { world, handle, event in
            switch event {
            case .incoming:
                world.input(.respond(handle, .ringing, body: []), to: .right)
                guard rings > 1000 else { return }
                world.input(
                    .respond(handle, verdict == 0 ? .busyHere : .ok, body: verdict == 0 ? [] : World.answer), to: .right
                )
            case .reoffered: world.input(.respond(handle, .ok, body: World.answer), to: .right)
            default: break
            }
        }
        let handle = world.call(from: .left, over: transport)
        world.run(for: .milliseconds(rings))
        if let far = world.events[1].first?.handle, rings <= 1000 {
            world.input(
                .respond(far, verdict == 0 ? .decline : .ok, body: verdict == 0 ? [] : World.answer), to: .right)
        }
        world.run(for: .milliseconds(Int(dice.below(40_000))))
        if verdict > 5, let far = world.events[1].first?.handle { world.input(.hangUp(far, .normal), to: .right) }
        if verdict == 9 { world.input(.flowFailed(world.flow(from: .left, transport)), to: .left) }
        world.input(.hangUp(handle, .normal), to: .left)
        world.runUntilIdle()
        // Of many thousand calls, a few lose all eleven BYEs: there the media that stay away end the call.
        for side in World.Side.allCases where world.engines[side.rawValue].callCount > 0 {
            XCTAssertEqual(world.lines(side.other).filter { $0 == "BYE" }.count, 11, "seed \(seed): \(side)")
            world.input(.hangUp(world.events[side.rawValue][0].handle, .normal), to: side)
            world.runUntilIdle()
        }
        for side in World.Side.allCases {
            let engine = world.engines[side.rawValue]
            XCTAssertTrue(engine.isIdle, "seed \(seed): \(side)")
            XCTAssertNil(engine.nextWakeUp, "seed \(seed): \(side)")
            self.checkStory(world, side, seed)
        }
        return world.story(.left, handle).contains("answered")
    }

    /// Each call begins once and ends once, and nothing comes after its end.
    private func checkStory(_ world: World, _ side: World.Side, _ seed: UInt64) {
        for handle in Set(world.events[side.rawValue].map { $0.handle }) {
            let story = world.story(side, handle)
            let ends = story.filter { $0.hasPrefix("ended") }
            XCTAssertEqual(ends.count, 1, "seed \(seed): \(side) \(story)")
            XCTAssertTrue(story.last?.hasPrefix("ended") ?? false, "seed \(seed): \(side) \(story)")
            XCTAssertLessThanOrEqual(story.filter { $0 == "answered" }.count, 1, "seed \(seed): \(story)")
        }
    }

    func testMutatedMessagesNeverTrapAndLeaveNothingBehind() {
        for seed in 0..<UInt64(120) {
            var dice = Generator(seed: seed)
            let script = Script(seed % 2 == 0 ? .udp : .tcp, seed: seed)
            let call = script.call()
            let invite = script.next()
            script.answer(invite, 180)
            var alphabet = [script.stranger(), script.stranger("CANCEL"), script.stranger("ACK", toTag: "x")]
            for method in ["BYE", "INVITE", "UPDATE", "INFO", "OPTIONS", "PRACK"] {
                alphabet.append(
                    script.inDialog(method, of: invite, number: 5, branch: method, body: Script.description))
            }
            var answer = SIPMessage(respondingTo: invite, .ok, toTag: "there")
            answer.add(.contact, "<sip:desk@192.0.2.2:5070>")
            alphabet.append(String(decoding: answer.printed(), as: UTF8.self))
            for _ in 0..<60 {
                let index = Int(dice.below(UInt64(alphabet.count)))
                script.input(.received(self.mutated(Array(alphabet[index].utf8), &dice), on: script.flow))
                for (handle, event) in script.events.suffix(3) {
                    if case .incoming = event, dice.below(2) == 0 {
                        script.input(.respond(handle, .ok, body: World.answer))
                    }
                }
                script.pass(ms: Int(dice.below(2000)))
            }
            for handle in Set(script.events.map { $0.handle } + [call]) { script.input(.hangUp(handle, .normal)) }
            script.pass(ms: 200_000)
            XCTAssertTrue(script.engine.isIdle, "seed \(seed)")
        }
    }

    private func mutated(_ bytes: [UInt8], _ dice: inout Generator) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<dice.below(4) {
            let at = Int(dice.below(UInt64(bytes.count)))
            switch dice.below(4) {
            case 0: bytes[at] = UInt8(truncatingIfNeeded: dice.next())
            case 1: bytes.remove(at: at)
            case 2: bytes.insert(UInt8(truncatingIfNeeded: dice.next()), at: at)
            default: bytes.removeSubrange(at..<min(bytes.count, at + Int(dice.below(40))))
            }
            if bytes.isEmpty { return bytes }
        }
        return bytes
    }
}
