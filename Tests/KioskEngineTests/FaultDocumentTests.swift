// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import KioskEngine

/// The table of faults: each has a code of its own, and something to say.
final class FaultDocumentTests: XCTestCase {
    func testTheDocumentIsWhatTheTableMakes() throws {
        try Documents.check("docs/errors.md", FaultDocument.tables.string)
    }

    private static let all: [Fault] =
        Fault.outcomes.compactMap { $0.fault } + CertificateReason.all.map { $0.fault }
        + DeviceFamily.all.map { $0.fault } + ConfigurationProblem.Kind.all.map { $0.fault } + [
            .handshake, .unknownTime, .endsSoon, .handshakeOfMedia, .notRegistered, .registrationSilent,
            .registrationBroken, .passwordRefused,
            .registration(.forbidden),
        ] + [StatusCode.busyHere, .forbidden, .notFound].map { .refused($0, q850: nil) }

    func testCodesAreShortUniqueAndCanBeReadOut() {
        var seen: [String: String] = [:]
        for fault in Self.all {
            let code = fault.code.string
            XCTAssertNotNil(code.range(of: "^CB-[A-Z]{3,4}-[A-Z0-9]{2,10}$", options: .regularExpression), code)
            let cause = ByteString(fault.cause).string
            XCTAssertEqual(seen[code] ?? cause, cause, "\(code) means two things")
            seen[code] = cause
            for text in [cause, ByteString(fault.advice).string] {
                XCTAssertTrue(text.hasSuffix(".") && !text.contains("|"), text)
            }
        }
    }

    func testEveryOutcomeThatIsShownAsAFailureHasACodeAndNoOtherHas() {
        let others: [CallOutcome] = [.hungUp, .cancelled, .remoteHungUp, .declined, .missed, .stopped]
        for outcome in others { XCTAssertNil(outcome.fault) }
        let refusals = (300...699).map { CallOutcome.refused(StatusCode($0), phrase: "", q850: nil) }
        let insecure = CertificateReason.all.map { CallOutcome.insecure("", $0) } + [.insecure("")]
        for outcome in Fault.outcomes + refusals + insecure + [.waitsForTime] {
            XCTAssertEqual(outcome.fault?.sign, .blinks, "\(outcome)")
            XCTAssertNotNil(outcome.fault?.prompt, "\(outcome)")
            guard case .failure = outcome.manner else {
                XCTFail("\(outcome)")
                continue
            }
        }
    }

    func testAnAnswerOfTheFarEndKeepsItsNumber() {
        for value in [302, 403, 404, 486, 503, 600] {
            let outcome = CallOutcome.refused(StatusCode(value), phrase: "", q850: nil)
            XCTAssertEqual(outcome.fault?.code.string, "CB-SIP-\(value)")
        }
        XCTAssertEqual(Fault.registration(.forbidden).code, "CB-REG-403")
    }

    func testACertificateIsToldByItsFirstReason() {
        XCTAssertEqual(CallOutcome.insecure("", .otherName).fault?.code, "CB-TLS-NAME")
        XCTAssertEqual(CallOutcome.insecure("", .expired).fault?.code, "CB-TLS-EXPIRED")
        XCTAssertEqual(CallOutcome.insecure("no TLS").fault?.code, "CB-TLS-HANDSHAKE")
    }

    func testTheScreenHasTheCodeOfTheOutcomeAsLongAsItIsShown() {
        let scene = Scene(resolver: .knowsNothing)
        scene.press(.call)
        XCTAssertEqual(scene.screen?.code, "CB-NET-NAME")
        scene.press(.hook)
        XCTAssertEqual(scene.screen?.code, "")
        XCTAssertEqual(Scene(address: "").screen?.code, "CB-CFG-URI")
    }

    func testEventsHaveTheCode() {
        let scene = Scene("urii = x")
        scene.feed(.device(.failed(.camera, "It is gone.")))
        XCTAssertEqual(scene.events("problem").map { $0["fault_code"] as? String }, ["CB-CFG-KEY"])
        XCTAssertEqual(scene.events("fault").map { $0["fault_code"] as? String }, ["CB-CAM-GONE"])
        let lost = Scene(address: "")
        lost.press(.call)
        XCTAssertEqual(lost.events("call").map { $0["fault_code"] as? String }, ["CB-CFG-URI"])
    }
}
