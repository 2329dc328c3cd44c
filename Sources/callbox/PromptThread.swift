// SPDX-License-Identifier: Apache-2.0

import Bytes
import KioskEngine
import Loop
import Sound

/// Counts the prompts that were ordered: one that is ready too late is known by it.
typealias PromptNumber = UInt64

/// What goes to the prompt thread.
enum PromptMessage {
    /// To be spoken at the panel.
    case read(PromptName, Language, PromptNumber)
    /// To be said to the far end.
    case readForFarEnd(PromptName, Language, PromptNumber)
}

/// Reads prompts, so that the sound thread never waits for a card.
final class PromptThread {
    /// The owner's first, then those of the image.
    private let folders: [ByteString]
    private let wires: Wires
    static let imageFolder: ByteString = "/usr/share/callbox/prompts"
    /// Whoever has more files that are wrong finds the others when these are right.
    private static let problemsMax = 4

    /// `configuration` is the path of the owner's file: own prompts lie beside it.
    init(configuration: ByteString, wires: Wires) {
        self.folders = [Self.folder(of: configuration) + "prompts", Self.imageFolder]
        self.wires = wires
    }

    func run() {
        for problem in self.problems() { self.wires.reports.put(.problem(problem)) }
        while true {
            self.wires.prompts.wait(limit: .seconds(3600))
            var newest: PromptMessage?
            while let message = self.wires.prompts.take() {
                switch message {
                case .read: newest = message
                case .readForFarEnd: self.carryOut(message)
                }
            }
            if let newest { self.carryOut(newest) }
        }
    }

    private func carryOut(_ message: PromptMessage) {
        switch message {
        case .read(let name, let language, let number):
            if let samples = self.read(name, language) { self.wires.sound.order(.prompt(samples, number)) }
        case .readForFarEnd(let name, let language, let number):
            if let samples = self.read(name, language) { self.wires.sound.order(.announcement(samples, number)) }
        }
    }

    /// At 48 kHz; nil where no folder has a file of that name that is right.
    private func read(_ name: PromptName, _ language: Language) -> [Int16]? {
        for folder in self.folders {
            guard let bytes = readFile(Self.path(folder, name, language), sizeMax: WaveFile.bytesMax),
                let wave = try? WaveFile(bytes)
            else { continue }
            return wave.atDeviceRate()
        }
        return nil
    }

    /// What is wrong with the owner's own files.
    private func problems() -> [ConfigurationProblem] {
        var problems: [ConfigurationProblem] = []
        for language in Language.all {
            for name in PromptName.all where problems.count < Self.problemsMax {
                let path = Self.path(self.folders[0], name, language)
                guard fileExists(path), let fault = Self.fault(path) else { continue }
                let reason = fault + "; the usual prompt is spoken instead"
                problems.append(ConfigurationProblem(.opening, section: "sound", key: path, reason: reason))
            }
        }
        return problems
    }

    private static func fault(_ path: ByteString) -> ByteString? {
        guard let bytes = readFile(path, sizeMax: WaveFile.bytesMax) else {
            return "it cannot be read, or is far longer than 30 seconds"
        }
        do {
            _ = try WaveFile(bytes)
            return nil
        } catch {
            return error.text
        }
    }

    private static func path(_ folder: ByteString, _ name: PromptName, _ language: Language) -> ByteString {
        folder + "/" + language.code + "/" + name.text + ".wav"
    }

    /// With the stroke at its end; empty for a file of the folder that the program runs in.
    private static func folder(of path: ByteString) -> ByteString {
        guard let stroke = path.bytes.lastIndex(of: ASCII.slash) else { return ByteString() }
        return path.slice(0..<stroke + 1)
    }
}
