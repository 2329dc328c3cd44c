// SPDX-License-Identifier: Apache-2.0

import Bytes

/// Why there is nothing on the screen, or why a wish was not met.
public enum DisplayError: Error, Equatable {
    /// No /dev/dri/card* that can set modes.
    case noController
    /// The driver has no atomic mode setting.
    case notAtomic(driver: ByteString)
    /// No connector of the wanted name; `present` are those that exist.
    case noConnector(wanted: ByteString, present: [ByteString])
    /// Connectors exist, but nothing is plugged in.
    case notConnected([ByteString])
    /// Another program controls the display; its name and process, where known.
    case heldByAnother(name: ByteString, process: Int)
    /// No arrangement of the planes was accepted.
    case noArrangement
    /// A kernel call failed.
    case refused(ByteString, code: Int32)
    /// The controller cannot read the screen back (it has no writeback connector).
    case noWriteback
    /// The file could not be written.
    case notSaved(ByteString)

    /// One plain sentence for the person who installs or looks after the kiosk.
    public var sentence: ByteString {
        switch self {
        case .noController:
            return "No display controller was found."
        case .notAtomic(let driver):
            return "The display driver " + driver + " cannot be used: it has no atomic mode setting."
        case .noConnector(let wanted, let present):
            return "There is no display connector " + wanted + "; there is " + Self.list(present) + "."
        case .notConnected(let names):
            return "No display is plugged in (" + Self.list(names) + ")."
        case .heldByAnother(let name, let process):
            var sentence: ByteString = "Another program uses the display"
            if process > 0 {
                sentence += ": " + name + ", process "
                sentence.append(decimal: process)
            }
            return sentence + "."
        case .noArrangement:
            return "The display controller accepts none of the ways in which the kiosk could use it."
        case .refused(let step, let code):
            var sentence: ByteString = "The display refused to " + step + " (error "
            sentence.append(decimal: code)
            return sentence + ")."
        case .noWriteback:
            return "A picture of the screen is not available: this display cannot be read back."
        case .notSaved(let path):
            return "The picture of the screen could not be saved as " + path + "."
        }
    }

    private static func list(_ names: [ByteString]) -> ByteString {
        guard let first = names.first else { return "none" }
        return names.dropFirst().reduce(first) { $0 + ", " + $1 }
    }
}
