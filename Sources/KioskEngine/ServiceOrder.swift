// SPDX-License-Identifier: Apache-2.0
import Bytes

/// In which order the records of a name are tried.
enum ServiceOrder {
    /// RFC 2782: by priority; among equals by chance, each as likely as its weight says. Records that name no port are
    /// left out.
    static func ordered(_ records: [ServiceRecord], _ generator: inout Generator) -> [ServiceRecord] {
        var left = records.filter { $0.port != 0 || $0.target.isEmpty }
        var ordered: [ServiceRecord] = []
        while let best = left.map({ $0.priority }).min() {
            var group = left.filter { $0.priority == best }
            left.removeAll { $0.priority == best }
            // Those without a weight stand first, and so are taken now and then.
            group.sort { $0.weight == 0 && $1.weight != 0 }
            while !group.isEmpty {
                let sum = group.reduce(UInt64(0)) { $0 + UInt64($1.weight) }
                let drawn = generator.below(sum + 1)
                var running: UInt64 = 0
                let chosen = group.firstIndex { record in
                    running += UInt64(record.weight)
                    return running >= drawn
                }
                ordered.append(group.remove(at: chosen ?? 0))
            }
        }
        return ordered
    }

    /// RFC 3403 section 4.1: by order, then by preference.
    static func ordered(_ pointers: [NamingPointer]) -> [NamingPointer] {
        pointers.sorted { ($0.order, $0.preference) < ($1.order, $1.preference) }
    }

    /// The two families by turns, beginning with the one that leads (RFC 7984 section 4, in the spirit of RFC 8305):
    /// one that is broken costs one try and not all of them.
    static func interleaved(_ addresses: [IPAddress]) -> [IPAddress] {
        guard let first = addresses.first else { return [] }
        let leading = addresses.filter { $0.isV6 == first.isV6 }
        let others = addresses.filter { $0.isV6 != first.isV6 }
        var mixed: [IPAddress] = []
        for index in 0..<max(leading.count, others.count) {
            if index < leading.count { mixed.append(leading[index]) }
            if index < others.count { mixed.append(others[index]) }
        }
        return mixed
    }
}
