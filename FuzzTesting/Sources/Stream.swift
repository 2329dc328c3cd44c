// SPDX-License-Identifier: Apache-2.0

import SIPWire

/// A stream of messages comes out the same in one piece and in many. The first byte counts the pieces, the next ones
/// are their lengths.
func fuzzStream(_ input: [UInt8]) {
    var pieces = Pieces(input)
    let cuts = (0..<Int(pieces.byte() & 0x1F)).map { _ in Int(pieces.byte()) }
    let stream = pieces.remaining()
    var whole = Reading()
    whole.take(stream)
    var cut = Reading()
    var rest = stream[...]
    for length in cuts {
        cut.take(Array(rest.prefix(length)))
        rest = rest.dropFirst(length)
    }
    cut.take(Array(rest))
    require(cut == whole, "the cut of a stream changes nothing")
    guard stream.count <= 2_048 else { return }
    var dripped = Reading()
    for byte in stream { dripped.take([byte]) }
    require(dripped == whole, "neither do single bytes")
}

private struct Reading: Equatable {
    private var framer = SIPStreamFramer()
    private var messages: [[UInt8]] = []
    private var pings = 0
    /// How it broke depends on how much was there at once; that it broke does not.
    private var isBroken = false

    mutating func take(_ bytes: [UInt8]) {
        self.framer.append(bytes)
        while let item = self.framer.next() {
            require(!self.isBroken, "nothing comes after the end")
            switch item {
            case .message(let message):
                self.messages.append(message)
                require(message.count <= SIPLimits.messageBytes, "messages are bounded")
                _ = try? SIPMessage.parse(message, framing: .stream)
            case .ping: self.pings += 1
            case .pong: fatalError("no ping was sent")
            case .broken: self.isBroken = true
            }
        }
    }

    static func == (left: Reading, right: Reading) -> Bool {
        left.messages == right.messages && left.pings == right.pings && left.isBroken == right.isBroken
    }
}
