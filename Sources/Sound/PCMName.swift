// SPDX-License-Identifier: Apache-2.0

import Bytes

/// From the name in the configuration to the names that alsa-lib is asked to open, best first. Pure.
///
/// - `none`, `null` or nothing: no device, an empty list.
/// - with a colon (`hw:CARD=Headset,DEV=0`) or one of alsa-lib's own: as it is.
/// - anything else is a card id, as `/proc/asound/cards` shows in brackets: the card itself, else alsa-lib's
///   conversion.
public enum PCMName {
    private static let own: [ByteString] = ["default", "sysdefault", "pulse", "pipewire"]

    public static func candidates(_ name: ByteString) -> [ByteString] {
        if self.isNull(name) { return [] }
        if name.contains(ASCII.colon) || self.own.contains(name) { return [name] }
        let device = ByteString("CARD=") + name + ",DEV=0"
        return [ByteString("hw:") + device, ByteString("plughw:") + device]
    }

    public static func isNull(_ name: ByteString) -> Bool {
        name.isEmpty || name == "none" || name == "null"
    }
}
