// SPDX-License-Identifier: Apache-2.0

import Bytes
import XCTest

@testable import MediaEngine

private func at(_ ms: Int) -> Instant { Instant(nanoseconds: 1_000_000_000) + Duration.milliseconds(ms) }

final class KeyFrameRequesterTests: XCTestCase {
    private enum Start: CaseIterable {
        case off, asking, delivered, satisfied
    }

    private enum Input: CaseIterable {
        case need, broken, stop, keyFrameDelivered, keyFrameDecoded, expire
    }

    private func requester(_ start: Start) -> KeyFrameRequester {
        var requester = KeyFrameRequester()
        if start == .off { return requester }
        requester.need(now: at(0))
        if start == .asking { return requester }
        requester.keyFrameDelivered(now: at(0))
        if start == .delivered { return requester }
        requester.keyFrameDecoded()
        return requester
    }

    /// Whether pictures flow and whether a request is planned, after each input in each state.
    func testEveryCell() {
        let table: [Start: [Input: (isOpen: Bool, deadline: Int?)]] = [
            .off: [
                .need: (false, 1000), .broken: (false, nil), .stop: (false, nil), .keyFrameDelivered: (false, nil),
                .keyFrameDecoded: (false, nil), .expire: (false, nil),
            ],
            .asking: [
                .need: (false, 0), .broken: (false, 0), .stop: (false, nil), .keyFrameDelivered: (true, 1300),
                .keyFrameDecoded: (false, 0), .expire: (false, 1100),
            ],
            .delivered: [
                .need: (false, 1000), .broken: (true, 300), .stop: (false, nil), .keyFrameDelivered: (true, 1300),
                .keyFrameDecoded: (true, nil), .expire: (true, 2000),
            ],
            .satisfied: [
                .need: (false, 1000), .broken: (false, 1000), .stop: (false, nil), .keyFrameDelivered: (true, nil),
                .keyFrameDecoded: (true, nil), .expire: (true, nil),
            ],
        ]
        for start in Start.allCases {
            for input in Input.allCases {
                guard let expected = table[start]?[input] else {
                    XCTFail("\(start) × \(input) is missing")
                    continue
                }
                var requester = self.requester(start)
                switch input {
                case .need: requester.need(now: at(1000))
                case .broken: requester.broken(now: at(1000))
                case .stop: requester.stop()
                case .keyFrameDelivered: requester.keyFrameDelivered(now: at(1000))
                case .keyFrameDecoded: requester.keyFrameDecoded()
                case .expire:
                    XCTAssertEqual(requester.expire(now: at(1000)), start == .asking || start == .delivered)
                }
                XCTAssertEqual(requester.isOpen, expected.isOpen, "\(start) × \(input)")
                XCTAssertEqual(requester.deadline, expected.deadline.map(at), "\(start) × \(input)")
            }
        }
    }

    func testRequestsBackOffFromATenthOfASecondToOne() {
        var requester = KeyFrameRequester()
        requester.need(now: at(0))
        var times: [Int] = []
        for ms in 0...5000 where requester.expire(now: at(ms)) { times.append(ms) }
        XCTAssertEqual(times, [0, 100, 300, 700, 1500, 2500, 3500, 4500])
    }

    func testANewLossSoonAfterARequestWaitsItsTurn() {
        var requester = KeyFrameRequester()
        requester.need(now: at(0))
        XCTAssertTrue(requester.expire(now: at(0)))
        requester.keyFrameDelivered(now: at(20))
        requester.keyFrameDecoded()
        requester.need(now: at(30))
        XCTAssertFalse(requester.expire(now: at(99)))
        XCTAssertTrue(requester.expire(now: at(100)))
    }

    func testAKeyFrameThatNeverBecomesAPictureIsAskedForAgain() {
        var requester = self.requester(.delivered)
        XCTAssertFalse(requester.expire(now: at(299)))
        XCTAssertTrue(requester.expire(now: at(300)))
        XCTAssertTrue(requester.isOpen)
    }
}

final class KeyFrameOrdersTests: XCTestCase {
    private enum Start: CaseIterable {
        case fresh, recent, ordered, deferred
    }

    /// A key frame went out at 0, was ordered at 0, or was put off from 100 to 300.
    private func orders(_ start: Start) -> KeyFrameOrders {
        var orders = KeyFrameOrders()
        switch start {
        case .fresh: break
        case .recent: orders.keyFrameSent(now: at(0))
        case .ordered: XCTAssertTrue(orders.request(now: at(0)))
        case .deferred:
            orders.keyFrameSent(now: at(0))
            XCTAssertFalse(orders.request(now: at(100)))
        }
        return orders
    }

    func testEveryCellWithinTheSpacing() {
        let table: [(Start, orders: Bool, deadline: Int?, afterSent: Int?, expires: Bool)] = [
            (.fresh, true, nil, nil, false), (.recent, false, 300, nil, false), (.ordered, false, nil, nil, false),
            (.deferred, false, 300, nil, true),
        ]
        for (start, ordersNow, deadline, afterSent, expires) in table {
            var requested = self.orders(start)
            XCTAssertEqual(requested.request(now: at(200)), ordersNow, "\(start)")
            XCTAssertEqual(requested.deadline, deadline.map(at), "\(start)")
            var sent = self.orders(start)
            sent.keyFrameSent(now: at(200))
            XCTAssertEqual(sent.deadline, afterSent.map(at), "\(start)")
            XCTAssertFalse(sent.request(now: at(210)), "\(start)")
            var expired = self.orders(start)
            XCTAssertFalse(expired.expire(now: at(299)), "\(start)")
            XCTAssertEqual(expired.expire(now: at(300)), expires, "\(start)")
            XCTAssertNil(expired.deadline, "\(start)")
        }
    }

    func testARequestAfterTheSpacingOrdersAtOnce() {
        for start in [Start.fresh, .recent, .ordered] {
            var orders = self.orders(start)
            XCTAssertTrue(orders.request(now: at(300)), "\(start)")
        }
    }

    func testNeverTwoKeyFramesWithinTheSpacingAndNoneLost() {
        var generator = Generator(seed: 7)
        var orders = KeyFrameOrders()
        var ordered: [Int] = []
        var unanswered: Int?
        var encodeAt: Int?
        for ms in 0..<60_000 {
            if encodeAt == ms {
                orders.keyFrameSent(now: at(ms))
                encodeAt = nil
                unanswered = nil
            }
            var isOrder = orders.expire(now: at(ms))
            if generator.below(80) == 0 {
                unanswered = unanswered ?? ms
                isOrder = orders.request(now: at(ms)) || isOrder
            }
            if isOrder {
                ordered.append(ms)
                encodeAt = encodeAt ?? ms + Int(generator.below(50)) + 1
            }
            if let unanswered { XCTAssertLessThan(ms - unanswered, 400) }
        }
        XCTAssertGreaterThan(ordered.count, 100)
        for (earlier, later) in zip(ordered, ordered.dropFirst()) { XCTAssertGreaterThanOrEqual(later - earlier, 300) }
    }
}
