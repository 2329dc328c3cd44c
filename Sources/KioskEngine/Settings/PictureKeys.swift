// SPDX-License-Identifier: Apache-2.0
import Bytes

extension ConfigurationSection {
    static let display = ConfigurationSection(
        "display", "The screen.",
        [
            .init(
                "connector", "auto", ConfigurationValue.connector,
                "The connector's name (`HDMI-A-1`, `DSI-1`), `auto` for the first with a screen, or `none`."
            ) { $0.display.connector = $1 },
            .init(
                "force", "none", ConfigurationValue.screenMode,
                """
                A mode, as in `1920x1080@60`, for a screen that is there though nothing tells of it (a cable without
                that wire, a splitter): while no screen is noticed at the connector, it is driven so all the same.
                With `auto` that is the first connector.
                """, instead: "no screen is driven that is not noticed"
            ) { $0.display.forced = $1 },
            .init(
                "remote", "fit", Self.choice([("fit", .fit), ("fill", .fill)]),
                """
                The other side's picture: `fit` shows all of it with black bars, `fill` covers the screen and cuts
                its edges.
                """
            ) { $0.display.remote = $1 },
            .init(
                "selfview", "call", Self.choice([("off", .off), ("call", .call), ("always", .always)]),
                "The own picture: `off`, `call` (from the press to the end), or `always`."
            ) { $0.display.selfView = $1 },
            .init(
                "selfview_corner", "bottom-right",
                Self.choice([
                    ("top-left", .topLeft), ("top-right", .topRight),
                    ("bottom-left", .bottomLeft), ("bottom-right", .bottomRight),
                ]),
                "`top-left`, `top-right`, `bottom-left` or `bottom-right`."
            ) { $0.display.selfViewCorner = $1 },
            .init(
                "selfview_size", "25", Self.number(10...50, "percent"),
                "The own picture's share of the screen's width and height in percent, 10 to 50."
            ) { $0.display.selfViewPercent = $1 },
            .init(
                "layout", "picture-in-picture",
                Self.choice([
                    ("full", .full), ("picture-in-picture", .pictureInPicture), ("side-by-side", .sideBySide),
                ]),
                """
                In a call: `full` shows the other side alone, `picture-in-picture` the own picture in a corner of it,
                `side-by-side` both beside each other.
                """
            ) { $0.display.layout = $1 },
            .init(
                "rotate", "0", Self.choice([("0", 0), ("90", 90), ("180", 180), ("270", 270)]),
                """
                Degrees by which everything is turned clockwise, for a screen that hangs on its side: `0`, `90`, `180`
                or `270`.
                """
            ) { $0.display.rotationDegrees = $1 },
        ])

    static let camera = ConfigurationSection(
        "camera", "The camera.",
        [
            .init(
                "device", "auto", ConfigurationValue.camera,
                """
                The camera's name in `/dev/v4l/by-path`, `auto` for the first, `file:PATH` of a YUV4MPEG2 clip, or
                `none`.
                """
            ) { $0.camera.device = $1 },
            .init(
                "size", "640x360", ConfigurationValue.size,
                """
                Width and height wanted, even numbers from 64x64 to 3840x2160. The nearest that the camera gives
                is taken.
                """
            ) { $0.camera.size = $1 },
            .init("fps", "30", Self.number(1...60), "Pictures a second, 1 to 60.") { $0.camera.fps = $1 },
            .init(
                "rotate", "0", Self.choice([("0", 0), ("90", 90), ("180", 180), ("270", 270)]),
                """
                Degrees by which its picture is turned clockwise, for a camera that hangs on its side: `0`, `90`, `180`
                or `270`. Both sides see it turned.
                """
            ) { $0.camera.rotationDegrees = $1 },
        ])

    static let video = ConfigurationSection(
        "video", "The pictures of calls.",
        [
            .init(
                "h264_licence", "none", Self.choice([("none", .none), ("accepted", .accepted), ("own", .own)]),
                """
                H.264, in which pictures are sent and received, is patented in some countries, and whether you may use
                it is yours to settle. With `accepted` you say that you have read and accept the terms under which
                the codec of this system may be used, with `own` that you have a licence of your own. With `none`
                calls have sound only, and the screen says so.
                """
            ) { $0.video.h264Licence = $1 },
            .init(
                "decoder", "auto", Self.choice([("auto", .automatic), ("software", .software)]),
                """
                Who decodes pictures: `auto` has the board's own decoder do it where one was tried and found good, with
                `software` the processor does it all.
                """
            ) { $0.video.decoder = $1 },
            .init(
                "encoder", "auto", Self.choice([("auto", .automatic), ("software", .software)]),
                "Who encodes the pictures that are sent; as for `decoder`."
            ) { $0.video.encoder = $1 },
            .init(
                "bitrate", "1500", Self.number(64...8000, "kbit/s"),
                "The most that is sent, in kbit/s, 64 to 8000. Less where the other side or the way to it takes less."
            ) { $0.video.bitrateKbps = $1 },
        ])
}

extension ConfigurationValue {
    /// `WIDTHxHEIGHT@HERTZ`, or nil for `none`.
    static func screenMode(_ value: ByteString) throws(BadValue) -> ScreenMode? {
        if value.equalsIgnoringCase("none") { return nil }
        let parts = value.split(on: UInt8(ascii: "@")).map { $0.trimmed() }
        guard parts.count == 2, let refresh = parts[1].decimal(max: 240), refresh >= 20 else {
            throw BadValue(self.quoted(value) + " is not a size and 20 to 240 pictures a second, as in 1920x1080@60")
        }
        return ScreenMode(try self.size(parts[0]), refreshHz: Int(refresh))
    }
}
