// SPDX-License-Identifier: Apache-2.0

import Bytes
import KioskEngine
import Panel
import PanelEngine

/// The panel that the configuration names, as far as its lines could be had: levels up as presses, keys and inputs,
/// lamps and relays down.
final class PanelLines {
    private enum Meaning {
        case button(ButtonName)
        case input(InputName)
    }

    private struct Input {
        var meaning: Meaning
        var line: InputLine
        /// As the file calls it, for people.
        var name: ByteString
    }

    private var inputs: [Input] = []
    private var lamps: [(name: LampName, line: OutputLine)] = []
    private var relays: [(index: Int, line: OutputLine)] = []
    private var matrix: MatrixKeypad?
    private var keypad: EventKeypad?
    /// A keypad that is looked for again then.
    private var keypadAt: Instant?
    private let keypadSettings: KeypadSettings
    /// What is wrong, by the part's name in the file.
    private var faults: [(part: ByteString, text: ByteString)] = []

    private static let releaseMs = 60
    private static let keypadRetryMs = 2_000
    private static let keypadPart: ByteString = "keypad"

    init(_ configuration: Configuration, now: Instant) {
        self.keypadSettings = configuration.panel.keypad
        for name in ButtonName.all { self.open(name, configuration, now: now) }
        for name in InputName.all { self.open(name, configuration.panel[name], now: now) }
        for name in LampName.all { self.open(name, configuration.panel[name]) }
        for (index, settings) in configuration.panel.relays.enumerated() { self.open(index, settings) }
        self.openKeypad(now: now)
    }

    /// Buttons whose lines could be had.
    var buttons: [ButtonName] {
        self.inputs.compactMap { input in
            guard case .button(let name) = input.meaning else { return nil }
            return name
        }
    }

    /// What is wrong with the panel, in one sentence; nil where nothing is.
    var fault: ByteString? {
        guard var sentence = self.faults.first?.text else { return nil }
        for fault in self.faults.dropFirst() { sentence += "; " + fault.text }
        return sentence
    }

    // MARK: - Opening

    private func open(_ name: ButtonName, _ configuration: Configuration, now: Instant) {
        let settings = configuration[name]
        let filter = LineFilter.Settings(
            pressMs: settings.debounceMs, releaseMs: max(settings.debounceMs, Self.releaseMs),
            stuckMs: configuration.panel.stuckSeconds * 1000)
        let wiring = LineSettings(isActiveLow: settings.isActiveLow, bias: Self.bias(settings.bias))
        self.open(.button(name), "button." + name.text, settings.line, wiring, filter, now: now)
    }

    private func open(_ name: InputName, _ settings: InputSettings, now: Instant) {
        let filter = LineFilter.Settings(pressMs: settings.debounceMs, releaseMs: settings.debounceMs, stuckMs: 0)
        let wiring = LineSettings(isActiveLow: settings.isActiveLow, bias: Self.bias(settings.bias))
        self.open(.input(name), "input." + name.text, settings.line, wiring, filter, now: now)
    }

    private func open(
        _ meaning: Meaning, _ part: ByteString, _ line: LineName?, _ wiring: LineSettings,
        _ filter: LineFilter.Settings, now: Instant
    ) {
        guard let line else { return }
        var knowsLevel = false
        // A handset that hangs down at the start has not been lifted just now.
        if case .input(.hookSwitch) = meaning { knowsLevel = true }
        do throws(PanelError) {
            let input = try InputLine(line.text, settings: wiring, filter: filter, knowsLevel: knowsLevel, now: now)
            self.inputs.append(Input(meaning: meaning, line: input, name: part))
        } catch {
            self.fail(part, part + ", line " + line.text + ": " + error.sentence)
        }
    }

    private func open(_ name: LampName, _ settings: LampSettings) {
        let wiring = LineSettings(isActiveLow: settings.isActiveLow, bias: .none)
        guard let line = self.output("lamp." + name.text, settings.line, wiring) else { return }
        self.lamps.append((name, line))
    }

    private func open(_ index: Int, _ settings: RelaySettings) {
        let wiring = LineSettings(isActiveLow: settings.isActiveLow, bias: .none)
        guard let line = self.output("relay." + ByteString(decimal: index + 1), settings.line, wiring) else { return }
        self.relays.append((index, line))
    }

    private func output(_ part: ByteString, _ line: LineName?, _ wiring: LineSettings) -> OutputLine? {
        guard let line else { return nil }
        do throws(PanelError) {
            return try OutputLine(line.text, settings: wiring)
        } catch {
            self.fail(part, part + ", line " + line.text + ": " + error.sentence)
            return nil
        }
    }

    private func openKeypad(now: Instant) {
        let settings = self.keypadSettings
        self.keypadAt = nil
        do throws(PanelError) {
            switch settings.kind {
            case .none, .scroll: return
            case .matrix:
                self.matrix = try MatrixKeypad(
                    rows: settings.rows.map { $0.text }, columns: settings.columns.map { $0.text },
                    keys: settings.keys.bytes, debounceMs: settings.debounceMs, now: now)
            case .evdev: self.keypad = try EventKeypad(settings.device)
            }
            self.heal(Self.keypadPart)
        } catch {
            self.fail(Self.keypadPart, "keypad " + settings.device + ": " + error.sentence)
            if settings.kind == .evdev { self.keypadAt = now + .milliseconds(Self.keypadRetryMs) }
        }
    }

    private static func bias(_ bias: ButtonSettings.Bias) -> LineSettings.Bias {
        switch bias {
        case .pullUp: return .pullUp
        case .pullDown: return .pullDown
        case .none: return .none
        }
    }

    // MARK: - Down

    func set(_ lamp: LampName, on isOn: Bool) {
        for (name, line) in self.lamps where name == lamp { line.set(isOn) }
    }

    func set(relay number: Int, on isOn: Bool) {
        for (index, line) in self.relays where index == number { line.set(isOn) }
    }

    // MARK: - Up

    /// What is to be watched now; asked again after each `read`.
    var descriptors: [Int32] {
        var descriptors = self.inputs.filter { $0.line.isListening }.map { $0.line.descriptor }
        descriptors += self.matrix?.descriptors ?? []
        if let keypad = self.keypad { descriptors.append(keypad.descriptor) }
        return descriptors
    }

    /// What is not to be watched for a while.
    var deaf: [Int32] { self.inputs.filter { !$0.line.isListening }.map { $0.line.descriptor } }

    /// When `read` is to be called at the latest.
    var deadline: Instant? {
        (self.inputs.map { $0.line.deadline } + [self.matrix?.deadline, self.keypadAt]).compactMap { $0 }.min()
    }

    /// What happened at the panel since the last time. `ready`: the descriptors that are readable.
    func read(_ ready: [Int32], now: Instant) -> [KioskInput] {
        let before = self.fault
        var news: [KioskInput] = []
        // All at once, so that lines at rest wake the program together.
        let isTime = self.inputs.contains { input in input.line.deadline.map { now >= $0 } ?? false }
        for input in self.inputs where isTime || ready.contains(input.line.descriptor) {
            guard input.line.deadline != nil else { continue }
            for event in input.line.read(now: now) { self.tell(event, of: input, &news) }
        }
        self.readMatrix(ready, now: now, &news)
        if let keypad = self.keypad, ready.contains(keypad.descriptor) { self.read(keypad, now: now, &news) }
        if let at = self.keypadAt, now >= at { self.openKeypad(now: now) }
        if let fault = self.fault {
            if fault != before { news.append(.device(.failed(.panel, fault))) }
        } else if before != nil {
            news.append(.device(.restored(.panel)))
        }
        return news
    }

    private func tell(_ event: InputLine.Event, of input: Input, _ news: inout [KioskInput]) {
        switch event {
        case .gone: self.fail(input.name, input.name + ": the chip of its line is gone")
        case .line(.pressed): news.append(self.change(of: input, isActive: true))
        case .line(.released): news.append(self.change(of: input, isActive: false))
        case .line(.stuck): self.fail(input.name, input.name + " is stuck: it stays pressed")
        case .line(.noisy): self.fail(input.name, input.name + " is noisy: it changes too often and is not listened to")
        case .line(.healed): self.heal(input.name)
        }
    }

    private func change(of input: Input, isActive: Bool) -> KioskInput {
        switch input.meaning {
        case .button(let name): return .button(name, isActive ? .pressed : .released)
        case .input(let name): return .input(name, isActive: isActive)
        }
    }

    private func readMatrix(_ ready: [Int32], now: Instant, _ news: inout [KioskInput]) {
        guard let matrix = self.matrix else { return }
        if matrix.descriptors.contains(where: { ready.contains($0) }) { matrix.wake(now: now) }
        for event in matrix.scan(now: now) {
            switch event {
            case .key(let key): if key.isPressed { news.append(.key(key.key)) }
            case .stuck(let key):
                self.fail("key " + ByteString([key]), "the key " + ByteString([key]) + " of the keypad is stuck")
            case .healed(let key): self.heal("key " + ByteString([key]))
            }
        }
    }

    private func read(_ keypad: EventKeypad, now: Instant, _ news: inout [KioskInput]) {
        if let keys = keypad.read() {
            news += keys.map { .key($0) }
        } else {
            self.keypad = nil
            self.keypadAt = now + .milliseconds(Self.keypadRetryMs)
            self.fail(Self.keypadPart, "keypad " + self.keypadSettings.device + ": it was unplugged")
        }
    }

    // MARK: - Faults

    private func fail(_ part: ByteString, _ text: ByteString) {
        self.heal(part)
        self.faults.append((part, text))
    }

    private func heal(_ part: ByteString) {
        self.faults.removeAll { $0.part == part }
    }
}
