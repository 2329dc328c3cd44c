// SPDX-License-Identifier: Apache-2.0

import Bytes
import Foundation
import XCTest

@testable import SIPWire

/// The messages of RFC 4475, byte for byte, one file each in `RFC4475/` under the RFC's name.
enum TortureMessage {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("RFC4475")

    static func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: Self.folder.appendingPathComponent(name + ".dat")))
    }

    static var names: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: Self.folder.path).filter { $0.hasSuffix(".dat") }
                .map { String($0.dropLast(4)) }.sorted()
        }
    }

    static func parsed(_ name: String, framing: SIPFraming = .datagram) throws -> SIPMessage {
        try SIPMessage.parse(self.bytes(name), framing: framing)
    }

    /// What a user agent is told about a message that cannot be taken.
    static func verdict(
        _ name: String, framing: SIPFraming = .datagram, file: StaticString = #filePath, line: UInt = #line
    ) throws -> SIPParseError {
        do {
            _ = try SIPMessage.parse(self.bytes(name), framing: framing)
        } catch let error as SIPParseError {
            return error
        }
        XCTFail("\(name) was taken as good", file: file, line: line)
        throw CocoaError(.coderInvalidValue)
    }

    /// The message is refused with `status`, and the answer can be built and read again.
    static func assertAnswered(
        _ name: String, _ status: StatusCode, _ reason: ByteString, framing: SIPFraming = .datagram,
        file: StaticString = #filePath, line: UInt = #line
    ) throws {
        let error = try self.verdict(name, framing: framing, file: file, line: line)
        XCTAssertEqual(error.verdict, .answer(status), file: file, line: line)
        XCTAssertEqual(error.reason.string, reason.string, file: file, line: line)
        let request = try XCTUnwrap(error.message, file: file, line: line)
        XCTAssertNotNil(request.replyVia, file: file, line: line)
        let answer = SIPMessage(respondingTo: request, status, reason: error.reason, toTag: "ours")
        XCTAssertEqual(answer.fields(.via), request.fields(.via), file: file, line: line)
        XCTAssertEqual(answer.status, status, file: file, line: line)
    }

    static func assertDropped(
        _ name: String, _ reason: ByteString, file: StaticString = #filePath, line: UInt = #line
    ) throws {
        let error = try self.verdict(name, file: file, line: line)
        XCTAssertEqual(error.verdict, .drop, file: file, line: line)
        XCTAssertEqual(error.reason.string, reason.string, file: file, line: line)
    }
}
