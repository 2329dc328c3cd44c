// SPDX-License-Identifier: Apache-2.0
import Bytes

extension Configuration {
    /// Reads a file as far as it makes sense. Never fails: what is wrong is listed, in the order of the file, and has
    /// its value of the last good file, or else its default.
    public static func parse(
        _ file: [UInt8], lastGood: [UInt8]? = nil
    ) -> (Configuration, [ConfigurationProblem]) {
        var parser = ConfigurationParser()
        if let lastGood { parser.remember(lastGood) }
        parser.read(file)
        return (parser.configuration, parser.problems)
    }
}

/// Reads `[section]` and `key = value` lines.
struct ConfigurationParser {
    /// What lies in `problems` at most; a last one then says that there are more.
    static let problemsMax = 64
    /// Of these, those of single lines: what is wrong with the file as a whole always has room.
    static let lineProblemsMax = 60

    private enum Section {
        /// Before the first header.
        case none
        case known(ByteString)
        /// Reported once, at its header; its keys are passed over.
        case unknown
    }

    private(set) var configuration = Configuration()
    private(set) var problems: [ConfigurationProblem] = []
    private var section = Section.none
    /// For each setting of `ConfigurationSetting.all` the line that gave it.
    private var seenAt = [Int?](repeating: nil, count: ConfigurationSetting.all.count)
    /// Some problem, listed or not, may have cost a setting.
    private var hasLostLines = false
    /// For each setting its value, where it could be used; and the same of the last good file.
    private var values = [ByteString?](repeating: nil, count: ConfigurationSetting.all.count)
    private var formerValues = [ByteString?](repeating: nil, count: ConfigurationSetting.all.count)
    /// Lines of the panel that are taken, with whose they are.
    private var takenLines: [(line: LineName, by: ByteString)] = []

    mutating func read(_ file: [UInt8]) {
        if file.count > ConfigurationText.fileBytesMax {
            let kilobytes = ByteString(decimal: ConfigurationText.fileBytesMax / 1024)
            self.report(.file, 0, "", "", "the file is longer than " + kilobytes + " KB; the rest is not read")
        }
        let lines = ConfigurationText.lines(Array(file.prefix(ConfigurationText.fileBytesMax)))
        for (index, line) in lines.enumerated() { self.read(line, number: index + 1) }
        self.checkAddress()
        self.fillGaps()
        self.completeAddresses()
        self.checkCallers()
    }

    mutating func remember(_ lastGood: [UInt8]) {
        var former = ConfigurationParser()
        former.read(lastGood)
        self.formerValues = former.values
    }

    private mutating func read(_ line: ByteString, number: Int) {
        guard let first = line.bytes.first, first != ASCII.hash, first != ASCII.semicolon else { return }
        guard line.count <= ConfigurationText.lineBytesMax else {
            let limit = ByteString(decimal: ConfigurationText.lineBytesMax)
            return self.report(.line, number, "", "", "the line is longer than " + limit + " bytes and is not read")
        }
        guard ConfigurationText.isText(line) else {
            return self.report(.line, number, "", "", "the line is not text; save the file as UTF-8")
        }
        if first == ASCII.openBracket {
            self.open(line, number: number)
        } else if let equals = line.firstIndex(of: ASCII.equals) {
            let key = ConfigurationText.key(of: line, equals: equals)
            let value = ConfigurationText.value(line.slice(equals + 1..<line.count))
            self.set(key, value, number: number)
        } else {
            // Problems are shown and logged.
            let secrets: [ByteString] = ["passw", "turn_passw", "wifi_passw", "auth_passw"]
            let isSecret = secrets.contains { line.hasPrefixIgnoringCase($0) }
            let quoted = isSecret ? "a line with a password" : ConfigurationValue.quoted(line)
            self.report(.line, number, "", "", quoted + " is neither [section] nor key = value")
        }
    }

    // MARK: - Sections

    private mutating func open(_ line: ByteString, number: Int) {
        self.section = .unknown
        guard let name = ConfigurationText.sectionName(of: line) else {
            let header = ConfigurationText.withoutComment(line)
            return self.report(.line, number, "", "", ConfigurationValue.quoted(header) + " is not a [section]")
        }
        if ConfigurationSetting.sections.contains(name) {
            self.section = .known(name)
        } else {
            self.report(
                .section, number, UTF8Text.displayable(name, bytesMax: Nearest.nameBytesMax), "",
                "unknown section, its keys are not read",
                nearest: Nearest.name(to: name, among: ConfigurationSetting.sections))
        }
    }

    // MARK: - Keys

    private mutating func set(_ key: ByteString, _ value: ByteString, number: Int) {
        let shown = UTF8Text.displayable(key, bytesMax: Nearest.nameBytesMax)
        switch self.section {
        case .unknown: return
        case .none:
            self.report(.key, number, "", shown, "stands before the first [section]")
        case .known(let section):
            let found = ConfigurationSetting.all.firstIndex { $0.section == section && $0.key == key }
            guard let index = found else { return self.reportUnknown(key, shown, in: section, number: number) }
            if let line = self.seenAt[index] {
                let reason: ByteString = "already given in line " + ByteString(decimal: line) + ", which counts"
                return self.report(.twice, number, section, key, reason)
            }
            self.seenAt[index] = number
            self.set(index, value, number: number)
        }
    }

    private mutating func set(_ index: Int, _ value: ByteString, number: Int) {
        let setting = ConfigurationSetting.all[index]
        do throws(BadValue) {
            try self.apply(index, value)
        } catch {
            var reason = error.reason
            let standard = setting.instead ?? setting.standard
            if let former = self.applyFormer(index) {
                reason += "; " + former + " of the last good file is used"
            } else if !standard.isEmpty {
                reason += "; " + standard + " is used"
            }
            self.report(.value, number, setting.section, setting.key, reason)
        }
    }

    private mutating func apply(_ index: Int, _ value: ByteString) throws(BadValue) {
        let setting = ConfigurationSetting.all[index]
        if value.isEmpty && !setting.mayBeEmpty { throw BadValue("has no value") }
        try setting.apply(value, &self.configuration)
        if setting.key == "line" { try self.take(value, for: setting) }
        self.values[index] = value
    }

    // MARK: - The last good file

    /// The value that was used, for people; nil where there is none. Secrets are never repeated.
    private mutating func applyFormer(_ index: Int) -> ByteString? {
        guard let former = self.formerValues[index], !ConfigurationSetting.all[index].mayBeEmpty else { return nil }
        do throws(BadValue) { try self.apply(index, former) } catch { return nil }
        return ConfigurationValue.quoted(former)
    }

    /// A file that lost lines on its way, or in which a line cannot be understood, gets from the last good one what it
    /// does not say.
    private mutating func fillGaps() {
        guard self.hasLostLines else { return }
        var isFilled = false
        for index in ConfigurationSetting.all.indices where self.seenAt[index] == nil && self.values[index] == nil {
            if self.applyFormer(index) != nil { isFilled = true }
        }
        if isFilled { self.report(.file, 0, "", "", "what the file does not say is taken from the last good one") }
    }

    /// Two parts of the panel cannot have one line.
    private mutating func take(_ value: ByteString, for setting: ConfigurationSetting) throws(BadValue) {
        guard let line = try ConfigurationValue.line(value) else { return }
        if let taken = self.takenLines.first(where: { $0.line == line }) {
            try setting.apply("none", &self.configuration)
            throw BadValue("the line is already that of [" + taken.by + "]")
        }
        self.takenLines.append((line, setting.section))
    }

    /// A file that names nobody to call is a problem even where all that it says is right.
    private mutating func checkAddress() {
        let index = ConfigurationSetting.all.firstIndex { $0.section == "call" && $0.key == "uri" }
        guard let index, self.seenAt[index] == nil else { return }
        let former = self.applyFormer(index)
        self.report(
            .missing, 0, "call", "uri",
            former.map { "missing: " + $0 + " of the last good file is called" }
                ?? "missing: the call button has nobody to call")
    }

    /// Gives names and numbers alone the domain that they are in.
    private mutating func completeAddresses() {
        self.complete("call", { $0.call.steps }, { $0.call.steps = $1 })
        self.complete("auto_call", { $0.autoCall.steps }, { $0.autoCall.steps = $1 })
        for button in ButtonName.all {
            self.complete("button." + button.text, { $0[button].steps }, { $0[button].steps = $1 })
        }
    }

    private mutating func complete(
        _ section: ByteString, _ steps: (Configuration) -> [CallStep],
        _ store: (inout Configuration, [CallStep]) -> Void
    ) {
        if let whole = self.configuration.completed(steps(self.configuration)) {
            return store(&self.configuration, whole)
        }
        var reason: ByteString =
            "a name or number alone needs the domain of an [account] or of [servers]; or write sip:NAME@HOST"
        let index = ConfigurationSetting.all.firstIndex { $0.section == section && $0.key == "uri" }
        var whole: [CallStep]?
        if let index, let former = self.applyFormer(index) {
            whole = self.configuration.completed(steps(self.configuration))
            if whole != nil { reason += "; " + former + " of the last good file is used" }
        }
        store(&self.configuration, whole ?? [])
        self.report(.value, self.line(of: "uri", in: section), section, "uri", reason)
    }

    /// Nobody is listened to by a mistake in the file.
    private mutating func checkCallers() {
        let call = self.configuration.call
        guard call.incoming == .answer else { return }
        let line = self.line(of: "incoming", in: "call")
        if call.incomingFrom.isEmpty {
            let reason: ByteString = "answer needs incoming_from, which says who may listen; ring is used"
            self.report(.value, line, "call", "incoming", reason)
        } else if self.configuration.sip.acceptFrom == .anyone, !call.incomingFrom.contains(.anyone) {
            let reason: ByteString =
                "with [sip] accept_from = anyone, everybody can call by any name of incoming_from; ring is used"
            self.report(.value, line, "call", "incoming", reason)
        }
    }

    /// The line that gave a key; 0 where none did.
    private func line(of key: ByteString, in section: ByteString) -> Int {
        let index = ConfigurationSetting.all.firstIndex { $0.section == section && $0.key == key }
        return index.flatMap { self.seenAt[$0] } ?? 0
    }

    // MARK: - Problems

    private mutating func reportUnknown(_ key: ByteString, _ shown: ByteString, in section: ByteString, number: Int) {
        // Of sections that are alike the first stands for all.
        let homes = ConfigurationSection.all.filter { home in
            home.like == nil && home.settings.contains { $0.key == key }
        }.map { "[" + $0.name + "]" }
        if !homes.isEmpty {
            let reason: ByteString = "not a key of this section; it belongs in " + ConfigurationValue.joined(homes)
            return self.report(.key, number, section, shown, reason)
        }
        let candidates = ConfigurationSetting.all.filter { $0.section == section }.map { $0.key }
        self.report(.key, number, section, shown, "unknown key", nearest: Nearest.name(to: key, among: candidates))
    }

    private mutating func report(
        _ kind: ConfigurationProblem.Kind, _ line: Int, _ section: ByteString, _ key: ByteString, _ reason: ByteString,
        nearest: ByteString? = nil
    ) {
        if kind.losesLines { self.hasLostLines = true }
        let countMax = line > 0 ? Self.lineProblemsMax : Self.problemsMax
        guard self.problems.count < countMax else { return }
        if self.problems.count == countMax - 1 {
            let reason: ByteString = "there are more problems from here on, which are not listed"
            self.problems.append(ConfigurationProblem(kind, line: line, reason: reason))
        } else {
            self.problems.append(
                ConfigurationProblem(kind, line: line, section: section, key: key, reason: reason, nearest: nearest))
        }
    }
}
