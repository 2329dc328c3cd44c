// SPDX-License-Identifier: Apache-2.0

import Bytes

extension SIPMessage {
    /// A response with what RFC 3261 section 8.2.6 copies from the request: all Vias as they are (stamp the top one
    /// first), From, To (with `toTag` where it has none), Call-ID, CSeq; and for 101...299 Record-Route (section
    /// 12.1.1).
    ///
    /// Works on the unfinished message of a `SIPParseError` as well: a field that is missing there is missing here.
    public init(
        respondingTo request: SIPMessage, _ status: StatusCode, reason: ByteString? = nil, toTag: ByteString? = nil
    ) {
        self.init(startLine: .response(status, reason: reason ?? status.reasonPhrase))
        self.copy(.via, from: request)
        if status.value > 100 && status.value < 300 { self.copy(.recordRoute, from: request) }
        self.copy(.from, from: request)
        self.copyTo(of: request, tag: toTag)
        self.copy(.callID, from: request)
        self.copy(.cseq, from: request)
        if status == .trying { self.copy(.timestamp, from: request) }
    }

    private mutating func copy(_ name: HeaderName, from request: SIPMessage) {
        self.headers += request.headers.filter { $0.name == name }
    }

    private mutating func copyTo(of request: SIPMessage, tag: ByteString?) {
        guard let value = request.first(.to) else { return }
        guard let tag, let to = NameAddr(value), to.tag == nil else {
            self.add(.to, value)
            return
        }
        // The value keeps its own spelling: the peer compares it, and only the tag is ours to add. Without angle
        // brackets, all parameters are those of the header, so the tag may stand last in any case.
        self.add(.to, value + ";tag=" + tag)
    }

    /// The top hop of a request even where its parameters are faulty, so that a bad request can be answered at all.
    public var replyVia: Via? {
        self.first(.via).flatMap { HeaderList.split($0).first }.flatMap { Via(lenient: $0) }
    }
}
