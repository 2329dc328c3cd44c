// SPDX-License-Identifier: Apache-2.0

import Bytes
import Foundation
import XCTest

@testable import Loop

final class ProgramTests: XCTestCase {
    private let folder = NSTemporaryDirectory() + "callbox-program-\(getpid())-\(UUID().uuidString)"

    override func setUp() {
        makeFolder(ByteString(utf8Of: self.folder))
    }

    override func tearDown() {
        try? FileManager.default.removeItem(atPath: self.folder)
    }

    private func script(_ text: String) throws -> ByteString {
        let path = self.folder + "/program"
        try ("#!/bin/sh\n" + text).write(toFile: path, atomically: false, encoding: .utf8)
        chmod(path, 0o700)
        return ByteString(utf8Of: path)
    }

    /// All that the program says within two seconds.
    private func answer(_ program: Program) -> [UInt8]? {
        let poller = Poller()
        poller.watch(program.descriptor, token: 1)
        for _ in 0..<20 {
            _ = poller.wait(until: Clock.now() + .milliseconds(100))
            if let output = program.read() { return output }
        }
        return nil
    }

    func testAProgramReadsAndIsHeard() throws {
        let program = try XCTUnwrap(
            Program(self.script("read line; echo \"got $line\"; cat"), input: Array("a\nb".utf8)))
        XCTAssertEqual(self.answer(program), Array("got a\nb".utf8))
    }

    func testWhoSaysTooMuchIsCutAndWhoCannotBeStartedIsNil() throws {
        let program = try XCTUnwrap(Program(self.script("yes"), input: []))
        XCTAssertLessThanOrEqual(self.answer(program)?.count ?? .max, Program.outputMax)
        XCTAssertNil(Program(ByteString(utf8Of: self.folder + "/none"), input: []))
        XCTAssertNil(Program("/bin/true", input: [UInt8](repeating: 0, count: Program.inputMax + 1)))
    }

    func testAProgramThatHangsEndsWithItsObject() throws {
        let before = ProcessCounters.read().fileDescriptors
        for _ in 0..<5 { XCTAssertNil(try XCTUnwrap(Program(self.script("exec sleep 60"), input: [])).read()) }
        XCTAssertEqual(ProcessCounters.read().fileDescriptors, before)
        XCTAssertEqual(waitpid(-1, nil, WNOHANG), -1, "a child is left")
    }

    func testAFileIsReplacedWholeAndIsItsOwners() throws {
        let path = ByteString(utf8Of: self.folder + "/file")
        XCTAssertTrue(writeFile(path, [1, 2, 3]))
        XCTAssertTrue(writeFile(path, [4]))
        XCTAssertEqual(readFile(path, sizeMax: 10), [4])
        let attributes = try FileManager.default.attributesOfItem(atPath: path.string)
        XCTAssertEqual(attributes[.posixPermissions] as? Int, 0o600)
        XCTAssertFalse(writeFile(ByteString(utf8Of: self.folder + "/none/file"), [1]))
    }
}
