// SPDX-License-Identifier: Apache-2.0

import Bytes
import SDPWire

/// A description: read, printed, answered, and taken for an answer.
func fuzzSDP(_ input: [UInt8]) {
    guard let description = try? SessionDescription.parse(input) else { return }
    if let again = try? SessionDescription.parse(description.printed()) {
        require(again.media.map { $0.kind } == description.media.map { $0.kind }, "media keep their places")
        require(again.media.map { $0.port } == description.media.map { $0.port }, "media keep their ports")
    } else {
        require(description.printed().count > SDPLimits.bytes, "what was printed can be read")
    }
    for local in [kiosk, secured(.optional), secured(.required), reached()] {
        let answer = OfferAnswer.makeAnswer(to: description, local: local, sessionID: 1, sessionVersion: 1)
        checkAnswer(answer.description, to: description)
        for stream in [answer.session.audio, answer.session.video].compactMap({ $0 }) {
            checkStream(stream)
            require(local.audio.security.policy != .required || !stream.protection.isNone, "what must be is secure")
        }
    }
    let soundOnly = LocalMedia(address: kiosk.address, audio: kiosk.audio, video: nil)
    for local in [kiosk, soundOnly, secured(.optional), secured(.required), reached()] {
        let offer = OfferAnswer.makeOffer(local, sessionID: 1, sessionVersion: 1)
        guard let session = try? OfferAnswer.acceptAnswer(description, to: offer) else { continue }
        for stream in [session.audio, session.video].compactMap({ $0 }) { checkStream(stream) }
    }
}

private func checkAnswer(_ answer: SessionDescription, to offer: SessionDescription) {
    require(answer.media.map { $0.kind } == offer.media.map { $0.kind }, "as many media in the same order")
    require(answer.media.map { $0.profile } == offer.media.map { $0.profile }, "with the same profiles")
    for (offered, answered) in zip(offer.media, answer.media) {
        require(offered.port != 0 || answered.port == 0, "what was refused stays refused")
        require(answered.payloadTypes.allSatisfy { offered.payloadTypes.contains($0) }, "with the offer's formats")
    }
    guard let read = try? SessionDescription.parse(answer.printed()) else {
        return require(answer.printed().count > SDPLimits.bytes, "our answer can be read")
    }
    require(read.media.map { $0.port } == answer.media.map { $0.port }, "our answer keeps its ports")
}

private func checkStream(_ stream: NegotiatedStream) {
    require(stream.remoteRTP.port != 0, "media go to a port")
    require(!stream.direction.sends || !stream.remoteRTP.address.isUnspecified, "media go somewhere")
    if let ice = stream.ice {
        require(ice.remote.candidates.count <= SDPLimits.candidates, "candidates are bounded")
        require(ice.remote.candidates.allSatisfy { $0.address.port != 0 }, "candidates have ports")
    }
    require((10...60).contains(stream.ptimeMs), "packets have a sane length")
}

private func secured(_ policy: LocalSecurity.Policy) -> LocalMedia {
    let security = LocalSecurity(
        policy: policy, offers: policy == .required ? [.dtls] : [.sdes, .dtls],
        secrets: CryptoSuite.usable.map { CryptoSecret($0, [UInt8](repeating: 1, count: $0.secretBytes)) },
        fingerprint: Fingerprint(.sha256, [UInt8](repeating: 9, count: 32)), tlsID: "t")
    var local = kiosk
    local.audio.security = security
    local.video?.security = security
    return local
}

/// With ways of its own.
private func reached() -> LocalMedia {
    let candidate = ICECandidate(
        foundation: "1", component: 1, priority: 1, address: SocketAddress(kiosk.address, port: 16_388), kind: .host)
    let ice = LocalICE(
        credentials: ICECredentials(fragment: "ours", password: "0123456789012345678901"), candidates: [candidate])
    var local = kiosk
    local.audio.ice = ice
    local.video?.ice = ice
    return local
}

private let kiosk = LocalMedia(
    address: .v4(0xC000_0263),
    audio: LocalStream(
        port: 16_384, rtcpPort: 16_385,
        codecs: [
            CodecOffer(.opus(OpusParameters()), payloadType: 96), CodecOffer(.pcmu, payloadType: 0),
            CodecOffer(.pcma, payloadType: 8),
        ],
        telephoneEventPayloadType: 101, ssrc: 1, cname: "c"),
    video: LocalStream(
        port: 16_386, rtcpPort: 16_387,
        codecs: [
            CodecOffer(.h264(H264Parameters(packetizationMode: 1)), payloadType: 102),
            CodecOffer(.h264(H264Parameters(packetizationMode: 0)), payloadType: 103),
        ],
        ssrc: 2, cname: "c"))
