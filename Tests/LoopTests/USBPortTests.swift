// SPDX-License-Identifier: Apache-2.0

import Bytes
import Foundation
import XCTest

@testable import Loop

/// A fake of sysfs: a sound card that is an interface of a USB device behind a hub, and one that is not on USB.
private final class FakeSystem {
    let root = NSTemporaryDirectory() + "callbox-usb-\(getpid())"
    var device: String { self.root + "/devices/usb1/1-1/1-1.2" }

    init() throws {
        for folder in ["/devices/usb1/1-1/1-1.2/1-1.2:1.0/sound/card7", "/devices/soc/audio/sound/card8", "/class"] {
            try FileManager.default.createDirectory(atPath: self.root + folder, withIntermediateDirectories: true)
        }
        for (name, text) in [
            ("usb1/authorized", "1\n"), ("usb1/busnum", "1\n"), ("usb1/1-1/authorized", "1\n"),
            ("usb1/1-1/busnum", "1\n"), ("usb1/1-1/1-1.2/authorized", "1\n"), ("usb1/1-1/1-1.2/busnum", "1\n"),
            ("usb1/1-1/1-1.2/devnum", "999\n"), ("usb1/1-1/1-1.2/1-1.2:1.0/authorized", "1\n"),
        ] {
            try text.write(toFile: self.root + "/devices/" + name, atomically: false, encoding: .utf8)
        }
        try self.link("card7", to: "usb1/1-1/1-1.2/1-1.2:1.0")
        try self.link("card8", to: "soc/audio")
    }

    private func link(_ card: String, to device: String) throws {
        try FileManager.default.createSymbolicLink(
            atPath: self.root + "/class/" + card, withDestinationPath: self.root + "/devices/" + device)
    }

    func entry(_ card: String) -> ByteString { ByteString(utf8Of: self.root + "/class/" + card) }

    func authorized(_ device: String) throws -> String {
        try String(contentsOfFile: self.root + "/devices/" + device + "/authorized", encoding: .utf8)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: self.root)
    }
}

final class USBPortTests: XCTestCase {
    func testTheDeviceIsFoundFromItsInterfaceAndNoOtherOneIsTouched() throws {
        let system = try FakeSystem()
        let port = try XCTUnwrap(USBPort(of: system.entry("card7")))
        XCTAssertEqual(port.path.string, system.device)
        XCTAssertEqual(port.name, "1-1.2")
        // No such node on the bus: it is taken away and given back. Each digit is a write of its own over the first.
        XCTAssertTrue(port.reset())
        XCTAssertEqual(try system.authorized("usb1/1-1/1-1.2"), "1\n")
        for other in ["usb1", "usb1/1-1", "usb1/1-1/1-1.2/1-1.2:1.0"] {
            XCTAssertEqual(try system.authorized(other), "1\n", other)
        }
    }

    func testADeviceThatIsNotOnUSBHasNoPort() throws {
        let system = try FakeSystem()
        XCTAssertNil(USBPort(of: system.entry("card8")))
        XCTAssertNil(USBPort(of: system.entry("card9")))
    }

    func testWhatIsGoneCannotBeReset() throws {
        let system = try FakeSystem()
        let port = try XCTUnwrap(USBPort(of: system.entry("card7")))
        try FileManager.default.removeItem(atPath: system.device)
        XCTAssertFalse(port.reset())
    }

    func testAPortIsResetOnceAMinuteAndThreeTimesAnHour() {
        var resets = PortResets()
        let start = Instant(nanoseconds: 1)
        let taken = stride(from: 0, to: 3600, by: 10).filter { resets.take(now: start + .seconds($0)) }
        XCTAssertEqual(taken, [0, 60, 120])
        XCTAssertTrue(resets.take(now: start + .seconds(3600)))
    }

    func testOpeningAnewIsTriedBeforeAnythingElse() {
        var watch = StuckWatch()
        XCTAssertFalse(watch.failed(workedMs: 0))
        XCTAssertTrue(watch.failed(workedMs: 500))
        XCTAssertTrue(watch.failed(workedMs: 0), "as long as it lasts; how often is another's affair")
        XCTAssertFalse(watch.failed(workedMs: 5_000), "opening it had helped")
    }
}
