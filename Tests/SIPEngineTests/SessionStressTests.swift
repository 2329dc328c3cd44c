// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import SIPEngine

/// Seeded sessions over a bad network: changes from both sides, refreshes, reliable 1xx, calls without an offer, calls
/// that take another's place. Whatever comes of them, each ends once, and nothing is left behind.
final class SessionStressTests: XCTestCase {
    /// `SIP_STRESS_CALLS=1000000` makes a long night of it.
    private var sessionCount: Int {
        ProcessInfo.processInfo.environment["SIP_STRESS_CALLS"].flatMap { Int($0) } ?? 200
    }

    /// What happened in all sessions together: else the test would prove nothing.
    private var seen: [String: Int] = [:]

    func testSessionsOverABadNetworkEndOnceAndLeaveNothingBehind() {
        for seed in 0..<UInt64(self.sessionCount) { self.oneSession(seed) }
        for name in [
            "changed", "changeRefused 491", "changeRefused 488", "reoffered", "answeredWithOffer",
            "confirmed with answer", "ended replaced", "ended timedOut", "PRACK", "UPDATE",
        ] {
            XCTAssertGreaterThan(self.seen[name] ?? 0, 0, "no \(name) in any session")
        }
    }

    private func oneSession(_ seed: UInt64) {
        var dice = Generator(seed: seed)
        let network = World.Network(lossPerMille: dice.below(401), jitterMs: 60, copiesPerMille: 100)
        let configurations = World.Side.allCases.map { _ in
            var configuration = SIPConfiguration.standard
            configuration.sessionExpiresSeconds = [0, 90, 120][Int(dice.below(3))]
            return configuration
        }
        let world = World(seed: seed, network: network, configurations: configurations)
        for side in World.Side.allCases { self.behave(world, side, seed) }
        let transport: SIPTransport = seed % 8 == 7 ? .tcp : .udp
        let isOffering = dice.below(4) > 0
        let headers = dice.below(2) == 0 && isOffering ? [Header(.require, "100rel")] : []
        _ = world.call(from: .left, over: transport, offer: isOffering ? World.offer : [], headers: headers)
        for _ in 0..<12 {
            world.run(for: .milliseconds(Int(dice.below(12_000))))
            self.act(world, transport, &dice)
        }
        // Some networks break altogether, and come back.
        if dice.below(4) == 0 { world.network.lossPerMille = 1_000 }
        world.run(for: .milliseconds(Int(dice.below(120_000))))
        world.network.lossPerMille = network.lossPerMille
        self.end(world, seed)
    }

    private func behave(_ world: World, _ side: World.Side, _ seed: UInt64) {
        var dice = Generator(seed: seed ^ UInt64(side.rawValue + 77))
        world.reactions[side.rawValue] = { world, handle, event in
            switch event {
            case .incoming:
                world.input(.respond(handle, .ringing, body: []), to: side)
                let isTaken = dice.below(16) > 0
                world.input(
                    .respond(handle, isTaken ? .ok : .busyHere, body: isTaken ? World.answer : []), to: side)
            case .reoffered:
                let isTaken = dice.below(8) > 0
                world.input(
                    .respond(handle, isTaken ? .ok : .notAcceptableHere, body: isTaken ? World.answer : []), to: side)
            case .answeredWithOffer: world.input(.acknowledge(handle, answer: World.answer), to: side)
            default: break
            }
        }
    }

    /// One thing that somebody does.
    private func act(_ world: World, _ transport: SIPTransport, _ dice: inout Generator) {
        let side: World.Side = dice.below(2) == 0 ? .left : .right
        guard let handle = world.engines[side.rawValue].calls.first?.handle else { return }
        switch dice.below(16) {
        case 0: world.input(.flowFailed(world.flow(from: side, transport)), to: side)
        case 1: world.input(.hangUp(handle, .normal), to: side)
        case 2:
            guard let dialog = world.engines[side.rawValue].census.dialogs.first, let theirs = dialog.remoteTag else {
                return
            }
            let value = "\(dialog.callID.string);to-tag=\(theirs.string);from-tag=\(dialog.localTag.string)"
            _ = world.call(
                from: side, over: transport,
                headers: [Header(.replaces, ByteString(utf8Of: value)), Header(.require, "replaces")])
        case 3, 4, 5:
            // Both at once.
            world.input(.reoffer(handle, offer: World.offer), to: side)
            guard let other = world.engines[side.other.rawValue].calls.first?.handle else { return }
            world.input(.reoffer(other, offer: World.answer), to: side.other)
        default: world.input(.reoffer(handle, offer: World.offer), to: side)
        }
    }

    /// Everybody hangs up; then nothing may be left.
    private func end(_ world: World, _ seed: UInt64) {
        for side in World.Side.allCases {
            for call in world.engines[side.rawValue].calls { world.input(.hangUp(call.handle, .normal), to: side) }
        }
        world.runUntilIdle()
        // Whose BYEs were all lost leaves the other end in a call that the media would end, or its session timer.
        for side in World.Side.allCases {
            for call in world.engines[side.rawValue].calls { world.input(.hangUp(call.handle, .normal), to: side) }
        }
        world.runUntilIdle()
        for side in World.Side.allCases {
            let engine = world.engines[side.rawValue]
            XCTAssertTrue(engine.isIdle, "seed \(seed): \(side)")
            XCTAssertNil(engine.nextWakeUp, "seed \(seed): \(side)")
            self.check(world, side, seed)
            for line in world.lines(side) where line == "PRACK" || line == "UPDATE" { self.seen[line, default: 0] += 1 }
        }
    }

    /// Each call begins once and ends once, nothing comes after its end, and no change has two outcomes.
    private func check(_ world: World, _ side: World.Side, _ seed: UInt64) {
        for handle in Set(world.events[side.rawValue].map { $0.handle }) {
            let story = world.story(side, handle)
            for name in story { self.seen[name, default: 0] += 1 }
            XCTAssertEqual(story.filter { $0.hasPrefix("ended") }.count, 1, "seed \(seed): \(side) \(story)")
            XCTAssertTrue(story.last?.hasPrefix("ended") ?? false, "seed \(seed): \(side) \(story)")
            XCTAssertLessThanOrEqual(
                story.filter { $0.hasPrefix("answered") }.count, 1, "seed \(seed): \(side) \(story)")
        }
    }
}
