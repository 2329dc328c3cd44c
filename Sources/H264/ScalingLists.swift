// SPDX-License-Identifier: Apache-2.0

/// The scaling lists of a parameter set as they were sent (H.264 section 7.3.2.1.1.1).
public struct ScalingLists: Hashable, Sendable {
    public enum List: Hashable, Sendable {
        /// Not sent: a rule of table 7-2 says what stands for it.
        case absent
        /// The one of table 7-3 or 7-4.
        case preset
        /// 16 or 64 weights in zig-zag order.
        case sent([UInt8])
    }

    /// Six of 4 × 4, then none, two or six of 8 × 8, in the order of table 7-2.
    public var lists: [List]

    init(_ reader: inout RBSPReader, count: Int) throws(SyntaxFault) {
        self.lists = []
        for index in 0..<count {
            let isSent = try reader.flag()
            self.lists.append(isSent ? try Self.list(&reader, size: index < 6 ? 16 : 64) : .absent)
        }
    }

    private static func list(_ reader: inout RBSPReader, size: Int) throws(SyntaxFault) -> List {
        var weights: [UInt8] = []
        var last: UInt8 = 8
        while weights.count < size {
            let next = last &+ UInt8(truncatingIfNeeded: try reader.signed(in: -128...127))
            if next == 0 {
                if weights.isEmpty { return .preset }
                return .sent(weights + Array(repeating: last, count: size - weights.count))
            }
            weights.append(next)
            last = next
        }
        return .sent(weights)
    }
}

/// The weights that hold for a picture: twelve lists in the order of table 7-2, six of 16 and six of 64 weights, each
/// in raster order.
public struct ScalingMatrix: Hashable, Sendable {
    public private(set) var lists: [[UInt8]]

    /// Every weight is 16: nothing is scaled.
    public var isFlat: Bool { self.lists.allSatisfy { list in list.allSatisfy { $0 == 16 } } }

    /// What follows from both parameter sets (H.264 section 7.4.2.2).
    public init(sequence: ScalingLists?, picture: ScalingLists?) {
        var lists = (0..<12).map { [UInt8](repeating: 16, count: $0 < 6 ? 16 : 64) }
        if let sequence { lists = Self.resolved(sequence, first: Self.preset) }
        if let picture {
            // Fall-back rule B where the sequence has lists, A where not.
            let before = lists
            lists = Self.resolved(picture) { sequence == nil ? Self.preset($0) : before[$0] }
        }
        self.lists = lists.map { Self.raster($0) }
    }

    /// In zig-zag order; `first` is what stands for a list that is absent and has none before it to repeat.
    private static func resolved(_ given: ScalingLists, first: (Int) -> [UInt8]) -> [[UInt8]] {
        var lists: [[UInt8]] = []
        for index in 0..<12 {
            switch index < given.lists.count ? given.lists[index] : .absent {
            case .sent(let weights): lists.append(weights)
            case .preset: lists.append(self.preset(index))
            case .absent:
                switch index {
                case 0, 3, 6, 7: lists.append(first(index))
                case 1, 2, 4, 5: lists.append(lists[index - 1])
                default: lists.append(lists[index - 2])
                }
            }
        }
        return lists
    }

    private static func preset(_ index: Int) -> [UInt8] {
        if index < 6 { return index < 3 ? self.intra4 : self.inter4 }
        return index % 2 == 0 ? self.intra8 : self.inter8
    }

    /// Out of zig-zag order (H.264 figure 6-7 for frames; for weights it holds in fields as well).
    private static func raster(_ weights: [UInt8]) -> [UInt8] {
        let side = weights.count == 16 ? 4 : 8
        var placed = [UInt8](repeating: 0, count: side * side)
        var index = 0
        for diagonal in 0..<2 * side - 1 {
            let from = max(0, diagonal - side + 1)
            let to = min(diagonal, side - 1)
            for step in 0...to - from {
                let row = diagonal % 2 == 0 ? to - step : from + step
                placed[row * side + diagonal - row] = weights[index]
                index += 1
            }
        }
        return placed
    }

    // Tables 7-3 and 7-4.
    private static let intra4: [UInt8] = [6, 13, 13, 20, 20, 20, 28, 28, 28, 28, 32, 32, 32, 37, 37, 42]
    private static let inter4: [UInt8] = [10, 14, 14, 20, 20, 20, 24, 24, 24, 24, 27, 27, 27, 30, 30, 34]
    private static let intra8: [UInt8] = [
        6, 10, 10, 13, 11, 13, 16, 16, 16, 16, 18, 18, 18, 18, 18, 23, 23, 23, 23, 23, 23, 25, 25, 25, 25, 25, 25, 25,
        27, 27, 27, 27, 27, 27, 27, 27, 29, 29, 29, 29, 29, 29, 29, 31, 31, 31, 31, 31, 31, 33, 33, 33, 33, 33, 36, 36,
        36, 36, 38, 38, 38, 40, 40, 42,
    ]
    private static let inter8: [UInt8] = [
        9, 13, 13, 15, 13, 15, 17, 17, 17, 17, 19, 19, 19, 19, 19, 21, 21, 21, 21, 21, 21, 22, 22, 22, 22, 22, 22, 22,
        24, 24, 24, 24, 24, 24, 24, 24, 25, 25, 25, 25, 25, 25, 25, 27, 27, 27, 27, 27, 27, 28, 28, 28, 28, 28, 30, 30,
        30, 30, 32, 32, 32, 33, 33, 35,
    ]
}
