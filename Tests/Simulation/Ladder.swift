// SPDX-License-Identifier: Apache-2.0

/// Messages as arrows between the columns of their ends.
enum Ladder {
    private static let width = 24

    /// - Parameters:
    ///   - from, to: indices of nodes: kiosk, kiosk, proxy, agents. The proxy stands between the kiosks.
    static func line(_ text: String, from: Int, to: Int, of names: [String], _ fate: String) -> String {
        let order = [0, 2, 1] + names.indices.dropFirst(3)
        let start = order.firstIndex(of: from) ?? 0
        let end = order.firstIndex(of: to) ?? 0
        let left = min(start, end)
        let span = max(start, end) - left
        var line = String(repeating: self.gap("|"), count: left)
        let room = self.width * span - 5
        let words = String(text.prefix(room))
        let dashes = String(repeating: "-", count: room - words.count)
        line += start < end ? "|-\(words)\(dashes)-> " : "|<-\(words)\(dashes)- "
        for _ in (left + span)..<order.count - 1 { line += self.gap("|") }
        return "\(line)|  \(names[from]) to \(names[to]), \(fate)"
    }

    private static func gap(_ edge: String) -> String {
        edge + String(repeating: " ", count: self.width - 1)
    }
}
