// SPDX-License-Identifier: Apache-2.0
import Bytes
import XCTest

@testable import SIPEngine

/// What one input did to a machine in one state.
struct Outcome<State: Equatable> {
    var action: String
    var state: State
    var timers: Set<SIPTimer>
}

/// Tries every (state × input) cell of a machine.
///
/// `table` holds `"state input": "action state"` for the cells where something happens, with states and inputs in their
/// short names; in all others the machine must answer with one of `idle` and stay as it is. Each line of the table must
/// be met. `running` says which timers a state runs once it was entered, or once one cell led there.
func checkCells<State: Equatable, Input>(
    states: [(name: String, state: State)], inputs: [(name: String, input: Input)], table: [String: String],
    idle: Set<String>, running: [String: Set<SIPTimer>], run: (State, Input) -> Outcome<State>,
    file: StaticString = #filePath, line: UInt = #line
) {
    var unmet = Set(table.keys)
    for (stateName, state) in states {
        for (inputName, input) in inputs {
            let cell = "\(stateName) \(inputName)"
            let outcome = run(state, input)
            let next = states.first { $0.state == outcome.state }?.name ?? "another state: \(outcome.state)"
            if let expected = table[cell] {
                unmet.remove(cell)
                XCTAssertEqual("\(outcome.action) \(next)", expected, cell, file: file, line: line)
                if next != stateName {
                    let expected = running[cell] ?? running[next] ?? []
                    XCTAssertEqual(outcome.timers, expected, "timers after \(cell)", file: file, line: line)
                }
            } else {
                XCTAssertTrue(idle.contains(outcome.action), "\(cell): \(outcome.action)", file: file, line: line)
                XCTAssertEqual(next, stateName, cell, file: file, line: line)
                XCTAssertEqual(outcome.timers, [], "timers after \(cell)", file: file, line: line)
            }
        }
    }
    XCTAssertEqual(unmet, [], "lines of the table that no cell met", file: file, line: line)
}

extension TimerTable {
    var running: Set<SIPTimer> { Set(SIPTimer.allCases.filter { self.deadline(of: $0) != nil }) }
}

extension TimerLengths {
    static let udp = TimerLengths(.standard, isReliable: false)
    static let tcp = TimerLengths(.standard, isReliable: true)
}

extension SIPConfiguration {
    /// Everybody may talk to us.
    static let standard = Self.withAccess { $0.isOpen = true }

    static func withAccess(_ edit: (inout AccessPolicy) -> Void) -> SIPConfiguration {
        var configuration = SIPConfiguration(
            userAgent: "Callbox", displayName: "Gate", identity: nil, contactUser: "kiosk")
        edit(&configuration.access)
        return configuration
    }
}

extension Instant {
    static func milliseconds(_ value: Int) -> Instant { .zero + .milliseconds(value) }
}
