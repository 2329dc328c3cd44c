// SPDX-License-Identifier: Apache-2.0

import Bytes
import SIPWire

/// A message: read as a datagram and as a piece of a stream, looked at, printed, read again.
func fuzzSIP(_ input: [UInt8]) {
    for framing in [SIPFraming.datagram, .stream] {
        do {
            let message = try SIPMessage.parse(input, framing: framing)
            look(at: message)
            checkPrinted(message)
        } catch {
            guard let message = error.message else {
                require(error.verdict == .drop, "what is answered needs a message to answer")
                continue
            }
            look(at: message)
            if error.verdict == .drop { continue }
            require(message.replyVia != nil, "what is answered has a way back")
            let answer = SIPMessage(respondingTo: message, .badRequest, reason: error.reason, toTag: "t").printed()
            require(!answer.isEmpty, "an answer can be printed")
        }
    }
}

private func checkPrinted(_ message: SIPMessage) {
    require(message.envelope != nil, "a message from the parser has its envelope")
    let printed = message.printed()
    guard printed.count <= SIPLimits.messageBytes else { return }
    // As many fields as there may be leave no place for the length of a message that came without.
    guard message.headers.count < SIPLimits.headers else { return }
    guard let again = try? SIPMessage.parse(printed, framing: .stream) else {
        fatalError("what was printed can be read")
    }
    require(again.method == message.method && again.requestURI == message.requestURI, "what is asked survives")
    require(again.status == message.status, "what is answered survives")
    require(again.envelope == message.envelope, "the envelope survives")
    require(again.body == message.body, "the body survives")
    require(again.printed() == printed, "what was printed prints the same again")
    var stamped = message
    if var via = stamped.topVia {
        via.stamp(source: SocketAddress(.v4(0xC000_0201), port: 5_060))
        stamped.replaceTopVia(via)
        require(stamped.topVia == via, "a stamped hop can be read")
    }
    let answer = SIPMessage(respondingTo: message, .ok, toTag: "t")
    guard let read = try? SIPMessage.parse(answer.printed(), framing: .stream) else {
        require(answer.printed().count > SIPLimits.messageBytes, "our answer can be read")
        return
    }
    require(read.callID == message.callID && read.cseq == message.cseq, "our answer is the request's")
}

/// Touches every view, as an engine would.
private func look(at message: SIPMessage) {
    _ = (message.vias, message.routes, message.recordRoutes, message.contacts, message.allow, message.supported)
    _ = (message.require, message.proxyRequire, message.unsupported, message.reasons.map { $0.printed })
    _ = (message.maxForwards, message.expiresSeconds, message.retryAfter, message.contentType, message.replyVia)
    _ = (message.contentEncodings, message.requestURI?.printed, message.warnings, message.assertedIdentities)
    _ = (message.rseq, message.minSESeconds, message.referTo, message.referredBy, message.referSub, message.infoPackage)
    _ = (message.recvInfo, message.answerMode, message.remotePartyIDs, message.challenges(.wwwAuthenticate))
    if let rack = message.rack { require(RAck(rack.printed) == rack, "RAck survives") }
    if let expires = message.sessionExpires { require(SessionExpires(expires.printed) == expires, "and the timer") }
    if let replaces = message.replaces { require(Replaces(replaces.printed) == replaces, "Replaces survives") }
    if let event = message.event { require(Event(event.printed) == event, "Event survives") }
    if let state = message.subscriptionState {
        require(SubscriptionState(state.printed) == state, "Subscription-State survives")
    }
}
