// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire

/// A text to somebody outside of a call: its addressee is looked up, then it goes to one server after the other until
/// one answers for it (RFC 3263 section 4.3). A server that was only slow may deliver it a second time: better twice
/// than not at all.
struct OutgoingText {
    /// How many may be on their way at once.
    static let countMax = 4
    /// How many servers one of them tries.
    static let waysMax = 4
    /// So long a server has where there is another one.
    static let wayMs = 4_000

    enum State {
        case lookingUp(ResolutionID)
        /// By these it is under way; those are left to try, the next one at that time.
        case sent(attempts: [Attempt], left: [Flow], nextAt: Instant?)
    }

    /// One MESSAGE in SIP.
    struct Attempt {
        var id: MessageID
        var flow: Flow
    }

    /// Under which the control socket tells what came of it.
    let id: MessageID
    let uri: SIPURI
    let text: ByteString
    var state: State
    /// What came of it was told; a server that was given up may still have to answer.
    var isTold = false

    init(id: MessageID, uri: SIPURI, text: ByteString, question: ResolutionID) {
        self.id = id
        self.uri = uri
        self.text = text
        self.state = .lookingUp(question)
    }

    func isFound(by question: ResolutionID) -> Bool {
        guard case .lookingUp(let own) = self.state else { return false }
        return own == question
    }

    func attempt(_ id: MessageID) -> Attempt? {
        guard case .sent(let attempts, _, _) = self.state else { return nil }
        return attempts.first { $0.id == id }
    }

    var newest: Attempt? {
        guard case .sent(let attempts, _, _) = self.state else { return nil }
        return attempts.last
    }

    var nextAt: Instant? {
        guard case .sent(_, _, let nextAt) = self.state else { return nil }
        return nextAt
    }

    /// The way that is tried next, under this name; nil where none is left.
    mutating func nextWay(as id: MessageID, now: Instant) -> Flow? {
        guard case .sent(let attempts, var left, _) = self.state, !left.isEmpty else { return nil }
        let flow = left.removeFirst()
        let nextAt = left.isEmpty ? nil : now + .milliseconds(Self.wayMs)
        self.state = .sent(attempts: attempts + [Attempt(id: id, flow: flow)], left: left, nextAt: nextAt)
        return flow
    }

    /// What became of an attempt: what is to be told of the text now, if anything.
    mutating func finished(_ id: MessageID, _ status: StatusCode) -> StatusCode? {
        guard case .sent(var attempts, let left, let nextAt) = self.state else { return nil }
        attempts.removeAll { $0.id == id }
        self.state = .sent(attempts: attempts, left: left, nextAt: nextAt)
        if self.isTold || status.isOfServer && !(attempts.isEmpty && left.isEmpty) { return nil }
        self.isTold = true
        self.state = .sent(attempts: attempts, left: [], nextAt: nil)
        return status
    }

    /// No server is to be tried any more, and none has to answer.
    var isOver: Bool {
        guard case .sent(let attempts, let left, _) = self.state else { return false }
        return attempts.isEmpty && left.isEmpty
    }

    /// None is under way, and another server is left.
    var isStuck: Bool {
        guard case .sent(let attempts, let left, _) = self.state else { return false }
        return attempts.isEmpty && !left.isEmpty
    }
}
