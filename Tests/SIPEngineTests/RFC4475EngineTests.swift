// SPDX-License-Identifier: Apache-2.0
import Bytes
import Foundation
import SIPWire
import XCTest

@testable import SIPEngine

/// The messages of RFC 4475 as a whole user agent takes them: what is answered at once, and what becomes a call. How
/// each is read is tested with SIPWire.
final class RFC4475EngineTests: XCTestCase {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("SIPWireTests/RFC4475")

    /// What comes of a message: status codes, and events. An answer that copies a faulty field is not one that our own
    /// parser takes.
    private func outcome(_ name: String) throws -> [String] {
        let bytes = Array(try Data(contentsOf: Self.folder.appendingPathComponent(name + ".dat")))
        let script = Script()
        script.input(.received(bytes, on: script.flow))
        let faulty = script.rawOutbox.map { String(decoding: $0.prefix(11).suffix(3), as: UTF8.self) }
        return script.outbox.map { $0.message.name } + faulty + script.events.map { $0.event.name }
    }

    private func assert(
        _ names: [String], _ outcome: String..., file: StaticString = #filePath, line: UInt = #line
    ) throws {
        for name in names { XCTAssertEqual(try self.outcome(name), outcome, name, file: file, line: line) }
    }

    func testOddButRightInvitesRing() throws {
        try self.assert(["esc01", "longreq", "baddate"], "incoming")
    }

    func testAnInviteIntoADialogThatWeDoNotKnowIsToldSo() throws {
        try self.assert(["wsinv"], "481")
    }

    func testOddButRightOptionsAreAnswered() throws {
        try self.assert(["lwsdisp", "semiuri", "transports", "badbranch", "zeromf"], "200")
    }

    func testMethodsThatNobodyKnowsAreNotImplemented() throws {
        try self.assert(["intmeth", "esc02"], "501")
    }

    func testWeAreNoRegistrar() throws {
        try self.assert(["escnull", "dblreq", "unksm2", "regaut01", "cparam01", "cparam02", "regescrt"], "405")
    }

    func testWhatIsWrongIsABadRequest() throws {
        try self.assert(
            [
                "badinv01", "clerr", "ncl", "scalar02", "quotbal", "ltgtruri", "lwsruri", "lwsstart", "trws", "escruri",
                "regbadct", "badaspec", "baddn", "mismatch01", "mismatch02", "insuf", "multi01", "mcl01",
            ], "400")
    }

    /// An INVITE of RFC 2543 has no Contact: From is called instead (RFC 4475 section 3.4.1 leaves it to us).
    func testAnInviteOfTheOldStandardRings() throws {
        try self.assert(["inv2543"], "incoming")
    }

    func testWhatWeCannotDoIsNamed() throws {
        try self.assert(["badvers"], "505")
        try self.assert(["unkscm", "novelsc"], "416")
        try self.assert(["bext01"], "420")
        try self.assert(["invut"], "415")
        try self.assert(["sdp01"], "406")
    }

    func testResponsesThatAreWrongOrNotForUsAreDropped() throws {
        try self.assert(["scalarlg", "bigcode", "bcast", "unreason", "noreason"])
    }

    func testTheBodyOfATextIsJudgedByTheEngine() throws {
        XCTAssertEqual(try self.outcome("mpart01").count, 1, "a multipart MESSAGE is answered")
    }
}
