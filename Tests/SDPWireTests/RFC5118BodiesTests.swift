// SPDX-License-Identifier: Apache-2.0

import Bytes
import SDPWire
import XCTest

/// RFC 5118 sections 4.6, 4.8 and 4.9: IPv6 in session descriptions.
final class RFC5118BodiesTests: XCTestCase {
    private func parse(_ lines: String...) throws -> SessionDescription {
        try SessionDescription.parse(Array(lines.map { $0 + "\r\n" }.joined().utf8))
    }

    /// Where the media go, by the description.
    private func places(_ description: SessionDescription) -> [ByteString?] {
        description.media.map { description.connection(of: $0)?.address?.text }
    }

    func test_4_6_ipv6insdp_theSessionsAddressCountsForAllMedia() throws {
        let description = try self.parse(
            "v=0", "o=assistant 971731711378798081 0 IN IP6 2001:db8::20", "s=Live video feed for today's meeting",
            "c=IN IP6 2001:db8::20", "t=3338481189 3370017201", "m=audio 6000 RTP/AVP 2", "a=rtpmap:2 G726-32/8000",
            "m=video 6024 RTP/AVP 107", "a=rtpmap:107 H263-1998/90000")
        XCTAssertNotNil(description.origin)
        XCTAssertEqual(self.places(description), ["2001:db8::20", "2001:db8::20"])
    }

    func test_4_8_multipinsdp_eachMediumHasItsOwnFamily() throws {
        let description = try self.parse(
            "v=0", "o=bob 280744730 28977631 IN IP4 host.example.com", "s=", "t=0 0", "m=audio 22334 RTP/AVP 0",
            "c=IN IP4 192.0.2.1", "m=video 6024 RTP/AVP 107", "c=IN IP6 2001:db8::1",
            "a=rtpmap:107 H263-1998/90000")
        XCTAssertNotNil(description.origin)
        XCTAssertEqual(self.places(description), ["192.0.2.1", "2001:db8::1"])
    }

    func test_4_9_ipv4mappedipv6_mappedAddressesAreThoseTheyMap() throws {
        let description = try self.parse(
            "v=0", "o=assistant 971731711378798081 0 IN IP6 ::ffff:192.0.2.2", "s=Call me soon, please!",
            "c=IN IP6 ::ffff:192.0.2.2", "t=3338481189 3370017201", "m=audio 6000 RTP/AVP 2",
            "a=rtpmap:2 G726-32/8000", "m=video 6024 RTP/AVP 107", "a=rtpmap:107 H263-1998/90000")
        XCTAssertNotNil(description.origin)
        XCTAssertEqual(self.places(description), ["192.0.2.2", "192.0.2.2"])
    }
}
