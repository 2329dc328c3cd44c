// SPDX-License-Identifier: Apache-2.0
import Bytes
import SDPWire
import SIPWire

/// A key of `callbox.conf`. The table is the only place that knows which there are; `docs/callbox.conf.md` has a row
/// for each, which a test sees to.
struct ConfigurationSetting {
    typealias Reader<Value> = (ByteString) throws(BadValue) -> Value

    var section: ByteString
    var key: ByteString
    /// What holds while the key is missing or wrong, as in "… is used"; empty where there is nothing to say.
    var standard: ByteString
    var apply: (ByteString, inout Configuration) throws(BadValue) -> Void

    init<Value>(
        _ section: ByteString, _ key: ByteString, _ standard: ByteString, _ read: @escaping Reader<Value>,
        _ store: @escaping (inout Configuration, Value) -> Void
    ) {
        self.section = section
        self.key = key
        self.standard = standard
        self.apply = { (value, configuration) throws(BadValue) in
            store(&configuration, try read(value))
        }
    }

    static let all: [ConfigurationSetting] =
        Self.call + Self.sip + Self.servers + Self.accounts + Self.tls + ButtonName.all.flatMap { Self.button($0) }
        + Self.lamp + Self.display + Self.media + Self.identity + Self.location

    /// In the order of the table, each once.
    static let sections: [ByteString] = Self.all.reduce(into: []) { sections, setting in
        if sections.last != setting.section { sections.append(setting.section) }
    }
}

// MARK: - Readers with their bounds

extension ConfigurationSetting {
    private static func number(_ range: ClosedRange<Int>, _ unit: ByteString = "") -> Reader<Int> {
        { (value) throws(BadValue) in try ConfigurationValue.number(value, range, unit: unit) }
    }

    private static func degrees(max: UInt64) -> Reader<ByteString> {
        { (value) throws(BadValue) in try ConfigurationValue.degrees(value, max: max) }
    }

    private static func choice<Choice>(_ choices: [(ByteString, Choice)]) -> Reader<Choice> {
        { (value) throws(BadValue) in try ConfigurationValue.choice(value, choices) }
    }
}

// MARK: - The table

extension ConfigurationSetting {
    private static let call: [ConfigurationSetting] = [
        .init("call", "uri", "", ConfigurationValue.uri) { $0.call.uri = $1 },
        .init("call", "incoming", "refuse", Self.choice([("refuse", .refuse), ("ring", .ring), ("answer", .answer)])) {
            $0.call.incoming = $1
        },
        .init("call", "transfer", "follow", Self.choice([("follow", .follow), ("refuse", .refuse)])) {
            $0.call.transfer = $1
        },
        .init("call", "ring_timeout", "60", Self.number(5...600, "seconds")) { $0.call.ringTimeoutMs = $1 * 1000 },
        .init("call", "media_timeout", "10", Self.number(5...600, "seconds")) { $0.call.mediaTimeoutMs = $1 * 1000 },
    ]

    /// Whether a line without a value is right: a password that was moved leaves one.
    var mayBeEmpty: Bool { self.section == "sip" && (self.key == "password" || self.key == "auth_user") }

    private static let sip: [ConfigurationSetting] = [
        .init("sip", "listen", "any:5060", ConfigurationValue.listen) { $0.sip.listen = $1 },
        .init("sip", "transport", "udp", Self.choice(Self.transports)) { $0.sip.transport = $1 },
        .init("sip", "user", "callbox", ConfigurationValue.user) { $0.sip.user = $1 },
        .init("sip", "name", "Callbox", ConfigurationValue.displayName) { $0.sip.name = $1 },
        .init("sip", "offerless", "no", ConfigurationValue.yesOrNo) { $0.sip.isOfferless = $1 },
        .init("sip", "accept_from", "servers", ConfigurationValue.peers) { $0.sip.acceptFrom = $1 },
        .init("sip", "auto_answer_from", "none", ConfigurationValue.ranges) { $0.sip.autoAnswerFrom = $1 },
        .init("sip", "accounts", "serial", Self.choice([("serial", .serial), ("all", .all)])) { $0.sip.accounts = $1 },
        .init("sip", "auth_user", "", ConfigurationValue.authUser) { $0.sip.authUser = $1 },
        .init("sip", "password", "", ConfigurationValue.password) { $0.sip.password = $1 },
    ]

    private static let transports: [(ByteString, SIPTransport)] = [("udp", .udp), ("tcp", .tcp), ("tls", .tls)]

    private static let tls: [ConfigurationSetting] = [
        .init("tls", "verify", "strict", Self.choice(Self.verifications)) { $0.tls.verify = $1 },
        .init("tls", "pins", "none", ConfigurationValue.pins) { $0.tls.pins = $1 },
        .init("tls", "wildcard", "no", ConfigurationValue.yesOrNo) { $0.tls.allowsWildcard = $1 },
        .init("tls", "ca", "none", ConfigurationValue.path) { $0.tls.authorities = $1 },
        .init("tls", "certificate", "none", ConfigurationValue.path) { $0.tls.certificate = $1 },
        .init("tls", "key", "none", ConfigurationValue.path) { $0.tls.key = $1 },
        .init("tls", "listen", "any:5061", ConfigurationValue.listenForTLS) { $0.tls.listen = $1 },
        .init("tls", "ask", "none", ConfigurationValue.path) { $0.tls.ask = $1 },
    ]

    private static let verifications: [(ByteString, TLSSettings.Verify)] = [
        ("strict", .strict), ("pin", .pin), ("tofu", .firstSeen), ("off", .off),
    ]
    private static let accounts: [ConfigurationSetting] = (0..<Configuration.accountsMax).flatMap { Self.account($0) }

    private static func account(_ index: Int) -> [ConfigurationSetting] {
        let section: ByteString = index == 0 ? "account" : "account." + ByteString(decimal: index + 1)
        return [
            .init(section, "uri", "", ConfigurationValue.uri) { $0.accounts[index].uri = $1 },
            .init(section, "registrar", "auto", ConfigurationValue.registrar) { $0.accounts[index].registrar = $1 },
            .init(section, "register", "yes", ConfigurationValue.yesOrNo) { $0.accounts[index].registers = $1 },
            .init(section, "expires", "600", Self.number(60...86_400, "seconds")) {
                $0.accounts[index].expiresSeconds = $1
            },
            .init(section, "outbound", "yes", ConfigurationValue.yesOrNo) { $0.accounts[index].isOutbound = $1 },
        ]
    }

    private static let servers: [ConfigurationSetting] = [
        .init("servers", "proxies", "none", ConfigurationValue.proxies) { $0.servers.proxies = $1 },
        .init(
            "servers", "failback", "auto", Self.choice([("auto", .auto), ("manual", .manual), ("never", .never)])
        ) { $0.servers.failback = $1 },
    ]

    private static func button(_ button: ButtonName) -> [ConfigurationSetting] {
        let section: ByteString = "button." + button.text
        let biases: [(ByteString, ButtonSettings.Bias?)] = [
            ("pull-up", .pullUp), ("pull-down", .pullDown), ("none", ButtonSettings.Bias.none), ("auto", nil),
        ]
        var settings: [ConfigurationSetting] = [
            .init(section, "line", "no such button", ConfigurationValue.line) { $0[button].line = $1 },
            .init(section, "active_low", "yes", ConfigurationValue.yesOrNo) { $0[button].isActiveLow = $1 },
            .init(section, "bias", "auto", Self.choice(biases)) { $0[button].biasWanted = $1 },
            .init(section, "debounce", "20", Self.number(0...500, "milliseconds")) { $0[button].debounceMs = $1 },
        ]
        if button == .call {
            settings += [
                .init(section, "ends_call", "no", ConfigurationValue.yesOrNo) { $0[button].endsCall = $1 },
                .init(section, "name", "auto", ConfigurationValue.textOrAuto) { $0[button].callerName = $1 },
                .init(section, "label", "auto", ConfigurationValue.textOrAuto) { $0[button].label = $1 },
            ]
        }
        return settings
    }

    private static let lamp: [ConfigurationSetting] = [
        .init("lamp.call", "line", "no such lamp", ConfigurationValue.line) { $0.panel[.call].line = $1 },
        .init("lamp.call", "active_low", "no", ConfigurationValue.yesOrNo) { $0.panel[.call].isActiveLow = $1 },
    ]

    private static let display: [ConfigurationSetting] = [
        .init("display", "connector", "auto", ConfigurationValue.connector) { $0.display.connector = $1 },
        .init("display", "remote", "fit", Self.choice([("fit", .fit), ("fill", .fill)])) { $0.display.remote = $1 },
        .init("display", "selfview", "call", Self.choice([("off", .off), ("call", .call), ("always", .always)])) {
            $0.display.selfView = $1
        },
        .init("display", "selfview_corner", "bottom-right", Self.choice(Self.corners)) {
            $0.display.selfViewCorner = $1
        },
    ]

    private static let corners: [(ByteString, DisplaySettings.Corner)] = [
        ("top-left", .topLeft), ("top-right", .topRight), ("bottom-left", .bottomLeft), ("bottom-right", .bottomRight),
    ]

    private static let media: [ConfigurationSetting] = [
        .init("camera", "device", "auto", ConfigurationValue.camera) { $0.camera.device = $1 },
        .init("camera", "size", "640x360", ConfigurationValue.size) { $0.camera.size = $1 },
        .init("camera", "fps", "30", Self.number(1...60)) { $0.camera.fps = $1 },
        .init("audio", "playback", "auto", ConfigurationValue.sound) { $0.audio.playback = $1 },
        .init("audio", "capture", "auto", ConfigurationValue.sound) { $0.audio.capture = $1 },
        .init("audio", "codecs", "opus, pcmu, pcma", ConfigurationValue.codecs) { $0.audio.codecs = $1 },
        .init("video", "bitrate", "1500", Self.number(64...8000, "kbit/s")) { $0.video.bitrateKbps = $1 },
        .init(
            "media", "encryption", "optional",
            Self.choice([("off", .off), ("optional", .optional), ("required", .required)])
        ) { $0.media.encryption = $1 },
        .init(
            "media", "keying", "auto",
            Self.choice([("auto", .automatic), ("sdes", .sdes), ("dtls", .dtls), ("both", .both)])
        ) { $0.media.keying = $1 },
        .init("rtp", "ports", "40000-40099", ConfigurationValue.ports) { $0.rtp.ports = $1 },
        .init("network", "dns", "auto", ConfigurationValue.nameServers) { $0.network.nameServers = $1 },
        .init("network", "dscp_signalling", "40", Self.number(0...63)) {
            $0.network.signallingCodePoint = UInt8($1)
        },
        .init("network", "dscp_sound", "46", Self.number(0...63)) { $0.network.soundCodePoint = UInt8($1) },
        .init("network", "dscp_picture", "34", Self.number(0...63)) { $0.network.pictureCodePoint = UInt8($1) },
    ]

    private static let identity: [ConfigurationSetting] = [
        .init("identity", "user_agent", "auto", ConfigurationValue.textOrAuto) { $0.identity.userAgent = $1 },
        .init("identity", "product", "auto", ConfigurationValue.textOrAuto) { $0.identity.product = $1 },
        .init("identity", "version", "auto", ConfigurationValue.textOrAuto) { $0.identity.version = $1 },
        .init("identity", "board", "auto", ConfigurationValue.textOrAuto) { $0.identity.board = $1 },
        .init("identity", "architecture", "auto", ConfigurationValue.textOrAuto) {
            $0.identity.architecture = $1
        },
        .init("identity", "system", "auto", ConfigurationValue.textOrAuto) { $0.identity.system = $1 },
        .init("identity", "build", "auto", ConfigurationValue.textOrAuto) { $0.identity.build = $1 },
        .init("identity", "preferred", "none", ConfigurationValue.uriOrNone) { $0.identity.preferred = $1 },
        .init("identity", "privacy", "none", ConfigurationValue.privacy) { $0.identity.privacy = $1 },
    ]

    private static let location: [ConfigurationSetting] =
        [
            .init("location", "latitude", "none", Self.degrees(max: 90)) { $0.location.latitude = $1 },
            .init("location", "longitude", "none", Self.degrees(max: 180)) { $0.location.longitude = $1 },
            .init("location", "uncertainty", "none", ConfigurationValue.uncertainty) {
                $0.location.uncertaintyM = $1
            },
            .init("location", "uri", "none", ConfigurationValue.locationURI) { $0.location.uri = $1 },
            .init("location", "routing", "yes", ConfigurationValue.yesOrNo) { $0.location.mayRoute = $1 },
        ]
        + CivicElement.all.enumerated().map { index, element in
            .init("location", element.key, "none", ConfigurationValue.textOrNone) { $0.location.civic[index] = $1 }
        }
}
