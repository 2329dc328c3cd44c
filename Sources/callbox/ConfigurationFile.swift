// SPDX-License-Identifier: Apache-2.0

import Bytes
import KioskEngine
import Loop

/// `callbox.conf`, and over it what the command line says: read at the start, and again when somebody asks for it.
struct ConfigurationFile {
    private let options: RunOptions
    /// Problems of what was opened at the start, and is not opened again.
    var standing: [ConfigurationProblem] = []

    init(_ options: RunOptions) {
        self.options = options
    }

    /// Where there is no file, all defaults.
    func readFirst() -> (Configuration, [ConfigurationProblem]) {
        let (configuration, problems) = self.read()
        return (configuration ?? self.over(Configuration()), problems)
    }

    /// Nil where it cannot be read.
    func read() -> (Configuration?, [ConfigurationProblem]) {
        guard let bytes = readFile(self.options.configurationPath, sizeMax: configurationSizeMax) else {
            let reason = "the file " + self.options.configurationPath + " cannot be read"
            let problem = ConfigurationProblem(.file, reason: reason)
            return (nil, [problem] + self.standing)
        }
        let (configuration, problems) = Configuration.parse(bytes)
        return (self.over(configuration), problems + self.standing)
    }

    /// Where passwords are, now that the file says this. One that was written into it is moved.
    func readSecrets(_ settings: SIPSettings) -> Secrets { Secrets(self.options, settings) }

    private func over(_ file: Configuration) -> Configuration {
        var configuration = file
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
