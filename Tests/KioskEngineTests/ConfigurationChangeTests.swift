// SPDX-License-Identifier: Apache-2.0
import Bytes
import XCTest

@testable import KioskEngine

/// What is different between two files, and whether it can be taken over in place.
final class ConfigurationChangeTests: XCTestCase {
    private func parse(_ text: String) -> Configuration {
        let (configuration, problems) = Configuration.parse(Array("[call]\nuri = sip:help@far\n\(text)".utf8))
        XCTAssertEqual(problems.map { $0.sentence.string }, [], text)
        return configuration
    }

    /// Lines of a section, and whether they wait for a restart.
    private static let table: [(section: String, lines: String, needsRestart: Bool)] =
        ConfigurationChangeTests.most + ConfigurationChangeTests.panel
        + (2...8).map { ("button.call.\($0)", "line = door", true) }
        + (1...4).map { ("relay.\($0)", "line = door", true) }

    private static let panel: [(section: String, lines: String, needsRestart: Bool)] = [
        ("button.call", "hold = 2", false), ("button.call.2", "long = hook", false),
        ("button.keypad", "line = keys", true), ("button.language", "line = words", true),
        ("input.hook_switch", "dials = no", false), ("input.hook_switch", "line = hook", true),
        ("input.tamper", "line = lid", true), ("input.inhibit", "line = key", true),
        ("input.power", "line = mains", true), ("keypad", "before_answer = refuse", false),
        ("keypad", "type = evdev", true), ("panel", "health = none", false), ("panel", "stuck = 0", true),
        ("lamp.call", "calling = fast", false), ("lamp.answered", "line = lamp", true),
        ("lamp.ready", "idle = off", false), ("lamp.fault", "line = lamp", true),
        ("relay.1", "code = 4711", false), ("relay.2", "pulse = 500", false), ("relay.3", "on = idle", false),
    ]

    private static let most: [(section: String, lines: String, needsRestart: Bool)] = [
        ("call", "transfer = refuse", false), ("call", "ring_timeout = 20", false),
        ("call", "incoming = ring", false), ("auto_call", "allow = yes\nat = 08:00", false),
        ("auto_call", "zone = UTC0", true), ("sip", "name = Gate", false), ("sip", "user = gate", false),
        ("sip", "transport = tcp", false), ("sip", "accept_from = anyone", false),
        ("sip", "listen = any:5070", true), ("sip", "name = Gate\nlisten = any:5070", true),
        ("servers", "proxies = sip:one, sip:two", false), ("account", "uri = sip:a@b", false),
        ("account.2", "uri = sip:a@b", false), ("account.3", "uri = sip:a@b", false),
        ("account.4", "uri = sip:a@b", false), ("tls", "verify = off", true),
        ("button.call", "name = Gate", false), ("button.call", "ends_call = yes", false),
        ("button.call", "line = door", true), ("button.hook", "line = hook", true),
        ("button.mute", "debounce = 30", true), ("button.video", "active_low = no", true),
        ("lamp.call", "line = lamp", true), ("display", "selfview = off", false),
        ("display", "connector = none", true), ("display", "remote = fill", true), ("display", "layout = full", true),
        ("screen", "idle = clock", false), ("screen", "headline = Help", false), ("screen", "image = /a.png", true),
        ("screen.en", "headline = Help", false), ("screen.de", "headline = Hilfe", false),
        ("screen.fr", "headline = Aide", false), ("screen.es", "headline = Ayuda", false),
        ("screen.ar", "headline = x", false), ("screen.zh", "detail = x", false),
        ("language", "first = de", false), ("camera", "device = none", true),
        ("camera", "rotate = 90", false),
        ("audio", "codecs = pcma", false), ("audio", "playback = none", true), ("sound", "prompts = no", false),
        ("sound", "chimes = no\nstatus = no", false), ("sound", "tones = uk", true), ("sound", "volume = 50", true),
        ("video", "bitrate = 500", false),
        ("media", "encryption = required", false), ("media", "keying = both", false),
        ("media", "encryption = off", true), ("rtp", "ports = 50000-50099", true),
        ("ice", "use = on\nturn_password = x", false), ("ice", "turn = turn:192.0.2.1", false),
        ("ice", "turn = turns:192.0.2.1", true),
        ("update", "at = never", false), ("network", "dns = 192.0.2.53", true),
        ("network", "address = 192.0.2.10/24", false),
        ("identity", "product = gate", false),
        ("location", "latitude = 52.5\nlongitude = 13.4", false), ("log", "level = debug", false),
    ]

    func testEachSectionIsToldApart() {
        let plain = self.parse("")
        for row in Self.table {
            let changed = self.parse("[\(row.section)]\n\(row.lines)\n")
            for (from, to) in [(plain, changed), (changed, plain)] {
                let change = ConfigurationChange(from: from, to: to)
                XCTAssertEqual(change.sections.map { $0.string }, [row.section], row.lines)
                XCTAssertEqual(change.needsRestart, row.needsRestart, row.lines)
            }
        }
        let known = Set(Self.table.map { $0.section })
        for section in ConfigurationSetting.sections {
            XCTAssertTrue(known.contains(section.string), "no row for [\(section.string)]")
        }
    }

    func testSameFileChangesNothing() {
        for row in Self.table {
            let text = "[\(row.section)]\n\(row.lines)\n"
            let change = ConfigurationChange(from: self.parse(text), to: self.parse("# again\n" + text))
            XCTAssertEqual(change.sections, [])
            XCTAssertFalse(change.needsRestart)
        }
    }

    func testSeveralSectionsInTheOrderOfTheFile() {
        let change = ConfigurationChange(
            from: self.parse("[rtp]\nports = 50000-50099\n"), to: self.parse("[video]\nbitrate = 500\n"))
        XCTAssertEqual(change.sections, ["video", "rtp"])
        XCTAssertTrue(change.needsRestart)
    }

    /// It was moved out of the file since, which is not a change of anybody's.
    func testPasswordIsNoChange() {
        let change = ConfigurationChange(from: self.parse("[sip]\npassword = secret\n"), to: self.parse(""))
        XCTAssertEqual(change.sections, [])
        XCTAssertFalse(change.needsRestart)
    }
}
