// SPDX-License-Identifier: Apache-2.0

import Bytes
import Foundation
import XCTest

@testable import Loop

/// With a fake folder of lights: no machine that tests run on has one.
final class BacklightTests: XCTestCase {
    private let folder = NSTemporaryDirectory() + "callbox-fake-lights-\(getpid())"

    override func tearDown() {
        try? FileManager.default.removeItem(atPath: self.folder)
    }

    private func add(_ name: String, _ brightness: String, of most: String) throws {
        let path = self.folder + "/" + name
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try (brightness + "\n").write(toFile: path + "/brightness", atomically: false, encoding: .utf8)
        try (most + "\n").write(toFile: path + "/max_brightness", atomically: false, encoding: .utf8)
    }

    private func brightness(_ name: String) throws -> String {
        try String(contentsOfFile: self.folder + "/" + name + "/brightness", encoding: .utf8)
    }

    func testLightsAreDimmedAndBecomeWhatTheyWere() throws {
        try self.add("panel", "200", of: "255")
        try self.add("second", "7", of: "7")
        let light = Backlight(folder: ByteString(utf8Of: self.folder))
        light.dim(false)
        XCTAssertEqual(try self.brightness("panel"), "200\n")
        light.dim(true)
        light.dim(true)
        XCTAssertEqual(try self.brightness("panel"), "51\n")
        XCTAssertEqual(try self.brightness("second"), "1\n", "never dark")
        light.dim(false)
        XCTAssertEqual(try self.brightness("panel"), "200\n")
        XCTAssertEqual(try self.brightness("second"), "7\n")
    }

    func testWhatIsDarkerAlreadyAndWhatMakesNoSenseIsLeftAlone() throws {
        try self.add("dark", "0", of: "255")
        try self.add("odd", "bright", of: "255")
        try self.add("torn", "9", of: "")
        let light = Backlight(folder: ByteString(utf8Of: self.folder))
        light.dim(true)
        XCTAssertEqual(try self.brightness("dark"), "0\n")
        XCTAssertEqual(try self.brightness("odd"), "bright\n")
        XCTAssertEqual(try self.brightness("torn"), "9\n")
        light.dim(false)
        XCTAssertEqual(try self.brightness("dark"), "0\n")
        Backlight(folder: ByteString(utf8Of: self.folder + "/nowhere")).dim(true)
    }

    /// The light would otherwise be dimmed for ever: as the next start finds it, it is the owner's.
    func testWhoeverEndsWhileTheyAreDimmedLeavesWhatTheyWere() throws {
        try self.add("panel", "200", of: "255")
        try self.add("my light", "90", of: "100")
        let light = Backlight(folder: ByteString(utf8Of: self.folder))
        XCTAssertNil(light.kept)
        light.dim(true)
        let kept = try XCTUnwrap(light.kept)
        try self.add("my light", "33", of: "100")
        Backlight(folder: ByteString(utf8Of: self.folder)).restore(kept)
        XCTAssertEqual(try self.brightness("panel"), "200\n")
        XCTAssertEqual(try self.brightness("my light"), "33\n", "somebody has set it meanwhile")
        light.dim(false)
        XCTAssertNil(light.kept)
    }

    func testWhatWasKeptMayBeAnything() throws {
        try self.add("panel", "51", of: "255")
        let light = Backlight(folder: ByteString(utf8Of: self.folder))
        let files = [
            "", "\n\n", "200", "200 51", "200 51 ", "x 51 panel", "200 51 nowhere", "200 51 ../panel", "200 52 panel",
            "99999999999999999999999 51 panel", "\0\u{ff}",
        ]
        for file in files { light.restore([UInt8](file.utf8)) }
        XCTAssertEqual(try self.brightness("panel"), "51\n")
        light.restore([UInt8]("1 51 \u{1}\n200 51 panel".utf8))
        XCTAssertEqual(try self.brightness("panel"), "200\n", "a line that is torn is not all")
    }
}
