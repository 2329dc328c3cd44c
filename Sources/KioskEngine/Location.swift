// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire

/// `[location]`: where the help point stands, told with every call (RFC 6442) so that help finds the way.
public struct LocationSettings: Equatable, Sendable {
    /// Degrees north and east of WGS 84, as decimal numbers; empty where unknown.
    public var latitude = ByteString()
    public var longitude = ByteString()
    /// How far off that may be, in metres; nil for a point.
    public var uncertaintyM: Int?
    /// A civic address (RFC 5139), by the names of its elements; empty ones are left out.
    public var civic = [ByteString](repeating: ByteString(), count: CivicElement.all.count)
    /// Where the location can be asked for instead (`https:`, `pres:`); empty for none.
    public var uri = ByteString()
    /// Whether servers may use it to find the right answering point.
    public var mayRoute = true

    var isPoint: Bool { !self.latitude.isEmpty && !self.longitude.isEmpty }
    var isEmpty: Bool { !self.isPoint && self.civic.allSatisfy { $0.isEmpty } && self.uri.isEmpty }
}

/// Elements of a civic address: RFC 4776 and RFC 5139.
struct CivicElement {
    /// The key of `[location]`.
    var key: ByteString
    /// The element of the `civicAddr` name space.
    var element: ByteString
    /// For `docs/configuration.md`.
    var meaning: StaticString

    static let all = [
        CivicElement(key: "country", element: "country", meaning: "The civic address: the country (two letters)."),
        CivicElement(key: "state", element: "A1", meaning: "Its state."),
        CivicElement(key: "county", element: "A2", meaning: "Its county."),
        CivicElement(key: "city", element: "A3", meaning: "Its city."),
        CivicElement(key: "street", element: "RD", meaning: "Its street."),
        CivicElement(key: "house", element: "HNO", meaning: "Its house number."),
        CivicElement(key: "place", element: "LMK", meaning: "A landmark."),
        CivicElement(key: "name", element: "NAM", meaning: "The name of the site."),
        CivicElement(key: "building", element: "BLD", meaning: "The building."),
        CivicElement(key: "floor", element: "FLR", meaning: "The floor."),
        CivicElement(key: "room", element: "ROOM", meaning: "The room."),
        CivicElement(key: "postcode", element: "PC", meaning: "The postal code."),
    ]
}

extension LocationSettings {
    private static let contentID: ByteString = "location@callbox.invalid"

    /// `Geolocation`, `Geolocation-Routing` and `Supported: geolocation` (RFC 6442 section 4).
    var headers: [Header] {
        guard !self.isEmpty else { return [] }
        var places: [ByteString] = []
        if !self.parts.isEmpty { places.append("<cid:" + Self.contentID + ">") }
        if !self.uri.isEmpty { places.append("<" + self.uri + ">") }
        return [
            Header(.other("Geolocation"), places.dropFirst().reduce(places[0]) { $0 + ", " + $1 }),
            Header(.other("Geolocation-Routing"), self.mayRoute ? "yes" : "no"),
            Header(.supported, "geolocation"),
        ]
    }

    /// The location itself (PIDF-LO, RFC 4119 and RFC 5491).
    var parts: [BodyPart] {
        guard self.isPoint || self.civic.contains(where: { !$0.isEmpty }) else { return [] }
        return [
            BodyPart(contentType: "application/pidf+xml", contentID: Self.contentID, content: self.document.bytes)
        ]
    }

    private var document: ByteString {
        var text: ByteString = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\r\n"
        text += "<presence xmlns=\"urn:ietf:params:xml:ns:pidf\""
        text += " xmlns:dm=\"urn:ietf:params:xml:ns:pidf:data-model\""
        text += " xmlns:gp=\"urn:ietf:params:xml:ns:pidf:geopriv10\""
        text += " xmlns:gml=\"http://www.opengis.net/gml\" xmlns:gs=\"http://www.opengis.net/pidflo/1.0\""
        text += " xmlns:ca=\"urn:ietf:params:xml:ns:pidf:geopriv10:civicAddr\" entity=\"pres:callbox@callbox.invalid\">"
        text += "\r\n<dm:device id=\"callbox\"><gp:geopriv><gp:location-info>\r\n"
        text += self.shape + self.address
        text += "</gp:location-info><gp:usage-rules/><gp:method>Manual</gp:method></gp:geopriv></dm:device>\r\n"
        return text + "</presence>\r\n"
    }

    private var shape: ByteString {
        guard self.isPoint else { return ByteString() }
        let position: ByteString = "<gml:pos>" + self.latitude + " " + self.longitude + "</gml:pos>"
        let system: ByteString = "srsName=\"urn:ogc:def:crs:EPSG::4326\">"
        guard let metres = self.uncertaintyM else {
            return "<gml:Point " + system + position + "</gml:Point>\r\n"
        }
        let radius: ByteString = "<gs:radius uom=\"urn:ogc:def:uom:EPSG::9001\">" + ByteString(decimal: metres)
        return "<gs:Circle " + system + position + radius + "</gs:radius></gs:Circle>\r\n"
    }

    private var address: ByteString {
        var text = ByteString()
        for (element, value) in zip(CivicElement.all, self.civic) where !value.isEmpty {
            text += "<ca:" + element.element + ">" + Self.escaped(value) + "</ca:" + element.element + ">"
        }
        return text.isEmpty ? text : "<ca:civicAddress>" + text + "</ca:civicAddress>\r\n"
    }

    private static func escaped(_ text: ByteString) -> ByteString {
        var escaped = ByteString()
        for byte in text.bytes {
            switch byte {
            case ASCII.less: escaped += "&lt;"
            case ASCII.greater: escaped += "&gt;"
            case ASCII.ampersand: escaped += "&amp;"
            case 0..<ASCII.space: escaped.append(byte: ASCII.space)
            default: escaped.append(byte: byte)
            }
        }
        return escaped
    }
}
