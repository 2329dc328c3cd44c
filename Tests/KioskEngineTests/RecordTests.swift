// SPDX-License-Identifier: Apache-2.0
import Bytes
import Foundation
import MediaEngine
import XCTest

@testable import KioskEngine

/// What is kept of calls and of what is wrong: the call log, the report, the log's own policy.
final class RecordTests: XCTestCase {
    private func records(_ scene: Scene) throws -> [[String: Any]] {
        try scene.outputs.compactMap { output -> [String: Any]? in
            guard case .record(let record) = output else { return nil }
            let data = Data(record.line(began: 86_400).bytes)
            return try XCTUnwrap(JSONSerialization.jsonObject(with: data) as? [String: Any])
        }
    }

    // MARK: - Dates

    func testDates() {
        let cases: [(Int64, String)] = [
            (0, "1970-01-01T00:00:00Z"), (951_782_399, "2000-02-28T23:59:59Z"), (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_164_800, "2024-02-29T00:00:00Z"), (1_798_761_599, "2026-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"), (-5, "1970-01-01T00:00:00Z"), (.max, "9999-12-31T23:59:59Z"),
        ]
        for (seconds, text) in cases { XCTAssertEqual(DateText.utc(seconds).string, text) }
        let formatter = ISO8601DateFormatter()
        for day in stride(from: 0, to: 80_000, by: 37) {
            let seconds = Int64(day) * 86_400 + 3661
            XCTAssertEqual(
                DateText.utc(seconds).string, formatter.string(from: Date(timeIntervalSince1970: Double(seconds))))
        }
    }

    // MARK: - Calls

    func testACallThatNobodyCouldPlaceIsRecorded() throws {
        let scene = Scene(resolver: .knowsNothing)
        scene.press(.call)
        let record = try XCTUnwrap(self.records(scene).first)
        XCTAssertEqual(record["at"] as? String, "1970-01-02T00:00:00Z")
        XCTAssertEqual(record["uri"] as? String, "sip:help@far")
        XCTAssertEqual(record["button"] as? String, "call")
        XCTAssertEqual(record["direction"] as? String, "outgoing")
        XCTAssertEqual(record["reason"] as? String, "unknown-host")
        XCTAssertEqual(record["fault_code"] as? String, "CB-NET-NAME")
        XCTAssertEqual(record["by"] as? String, "nobody")
        XCTAssertNil(record["setup_ms"])
        XCTAssertNil(record["audio"])
    }

    func testEachEndedCallIsRecordedOnce() throws {
        let scene = Scene(address: "")
        for _ in 0..<20 {
            scene.press(.call)
            scene.press(.hook)
        }
        let ended = scene.events("call").filter { $0["state"] as? String == "ended" }
        XCTAssertEqual(ended.count, 20)
        XCTAssertEqual(try self.records(scene).count, 20)
        XCTAssertEqual(scene.kiosk.recentCalls.count, KioskEngine.recentCallsMax)
        XCTAssertTrue(ended.allSatisfy { $0["by"] as? String == "nobody" })
    }

    func testACallByWordHasNoButton() throws {
        let scene = Scene(resolver: .knowsNothing)
        scene.feed(.control(Scene.client, line: "call"))
        XCTAssertNil(try XCTUnwrap(self.records(scene).first)["button"])
    }

    func testTheTimeIsLeftOutWhereNobodyKnowsIt() throws {
        let scene = Scene(address: "")
        scene.press(.call)
        for case .record(let record) in scene.outputs {
            XCTAssertFalse(record.line(began: nil).string.contains("\"at\""))
        }
    }

    // MARK: - The report and the doctor

    func testTheReportSaysWhatIsWrong() {
        let scene = Scene("urii = x", resolver: .knowsNothing)
        let before = scene.kiosk.reportNumber
        scene.feed(.device(.failed(.camera, "/dev/video7 is gone.")))
        XCTAssertNotEqual(scene.kiosk.reportNumber, before)
        scene.press(.call)
        let report = scene.kiosk.report(file: "callbox.conf", addresses: ["192.0.2.7"]).string
        for part in [
            "callbox 1\r\n", "sip:help@far", "192.0.2.7", "CB-CFG-KEY: callbox.conf, line 3, [call] urii: unknown key",
            "CB-CAM-GONE: No camera: /dev/video7 is gone. Look at its cable", "CB-NET-NAME",
        ] {
            XCTAssertTrue(report.contains(part), "\(part) is not in\n\(report)")
        }
        XCTAssertFalse(report.replacingOccurrences(of: "\r\n", with: "").contains("\n"))
    }

    func testTheDoctorHasNothingToSayOfAKioskThatLacksNothing() {
        let scene = Scene()
        XCTAssertEqual(scene.kiosk.complaints, [])
        scene.feed(.control(Scene.client, line: "doctor"))
        XCTAssertEqual(scene.replies.last?["lines"] as? [String], ["Nothing is wrong."])
        scene.feed(.device(.failed(.capture, "It is gone.")))
        scene.feed(.control(Scene.client, line: "doctor"))
        XCTAssertEqual((scene.replies.last?["lines"] as? [String])?.first?.hasPrefix("CB-MIC-GONE: "), true)
    }

    func testAPasswordIsInNoReport() {
        let scene = Scene("[sip]\npassword = hush-hush\nauth_user = gate")
        scene.feed(.device(.failed(.panel, "x")))
        XCTAssertFalse(scene.kiosk.report(file: "callbox.conf", addresses: []).string.contains("hush"))
    }

    // MARK: - The log

    func testLevelsAreByPart() {
        var policy = LogPolicy(.info)
        let stats: ByteString = "{\"event\":\"stats\",\"t\":1.000}"
        let button: ByteString = "{\"event\":\"button\",\"t\":1.000,\"name\":\"call\"}"
        let fault: ByteString = "{\"event\":\"fault\",\"t\":1.000,\"fault_code\":\"CB-CAM-GONE\"}"
        let ended: ByteString = "{\"event\":\"call\",\"t\":1.000,\"state\":\"ended\",\"fault_code\":\"CB-SIP-486\"}"
        XCTAssertNil(policy.kept(stats))
        XCTAssertEqual(policy.kept(button), button)
        policy.set(.debug, of: .media)
        XCTAssertEqual(policy.kept(stats), stats)
        policy.set(.error, of: nil)
        XCTAssertNil(policy.kept(button))
        XCTAssertNil(policy.kept(ended))
        XCTAssertEqual(policy.kept(fault), fault)
        policy.set(.warning, of: .calls)
        XCTAssertEqual(policy.kept(ended), ended)
        XCTAssertEqual(policy.kept("callbox: plain words"), "callbox: plain words")
    }

    func testWhatContactsDoIsLoggedWhereSomebodyWantsToKnow() throws {
        let scene = Scene()
        func edges() { scene.feed(.edges("button.call", "on 0, off 213", age: .milliseconds(2), leftOut: 7)) }
        edges()
        scene.feed(.control(Scene.client, line: "log debug sip"))
        edges()
        XCTAssertEqual(scene.events("edges").count, 0, "of another part")
        scene.feed(.control(Scene.client, line: "log debug panel"))
        edges()
        let told = try XCTUnwrap(scene.events("edges").first)
        XCTAssertEqual(told["line"] as? String, "button.call")
        XCTAssertEqual(told["edges"] as? String, "on 0, off 213")
        XCTAssertEqual(told["first_ms_ago"] as? Double, 2)
        XCTAssertEqual(told["left_out"] as? Int, 7)
        XCTAssertNil(LogPolicy(.info).kept("{\"event\":\"edges\",\"t\":1.000}"), "nor does the file keep it")
    }

    private func logged(_ scene: Scene) -> [[String: Any]] {
        scene.events("sip")
    }

    func testMessagesAreLoggedWhereSomebodyWantsToKnow() throws {
        let scene = Scene(address: "uri = sip:help:hush@far")
        scene.press(.call)
        XCTAssertEqual(self.logged(scene).count, 0, "they were recorded, but nobody asked")
        scene.feed(.control(Scene.client, line: "log debug calls"))
        scene.farAnswers(.ringing)
        XCTAssertEqual(self.logged(scene).count, 0, "of another part")
        scene.feed(.control(Scene.client, line: "log debug sip"))
        scene.farAnswers(.busyHere)
        let lines = self.logged(scene).compactMap { $0["line"] as? String }
        XCTAssertEqual(lines, ["SIP/2.0 486 Busy Here", "ACK sip:help:***@far SIP/2.0"], "and none of before")
        XCTAssertEqual(self.logged(scene).compactMap { $0["sent"] as? Bool }, [false, true])
        XCTAssertEqual(self.logged(scene).first?["message"] as? String, "486 INVITE 1")
        XCTAssertEqual(self.logged(scene).first?["peer"] as? String, "10.0.0.1:5060 udp")
        scene.feed(.control(Scene.client, line: "log info sip"))
        scene.press(.call)
        XCTAssertEqual(self.logged(scene).count, 2)
    }

    func testTheLevelOfAFileThatIsReadAgainCounts() {
        let scene = Scene()
        scene.feed(.control(Scene.client, line: "log error"))
        let (changed, problems) = Scene.parse("[call]\nuri = sip:help@far\n[log]\nlevel = debug\n")
        scene.feed(.reload(changed, problems))
        let policies = scene.outputs.compactMap { output -> LogPolicy? in
            guard case .log(let policy) = output else { return nil }
            return policy
        }
        XCTAssertEqual(policies, [LogPolicy(.error), LogPolicy(.debug)])
        scene.press(.call)
        XCTAssertGreaterThan(self.logged(scene).count, 0)
    }

    func testKeysAreNotKept() {
        let line: ByteString = "{\"event\":\"digit\",\"t\":1.000,\"key\":\"7\",\"by\":\"rtp\"}"
        XCTAssertEqual(
            LogPolicy().kept(line), "{\"event\":\"digit\",\"t\":1.000,\"key\":\"hidden\",\"by\":\"rtp\"}")
        XCTAssertEqual(LogPolicy(keepsDigits: true).kept(line), line)
    }

    func testSecretsAreTakenOutOfLines() {
        let cases: [(ByteString, ByteString)] = [
            ("to sip:gate:hush@far and on", "to sip:gate:***@far and on"), ("sips:a:b@c;x=1", "sips:a:***@c;x=1"),
            ("{\"uri\":\"sip:a@b:5060;postd=12#4\"}", "{\"uri\":\"sip:a@b:5060;postd=***\"}"),
            ("sip:far:5060 a@b", "sip:far:5060 a@b"), ("sip:a@b:5060", "sip:a@b:5060"), ("sip:", "sip:"), ("", ""),
            ("sip:a:b", "sip:a:b"), ("postd=", "postd=***"),
        ]
        for (line, kept) in cases { XCTAssertEqual(LogPolicy().kept(line), kept) }
    }

    func testTheWordChecksLevelAndPart() throws {
        XCTAssertEqual(try ControlWord.parse("log debug media"), .log(.debug, .media))
        XCTAssertEqual(try ControlWord.parse("log  warning "), .log(.warning, nil))
        for bad in ["log", "log loud", "log debug moon", "log debug media more"] {
            XCTAssertThrowsError(try ControlWord.parse(ByteString(utf8Of: bad)), bad)
        }
    }
}
