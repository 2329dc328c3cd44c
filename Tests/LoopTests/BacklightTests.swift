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
}
