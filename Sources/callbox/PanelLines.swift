// SPDX-License-Identifier: Apache-2.0

import Bytes
import KioskEngine
import Panel
import PanelEngine

/// The panel that the configuration names: levels up as presses, keys and inputs, lamps and relays down.
///
/// What could not be had, or went away with its chip, is asked for again every two seconds.
final class PanelLines {
    enum Meaning {
        case button(ButtonName)
        case input(InputName)
    }

    struct Input {
        let meaning: Meaning
        /// As the file calls it, for people.
        let part: ByteString
        let name: ByteString
        let wiring: LineSettings
        let filter: LineFilter.Settings
        /// What the kiosk knows of it; nil: nothing yet.
        var known: Bool?
        var line: InputLine?
    }

    enum Effect {
        case lamp(LampName)
        case relay(Int)
    }

    struct Output {
        let effect: Effect
        let part: ByteString
        let name: ByteString
        let wiring: LineSettings
        /// As the kiosk wants it.
        var isOn = false
        var line: OutputLine?
    }

    var inputs: [Input] = []
    var outputs: [Output] = []
    var matrix: MatrixKeypad?
    var keypad: EventKeypad?
    let keypadSettings: KeypadSettings
    /// When what is missing is asked for again; nil where nothing is.
    var retryAt: Instant?
    /// Something went away just now; what is on the same chip may have, too.
    private var hasLost = false
    /// When lamps and relays are looked after: their lines tell nothing by themselves.
    private var checkAt: Instant
    /// What is wrong, by the part's name in the file.
    private var faults: [(part: ByteString, text: ByteString)] = []
    /// `fault` as the kiosk knows it.
    private var toldFault: ByteString?

    static let retryMs = 2_000
    /// A little more than inputs at rest wait, to wake the program together with them.
    private static let checkMs = 5_100
    static let keypadPart: ByteString = "keypad"

    init(_ configuration: Configuration, now: Instant) {
        self.keypadSettings = configuration.panel.keypad
        self.checkAt = now + .milliseconds(Self.checkMs)
        self.list(configuration)
        self.openMissing(now: now)
        self.toldFault = self.fault
    }

    /// Buttons whose lines could be had.
    var buttons: [ButtonName] {
        self.inputs.compactMap { input in
            guard case .button(let name) = input.meaning, input.line != nil else { return nil }
            return name
        }
    }

    /// What is wrong with the panel, in one sentence; nil where nothing is.
    var fault: ByteString? {
        guard var sentence = self.faults.first?.text else { return nil }
        for fault in self.faults.dropFirst() { sentence += "; " + fault.text }
        return sentence
    }

    // MARK: - Down

    func set(_ lamp: LampName, on isOn: Bool, now: Instant) {
        for index in self.outputs.indices {
            if case .lamp(lamp) = self.outputs[index].effect { self.set(index, on: isOn, now: now) }
        }
    }

    func set(relay number: Int, on isOn: Bool, now: Instant) {
        for index in self.outputs.indices {
            if case .relay(number) = self.outputs[index].effect { self.set(index, on: isOn, now: now) }
        }
    }

    private func set(_ index: Int, on isOn: Bool, now: Instant) {
        self.outputs[index].isOn = isOn
        if self.outputs[index].line?.set(isOn) == false { self.loseOutput(index, now: now) }
    }

    // MARK: - Up

    /// What is to be watched now; asked again after each `read`.
    var descriptors: [Int32] {
        var descriptors = self.lines.filter { $0.isListening }.map { $0.descriptor }
        descriptors += self.matrix?.descriptors ?? []
        if let keypad = self.keypad { descriptors.append(keypad.descriptor) }
        return descriptors
    }

    /// What is not to be watched for a while.
    var deaf: [Int32] { self.lines.filter { !$0.isListening }.map { $0.descriptor } }

    private var lines: [InputLine] { self.inputs.compactMap { $0.line } }

    /// When `read` is to be called at the latest.
    var deadline: Instant? {
        (self.lines.map { $0.deadline }
            + [self.matrix?.deadline, self.retryAt, self.outputs.isEmpty ? nil : self.checkAt])
            .compactMap { $0 }.min()
    }

    /// What happened at the panel since the last time. `ready`: the descriptors that are readable.
    func read(_ ready: [Int32], now: Instant) -> [KioskInput] {
        var news: [KioskInput] = []
        // All at once, so that lines at rest wake the program together.
        let isTime = now >= self.checkAt || self.lines.contains { now >= $0.deadline }
        for index in self.inputs.indices {
            guard let line = self.inputs[index].line, isTime || ready.contains(line.descriptor) else { continue }
            for event in line.read(now: now) { self.tell(event, of: index, now: now, &news) }
            guard let report = line.edges.take(now: now) else { continue }
            news.append(.edges(self.inputs[index].part, report.edges, age: report.age, leftOut: report.leftOut))
        }
        self.readMatrix(ready, now: now, &news)
        if let keypad = self.keypad, ready.contains(keypad.descriptor) { self.read(keypad, now: now, &news) }
        if isTime || self.hasLost { self.lookAfterOutputs(now: now) }
        if let at = self.retryAt, now >= at { self.openMissing(now: now) }
        let fault = self.fault
        if fault != self.toldFault {
            news.append(.device(fault.map { .failed(.panel, $0) } ?? .restored(.panel)))
            self.toldFault = fault
        }
        return news
    }

    private func tell(_ event: InputLine.Event, of index: Int, now: Instant, _ news: inout [KioskInput]) {
        let part = self.inputs[index].part
        switch event {
        case .gone: self.loseInput(index, now: now, &news)
        case .line(.pressed): self.change(index, isActive: true, &news)
        case .line(.released): self.change(index, isActive: false, &news)
        case .line(.stuck): self.fail(part, part + " is stuck: it stays pressed")
        case .line(.noisy): self.fail(part, part + " is noisy: it changes too often and is not listened to")
        case .line(.healed): self.heal(part)
        }
    }

    private func change(_ index: Int, isActive: Bool, _ news: inout [KioskInput]) {
        switch self.inputs[index].meaning {
        case .button(let name): news.append(.button(name, isActive ? .pressed : .released))
        case .input(let name): news.append(.input(name, isActive: isActive))
        }
    }

    private func readMatrix(_ ready: [Int32], now: Instant, _ news: inout [KioskInput]) {
        guard let matrix = self.matrix else { return }
        if matrix.descriptors.contains(where: { ready.contains($0) }) { matrix.wake(now: now) }
        guard let events = matrix.scan(now: now) else {
            self.matrix = nil
            self.faults.removeAll { $0.part.hasPrefix("key ") }
            return self.lose(Self.keypadPart, "keypad: the chip of a line of it is gone", now: now)
        }
        for event in events {
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
            self.lose(Self.keypadPart, "keypad " + self.keypadSettings.device + ": it was unplugged", now: now)
        }
    }

    // MARK: - Going away

    /// A finger on a button without a line is nobody's any more; an input is believed to be as it was.
    private func loseInput(_ index: Int, now: Instant, _ news: inout [KioskInput]) {
        let isPressed = self.inputs[index].line?.isPressed ?? false
        self.inputs[index].line = nil
        switch self.inputs[index].meaning {
        case .button: if isPressed { self.change(index, isActive: false, &news) }
        case .input: self.inputs[index].known = isPressed
        }
        self.lose(self.inputs[index].part, self.inputs[index].part + ": the chip of its line is gone", now: now)
    }

    private func lookAfterOutputs(now: Instant) {
        self.hasLost = false
        self.checkAt = now + .milliseconds(Self.checkMs)
        for index in self.outputs.indices where self.outputs[index].line?.isPresent == false {
            self.loseOutput(index, now: now)
        }
    }

    /// A lamp is as it was when its line is back. A relay is off then, until it is switched anew.
    private func loseOutput(_ index: Int, now: Instant) {
        self.outputs[index].line = nil
        if case .relay = self.outputs[index].effect { self.outputs[index].isOn = false }
        self.lose(self.outputs[index].part, self.outputs[index].part + ": the chip of its line is gone", now: now)
    }

    private func lose(_ part: ByteString, _ text: ByteString, now: Instant) {
        self.hasLost = true
        self.fail(part, text)
        self.retryAt = now + .milliseconds(Self.retryMs)
    }

    // MARK: - Faults

    func isFaulty(_ part: ByteString) -> Bool { self.faults.contains { $0.part == part } }

    func fail(_ part: ByteString, _ text: ByteString) {
        self.heal(part)
        self.faults.append((part, text))
    }

    func heal(_ part: ByteString) {
        self.faults.removeAll { $0.part == part }
    }
}
