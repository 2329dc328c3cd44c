// SPDX-License-Identifier: Apache-2.0

import Bytes
import H264
import RTPWire

/// Pictures of a call.
///
/// Incoming pictures are put together and handed on only while nothing they refer to is missing: after a loss they are
/// held until a key frame, so that a broken picture never reaches the screen.
struct VideoStream {
    var core: StreamCore
    private(set) var plan: VideoPlan
    var packetizer: H264Packetizer
    private var depacketizer = H264Depacketizer()
    private var reorder = ReorderBuffer()
    private var requester = KeyFrameRequester()
    var orders = KeyFrameOrders()
    var pacer = Pacer()
    /// Key frames to order unasked, soonest last.
    private var startKeyFrames: [Instant] = []
    /// When a loss report made us order a key frame.
    var orderedOnLossAt: Instant?
    var rate: SendRate
    var noticedAt: Instant?
    private var firCommand: UInt8 = 0
    private var signalled = SignalledRequests()

    init(plan: VideoPlan, seed: UInt64, now: Instant, _ outputs: inout OutputQueue) {
        self.plan = plan
        self.core = StreamCore(kind: .video, plan: plan.stream, seed: seed, now: now)
        self.packetizer = H264Packetizer(mode: plan.packetizationMode, maxPayloadSize: max(64, plan.maxPayloadSize))
        self.rate = SendRate(agreed: plan.bitrateKbps)
        self.beginEpoch(now: now)
        if plan.stream.sends { self.beginSending(now: now, &outputs) }
    }

    mutating func update(_ plan: VideoPlan, now: Instant, _ outputs: inout OutputQueue) {
        guard plan != self.plan else { return }
        let old = self.plan
        self.plan = plan
        self.packetizer = H264Packetizer(mode: plan.packetizationMode, maxPayloadSize: max(64, plan.maxPayloadSize))
        self.core.update(plan.stream, now: now)
        // Those that were said before may be older than what came with the pictures.
        if plan.parameterSets != old.parameterSets {
            for parameterSet in plan.parameterSets { self.depacketizer.learn(parameterSet: parameterSet) }
        }
        if plan.stream.receives && !old.stream.receives {
            self.beginEpoch(now: now)
            self.requester.need(now: now)
        } else if !plan.stream.receives {
            self.requester.stop()
        }
        let isMoved = plan.stream.remoteRTP != old.stream.remoteRTP || plan.stream.localSSRC != old.stream.localSSRC
        // A key frame that was ordered or sent before the pause is of no use after it.
        if plan.stream.sends && !old.stream.sends { self.orders = KeyFrameOrders() }
        guard plan.stream.sends else { return }
        let isNew = !old.stream.sends || isMoved
        let rate = self.rate.agree(on: plan.bitrateKbps, isNew: isNew)
        if isNew { self.beginSending(now: now, &outputs) } else { self.order(rate, &outputs) }
    }

    /// Whether the peer speaks of key-frame requests by RTCP: then it understands ours, and makes its own.
    var canBeAsked: Bool { self.plan.feedback.pli || self.plan.feedback.fir }

    private mutating func beginSending(now: Instant, _ outputs: inout OutputQueue) {
        let times = self.canBeAsked ? MediaLimits.startKeyFramesMs : MediaLimits.startKeyFramesDeafMs
        self.startKeyFrames = times.reversed().map { now + Duration.milliseconds($0) }
        self.orderKeyFrame(now: now, &outputs)
        self.order(self.rate.ordered, &outputs)
    }

    /// Forgets the stream that was received; the next begins with a key frame.
    private mutating func beginEpoch(now: Instant) {
        self.depacketizer = H264Depacketizer()
        self.reorder = ReorderBuffer()
        for parameterSet in self.plan.parameterSets { self.depacketizer.learn(parameterSet: parameterSet) }
        self.requester.stop()
    }
}

// MARK: - Receiving

extension VideoStream {
    mutating func receive(
        _ packet: RTPPacket, from source: SocketAddress, now: Instant, _ outputs: inout OutputQueue
    ) {
        guard self.plan.receivePayloadTypes.contains(packet.payloadType) else {
            self.core.counts.packetsDropped &+= 1
            return
        }
        let targetBefore = self.core.rtpLatch.target
        let arrival = self.core.receive(
            packet, from: source, rate: MediaClock.videoRate, now: now, &outputs)
        if arrival.isNewEpoch, let first = arrival.packets.first {
            self.beginEpoch(now: now)
            let grace = Self.mayBeginPicture(first) ? MediaLimits.firstPictureGraceMs : 0
            self.requester.need(after: Duration.milliseconds(grace), now: now)
        }
        for packet in arrival.packets {
            let gaps = self.reorder.gaps
            let ordered = self.reorder.insert(packet, now: now)
            if self.reorder.gaps != gaps { self.requester.need(now: now) }
            self.take(ordered, now: now, &outputs)
        }
        // What was sent so far went to the wrong place.
        if self.core.rtpLatch.target != targetBefore, self.core.canSend { self.orderKeyFrame(now: now, &outputs) }
    }

    /// Whether a stream's first packet looks like the start of a key frame.
    private static func mayBeginPicture(_ packet: RTPPacket) -> Bool {
        guard let first = packet.payload.first else { return false }
        var type = NALUnitType.of(first)
        if type == NALUnitType.fuA, let header = packet.payload.dropFirst().first, header & 0x80 != 0 {
            type = NALUnitType.of(header)
        }
        return type == NALUnitType.stapA || (NALUnitType.idrSlice...NALUnitType.accessUnitDelimiter).contains(type)
    }

    private mutating func take(_ packets: [RTPPacket], now: Instant, _ outputs: inout OutputQueue) {
        for packet in packets {
            for unit in self.depacketizer.take(packet) { self.deliver(unit, now: now, &outputs) }
        }
    }

    private mutating func deliver(_ unit: AccessUnit, now: Instant, _ outputs: inout OutputQueue) {
        guard unit.isComplete else {
            self.core.counts.framesHeld &+= 1
            self.requester.need(now: now)
            return
        }
        self.core.counts.framesReceived &+= 1
        if unit.isKeyFrame {
            self.core.counts.keyFramesReceived &+= 1
            self.requester.keyFrameDelivered(now: now)
        } else if unit.followsLoss {
            self.requester.need(now: now)
        }
        guard self.requester.isOpen else {
            self.core.counts.framesHeld &+= 1
            return
        }
        var stamped = unit
        stamped.arrivedNanoseconds = now.nanoseconds
        outputs.push(.video(stamped))
    }

    mutating func keyFrameDecoded() {
        self.requester.keyFrameDecoded()
    }

    mutating func pictureBroken(now: Instant) {
        self.requester.broken(now: now)
    }

    /// PLI where the peer did not say it knows only FIR: who knows neither passes over it, and is asked by signalling
    /// as well.
    private mutating func askKeyFrame(now: Instant, ntpAtZero: NTPTime, _ outputs: inout OutputQueue) {
        guard let source = self.core.source else { return }
        if !self.canBeAsked, self.signalled.ask(now: now) { outputs.push(.event(.keyFrameWanted)) }
        let ours = self.core.sender.ssrc
        if self.plan.feedback.fir && !self.plan.feedback.pli {
            self.firCommand &+= 1
            self.core.counts.firSent &+= 1
            let request = FullIntraRequest(source: source, commandSequence: self.firCommand)
            self.core.sendReport(
                with: [.fullIntra(sender: ours, [request])], now: now, ntpAtZero: ntpAtZero, &outputs)
        } else {
            self.core.counts.pliSent &+= 1
            self.core.sendReport(
                with: [.pictureLoss(sender: ours, media: source)], now: now, ntpAtZero: ntpAtZero, &outputs)
        }
    }
}

// MARK: - Time

extension VideoStream {
    var deadline: Instant? {
        var soonest = MediaClock.earlier(self.core.deadline, self.reorder.deadline)
        soonest = MediaClock.earlier(soonest, self.requester.deadline)
        soonest = MediaClock.earlier(soonest, self.orders.deadline)
        soonest = MediaClock.earlier(soonest, self.pacer.deadline)
        return MediaClock.earlier(soonest, self.startKeyFrames.last)
    }

    mutating func expire(now: Instant, ntpAtZero: NTPTime, _ outputs: inout OutputQueue) {
        for packet in self.pacer.expire(now: now) { self.core.send(packet, &outputs) }
        while let deadline = self.reorder.deadline, deadline <= now {
            let ordered = self.reorder.expire(now: now)
            self.requester.need(now: now)
            self.take(ordered, now: now, &outputs)
        }
        if let due = self.startKeyFrames.last, due <= now {
            self.startKeyFrames.removeLast()
            if self.core.canSend { self.orderKeyFrame(now: now, &outputs) }
        }
        if self.orders.expire(now: now), self.core.canSend { outputs.push(.encodeKeyFrame) }
        if self.requester.expire(now: now) { self.askKeyFrame(now: now, ntpAtZero: ntpAtZero, &outputs) }
        self.core.expire(now: now, ntpAtZero: ntpAtZero, &outputs)
    }
}
