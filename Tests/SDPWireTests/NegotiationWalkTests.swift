// SPDX-License-Identifier: Apache-2.0

import Bytes
import SDPWire
import XCTest

/// Two of us change a session at random, from a seed, a thousand times. What RFC 3264 section 8 demands of every step
/// holds at every step.
final class NegotiationWalkTests: XCTestCase {
    private struct Party {
        var media: LocalMedia
        let full: LocalMedia
        var agreed: OfferAnswer.Agreed?
        /// What each payload type of each place means, while the medium there lives.
        var meanings: [[UInt8: String]] = []

        init(_ media: LocalMedia) {
            self.media = media
            self.full = media
        }

        mutating func change(_ generator: inout Generator) {
            self.media = self.full
            let isHolding = generator.below(3) == 0
            if isHolding { self.media.audio.wish = .sendonly }
            self.media.video?.wish = isHolding ? .sendonly : .sendrecv
            if generator.below(3) == 0 { self.media.video = nil }
        }

        /// A medium that one of the two descriptions refuses is over.
        mutating func check(
            _ description: SessionDescription, _ other: SessionDescription, file: StaticString = #filePath,
            line: UInt = #line
        ) {
            while self.meanings.count < description.media.count { self.meanings.append([:]) }
            for (index, media) in description.media.enumerated() {
                guard media.port != 0, other.media[index].port != 0 else {
                    self.meanings[index] = [:]
                    continue
                }
                for type in media.payloadTypes {
                    let mode = media.fmtp(for: type)?.value("packetization-mode")?.string ?? ""
                    let meaning = (media.rtpMap(for: type)?.printed.string ?? "nothing") + mode
                    XCTAssertEqual(self.meanings[index][type] ?? meaning, meaning, file: file, line: line)
                    self.meanings[index][type] = meaning
                }
            }
        }
    }

    /// The two name their formats by each other's numbers.
    private func parties() -> [Party] {
        var far = Fixture.local(
            codecs: [CodecOffer(.pcma, payloadType: 8), CodecOffer(.opus(OpusParameters()), payloadType: 101)],
            address: .v4(0xC000_0207))
        far.audio.telephoneEventPayloadType = 96
        far.video?.codecs.reverse()
        far.video?.codecs[0].payloadType = 102
        far.video?.codecs[1].payloadType = 103
        return [Party(Fixture.local()), Party(far)]
    }

    private func overTheWire(_ description: SessionDescription) throws -> SessionDescription {
        let read = try SessionDescription.parse(description.printed())
        XCTAssertEqual(read, description)
        return read
    }

    private func step(_ parties: inout [Party], offerer: Int, _ generator: inout Generator) throws {
        let answerer = 1 - offerer
        parties[offerer].change(&generator)
        if generator.below(4) == 0 { parties[answerer].change(&generator) }
        let size: OfferAnswer.Size = generator.below(4) == 0 ? .trimmed : .full
        let before = parties[offerer].agreed?.local.media ?? []
        let offer = OfferAnswer.makeOffer(
            parties[offerer].media, following: parties[offerer].agreed, size: size, sessionID: 1, sessionVersion: 1)
        XCTAssertGreaterThanOrEqual(offer.media.count, before.count)
        XCTAssertEqual(before.map { $0.kind }, offer.media.prefix(before.count).map { $0.kind })
        XCTAssertLessThanOrEqual(offer.media.count, 2, "a kind that was there is not offered beside itself")
        let answer = OfferAnswer.makeAnswer(
            to: try self.overTheWire(offer), local: parties[answerer].media, sessionID: 2, sessionVersion: 1)
        XCTAssertEqual(answer.description.media.map { $0.kind }, offer.media.map { $0.kind })
        let session = try OfferAnswer.acceptAnswer(try self.overTheWire(answer.description), to: offer)
        XCTAssertEqual(session.audio?.direction, answer.session.audio?.direction.reversed)
        XCTAssertEqual(session.video?.direction, answer.session.video?.direction.reversed)
        XCTAssertEqual(session.audio?.sendPayloadType, answer.session.audio?.receivePayloadTypes.first?.payloadType)
        XCTAssertEqual(session.video?.sendPayloadType, answer.session.video?.receivePayloadTypes.first?.payloadType)
        XCTAssertEqual(session.audio?.telephoneEvent, answer.session.audio?.telephoneEvent)
        XCTAssertNotNil(session.audio)
        let bothHaveVideo = parties[offerer].media.video != nil && parties[answerer].media.video != nil
        XCTAssertEqual(session.video != nil, bothHaveVideo)
        parties[offerer].check(offer, answer.description)
        parties[answerer].check(answer.description, offer)
        parties[offerer].agreed = OfferAnswer.Agreed(local: offer, remote: answer.description)
        parties[answerer].agreed = OfferAnswer.Agreed(local: answer.description, remote: offer)
    }

    func testPlacesKindsAndMeaningsNeverChange() throws {
        for seed in 0..<10 as Range<UInt64> {
            var generator = Generator(seed: seed)
            var parties = self.parties()
            for _ in 0..<100 { try self.step(&parties, offerer: Int(generator.below(2)), &generator) }
        }
    }
}
