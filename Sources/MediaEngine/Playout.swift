// SPDX-License-Identifier: Apache-2.0

/// What the sound thread plays next.
public enum Playout: Sendable {
    /// Decode and play it.
    case packet(AudioPacket)
    /// A packet is missing: let the decoder invent this much, in units of the RTP clock of the last packet.
    case conceal(samples: UInt32)
    /// No stream, or the buffer is filling: play nothing.
    case silence
}
