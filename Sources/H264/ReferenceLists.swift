// SPDX-License-Identifier: Apache-2.0

/// Builds the reference lists of a slice (H.264 section 8.2.4), as indices into the frames it may refer to.
struct ReferenceListBuilder {
    let frames: [ReferenceFrame]
    let header: SliceHeader
    let order: PictureOrderCount
    /// MaxFrameNum.
    let end: UInt32

    /// Both lists, each of as many entries as are active; nil where one names a frame that is not there, or none is.
    ///
    /// Where fewer frames are there than entries, the first stands for what is missing: a stream that began at an intra
    /// picture has such lists, and does not use those entries.
    func lists() -> [[UInt8]]? {
        var lists: [[UInt8]] = [[], []]
        let initial = self.initial()
        for list in 0..<self.header.kind.lists {
            let active = Int(self.header.activeReferences[list])
            var entries: [Int?] = initial[list].prefix(active).map { $0 }
            entries += Array(repeating: nil, count: active - entries.count)
            if let commands = self.header.modifications[list], !self.modify(&entries, commands) { return nil }
            guard let standIn = entries.compactMap({ $0 }).first else { return nil }
            lists[list] = entries.map { UInt8(truncatingIfNeeded: $0 ?? standIn) }
        }
        return lists
    }

    private func number(_ index: Int) -> Int32 {
        self.frames[index].number(for: self.header.frameNumber, end: self.end)
    }

    /// Section 8.2.4.2.
    private func initial() -> [[Int]] {
        let all = Array(self.frames.indices)
        let short = all.filter { self.frames[$0].longTerm == nil }
        let long = all.filter { self.frames[$0].longTerm != nil }
            .sorted { self.frames[$0].longTerm ?? 0 < self.frames[$1].longTerm ?? 0 }
        guard self.header.kind == .b else {
            return [short.sorted { self.number($0) > self.number($1) } + long, []]
        }
        // Nothing is known of when an inferred frame would have been shown.
        let shown = short.filter { !self.frames[$0].isInferred }
        let now = self.order.frame
        func place(_ index: Int) -> Int32 { self.frames[index].order.frame }
        let before = shown.filter { place($0) < now }.sorted { place($0) > place($1) }
        let after = shown.filter { place($0) >= now }.sorted { place($0) < place($1) }
        let first = before + after + long
        var second = after + before + long
        if second.count > 1, second == first { second.swapAt(0, 1) }
        return [first, second]
    }

    /// Section 8.2.4.3.
    ///
    /// - Returns: false where a command names a frame that is not there.
    private func modify(_ entries: inout [Int?], _ commands: [ListModification]) -> Bool {
        let end = Int32(bitPattern: self.end)
        let current = Int32(bitPattern: self.header.frameNumber)
        var predicted = current
        for (place, command) in commands.enumerated() where place < entries.count {
            let found: Int?
            switch command {
            case .backward(let off):
                predicted = (predicted &- Int32(bitPattern: off)) % end
                if predicted < 0 { predicted = predicted &+ end }
                found = self.short(predicted > current ? predicted &- end : predicted)
            case .forward(let off):
                predicted = (predicted &+ Int32(bitPattern: off)) % end
                found = self.short(predicted > current ? predicted &- end : predicted)
            case .longTerm(let number):
                found = self.frames.firstIndex { $0.longTerm == number }
            }
            guard let found else { return false }
            // What stood there moves on, and the frame's former entry behind it goes.
            let rest = entries[place...].filter { $0 != found }
            let count = entries.count
            entries = Array((entries[..<place] + [found] + rest).prefix(count))
        }
        return true
    }

    private func short(_ number: Int32) -> Int? {
        self.frames.indices.first { self.frames[$0].longTerm == nil && self.number($0) == number }
    }
}
