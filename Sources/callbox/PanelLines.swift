// SPDX-License-Identifier: Apache-2.0

import Bytes
import KioskEngine
import Panel

/// The buttons and lamps that the configuration names, as far as their lines could be had.
struct PanelLines {
    private(set) var buttons: [(name: ButtonName, line: ButtonLine)] = []
    private var lamps: [(name: LampName, line: LampLine)] = []
    /// One sentence for each line that could not be had.
    private(set) var faults: [ByteString] = []

    init(_ configuration: Configuration) {
        for name in ButtonName.all {
            let settings = configuration[name]
            guard let line = settings.line else { continue }
            do {
                let button = try ButtonLine(
                    line.text,
                    settings: LineSettings(
                        isActiveLow: settings.isActiveLow, bias: Self.bias(settings.bias),
                        debounceMs: settings.debounceMs))
                self.buttons.append((name, button))
            } catch {
                self.faults.append("button." + name.text + ", line " + line.text + ": " + error.sentence)
            }
        }
        self.openLamp(.call, configuration.callLamp)
    }

    private mutating func openLamp(_ name: LampName, _ settings: LampSettings) {
        guard let line = settings.line else { return }
        do {
            let lamp = try LampLine(
                line.text, settings: LineSettings(isActiveLow: settings.isActiveLow, bias: .none, debounceMs: 0))
            self.lamps.append((name, lamp))
        } catch {
            self.faults.append("lamp." + name.text + ", line " + line.text + ": " + error.sentence)
        }
    }

    func set(_ lamp: LampName, on isOn: Bool) {
        for (name, line) in self.lamps where name == lamp { line.set(isOn) }
    }

    private static func bias(_ bias: ButtonSettings.Bias) -> LineSettings.Bias {
        switch bias {
        case .pullUp: return .pullUp
        case .pullDown: return .pullDown
        case .none: return .none
        }
    }
}
