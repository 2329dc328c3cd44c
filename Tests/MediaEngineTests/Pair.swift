// SPDX-License-Identifier: Apache-2.0

import Bytes
import MediaEngine
import RTPWire

/// Two engines with an encoder and a decoder each, over a seeded network in virtual time.
struct Pair {
    /// What the network does to each datagram.
    struct Weather {
        var lossPercent: UInt64 = 0
        var duplicatePercent: UInt64 = 0
        var delayMs = 20
        /// Added at random to the delay; beyond the distance of packets it reorders.
        var jitterMs: UInt64 = 0
        /// Reports only: requests for key frames get lost more easily than pictures.
        var reportLossPercent: UInt64 = 0

        static let fine = Weather()
    }

    /// An encoder that makes a picture each 33 ms, and a decoder that knows which picture the next must follow.
    struct Side {
        var engine: MediaEngine
        var frame: UInt32 = 0
        var nextIsKey = true
        /// Keeps the order so that the encoder can be slow to follow.
        var keyFrames = 0
        var lastShown: UInt32?
        var shown = 0
        var shownAtMs: [Int] = []
        /// Pictures handed on whose predecessor was not the one before: broken on the screen.
        var broken = 0
        var sounds = 0
        var pictureLosses = 0
        /// Key frames to report as decoded, by the time the decoder is done.
        var decodedAtMs: [Int] = []
    }

    private struct Datagram {
        var due: Int
        var toLeft: Bool
        var bytes: [UInt8]
        var kind: StreamKind
        var channel: Channel
    }

    var weather = Weather.fine
    var left = Side(engine: MediaEngine(seed: 21))
    var right = Side(engine: MediaEngine(seed: 22))
    private(set) var nowMs = 0
    private var generator: Generator
    private var inFlight: [Datagram] = []

    private static let leftHost = IPAddress.v4(1)
    private static let rightHost = IPAddress.v4(2)

    private var now: Instant { Instant(nanoseconds: 77_000_000_000) + Duration.milliseconds(self.nowMs) }

    init(seed: UInt64) {
        self.generator = Generator(seed: seed)
        self.give(.start(Self.plan(peer: Self.rightHost, ssrc: 1)), left: true)
        self.give(.start(Self.plan(peer: Self.leftHost, ssrc: 10)), left: false)
    }

    private static func plan(peer: IPAddress, ssrc: UInt32) -> MediaPlan {
        var audio = Call.audio(rtp: self.address(peer, .audio, .rtp), rtcp: self.address(peer, .audio, .rtcp))
        audio.stream.localSSRC = SSRC(ssrc)
        var video = Call.video(rtp: self.address(peer, .video, .rtp))
        video.stream.remoteRTCP = self.address(peer, .video, .rtcp)
        video.stream.localSSRC = SSRC(ssrc + 1)
        return Call.plan(audio: audio, video: video)
    }

    private static func address(_ host: IPAddress, _ kind: StreamKind, _ channel: Channel) -> SocketAddress {
        SocketAddress(host, port: (kind == .audio ? 4000 : 4002) + (channel == .rtp ? 0 : 1))
    }

    mutating func run(ms: Int) {
        for _ in 0..<ms {
            self.nowMs += 1
            self.deliver()
            for isLeft in [true, false] { self.turn(left: isLeft) }
        }
    }

    private mutating func turn(left: Bool) {
        if self.nowMs % 20 == 0 {
            self.give(.audioEncoded(Array(repeating: 1, count: 160), samples: 160, captured: self.now), left: left)
        }
        if self.nowMs % 33 == 0 { self.encode(left: left) }
        let side = left ? self.left : self.right
        if let done = side.decodedAtMs.first, done <= self.nowMs {
            if left { self.left.decodedAtMs.removeFirst() } else { self.right.decodedAtMs.removeFirst() }
            self.give(.keyFrameDecoded, left: left)
        }
        self.give(.timeout, left: left)
    }

    private mutating func encode(left: Bool) {
        var side = left ? self.left : self.right
        let isKey = side.nextIsKey
        side.nextIsKey = false
        side.frame += 1
        if isKey { side.keyFrames += 1 }
        let size = isKey ? 15_000 : 3000
        var units = Pictures.units(key: isKey, size: size)
        let last = units.count - 1
        for shift in 0..<4 { units[last][4 + shift] = UInt8(truncatingIfNeeded: side.frame >> UInt32(8 * shift)) }
        if left { self.left = side } else { self.right = side }
        self.give(.videoEncoded(units, isKeyFrame: isKey, captured: self.now), left: left)
    }

    private mutating func show(_ unit: AccessUnit, left: Bool) {
        var side = left ? self.left : self.right
        let slice = unit.nalUnits[unit.nalUnits.count - 1]
        let frame = (0..<4).reduce(UInt32(0)) { $0 | UInt32(slice[4 + $1]) << UInt32(8 * $1) }
        if !unit.isKeyFrame && side.lastShown != frame - 1 { side.broken += 1 }
        side.lastShown = frame
        side.shown += 1
        side.shownAtMs.append(self.nowMs)
        if unit.isKeyFrame { side.decodedAtMs.append(self.nowMs + 15) }
        if left { self.left = side } else { self.right = side }
    }

    private mutating func give(_ input: MediaEngine.Input, left: Bool) {
        if left {
            self.left.engine.handle(input, now: self.now)
        } else {
            self.right.engine.handle(input, now: self.now)
        }
        while true {
            let output = left ? self.left.engine.pollOutput() : self.right.engine.pollOutput()
            switch output {
            case .send(let bytes, let kind, let channel, _): self.post(bytes, kind, channel, fromLeft: left)
            case .audio: if left { self.left.sounds += 1 } else { self.right.sounds += 1 }
            case .video(let unit): self.show(unit, left: left)
            case .encodeKeyFrame: if left { self.left.nextIsKey = true } else { self.right.nextIsKey = true }
            case .encodeRate, .event: break
            case .wait: return
            }
        }
    }

    private mutating func post(_ bytes: [UInt8], _ kind: StreamKind, _ channel: Channel, fromLeft: Bool) {
        let loss = channel == .rtcp ? self.weather.reportLossPercent : self.weather.lossPercent
        if self.generator.below(100) < loss { return }
        let copies = self.generator.below(100) < self.weather.duplicatePercent ? 2 : 1
        for _ in 0..<copies {
            let jitter = self.weather.jitterMs > 0 ? Int(self.generator.below(self.weather.jitterMs)) : 0
            let due = self.nowMs + self.weather.delayMs + jitter
            self.inFlight.append(Datagram(due: due, toLeft: !fromLeft, bytes: bytes, kind: kind, channel: channel))
        }
    }

    private mutating func deliver() {
        let due = self.inFlight.filter { $0.due <= self.nowMs }
        guard !due.isEmpty else { return }
        self.inFlight.removeAll { $0.due <= self.nowMs }
        for datagram in due {
            let host = datagram.toLeft ? Self.rightHost : Self.leftHost
            let source = Self.address(host, datagram.kind, datagram.channel)
            self.give(.received(datagram.bytes, datagram.kind, datagram.channel, from: source), left: datagram.toLeft)
        }
    }
}
