// SPDX-License-Identifier: Apache-2.0

import Bytes
import Loop

/// The light behind the screen, and its file in the data directory as long as it is dimmed: whatever ends the program
/// then, the next start knows what it was.
struct ScreenLight {
    private let backlight = Backlight()
    private let path: ByteString
    private let wires: Wires

    init(data: ByteString, wires: Wires) {
        self.path = data + "/brightness"
        self.wires = wires
        guard let kept = readFile(self.path, sizeMax: Backlight.keptBytesMax) else { return }
        self.backlight.restore(kept)
        wires.records.order(.remove(self.path))
    }

    func dim(_ isOn: Bool) {
        self.backlight.dim(isOn)
        guard let kept = self.backlight.kept else { return self.wires.records.order(.remove(self.path)) }
        let failed = self.path + " cannot be written; if the program ends now, the screen stays dark"
        self.wires.records.order(.files([SmallFile(path: self.path, bytes: kept, failed: failed)]))
    }
}
