// SPDX-License-Identifier: Apache-2.0
import Bytes

/// `[update]`: where a board that was flashed finds bundles by itself.
public struct UpdateSettings: Equatable, Sendable {
    /// Nil: nothing is fetched.
    public var url: ByteString?
    /// Of the day, 0 to 23, in the local time; nil: never.
    public var hour: Int? = 3
    public var usesSticks = true
}

extension ConfigurationSection {
    static let update = ConfigurationSection(
        "update",
        """
        New versions, as signed bundles (`.raucb`), on a board that was flashed. One that lies beside `callbox.conf` is
        installed when the board starts, or within the hour; never in a call.
        """,
        [
            .init(
                "url", "none", ConfigurationValue.bundle,
                "Where the newest bundle always is: an address that begins with `https://` or `http://`."
            ) { $0.update.url = $1 },
            .init(
                "at", "3", ConfigurationValue.hour, "The hour of the day, 0 to 23, at which that is asked; or `never`."
            ) { $0.update.hour = $1 },
            .init(
                "usb", "yes", ConfigurationValue.yesOrNo,
                "`yes`: a bundle on a USB stick is installed, when the board starts with it or within the hour."
            ) { $0.update.usesSticks = $1 },
        ])
}

extension ConfigurationValue {
    /// Nil for `none`.
    static func bundle(_ value: ByteString) throws(BadValue) -> ByteString? {
        if value.equalsIgnoringCase("none") { return nil }
        let isWeb = value.hasPrefixIgnoringCase("https://") || value.hasPrefixIgnoringCase("http://")
        guard isWeb, value.count <= self.pathBytesMax, value.bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw BadValue(self.quoted(value) + " is no address, as in https://example.com/callbox.raucb")
        }
        return value
    }

    /// Nil for `never`.
    static func hour(_ value: ByteString) throws(BadValue) -> Int? {
        value.equalsIgnoringCase("never") ? nil : try self.number(value, 0...23, unit: "")
    }
}
