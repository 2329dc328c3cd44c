// SPDX-License-Identifier: Apache-2.0
import Bytes
import MediaEngine

/// What the call log keeps of a call.
public struct CallRecord: Equatable, Sendable {
    var direction: CallDirection
    /// The other side's address, and its name where it gave one.
    var peer: ByteString
    var name: ByteString
    /// Which button called; nil where none did.
    var button: ByteString?
    var outcome: CallOutcome
    /// From the press, or from the first ringing, to the end.
    public var total: Duration
    /// From the same to the answer; nil where there was none.
    var setup: Duration?
    /// From the answer to the end.
    var length: Duration
    /// From the answer; nil where nothing came.
    var firstFrame: Duration?
    var firstSound: Duration?
    /// Of the whole call; nil where no media flowed.
    var streams: MediaStatistics?

    /// One JSON object, as `calls.jsonl` has one a line.
    /// - Parameter began: when, in seconds since 1970; nil where nobody knows the time.
    public func line(began: Int64?) -> ByteString {
        JSON.object {
            if let began { $0.put("at", DateText.utc(began)) }
            $0.put("direction", self.direction.text)
            $0.put("uri", self.peer.withoutSecrets)
            if !self.name.isEmpty { $0.put("name", self.name) }
            if let button = self.button { $0.put("button", button) }
            $0.put("reason", self.outcome.reason)
            $0.put("code", self.outcome.code)
            $0.put(self.outcome.fault)
            $0.put("by", self.outcome.side.text)
            $0.put("total_ms", self.total.milliseconds)
            if let setup = self.setup { $0.put("setup_ms", setup.milliseconds) }
            $0.put("duration_ms", self.length.milliseconds)
            if let firstFrame = self.firstFrame { $0.put("first_frame_ms", firstFrame.milliseconds) }
            if let firstSound = self.firstSound { $0.put("first_sound_ms", firstSound.milliseconds) }
            guard let streams = self.streams else { return }
            $0.put("audio", object: Self.losses(of: streams.audio))
            $0.put("video", object: Self.losses(of: streams.video))
        }
    }

    private static func losses(of stream: StreamStatistics) -> JSON {
        var json = JSON()
        json.put("received", stream.packetsReceived)
        json.put("lost", stream.packetsLost)
        json.put("sent", stream.packetsSent)
        json.put("remote_lost", stream.remotePacketsLost)
        return json
    }

    /// For people: whom, how long, and how it ended.
    var sentence: ByteString {
        let peer = self.peer.withoutSecrets
        let whom = self.name.isEmpty ? peer : self.name + " (" + peer + ")"
        var text: ByteString = self.direction == .outgoing ? "to " : "from "
        text += whom + ": "
        if self.setup != nil { text += ByteString(decimal: self.length.milliseconds / 1000) + " s; " }
        text += Texts.english.sentence(self.outcome)
        if let fault = self.outcome.fault { text += " (" + fault.code + ")" }
        return text
    }
}

/// Who ended a call.
enum CallSide: Equatable {
    case here
    /// The other side, or a server before it.
    case there
    /// Neither meant it.
    case nobody

    var text: ByteString {
        switch self {
        case .here: return "here"
        case .there: return "there"
        case .nobody: return "nobody"
        }
    }
}

extension CallOutcome {
    var side: CallSide {
        switch self {
        case .hungUp, .cancelled, .declined, .notAnswered, .missed, .timeLimit, .notPrivate, .stopped: return .here
        case .remoteHungUp, .refused, .misdirected: return .there
        case .noResponse, .unreachable, .unknownHost, .insecure, .waitsForTime, .vanished, .unusableMedia,
            .protocolFault, .noAddress, .outOfRoom:
            return .nobody
        }
    }
}

// MARK: - The engine's part

/// What is known of the call that is made, for its record.
struct CallNotes {
    var button: ByteString?
    var firstFrame: Duration?
    var firstSound: Duration?
    var hasMedia = false
}

extension KioskEngine {
    /// How many of the last calls `callbox-report.txt` names.
    static let recentCallsMax = 8

    mutating func record(_ ended: EndedCall) {
        let facts = ended.facts
        let record = CallRecord(
            direction: facts.direction, peer: facts.peer, name: facts.name,
            button: facts.direction == .outgoing ? self.notes.button : nil, outcome: ended.outcome,
            total: ended.ended - facts.began, setup: ended.answered.map { $0 - facts.began }, length: ended.length,
            firstFrame: self.notes.firstFrame, firstSound: self.notes.firstSound,
            streams: self.notes.hasMedia ? self.counters?.streams : nil)
        self.notes = CallNotes()
        self.recentCalls.append(record)
        if self.recentCalls.count > Self.recentCallsMax { self.recentCalls.removeFirst() }
        self.reportNumber &+= 1
        self.put(.record(record))
    }
}
