// SPDX-License-Identifier: Apache-2.0

import Bytes
import KioskEngine
import Loop
import Secure

/// What is written down while the kiosk runs: the log, the calls, and the report beside `callbox.conf`.
final class Records {
    static let logLimit = LogFiles.Limit.bytes(1024 * 1024)
    static let callsLimit = LogFiles.Limit.lines(1000)

    private let time: SavedTime
    private let file: ConfigurationFile
    private let log: LogFiles
    private let wires: Wires
    private var policy: LogPolicy

    static func logPath(_ data: ByteString) -> ByteString { data + "/callbox.log" }
    static func callsPath(_ data: ByteString) -> ByteString { data + "/calls.jsonl" }

    init(data: ByteString, policy: LogPolicy, time: SavedTime, file: ConfigurationFile, wires: Wires) {
        self.time = time
        self.file = file
        self.policy = policy
        self.log = LogFiles(Self.logPath(data), limit: Self.logLimit)
        self.wires = wires
        self.keepLog()
        let calls = LogFiles(Self.callsPath(data), limit: Self.callsLimit, isSynced: true)
        let thread = RecordThread(calls: calls, wires: wires)
        Thread.start("records") { thread.run() }
    }

    // MARK: - The log

    /// The date where the time is known, else how long the board has been running.
    private func keepLog() {
        let (clock, policy, wires) = (self.time.clock, self.policy, self.wires)
        Log.keep(
            in: self.log,
            stamp: {
                let now = Clock.now()
                if clock.isTimeKnown { return DateText.utc(clock.time(now)) }
                return "+" + ByteString(decimal: now.nanoseconds / 1_000_000) + "ms"
            },
            kept: { policy.kept($0) },
            tell: { wires.report($0.map { .failed(.storage, $0) } ?? .restored(.storage)) })
    }

    func set(_ policy: LogPolicy) {
        self.policy = policy
        self.keepLog()
    }

    // MARK: - Calls

    func append(_ call: CallRecord, now: Instant) {
        let clock = self.time.clock
        let began = clock.isTimeKnown ? clock.time(now) - Int64(call.total.milliseconds / 1000) : nil
        self.wires.records.order(.call(call.line(began: began)))
    }

    // MARK: - The time

    func saveTimeWhenDue(now: Instant) {
        if let file = self.time.due(now: now) { self.wires.records.order(.files([file])) }
    }

    /// The program ends: nothing that happened is lost, unless the card takes too long even now.
    func finish(now: Instant) {
        if let file = self.time.file { self.wires.records.order(.files([file])) }
        self.wires.records.put(.finish)
        self.wires.recorded.wait(limit: Self.finishLimit)
    }

    private static let finishLimit = Duration.milliseconds(1000)

    // MARK: - The report

    private static let reportName: ByteString = "callbox-report.txt"
    /// A change often comes with others, and a card that is written all day wears out.
    private static let reportDelay = Duration.seconds(1)
    private static let reportInterval = Duration.seconds(10)

    private var reportNumber: UInt64?
    private(set) var reportsAt: Instant?
    private var reportedAt: Instant?

    func noteReport(_ number: UInt64, now: Instant) {
        guard number != self.reportNumber else { return }
        self.reportNumber = number
        let soonest = self.reportedAt.map { $0 + Self.reportInterval } ?? now
        self.reportsAt = max(now + Self.reportDelay, soonest)
    }

    /// - Parameter text: of the file's name and the own addresses.
    func reportWhenDue(now: Instant, _ text: (ByteString, [ByteString]) -> ByteString) {
        guard let due = self.reportsAt, now >= due else { return }
        self.reportsAt = nil
        self.reportedAt = now
        let path = splitPath(self.file.path).folder + "/" + Self.reportName
        let report = text(self.file.name, ownAddresses())
        let clock = self.time.clock
        let date = clock.isTimeKnown ? DateText.utc(clock.time(now)) : "at a time that the help point does not know"
        self.wires.records.order(.report(path: path, head: "Written: " + date + "\r\n", text: report))
    }
}
