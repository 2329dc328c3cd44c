// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import KioskEngine

final class ConfigurationTests: XCTestCase {
    private func parse(_ text: String) -> (Configuration, [ConfigurationProblem]) {
        Configuration.parse(Array(text.utf8))
    }

    /// Problems of a file that names somebody to call, so that only what the test is about is left.
    private func problems(_ text: String) -> [String] {
        self.parse("[call]\nuri = sip:a@b\n" + text).1.map { $0.sentence.string }
    }

    private static let complete =
        """
        # A help point.
        [call]
        uri = sip:help@example.com:5070;transport=tcp
        incoming = answer
        incoming_from = desk
        ring_timeout = 45
        media_timeout = 15
        [sip]
        listen = 192.0.2.1:5062
        transport = tcp
        user = door
        name = "Main door # 1"
        [button.call]
        line = panel-call
        ends_call = yes
        [button.hook]
        line = pinctrl-bcm2835:22
        active_low = no
        debounce = 5
        [button.mute]
        bias = none
        [lamp.call]
        line = lamp-call
        active_low = yes
        [display]
        connector = HDMI-A-1
        remote = fill
        selfview = always
        selfview_corner = top-left
        [camera]
        device = platform-fd500000.pcie-usb-0:1.3:1.0-video-index0
        size = 1280x720
        fps = 25
        [audio]
        playback = plughw:Headset
        capture = null
        codecs = pcma, opus
        [video]
        bitrate = 900
        [rtp]
        ports = 30000-30009
        """

    func testACompleteFileSetsEveryValueOfCallAndSIP() {
        let (conf, problems) = self.parse(Self.complete)
        XCTAssertEqual(problems.map { $0.sentence.string }, [])
        XCTAssertEqual(conf.call.uri?.printed, "sip:help@example.com:5070;transport=tcp")
        XCTAssertEqual(conf.call.incoming, .answer)
        XCTAssertEqual(conf.call.ringTimeoutMs, 45_000)
        XCTAssertEqual(conf.call.mediaTimeoutMs, 15_000)
        XCTAssertEqual(conf.sip.listen.text, "192.0.2.1:5062")
        XCTAssertEqual(conf.sip.transport, .tcp)
        XCTAssertEqual(conf.sip.user, "door")
        XCTAssertEqual(conf.sip.name, "Main door # 1")
    }

    func testACompleteFileSetsEveryValueOfThePanel() {
        let conf = self.parse(Self.complete).0
        XCTAssertEqual(conf[.call].line?.text, "panel-call")
        XCTAssertTrue(conf[.call].endsCall)
        XCTAssertEqual(conf[.call].bias, .pullUp)
        XCTAssertEqual(conf[.hook].line?.text, "pinctrl-bcm2835:22")
        XCTAssertEqual(conf[.hook].bias, .pullDown)
        XCTAssertEqual(conf[.hook].debounceMs, 5)
        XCTAssertEqual(conf[.mute].bias, .none)
        XCTAssertNil(conf[.video].line)
        XCTAssertEqual(conf.panel[.call].line, LineName(text: "lamp-call"))
        XCTAssertTrue(conf.panel[.call].isActiveLow)
    }

    func testACompleteFileSetsEveryValueOfPicturesAndSound() {
        let conf = self.parse(Self.complete).0
        XCTAssertEqual(conf.display.connector, .named("HDMI-A-1"))
        XCTAssertEqual(conf.display.remote, .fill)
        XCTAssertEqual(conf.display.selfView, .always)
        XCTAssertEqual(conf.display.selfViewCorner, .topLeft)
        XCTAssertEqual(conf.camera.size, PictureSize(width: 1280, height: 720))
        XCTAssertEqual(conf.camera.fps, 25)
        XCTAssertEqual(conf.audio.playback, .named("plughw:Headset"))
        XCTAssertEqual(conf.audio.capture, DeviceName.none)
        XCTAssertEqual(conf.audio.codecs, [.pcma, .opus])
        XCTAssertEqual(conf.video.bitrateKbps, 900)
        XCTAssertEqual(conf.rtp.ports, 30_000...30_009)
    }

    func testAnEmptyFileHasDefaultsAndSaysThatNobodyCanBeCalled() {
        let (conf, problems) = Configuration.parse([])
        XCTAssertEqual(conf, Configuration())
        XCTAssertEqual(problems.map { $0.sentence }, ["[call] uri: missing: the call button has nobody to call"])
        XCTAssertEqual(problems.first?.line, 0)
    }

    // MARK: - What editors and systems do to files

    func testAnyLineEndAndByteOrderMarkIsRead() {
        let lines = ["[call]", "uri = sip:a@b", "", "# x", "[camera]", "fps = 7"]
        for (name, end) in [("LF", "\n"), ("CRLF", "\r\n"), ("CR", "\r")] {
            let text = Array(lines.joined(separator: end).utf8)
            let unit16 = lines.joined(separator: end).utf16
            let forms: [[UInt8]] = [
                text, [0xEF, 0xBB, 0xBF] + text, [0xFF, 0xFE] + unit16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] },
                [0xFE, 0xFF] + unit16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] },
            ]
            for (index, form) in forms.enumerated() {
                let (conf, problems) = Configuration.parse(form)
                XCTAssertEqual(problems.map { $0.sentence.string }, [], "\(name), form \(index)")
                XCTAssertEqual(conf.camera.fps, 7, "\(name), form \(index)")
                XCTAssertEqual(conf.call.uri?.printed, "sip:a@b", "\(name), form \(index)")
            }
        }
    }

    func testLineNumbersAreRightForEveryLineEnd() {
        for end in ["\n", "\r\n", "\r"] {
            let text = ["[call]", "uri = sip:a@b", "", "urii = x"].joined(separator: end)
            XCTAssertEqual(self.parse(text).1.map { $0.line }, [4])
        }
    }

    func testUTF16BeyondTheBasicPlaneSurvives() {
        let text = "[call]\nuri = sip:a@b\n[sip]\nname = T\u{FC}r \u{1F6AA}\n"
        let bytes: [UInt8] =
            [0xFF, 0xFE] + text.utf16.flatMap { unit -> [UInt8] in [UInt8(unit & 0xFF), UInt8(unit >> 8)] }
        XCTAssertEqual(Configuration.parse(bytes).0.sip.name.string, "T\u{FC}r \u{1F6AA}")
    }

    func testBlanksQuotesAndCommentsAreTakenOff() {
        let values: [(String, String)] = [
            ("  Door  ", "Door"), ("\u{A0}Door\u{A0}", "Door"), ("\"Door\"", "Door"), ("\u{201C}Door\u{201D}", "Door"),
            ("\u{201E}Door\u{201C}", "Door"), ("\u{2018}Door\u{2019}", "Door"), ("'Door'", "Door"),
            ("Door # the front one", "Door"), ("Door#1", "Door#1"), ("\"Door # 1\" # one", "Door # 1"),
            ("\"Door", "\"Door"), ("Door\t", "Door"), ("Tom's door", "Tom's door"), ("a = b", "a = b"),
        ]
        for (written, meant) in values {
            let (conf, problems) = self.parse("[call]\nuri = sip:a@b\n[sip]\nname = \(written)\n")
            XCTAssertEqual(problems.map { $0.sentence.string }, [], written)
            XCTAssertEqual(conf.sip.name.string, meant, written)
        }
    }

    func testSectionsAndKeysMayBeInAnyCaseAndSpaced() {
        let (conf, problems) = self.parse(
            "  [ CALL ]  # whom\n  URI=sip:a@b\n[call]\n Ring_Timeout  =  9\n; old comment\n")
        XCTAssertEqual(problems.map { $0.sentence.string }, [])
        XCTAssertEqual(conf.call.ringTimeoutMs, 9_000)
    }

    // MARK: - Problems

    func testEachKindOfProblemIsSaidWithItsPlaceAndReason() {
        let cases: [(String, String)] = [
            ("urii = sip:c@d", "line 3, [call] urii: unknown key; the nearest known key is \"uri\""),
            ("codecs = opus", "line 3, [call] codecs: not a key of this section; it belongs in [audio]"),
            (
                "line = x",
                "line 3, [call] line: not a key of this section; it belongs in [button.call], "
                    + "[input.hook_switch], [lamp.call] and [relay.1]"
            ),
            ("uri = sip:c@d", "line 3, [call] uri: already given in line 2, which counts"),
            ("ring_timeout =", "line 3, [call] ring_timeout: has no value; 60 is used"),
            ("just words", "line 3: \"just words\" is neither [section] nor key = value"),
            ("[call", "line 3: \"[call\" is not a [section]"), ("[]", "line 3: \"[]\" is not a [section]"),
            (
                "[buton.call]\nline = x",
                "line 3, [buton.call]: unknown section, its keys are not read; the nearest known section is "
                    + "\"button.call\""
            ),
            (
                "ring_timeout = soon",
                "line 3, [call] ring_timeout: \"soon\" is not a whole number of seconds from 5 to 600; 60 is used"
            ),
            (
                "incoming = maybe",
                "line 3, [call] incoming: \"maybe\" is not one of never, refuse, ring and answer; never is used"
            ),
        ]
        for (text, sentence) in cases { XCTAssertEqual(self.problems(text), [sentence], text) }
    }

    func testAKeyBeforeAnySectionIsAProblem() {
        let (_, problems) = self.parse("uri = sip:a@b\n")
        XCTAssertEqual(
            problems.map { $0.sentence.string },
            [
                "line 1, uri: stands before the first [section]",
                "[call] uri: missing: the call button has nobody to call",
            ])
    }

    func testABadAddressIsOneProblemNotTwo() {
        for value in [
            "help", "example.com", "http://example.com", "sip:", "sip:@", "sips:a@b;transport=udp", "tel:+4912345", "",
            "sip:a@b,", "sip:a@b + ", "sip:a@b;ring=4", "sip:a@b;postd=", "sip:a@b;postd=x", "callbox://pbx?x=help",
            "callbox://pbx?uri=callbox://pbx", "callbox://?uri=help", "tel:", "tel:abc", "he lp",
            "sip:a@b;transport=sctp", "sip:a@b?Subject=x", "sip:a@b:99999", "sip:a@b:0", "sip:a b@c",
        ] {
            let (conf, problems) = self.parse("[call]\nuri = \(value)\n")
            XCTAssertNil(conf.call.uri, value)
            XCTAssertEqual(problems.map { $0.line }, [2], value)
        }
    }

    func testGoodAddressesAreTaken() {
        for value in [
            "sip:a@b", "sip:192.0.2.1", "sip:a@[2001:db8::1]:5080", "SIP:a@b;transport=UDP", "sip:+49@b;user=phone",
            "sips:a@b", "sips:a@b;transport=tcp", "sip:a@b;transport=tls", "help@example.com", "192.0.2.7",
            "callbox://pbx.example.com?uri=help", "callbox://pbx.example.com:5070/?x=1&uri=sip%3Ahelp%40example.com",
        ] {
            let (conf, problems) = self.parse("[call]\nuri = \(value)\n")
            XCTAssertNotNil(conf.call.uri, value)
            XCTAssertEqual(problems.map { $0.sentence.string }, [], value)
        }
    }

    func testNumbersOfDevicesAreRefusedWithTheReason() {
        let cases: [(section: String, key: String, values: [String], hint: String)] = [
            (
                "button.call", "line",
                ["17", "517", "gpiochip0:17", "0:17", "/dev/gpiochip0", "/sys/class/gpio/gpio17"], "chip-label:offset"
            ),
            ("lamp.call", "line", ["4", "gpiochip1:4"], "chip-label:offset"),
            ("display", "connector", ["0", "/dev/dri/card0", "card0-HDMI-A-1"], "HDMI-A-1"),
            ("camera", "device", ["0", "/dev/video0", "video12"], "by-path"),
            ("audio", "playback", ["0", "hw:0", "plughw:1,0", "hw:CARD=0,DEV=0"], "id"),
            ("audio", "capture", ["2", "hw:2,0"], "id"),
        ]
        for (section, key, values, hint) in cases {
            for value in values {
                let problems = self.problems("[\(section)]\n\(key) = \(value)\n")
                XCTAssertEqual(problems.count, 1, value)
                XCTAssertTrue(problems[0].contains(hint) || section == "display", problems[0])
                XCTAssertTrue(problems[0].contains("number") || problems[0].contains("path"), problems[0])
            }
        }
    }

    func testNamesOfDevicesAreTaken() {
        let cases: [(section: String, key: String, values: [String])] = [
            ("button.call", "line", ["GPIO17", "panel-call", "pinctrl-rp1:17", "none", "Button 1", "7seg:A"]),
            ("display", "connector", ["HDMI-A-1", "DSI-1", "Virtual-1", "none", "auto"]),
            (
                "camera", "device",
                ["platform-vivid.0-video-index0", "/dev/v4l/by-path/x-index0", "file:/a/b.y4m", "none", "auto"]
            ),
            (
                "audio", "playback",
                ["default", "null", "none", "plughw:Loopback,0", "hw:CARD=Loopback,DEV=1", "sysdefault:CARD=PCH"]
            ),
        ]
        for (section, key, values) in cases {
            for value in values { XCTAssertEqual(self.problems("[\(section)]\n\(key) = \(value)\n"), [], value) }
        }
    }

    func testTwoPartsOfThePanelCannotShareALine() {
        let text = "[call]\nuri = sip:a@b\n[button.call]\nline = x\n[button.hook]\nline = x\n[lamp.call]\nline = y\n"
        let (conf, problems) = self.parse(text)
        XCTAssertEqual(
            problems.map { $0.sentence.string },
            ["line 6, [button.hook] line: the line is already that of [button.call]; no such button is used"])
        XCTAssertEqual(conf[.call].line?.text, "x")
        XCTAssertNil(conf[.hook].line)
    }

    func testAModeIsForcedOnlyWhereTheFileSaysSo() {
        XCTAssertNil(self.parse("[display]\nforce = none").0.display.forced)
        XCTAssertEqual(
            self.parse("[display]\nforce = 1920x1080@60").0.display.forced,
            ScreenMode(PictureSize(width: 1920, height: 1080), refreshHz: 60))
    }

    func testOtherBadValuesAreRefused() {
        let cases: [(section: String, key: String, values: [String])] = [
            ("sip", "listen", ["5060:", "a:5060", "1.2.3.4:0", "1.2.3.4:65536", "1.2.3:5060", "[::1"]),
            ("sip", "user", ["a b", "a@b", "\u{E4}", String(repeating: "a", count: 65)]),
            ("sip", "name", [String(repeating: "a", count: 65)]), ("sip", "transport", ["ws", "sctp"]),
            ("camera", "size", ["640", "640x", "x360", "641x360", "640x361", "0x0", "99999x99999", "640*360"]),
            ("display", "force", ["1920x1080", "1920x1080@", "@60", "640x480@19", "640x480@241", "9999x2@60", "yes"]),
            ("keypad", "settle", ["19", "2001", "1 ms"]),
            ("camera", "fps", ["0", "61", "-1", "30.5", "99999999999999999999999"]),
            ("audio", "codecs", ["g722", "opus,,pcmu", "opus opus", "opus, opus", ","]),
            ("rtp", "ports", ["40000", "40000-40002", "40001-40010", "80-90", "40010-40000", "60000-70000"]),
            ("button.call", "ends_call", ["maybe", "2"]), ("button.call", "debounce", ["501", "-1"]),
            ("button.hook", "ends_call", ["yes"]), ("video", "bitrate", ["0", "9000"]),
        ]
        for (section, key, values) in cases {
            for value in values {
                let (conf, problems) = self.parse("[call]\nuri = sip:a@b\n[\(section)]\n\(key) = \(value)\n")
                XCTAssertEqual(problems.map { $0.line }, [4], "\(key) = \(value)")
                var expected = Configuration()
                expected.call.uri = conf.call.uri
                XCTAssertEqual(conf, expected, "\(key) = \(value) changed something")
            }
        }
    }

    func testListenTakesAddressesAndPorts() {
        let cases = [
            ("any", "[::]:5060"), ("any:5070", "[::]:5070"), (":5070", "[::]:5070"), ("192.0.2.1", "192.0.2.1:5060"),
            ("192.0.2.1:99", "192.0.2.1:99"), ("2001:db8::1", "[2001:db8::1]:5060"),
            ("[2001:db8::1]:99", "[2001:db8::1]:99"), ("[2001:db8::1]", "[2001:db8::1]:5060"),
        ]
        for (written, meant) in cases {
            XCTAssertEqual(self.parse("[sip]\nlisten = \(written)\n").0.sip.listen.text.string, meant, written)
        }
    }

    // MARK: - Hostile files

    func testTooLongALineAndTooLongAFileAreSaid() {
        let long = String(repeating: "x", count: 2000)
        XCTAssertEqual(
            self.problems("[sip]\nname = \(long)"), ["line 4: the line is longer than 1024 bytes and is not read"])
        let huge = "[call]\nuri = sip:a@b\n" + String(repeating: "# filling\n", count: 10_000)
        XCTAssertEqual(self.parse(huge).1.map { $0.sentence }, ["the file is longer than 64 KB; the rest is not read"])
    }

    func testLinesThatAreNotTextAreSaidAndTheRestIsRead() {
        let file: [UInt8] =
            Array("[call]\nuri = sip:a@b\n[sip]\nname = T".utf8) + [0xFC] + Array("r\nuser = x\n".utf8)
            + [0, 0, 0, 0, 0x0A]
        let (conf, problems) = Configuration.parse(file)
        XCTAssertEqual(conf.sip.user, "x")
        XCTAssertEqual(problems.map { $0.line }, [4, 6])
    }

    func testTheListOfProblemsIsBounded() {
        let (_, problems) = self.parse(String(repeating: "nonsense\n", count: 5000))
        // And that nobody can be called.
        XCTAssertEqual(problems.count, 61)
        XCTAssertTrue(problems[59].text.string.contains("more problems"))
        XCTAssertEqual(problems.last?.kind, .missing)
    }

    func testGarbageNeverTraps() {
        var generator = Generator(seed: 1)
        let sample = Array(
            """
            \u{FEFF}[call]\r
            uri = sip:a@b\r
            [button.call]
            line = x:1
            [sip]
            listen = [::]:5060
            name = \u{201C}x\u{201D}
            [rtp]
            ports = 4-9

            """.utf8)
        for round in 0..<4000 {
            var bytes = round % 2 == 0 ? sample : []
            if round % 2 == 1 {
                bytes = (0..<Int(generator.below(300))).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
                if round % 4 == 1 { bytes = [0xFF, 0xFE] + bytes }
            }
            for _ in 0..<generator.below(8) where !bytes.isEmpty {
                let index = Int(generator.below(UInt64(bytes.count)))
                switch generator.below(3) {
                case 0: bytes[index] = UInt8(truncatingIfNeeded: generator.next())
                case 1: bytes.remove(at: index)
                default: bytes.insert(contentsOf: sample.prefix(Int(generator.below(60))), at: index)
                }
            }
            let (conf, problems) = Configuration.parse(bytes)
            XCTAssertLessThanOrEqual(problems.count, 64)
            XCTAssertTrue(conf.call.uri != nil || problems.contains { $0.key == "uri" || $0.text.count > 0 })
            for problem in problems { XCTAssertTrue(ConfigurationText.isText(problem.sentence)) }
        }
    }

    func testNearestNamesAreFoundByFewestEdits() {
        let names: [ByteString] = ["uri", "incoming", "ring_timeout", "media_timeout"]
        let cases: [(ByteString, ByteString?)] = [
            ("url", "uri"), ("rui", "uri"), ("incomming", "incoming"), ("ringtimeout", "ring_timeout"),
            ("timeout", "ring_timeout"), ("zzz", nil), ("", nil),
            (ByteString([UInt8](repeating: 0x61, count: 65)), nil),
        ]
        for (written, nearest) in cases { XCTAssertEqual(Nearest.name(to: written, among: names), nearest) }
    }
}
