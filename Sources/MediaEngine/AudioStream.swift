// SPDX-License-Identifier: Apache-2.0

import Bytes
import RTPWire

/// Sound of a call: packets in and out, and key presses between them.
struct AudioStream {
    var core: StreamCore
    private var plan: AudioPlan
    private var digitsIn = DigitReceiver()
    private var digitsOut: DigitSender

    /// Payload type of telephone events by long habit, used by some peers without asking.
    private static let habitualEvents = PayloadType(101)

    init(plan: AudioPlan, seed: UInt64, now: Instant) {
        self.plan = plan
        self.core = StreamCore(kind: .audio, plan: plan.stream, seed: seed, now: now)
        self.digitsOut = DigitSender(rate: plan.telephoneEventRate)
    }

    mutating func update(_ plan: AudioPlan, now: Instant) {
        guard plan != self.plan else { return }
        if plan.telephoneEventRate != self.plan.telephoneEventRate {
            self.digitsOut = DigitSender(rate: plan.telephoneEventRate)
        }
        self.plan = plan
        self.core.update(plan.stream, now: now)
    }

    // MARK: Receiving

    mutating func receive(
        _ packet: RTPPacket, from source: SocketAddress, now: Instant, _ outputs: inout OutputQueue
    ) {
        if let codec = self.codec(of: packet.payloadType) {
            let arrival = self.core.receive(packet, from: source, rate: codec.clockRate, now: now, &outputs)
            if arrival.isNewEpoch { self.digitsIn.reset() }
            for packet in arrival.packets { self.deliver(packet, &outputs) }
        } else if self.isEvent(packet) {
            let arrival = self.core.receive(packet, from: source, rate: 0, now: now, &outputs)
            for packet in arrival.packets { self.deliver(packet, &outputs) }
        } else {
            self.core.counts.packetsDropped &+= 1
        }
    }

    private func codec(of type: PayloadType) -> AudioCodec? {
        self.plan.receivePayloadTypes.first { $0.payloadType == type }?.codec
    }

    private func isEvent(_ packet: RTPPacket) -> Bool {
        let agreed = self.plan.telephoneEventReceivePayloadType ?? self.plan.telephoneEventPayloadType
        if let agreed { return packet.payloadType == agreed }
        return packet.payloadType == Self.habitualEvents && packet.payload.count == 4
    }

    /// A source's first packets may be of either kind, so each is looked at again.
    private mutating func deliver(_ packet: RTPPacket, _ outputs: inout OutputQueue) {
        guard let codec = self.codec(of: packet.payloadType) else {
            if let event = TelephoneEvent.parse(packet.payload),
                let key = self.digitsIn.take(event, timestamp: packet.timestamp)
            {
                outputs.push(.event(.digit(key)))
            }
            return
        }
        guard let samples = Self.samples(packet.payload, codec) else {
            self.core.counts.packetsDropped &+= 1
            return
        }
        let sound = AudioPacket(
            payload: Array(packet.payload), codec: codec, ssrc: packet.ssrc, sequence: packet.sequence,
            timestamp: packet.timestamp, samples: samples, marker: packet.marker)
        outputs.push(.audio(sound))
    }

    /// How long the payload plays; nil where it is empty, broken, or longer than sound packets are.
    private static func samples(_ payload: ArraySlice<UInt8>, _ codec: AudioCodec) -> UInt32? {
        guard !payload.isEmpty, payload.count <= MediaLimits.audioPayloadBytesMax else { return nil }
        switch codec {
        case .opus: return OpusPacket.samples(payload)
        case .pcmu, .pcma: return UInt32(payload.count)
        }
    }

    // MARK: Sending

    mutating func encoded(
        _ payload: [UInt8], samples: UInt32, captured: Instant, _ outputs: inout OutputQueue
    ) {
        guard self.core.canSend, !self.digitsOut.isBusy, !payload.isEmpty else { return }
        let time = self.core.sender.timestamp(
            samples: samples, captured: captured, rate: self.plan.codec.clockRate)
        let packet = self.core.sender.packet(
            payload, type: self.plan.sendPayloadType, timestamp: time.timestamp, marker: time.startsTalkspurt)
        self.core.send(packet, &outputs)
    }

    mutating func sendDigit(_ key: UInt8, durationMs: Int, now: Instant) {
        guard self.plan.telephoneEventPayloadType != nil else { return }
        self.digitsOut.push(key: key, durationMs: durationMs, now: now)
    }

    // MARK: Time

    var deadline: Instant? {
        MediaClock.earlier(self.core.deadline, self.digitsOut.deadline)
    }

    mutating func expire(now: Instant, ntpAtZero: NTPTime, _ outputs: inout OutputQueue) {
        while let packet = self.digitsOut.expire(now: now) {
            guard self.core.canSend, let type = self.plan.telephoneEventPayloadType else { continue }
            let timestamp = self.core.sender.timestamp(captured: packet.started, rate: self.plan.codec.clockRate)
            let bytes = self.core.sender.packet(
                packet.payload.printed(), type: type, timestamp: timestamp, marker: packet.marker)
            self.core.send(bytes, &outputs)
        }
        self.core.expire(now: now, ntpAtZero: ntpAtZero, &outputs)
    }
}
