// SPDX-License-Identifier: Apache-2.0

/// What a SIP message may hold before it is refused. Everything a peer can make grow is named here.
public enum SIPLimits {
    /// Bytes of a whole message, body included: what fits in a UDP datagram.
    public static let messageBytes = 65_535
    /// Bytes of the start line, and of one header field after unfolding.
    public static let headerBytes = 8_192
    /// Header fields of a message.
    public static let headers = 128
    /// Values in all fields of one list header (Via hops, routes, contacts); Max-Forwards starts at 70.
    public static let listValues = 70
    /// Parameters of one header value, and of one URI.
    public static let parameters = 32
    /// Parameters of a Via hop: one more than a request may come with, for its stamp adds `received`.
    public static let hopParameters = Self.parameters + 1
    /// Challenges of one WWW-Authenticate or Proxy-Authenticate field.
    public static let challenges = 8
    /// Bytes of a realm, a nonce or an opaque that we send back.
    public static let digestTextBytes = 1_024
    /// Bytes of a Call-ID, a tag or a branch that we are ready to keep for the length of a call.
    public static let identifierBytes = 1_024
}
