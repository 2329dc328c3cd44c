// SPDX-License-Identifier: Apache-2.0
import Bytes

/// What the name service said, for as long as it holds, and beyond that where nothing newer can be had.
struct NameTable {
    static let entriesMax = 128
    /// Shorter and longer lives than these are not believed.
    static let lifeSecondsMin: UInt32 = 5
    static let lifeSecondsMax: UInt32 = 3_600
    /// How long "there is none" holds, as long as others are found.
    static let absentSeconds = 30
    /// How long one question may take.
    static let questionMs = 1_800
    /// Where nobody answered, old records are used at once for so long, or where there are none it is gone on without,
    /// while the question is asked again.
    static let silenceMs = 30_000

    enum Known: Equatable {
        case records(NameRecords)
        /// There are none, or nobody answered, as of lately. It may be that it is being asked again.
        case absent(isOpen: Bool)
        /// It is being asked.
        case open
        case unknown
    }

    private struct Entry {
        let question: NameQuestion
        /// The last that were found; nil where there are none.
        var records: NameRecords?
        var holdsUntil = Instant.zero
        var asked: (id: QuestionID, until: Instant)?
        /// Nobody answered the last time it was asked; what is made of that holds until then.
        var silentUntil = Instant.zero

        func isOpen(now: Instant) -> Bool { self.asked.map { now < $0.until } ?? false }
    }

    /// The one asked or answered last at the end.
    private var entries: [Entry] = []

    /// - Parameter isOld: records that held once will do.
    func known(_ question: NameQuestion, isOld: Bool = false, now: Instant) -> Known {
        guard let entry = self.entries.first(where: { $0.question == question }) else { return .unknown }
        let isOpen = entry.isOpen(now: now)
        if let records = entry.records {
            if isOld || now < max(entry.holdsUntil, entry.silentUntil) { return .records(records) }
        } else if now < max(entry.holdsUntil, entry.silentUntil) {
            return .absent(isOpen: isOpen)
        }
        return isOpen ? .open : .unknown
    }

    /// Neither known as of now nor being asked. Old records may serve all the same.
    /// - Parameter isDoubted: that there are none is not believed where it was not said just now.
    func isToBeAsked(_ question: NameQuestion, isDoubted: Bool, now: Instant) -> Bool {
        guard let entry = self.entries.first(where: { $0.question == question }) else { return true }
        if entry.isOpen(now: now) { return false }
        return now >= entry.holdsUntil || isDoubted && entry.records == nil
    }

    mutating func ask(_ question: NameQuestion, as id: QuestionID, now: Instant) {
        var entry = self.take(question)
        entry.asked = (id, now + .milliseconds(Self.questionMs))
        self.entries.append(entry)
    }

    /// An answer to a question that was asked; others are ignored.
    mutating func answered(_ id: QuestionID, _ answer: NameAnswer, _ generator: inout Generator, now: Instant) {
        guard let index = self.entries.firstIndex(where: { $0.asked?.id == id }) else { return }
        var entry = self.entries.remove(at: index)
        entry.asked = nil
        switch answer {
        case .found(let records, let seconds) where records.answers(entry.question) && !records.isEmpty:
            // Drawn once for as long as it holds: who found a server stays with it.
            entry.records = Self.ordered(records, &generator)
            let life = min(max(seconds, Self.lifeSecondsMin), Self.lifeSecondsMax)
            entry.holdsUntil = now + .seconds(Int(life))
            entry.silentUntil = now
        case .found, .none:
            entry.records = nil
            entry.holdsUntil = now + .seconds(Self.absentSeconds)
        case .silent:
            entry.silentUntil = now + .milliseconds(Self.silenceMs)
        }
        self.entries.append(entry)
    }

    /// The network changed: everything is asked anew. What held so far serves where nobody answers.
    mutating func outdate(now: Instant) {
        for index in self.entries.indices {
            self.entries[index].holdsUntil = min(self.entries[index].holdsUntil, now)
            self.entries[index].silentUntil = min(self.entries[index].silentUntil, now)
        }
    }

    private static func ordered(_ records: NameRecords, _ generator: inout Generator) -> NameRecords {
        switch records {
        case .naptr(let pointers): return .naptr(ServiceOrder.ordered(pointers))
        case .srv(let services): return .srv(ServiceOrder.ordered(services, &generator))
        case .addresses(let addresses): return .addresses(ServiceOrder.interleaved(addresses))
        }
    }

    private mutating func take(_ question: NameQuestion) -> Entry {
        if let known = self.entries.firstIndex(where: { $0.question == question }) {
            return self.entries.remove(at: known)
        }
        if self.entries.count >= Self.entriesMax { self.entries.removeFirst() }
        return Entry(question: question)
    }
}
