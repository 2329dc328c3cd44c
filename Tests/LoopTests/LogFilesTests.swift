// SPDX-License-Identifier: Apache-2.0
import Bytes
import Foundation
import XCTest

@testable import Loop

/// The ring of files that a log is kept in.
final class LogFilesTests: XCTestCase {
    private var folder = URL(fileURLWithPath: "/")

    override func setUpWithError() throws {
        self.folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: true)
    }

    override func tearDownWithError() throws {
        try FileManager.default.removeItem(at: self.folder)
    }

    private var path: ByteString { ByteString(utf8Of: self.folder.appendingPathComponent("log").path) }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: self.folder.path).sorted()
    }

    func testLinesGoOnFromFileToFileAndTheOldestGo() throws {
        let files = LogFiles(self.path, limit: .lines(3))
        for number in 1...14 { files.append(ByteString(decimal: number)) }
        XCTAssertEqual(try self.names(), ["log", "log.1", "log.2", "log.3"])
        XCTAssertEqual(LogFiles.lines(self.path, sizeMax: 100).map { $0.string }, (4...14).map { "\($0)" })
    }

    func testBytesAreBounded() throws {
        let files = LogFiles(self.path, limit: .bytes(100))
        for _ in 0..<200 { files.append("0123456789") }
        for name in try self.names() {
            let size = try Data(contentsOf: self.folder.appendingPathComponent(name)).count
            XCTAssertLessThanOrEqual(size, 110, name)
        }
        XCTAssertEqual(try self.names().count, LogFiles.countMax)
    }

    func testTheNextProgramGoesOnWhereTheLastEnded() throws {
        LogFiles(self.path, limit: .lines(2)).append("one")
        LogFiles(self.path, limit: .lines(2)).append("two")
        LogFiles(self.path, limit: .lines(2)).append("three")
        XCTAssertEqual(try self.names(), ["log", "log.1"])
        XCTAssertEqual(LogFiles.lines(self.path, sizeMax: 100), ["one", "two", "three"])
    }

    func testALineThatWasTornDoesNotRunIntoTheNext() throws {
        try Data("whole\nto".utf8).write(to: self.folder.appendingPathComponent("log"))
        LogFiles(self.path, limit: .lines(9), isSynced: true).append("next")
        XCTAssertEqual(LogFiles.lines(self.path, sizeMax: 100), ["whole", "to", "next"])
    }

    func testAFolderThatIsNotThereIsNoHarm() {
        let files = LogFiles("/nowhere/at/all", limit: .lines(1))
        XCTAssertFalse(files.append("x"))
        XCTAssertFalse(files.append("y"))
        XCTAssertEqual(LogFiles.lines("/nowhere/at/all", sizeMax: 100), [])
        XCTAssertEqual(files.failure, "/nowhere/at/all: No such file or directory")
    }

    func testWhatCannotBeWrittenIsToldAndIsTriedAgain() throws {
        let full = LogFiles("/dev/full", limit: .bytes(100))
        XCTAssertFalse(full.append("x"))
        XCTAssertEqual(full.failure, "/dev/full: No space left on device")
        let late = LogFiles(self.path + "/log", limit: .lines(3))
        XCTAssertFalse(late.append("too early"))
        try FileManager.default.createDirectory(atPath: self.path.string, withIntermediateDirectories: false)
        XCTAssertTrue(late.append("in time"))
        XCTAssertEqual(LogFiles.lines(self.path + "/log", sizeMax: 100), ["in time"])
    }
}
