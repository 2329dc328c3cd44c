// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// Finds servers (RFC 3263): URIs in, hops out, best first; questions to the name service on the way.
///
/// Everything is bounded, whatever the name service says: records that are looked at, questions of each query, the time
/// it takes. There is nothing that could run in a circle: pointers lead to services, services to hosts, hosts to
/// addresses.
struct ServerLocator {
    /// Searches at once. What comes beyond finds nothing.
    static let searchesMax = 16
    static let questionsMax = 24
    /// After so long, what was found by then is enough.
    static let enoughMs = 700
    /// After so long, what was found by then, or once before, is all there is.
    static let searchMs = 2_000

    enum Output: Equatable {
        case ask(QuestionID, NameQuestion)
        /// At least one hop. For each query its own hops, in the order of the queries.
        case found(ResolutionID, [[Hop]])
        /// A sentence for the log.
        case failed(ResolutionID, ByteString)
    }

    private struct Search {
        let id: ResolutionID
        let queries: [ServerQuery]
        let began: Instant
        var wasAsked: [NameQuestion] = []

        var mayAsk: Bool { self.wasAsked.count < ServerLocator.questionsMax * self.queries.count }

        /// When what was found by then is looked at.
        func looksAt(after now: Instant) -> Instant {
            let enough = self.began + .milliseconds(ServerLocator.enoughMs)
            return now < enough ? enough : self.began + .milliseconds(ServerLocator.searchMs)
        }
    }

    private var names = NameTable()
    private var searches: [Search] = []
    private var outputs: [Output] = []
    private var lastQuestion: UInt64 = 0
    /// When `timePassed` is to be called; nil while nothing is searched for.
    private(set) var wakesAt: Instant?

    mutating func nextOutput() -> Output? {
        self.outputs.isEmpty ? nil : self.outputs.removeFirst()
    }

    /// Begins a search, which ends with `found` or `failed`.
    mutating func find(_ id: ResolutionID, _ queries: [ServerQuery], now: Instant) {
        guard self.searches.count < Self.searchesMax else {
            return self.outputs.append(.failed(id, "too much is searched for at once"))
        }
        self.searches.append(Search(id: id, queries: queries, began: now))
        self.look(now: now)
    }

    mutating func answered(_ id: QuestionID, _ answer: NameAnswer, _ generator: inout Generator, now: Instant) {
        self.names.answered(id, answer, &generator, now: now)
        self.look(now: now)
    }

    /// The network changed: another name service may be asked, and may know more.
    mutating func outdate(now: Instant) {
        self.names.outdate(now: now)
    }

    mutating func timePassed(now: Instant) {
        if let due = self.wakesAt, now >= due { self.look(now: now) }
    }

    /// Takes every search as far as it gets with what is known.
    private mutating func look(now: Instant) {
        var open: [Search] = []
        for var search in self.searches where !self.isDone(&search, now: now) { open.append(search) }
        self.searches = open
        self.wakesAt = open.map { $0.looksAt(after: now) }.min()
    }

    private mutating func isDone(_ search: inout Search, now: Instant) -> Bool {
        let age = now - search.began
        var found: [[Hop]] = []
        var isComplete = true
        var isEnough = false
        for query in search.queries {
            let result = ServerSearch(
                query, self.names, after: search.wasAsked, mayAsk: search.mayAsk, isLast: false, now: now)
            let isDoubted = result.isDoubtful && result.hops.isEmpty && !result.isUndecided && !result.isOpen
            self.ask(result.questions, &search, isDoubted: isDoubted, now: now)
            let isWaiting = result.isUndecided || result.hops.isEmpty && (result.isOpen || result.isDoubtful)
            found.append(isWaiting ? [] : result.hops)
            if isWaiting || result.isOpen { isComplete = false }
            if !isWaiting, !result.hops.isEmpty { isEnough = true }
        }
        if age >= .milliseconds(Self.searchMs) {
            found = search.queries.map {
                ServerSearch(
                    $0, self.names, after: search.wasAsked, mayAsk: false, isLast: true, now: now
                ).hops
            }
        } else if !isComplete, !isEnough || age < .milliseconds(Self.enoughMs) {
            return false
        }
        self.outputs.append(
            found.allSatisfy { $0.isEmpty }
                ? .failed(search.id, "the name is unknown, or no name server answers") : .found(search.id, found))
        return true
    }

    private mutating func ask(_ questions: [NameQuestion], _ search: inout Search, isDoubted: Bool, now: Instant) {
        for question in questions where self.names.isToBeAsked(question, isDoubted: isDoubted, now: now) {
            guard search.mayAsk, !search.wasAsked.contains(question) else { continue }
            search.wasAsked.append(question)
            self.lastQuestion &+= 1
            let id = QuestionID(self.lastQuestion)
            self.names.ask(question, as: id, now: now)
            self.outputs.append(.ask(id, question))
        }
    }
}
