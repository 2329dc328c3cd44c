// SPDX-License-Identifier: Apache-2.0

import Bytes
import KioskEngine
import Loop

/// `callbox.conf`, and over it what the command line says: read at the start, and again when somebody asks for it.
final class ConfigurationFile {
    private let options: RunOptions
    /// Problems of what was opened at the start, and is not opened again.
    var standing: [ConfigurationProblem] = []
    /// Where the file was found: editors and systems change names.
    private(set) var path: ByteString
    private let lastGoodPath: ByteString
    /// Nil for who only looks: nothing is written.
    private let wires: Wires?
    /// The board had to be started with as little as can be.
    private let isSafe: Bool
    /// The last good file that was ordered to be written.
    private var kept: [UInt8]?

    init(_ options: RunOptions, _ wires: Wires?, isSafe: Bool = false) {
        self.options = options
        self.isSafe = isSafe
        self.wires = wires
        self.path = options.configurationPath
        self.lastGoodPath = options.dataPath + "/callbox.conf.good"
    }

    var name: ByteString { splitPath(self.path).name }

    /// Where there is no file, the last good one; where there was none, all defaults. In safe mode the last good one at
    /// once: what was changed last may be what keeps the board from coming up.
    func readFirst() -> (Configuration, [ConfigurationProblem]) {
        if self.isSafe, let former = self.lastGood { return (self.over(Configuration.parse(former).0), []) }
        let (configuration, problems) = self.read(mayBeEmpty: true)
        if let configuration { return (configuration, problems) }
        let former = self.lastGood.map { Configuration.parse($0).0 } ?? Configuration()
        return (self.over(former), problems)
    }

    /// Nil where it cannot be read, or names nobody to call: the settings that the kiosk has go on.
    func read() -> (Configuration?, [ConfigurationProblem]) { self.read(mayBeEmpty: false) }

    private func read(mayBeEmpty: Bool) -> (Configuration?, [ConfigurationProblem]) {
        guard let (bytes, callsSomebody, rivals) = self.find() else {
            let reason = "the file " + self.options.configurationPath + " cannot be read"
            return (nil, [ConfigurationProblem(.file, reason: reason)] + self.standing)
        }
        var (configuration, problems) = Configuration.parse(bytes, lastGood: self.lastGood)
        if !callsSomebody, !mayBeEmpty { return (nil, problems + self.standing) }
        if Configuration.isGood(problems) { self.keep(bytes) }
        problems += dropUnreadable(&configuration.language)
        problems += rivals.map {
            ConfigurationProblem(.opening, reason: $0 + " lies beside " + self.name + " and is not read")
        }
        return (self.over(configuration), problems + self.standing)
    }

    /// Where passwords are, now that the file says this. One that was written into it is moved.
    func readSecrets(_ settings: Configuration, _ wires: Wires) -> Secrets {
        Secrets(self.options, settings, file: self.path, wires)
    }

    // MARK: - Names

    /// The first file that names somebody to call, or else the first; and the names of others that do too.
    private func find() -> ([UInt8], callsSomebody: Bool, rivals: [ByteString])? {
        let (folder, name) = splitPath(self.options.configurationPath)
        var found: [(name: ByteString, bytes: [UInt8], callsSomebody: Bool)] = []
        for candidate in ConfigurationNames.candidates(for: name, among: namesInFolder(folder)) {
            guard let bytes = readBeginning(folder + "/" + candidate, sizeMax: configurationSizeMax) else { continue }
            found.append((candidate, bytes, Configuration.parse(bytes).0.call.uri != nil))
        }
        guard let chosen = found.first(where: { $0.callsSomebody }) ?? found.first else { return nil }
        self.path = folder + "/" + chosen.name
        let rivals = found.filter { $0.callsSomebody && $0.name != chosen.name }.map { $0.name }
        return (chosen.bytes, chosen.callsSomebody, rivals)
    }

    // MARK: - The last good file

    private var lastGood: [UInt8]? {
        if let kept = self.kept { return kept }
        return readFile(self.lastGoodPath, sizeMax: LastGoodFile.fileBytesMax).flatMap { LastGoodFile.opened($0) }
    }

    private func keep(_ file: [UInt8]) {
        let file = Configuration.withoutPassword(file, movedTo: "the secrets file") ?? file
        guard let wires = self.wires, self.lastGood != file else { return }
        self.kept = file
        let failed = self.lastGoodPath + " cannot be written; the last good settings are not kept"
        let sealed = LastGoodFile.sealed(file)
        wires.records.order(.files([SmallFile(path: self.lastGoodPath, bytes: sealed, failed: failed)]))
    }

    // MARK: - The command line

    private func over(_ file: Configuration) -> Configuration {
        var configuration = self.isSafe ? file.forSafeMode : file
        if let display = self.options.display { configuration.display.connector = Self.deviceName(display) }
        if let camera = self.options.camera { configuration.camera.device = Self.deviceName(camera) }
        if let audio = self.options.audio {
            configuration.audio.playback = Self.deviceName(audio)
            configuration.audio.capture = Self.deviceName(audio)
        }
        return configuration
    }

    private static func deviceName(_ text: ByteString) -> DeviceName {
        if text == "none" || text == "null" { return .none }
        return text == "auto" ? .automatic : .named(text)
    }
}

/// `.` where a path has no folder.
func splitPath(_ path: ByteString) -> (folder: ByteString, name: ByteString) {
    guard let slash = path.bytes.lastIndex(of: ASCII.slash) else { return (".", path) }
    return (path.slice(0..<slash), path.slice(slash + 1..<path.count))
}
