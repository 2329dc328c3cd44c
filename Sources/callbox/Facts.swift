// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem
import KioskEngine
import Loop

/// What the board and the system say of themselves.
func boardFacts() -> BoardFacts {
    var facts = BoardFacts()
    facts.board = firstLine("/sys/firmware/devicetree/base/model") ?? firstLine("/sys/class/dmi/id/product_name") ?? ""
    facts.architecture = architecture
    facts.system = systemName(readFile("/etc/os-release", sizeMax: factSizeMax) ?? [])
    facts.build = buildName
    return facts
}

private let factSizeMax = 4096

#if arch(arm64)
    private let architecture: ByteString = "arm64"
#elseif arch(arm)
    private let architecture: ByteString = "armv7"
#else
    private let architecture: ByteString = "x86-64"
#endif

/// A line of a file in which the kernel tells one thing; device tree strings end with NUL.
private func firstLine(_ path: ByteString) -> ByteString? {
    guard let bytes = readFile(path, sizeMax: factSizeMax) else { return nil }
    let line = ByteString(Array(bytes.prefix { $0 != 0 && $0 != ASCII.lineFeed })).trimmed()
    return line.isEmpty ? nil : line
}

/// `NAME` and `VERSION_ID` of os-release(5), the name's first word.
private func systemName(_ bytes: [UInt8]) -> ByteString {
    var name = ByteString()
    var version = ByteString()
    for line in ByteString(bytes).split(on: ASCII.lineFeed) {
        if line.hasPrefix("NAME=") { name = unquoted(line.slice(5..<line.count)) }
        if line.hasPrefix("VERSION_ID=") { version = unquoted(line.slice(11..<line.count)) }
    }
    let word = name.split(on: ASCII.space).first ?? ""
    return version.isEmpty ? word : word + " " + version
}

private func unquoted(_ text: ByteString) -> ByteString {
    ByteString(text.bytes.filter { $0 != ASCII.quote })
}
