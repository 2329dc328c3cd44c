// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import SIPEngine

/// Whole calls between two engines.
final class WorldTests: XCTestCase {
    private func check(_ transport: SIPTransport, _ network: World.Network = World.Network()) {
        let world = World(seed: 1, network: network)
        world.answerCalls(on: .right)
        let handle = world.call(from: .left, over: transport)
        world.run(for: .seconds(5))
        XCTAssertEqual(world.story(.left, handle), ["ringing 180", "answered"])
        XCTAssertEqual(world.story(.right), ["incoming", "confirmed"])
        world.input(.hangUp(handle, .normal), to: .left)
        world.run(for: .seconds(1))
        XCTAssertEqual(world.ends(.left), [.localHangUp])
        XCTAssertEqual(world.ends(.right), [.remoteHangUp(cause: nil, q850: nil, text: "")])
        world.runUntilIdle()
        XCTAssertTrue(world.engines.allSatisfy { $0.isIdle })
        XCTAssertEqual(world.lines(.left), ["INVITE", "ACK", "BYE"])
        XCTAssertEqual(world.lines(.right), ["180", "200", "200"])
    }

    func testCallOverUDP() {
        self.check(.udp)
    }

    func testCallOverTCP() {
        self.check(.tcp)
    }

    func testCallOverTCPOneByteAtATime() {
        self.check(.tcp, World.Network(dripFeeds: true))
    }

    func testFarEndHangsUp() {
        let world = World(seed: 2)
        world.answerCalls(on: .right)
        _ = world.call(from: .left)
        world.run(for: .seconds(1))
        let far = world.events[1][0].handle
        world.input(.hangUp(far, .fault(.requestTimeout, text: "no media")), to: .right)
        world.runUntilIdle()
        XCTAssertEqual(world.ends(.left), [.remoteHangUp(cause: .requestTimeout, q850: 102, text: "no media")])
        XCTAssertEqual(world.ends(.right), [.localHangUp])
    }

    func testBothPressAtOnce() {
        let world = World(seed: 3)
        world.answerCalls(on: .left)
        world.answerCalls(on: .right)
        let left = world.call(from: .left)
        let right = world.call(from: .right)
        world.run(for: .seconds(1))
        XCTAssertEqual(world.story(.left, left), ["ringing 180", "answered"])
        XCTAssertEqual(world.story(.right, right), ["ringing 180", "answered"])
        world.input(.hangUp(left, .normal), to: .left)
        world.input(.hangUp(right, .normal), to: .right)
        world.runUntilIdle()
        XCTAssertTrue(world.engines.allSatisfy { $0.isIdle })
    }

    func testBothHangUpAtOnce() {
        let world = World(seed: 4)
        world.answerCalls(on: .right)
        let handle = world.call(from: .left)
        world.run(for: .seconds(1))
        world.input(.hangUp(handle, .normal), to: .left)
        world.input(.hangUp(world.events[1][0].handle, .normal), to: .right)
        world.runUntilIdle()
        XCTAssertEqual(world.ends(.left), [.localHangUp])
        XCTAssertEqual(world.ends(.right), [.localHangUp])
    }

    func testHangUpAtEveryMillisecondOfTheSetUpLeavesNothingBehind() {
        for ms in 0...60 {
            let world = World(seed: UInt64(ms))
            world.reactions[1] = { world, handle, event in
                guard case .incoming = event else { return }
                world.input(.respond(handle, .ringing, body: []), to: .right)
                world.input(.respond(handle, .ok, body: World.answer), to: .right)
            }
            let handle = world.call(from: .left)
            world.run(for: .milliseconds(ms))
            world.input(.hangUp(handle, .normal), to: .left)
            world.runUntilIdle()
            XCTAssertTrue(world.engines.allSatisfy { $0.isIdle }, "\(ms) ms")
            XCTAssertEqual(world.ends(.left).count, 1, "\(ms) ms")
            XCTAssertEqual(world.ends(.right).count, world.story(.right).filter { $0 == "incoming" }.count, "\(ms) ms")
        }
    }

    func testSameSeedGivesTheSameBytes() {
        func lines(_ seed: UInt64) -> [String] {
            let network = World.Network(lossPerMille: 300, jitterMs: 40, copiesPerMille: 100)
            let world = World(seed: seed, network: network)
            world.answerCalls(on: .right)
            let handle = world.call(from: .left)
            world.run(for: .seconds(20))
            world.input(.hangUp(handle, .normal), to: .left)
            world.runUntilIdle()
            return world.sent.map { "\($0.side) \($0.line)" }
        }
        XCTAssertEqual(lines(7), lines(7))
        XCTAssertNotEqual(lines(7), lines(8))
    }
}
