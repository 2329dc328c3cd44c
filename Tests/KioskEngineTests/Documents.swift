// SPDX-License-Identifier: Apache-2.0
import Foundation
import XCTest

/// Files of the repository that are made from tables of the program. With CALLBOX_DOCUMENT=write in the environment
/// (`board/document`) they are written instead of compared.
enum Documents {
    private static let top = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let isWriting = ProcessInfo.processInfo.environment["CALLBOX_DOCUMENT"] == "write"

    private static let begin = "<!-- From here on made by board/document"
    private static let end = "<!-- To here. -->"

    /// The part of a file between two marks.
    static func check(_ path: String, _ made: String, file: StaticString = #filePath, line: UInt = #line) throws {
        let present = try String(contentsOf: self.top.appendingPathComponent(path), encoding: .utf8)
        let begin = try XCTUnwrap(present.range(of: self.begin), "\(path) has no mark", file: file, line: line)
        let start = try XCTUnwrap(
            present.range(of: "\n", range: begin.upperBound..<present.endIndex), file: file, line: line)
        let end = try XCTUnwrap(
            present.range(of: self.end, range: start.upperBound..<present.endIndex), file: file, line: line)
        try self.check(
            whole: path, present[..<start.upperBound] + "\n" + made + present[end.lowerBound...], file: file,
            line: line)
    }

    static func check(whole path: String, _ made: String, file: StaticString = #filePath, line: UInt = #line) throws {
        let url = self.top.appendingPathComponent(path)
        guard !self.isWriting else { return try made.write(to: url, atomically: true, encoding: .utf8) }
        let present = try String(contentsOf: url, encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false)
        let wanted = made.split(separator: "\n", omittingEmptySubsequences: false)
        for (number, (there, should)) in zip(present, wanted).enumerated() where there != should {
            return XCTFail(
                "\(path):\(number + 1) is not what the table makes (board/document writes it): \(should)", file: file,
                line: line)
        }
        XCTAssertEqual(present.count, wanted.count, "\(path): board/document writes it", file: file, line: line)
    }
}
