// SPDX-License-Identifier: Apache-2.0
import Bytes

/// What the network does to what one node sends.
struct Weather {
    var lossPerMille: UInt64
    var copiesPerMille: UInt64
    var delayMs: Int
    /// Up to so much more, drawn for each datagram: reorders.
    var jitterMs: UInt64
    /// Of a thousand datagrams, how many take up to two seconds.
    var slowPerMille: UInt64

    static let fine = Weather(lossPerMille: 0, copiesPerMille: 0, delayMs: 2, jitterMs: 0, slowPerMille: 0)

    var text: String {
        "\(self.lossPerMille)/\(self.copiesPerMille)/\(self.slowPerMille)‰ \(self.delayMs)+\(self.jitterMs)ms"
    }
}

/// How the proxy asks to be in the way of what follows an INVITE.
enum RecordRouting: String {
    case none, loose, strict
    /// One entry for each side (RFC 5658).
    case double
}

struct KioskOptions {
    var usesTCP = false
    /// As in `[call] incoming`.
    var incoming = "answer"
    /// As in `[sip] accept_from`.
    var acceptFrom = "servers"
    var followsTransfers = true
    var isOfferless = false
    /// Has long names: its INVITE is near the size that fits one datagram.
    var isWordy = false
    var ringTimeoutMs = 5000
    var mediaTimeoutMs = 5000
    var hasCamera = true
    var hasScreen = true
    var endsCall = false
    /// As in `[call] uri`.
    var targets = Self.targetLists[0]
    var cycles = 1

    static let targetLists = [
        "sip:desk@192.0.2.10", "sip:desk@192.0.2.10 + sip:help@192.0.2.10", "sip:desk@192.0.2.10, help",
        "sip:desk@192.0.2.10 + help + sip:u1@192.0.2.10, sip:help@192.0.2.10;postd=1p2",
    ]
    /// Has an account with the proxy.
    var registers = false
    /// How often its file is changed and read again.
    var reloads = 0

    var text: String {
        (self.usesTCP ? "tcp" : "udp") + " incoming=\(self.incoming) from=\(self.acceptFrom)"
            + (self.followsTransfers ? "" : " no-transfer") + (self.isOfferless ? " offerless" : "")
            + (self.isWordy ? " wordy" : "")
            + " ring=\(self.ringTimeoutMs) media=\(self.mediaTimeoutMs)" + (self.hasCamera ? "" : " no-camera")
            + (self.hasScreen ? "" : " no-screen") + (self.endsCall ? " ends-call" : "")
            + " \(self.cycles) x \(self.targets)"
            + (self.registers ? " registers" : "") + (self.reloads > 0 ? " reloads=\(self.reloads)" : "")
    }
}

/// All that differs from seed to seed and is fixed while a seed runs.
struct Options {
    let seed: UInt64
    var kiosks: [KioskOptions] = []
    /// By the sender's index: two kiosks, the proxy, the agents.
    var weather: [Weather] = []
    var agents = 0
    var agentsUseTCP = false
    var recordRouting = RecordRouting.loose
    var forksMax = 1
    /// The proxy loses what it knows of open INVITEs once.
    var isForgetful = false
    var attempts = 1
    /// Nothing is lost, nothing fails: only people and agents are odd.
    var isFine = false
    var partitions = 0
    var restarts = 0
    var resets = 0
    /// Of a hundred connections, how many are refused.
    var refusePercent: UInt64 = 0
    /// Streams bring their bytes one at a time, or nearly.
    var dripFeeds = false
    var strangers = 0
    var mediaLossPerMille: UInt64 = 0

    init(seed: UInt64) {
        self.seed = seed
        var draw = Generator(seed: seed ^ 0x5EED_0F0F)
        // A quarter of the worlds are nearly fine, so that whole calls are common, too.
        self.isFine = draw.below(4) == 0
        for _ in 0..<2 { self.kiosks.append(Self.kiosk(&draw)) }
        self.agents = Int(draw.below(4))
        for _ in 0..<(3 + self.agents) { self.weather.append(self.isFine ? .fine : Self.weather(&draw)) }
        self.agentsUseTCP = draw.below(4) == 0
        self.recordRouting = [.none, .loose, .loose, .double, .strict][Int(draw.below(5))]
        self.forksMax = 1 + Int(draw.below(3))
        self.isForgetful = draw.below(8) == 0
        self.attempts = 1 + Int(draw.below(6))
        self.dripFeeds = draw.below(4) == 0
        self.strangers = draw.below(4) == 0 ? 1 + Int(draw.below(4)) : 0
        self.drawAccounts()
        self.drawTargets()
        guard !self.isFine else { return }
        self.partitions = draw.below(3) == 0 ? 1 + Int(draw.below(2)) : 0
        self.restarts = draw.below(4) == 0 ? 1 + Int(draw.below(2)) : 0
        self.resets = draw.below(3) == 0 ? 1 + Int(draw.below(3)) : 0
        self.refusePercent = draw.below(3) == 0 ? 30 : 0
        self.mediaLossPerMille = draw.below(401)
    }

    /// From a generator of its own: worlds without accounts stay what they were.
    private mutating func drawAccounts() {
        var draw = Generator(seed: self.seed ^ 0x5EED_4E61)
        for index in self.kiosks.indices {
            self.kiosks[index].registers = draw.below(3) == 0
            self.kiosks[index].reloads = draw.below(4) == 0 ? 1 + Int(draw.below(3)) : 0
        }
    }

    /// The same for worlds with one target.
    private mutating func drawTargets() {
        var draw = Generator(seed: self.seed ^ 0x5EED_7A46)
        for index in self.kiosks.indices where draw.below(3) == 0 {
            self.kiosks[index].targets = KioskOptions.targetLists[Int(draw.below(4))]
            self.kiosks[index].cycles = 1 + Int(draw.below(2))
        }
    }

    private static func kiosk(_ draw: inout Generator) -> KioskOptions {
        KioskOptions(
            usesTCP: draw.below(3) == 0, incoming: ["answer", "answer", "ring", "refuse"][Int(draw.below(4))],
            acceptFrom: ["servers", "192.0.2.0/24", "anyone"][Int(draw.below(3))],
            followsTransfers: draw.below(4) > 0, isOfferless: draw.below(8) == 0,
            isWordy: draw.below(5) == 0,
            ringTimeoutMs: 5000 + 1000 * Int(draw.below(6)),
            mediaTimeoutMs: 5000 + 1000 * Int(draw.below(3)), hasCamera: draw.below(5) > 0,
            hasScreen: draw.below(5) > 0, endsCall: draw.below(3) == 0)
    }

    private static func weather(_ draw: inout Generator) -> Weather {
        Weather(
            lossPerMille: draw.below(2) == 0 ? draw.below(401) : draw.below(50),
            copiesPerMille: draw.below(2) == 0 ? draw.below(300) : 0, delayMs: 1 + Int(draw.below(100)),
            jitterMs: draw.below(2) == 0 ? draw.below(200) : 0, slowPerMille: draw.below(3) == 0 ? draw.below(100) : 0)
    }

    /// One line for the person who looks at a failure.
    var text: String {
        "kiosks [\(self.kiosks.map { $0.text }.joined(separator: ", "))]"
            + " weather [\(self.weather.map { $0.text }.joined(separator: ", "))]"
            + " agents=\(self.agents)\(self.agentsUseTCP ? " tcp" : "") route=\(self.recordRouting.rawValue)"
            + " forks=\(self.forksMax)\(self.isForgetful ? " forgetful" : "") attempts=\(self.attempts)"
            + " partitions=\(self.partitions) restarts=\(self.restarts) resets=\(self.resets)"
            + " refuse=\(self.refusePercent)%\(self.dripFeeds ? " drips" : "") strangers=\(self.strangers)"
            + " media-loss=\(self.mediaLossPerMille)‰"
    }
}
