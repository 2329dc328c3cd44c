// SPDX-License-Identifier: Apache-2.0

import Bytes
import Foundation
import XCTest

@testable import Loop

final class PrivateFileTests: XCTestCase {
    private let folder = NSTemporaryDirectory() + "callbox-private-\(getpid())"
    private var path: ByteString { ByteString(utf8Of: self.folder + "/secrets") }

    override func setUp() {
        mkdir(self.folder, 0o700)
    }

    override func tearDown() {
        try? FileManager.default.removeItem(atPath: self.folder)
    }

    private func isRefused() -> Bool {
        if case .refused = PrivateFile.read(self.path, sizeMax: 1024) { return true }
        return false
    }

    func testOnlyAPlainFileOfOurOwnIsRead() {
        XCTAssertEqual(PrivateFile.read(self.path, sizeMax: 1024), .missing)
        XCTAssertTrue(replaceFile(self.path, with: [1, 2, 3], mode: 0o600))
        XCTAssertEqual(PrivateFile.read(self.path, sizeMax: 1024), .bytes([1, 2, 3]))
        for mode: mode_t in [0o640, 0o604, 0o602, 0o777] {
            chmod(self.path.string, mode)
            XCTAssertTrue(self.isRefused(), String(mode, radix: 8))
        }
        chmod(self.path.string, 0o600)
        XCTAssertEqual(PrivateFile.read(self.path, sizeMax: 3), .bytes([1, 2, 3]))
        XCTAssertNotEqual(PrivateFile.read(self.path, sizeMax: 2), .bytes([1, 2, 3]))
        unlink(self.path.string)
        symlink("/etc/hostname", self.path.string)
        XCTAssertTrue(self.isRefused(), "a link")
        unlink(self.path.string)
        mkdir(self.path.string, 0o700)
        XCTAssertTrue(self.isRefused(), "a folder")
        rmdir(self.path.string)
        mkfifo(self.path.string, 0o600)
        XCTAssertTrue(self.isRefused(), "a pipe, on which nobody waits")
    }

    func testAFileIsReplacedAsAWholeAndKeepsItsMode() {
        XCTAssertTrue(replaceFile(self.path, with: [1], mode: 0o640))
        XCTAssertTrue(replaceFile(self.path, with: [2], mode: 0o600))
        var status = stat()
        XCTAssertEqual(stat(self.path.string, &status), 0)
        XCTAssertEqual(status.st_mode & 0o777, 0o640)
        XCTAssertEqual(try? FileManager.default.contentsOfDirectory(atPath: self.folder), ["secrets"])
        // What a power cut left is no hindrance.
        XCTAssertTrue(FileManager.default.createFile(atPath: self.path.string + ".new", contents: Data([9])))
        XCTAssertTrue(replaceFile(self.path, with: [3], mode: 0o600))
        XCTAssertEqual(readFile(self.path, sizeMax: 10), [3])
        XCTAssertFalse(replaceFile(ByteString(utf8Of: self.folder + "/none/secrets"), with: [1], mode: 0o600))
    }
}
