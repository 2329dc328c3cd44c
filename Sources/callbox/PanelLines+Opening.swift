// SPDX-License-Identifier: Apache-2.0

import Bytes
import KioskEngine
import Panel
import PanelEngine

/// Which lines the configuration names, and how they are had: at the start, and again when their chip is back.
extension PanelLines {
    private static let releaseMs = 60

    // MARK: - The list

    func list(_ configuration: Configuration) {
        for name in ButtonName.all { self.list(name, configuration) }
        for name in InputName.all { self.list(name, configuration.panel[name]) }
        for name in LampName.all {
            let settings = configuration.panel[name]
            self.list(.lamp(name), "lamp." + name.text, settings.line, settings.isActiveLow)
        }
        for (index, settings) in configuration.panel.relays.enumerated() {
            let part = "relay." + ByteString(decimal: index + 1)
            self.list(.relay(index), part, settings.line, settings.isActiveLow)
        }
    }

    private func list(_ name: ButtonName, _ configuration: Configuration) {
        let settings = configuration[name]
        guard let line = settings.line else { return }
        self.inputs.append(
            Input(
                meaning: .button(name), part: "button." + name.text, name: line.text,
                wiring: LineSettings(isActiveLow: settings.isActiveLow, bias: Self.bias(settings.bias)),
                filter: LineFilter.Settings(
                    pressMs: settings.debounceMs, releaseMs: max(settings.debounceMs, Self.releaseMs),
                    stuckMs: configuration.panel.stuckSeconds * 1000),
                known: false))
    }

    private func list(_ name: InputName, _ settings: InputSettings) {
        guard let line = settings.line else { return }
        // A handset that hangs down at the start has not been lifted just now.
        var known: Bool? = false
        if case .hookSwitch = name { known = nil }
        self.inputs.append(
            Input(
                meaning: .input(name), part: "input." + name.text, name: line.text,
                wiring: LineSettings(isActiveLow: settings.isActiveLow, bias: Self.bias(settings.bias)),
                filter: LineFilter.Settings(
                    pressMs: settings.debounceMs, releaseMs: settings.debounceMs, stuckMs: 0),
                known: known))
    }

    private func list(_ effect: Effect, _ part: ByteString, _ line: LineName?, _ isActiveLow: Bool) {
        guard let line else { return }
        let wiring = LineSettings(isActiveLow: isActiveLow, bias: .none)
        self.outputs.append(Output(effect: effect, part: part, name: line.text, wiring: wiring))
    }

    private static func bias(_ bias: ButtonSettings.Bias) -> LineSettings.Bias {
        switch bias {
        case .pullUp: return .pullUp
        case .pullDown: return .pullDown
        case .none: return .none
        }
    }

    // MARK: - Having them

    /// Asks for all that is not there.
    func openMissing(now: Instant) {
        self.retryAt = nil
        for index in self.inputs.indices where self.inputs[index].line == nil { self.openInput(index, now: now) }
        for index in self.outputs.indices where self.outputs[index].line == nil { self.openOutput(index, now: now) }
        if self.matrix == nil, self.keypad == nil { self.openKeypad(now: now) }
    }

    private func openInput(_ index: Int, now: Instant) {
        let input = self.inputs[index]
        do throws(PanelError) {
            self.inputs[index].line = try InputLine(
                input.name, settings: input.wiring, filter: input.filter, known: input.known, now: now)
            self.heal(input.part)
        } catch {
            self.fail(input.part, input.name, error, now: now)
        }
    }

    private func openOutput(_ index: Int, now: Instant) {
        let output = self.outputs[index]
        do throws(PanelError) {
            let line = try OutputLine(output.name, settings: output.wiring)
            if output.isOn { _ = line.set(true) }
            self.outputs[index].line = line
            self.heal(output.part)
        } catch {
            self.fail(output.part, output.name, error, now: now)
        }
    }

    private func fail(_ part: ByteString, _ line: ByteString, _ error: PanelError, now: Instant) {
        self.retryAt = now + .milliseconds(Self.retryMs)
        // While a chip is away, that says more than that its lines are not found.
        if case .noSuchLine = error, self.isFaulty(part) { return }
        self.fail(part, part + ", line " + line + ": " + error.sentence)
    }

    private func openKeypad(now: Instant) {
        let settings = self.keypadSettings
        do throws(PanelError) {
            switch settings.kind {
            case .none, .scroll: return
            case .matrix:
                self.matrix = try MatrixKeypad(
                    rows: settings.rows.map { $0.text }, columns: settings.columns.map { $0.text },
                    keys: settings.keys.bytes, debounceMs: settings.debounceMs, settleUs: settings.settleUs, now: now)
            case .evdev: self.keypad = try EventKeypad(settings.device)
            }
            self.heal(Self.keypadPart)
        } catch {
            self.retryAt = now + .milliseconds(Self.retryMs)
            guard !self.isFaulty(Self.keypadPart) else { return }
            self.fail(Self.keypadPart, "keypad " + settings.device + ": " + error.sentence)
        }
    }
}
