// SPDX-License-Identifier: Apache-2.0
import SIPEngine

/// What was sent by INFO in a call and has no answer yet, oldest first: answers come in that order.
struct Informs {
    enum Content: Equatable {
        case key(UInt8)
        case keyFrameRequest
    }

    private var handle: CallHandle?
    private var contents: [Content] = []

    /// False where too many wait already.
    mutating func add(_ content: Content, to handle: CallHandle) -> Bool {
        if self.handle != handle { self = Informs() }
        guard self.contents.count < SIPEngine.informsMax else { return false }
        self.handle = handle
        self.contents.append(content)
        return true
    }

    /// What was answered just now.
    mutating func takeFirst(of handle: CallHandle) -> Content? {
        guard self.handle == handle, !self.contents.isEmpty else { return nil }
        return self.contents.removeFirst()
    }

    func hasKeys(of handle: CallHandle) -> Bool {
        self.handle == handle && self.contents.contains { $0 != .keyFrameRequest }
    }
}
