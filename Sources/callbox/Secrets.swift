// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem
import KioskEngine
import Loop
import SIPWire

/// Where the passwords are. The first place that has one counts: the secrets file, the service manager's credentials,
/// `callbox.conf`.
struct Secrets {
    private let path: ByteString
    /// Of a password that comes without one.
    private let user: ByteString
    /// What `callbox.conf` held when it was read: it counts as long as the secrets file has no other one.
    private let fallback: [Credential]

    /// Moves the password that the file has.
    init(_ options: RunOptions, _ settings: Configuration, file: ByteString, _ wires: Wires) {
        self.path = options.secretsPath ?? options.dataPath + "/secrets"
        self.user = settings.sip.passwordUser
        self.fallback = settings.credentials
        self.move(outOf: file, wires)
    }

    /// What there is now. What is wrong with a place goes to the log.
    func read() -> [Credential] {
        var credentials: [Credential] = []
        switch PrivateFile.read(self.path, sizeMax: SecretsText.fileBytesMax) {
        case .missing: break
        case .refused(let reason): Log.write("callbox: the secrets file " + self.path + " " + reason)
        case .bytes(let bytes):
            credentials = Self.parse(bytes)
        }
        return Self.adding(self.fallback, to: Self.adding(self.managed(), to: credentials))
    }

    /// Relays and the network have passwords of their own, which may be elsewhere.
    private static func adding(_ others: [Credential], to credentials: [Credential]) -> [Credential] {
        credentials + others.filter { other in !credentials.contains { PasswordUse($0) == PasswordUse(other) } }
    }

    private static func parse(_ bytes: [UInt8]) -> [Credential] {
        let (credentials, problems) = SecretsText.parse(bytes)
        for problem in problems { Log.write("callbox: " + problem) }
        return credentials
    }

    /// The credentials that systemd gives to the service (systemd.exec(5)).
    private func managed() -> [Credential] {
        guard let folder = getenv("CREDENTIALS_DIRECTORY") else { return [] }
        let prefix = ByteString(cString: folder) + "/"
        if let file = readFile(prefix + "callbox-secrets", sizeMax: SecretsText.fileBytesMax) {
            return Self.parse(file)
        }
        guard let file = readFile(prefix + "sip-password", sizeMax: SecretsText.wordBytesMax) else { return [] }
        let password = ByteString(file).trimmed()
        return password.isEmpty ? [] : [Credential(username: self.user, password: password)]
    }

    // MARK: - Out of callbox.conf

    /// Moves the passwords of `callbox.conf` to the secrets file: the card it lies on can be taken out and read.
    private func move(outOf configurationPath: ByteString, _ wires: Wires) {
        // What is in the file now: somebody may have written another one since it was read.
        guard !self.fallback.isEmpty, let file = readFile(configurationPath, sizeMax: configurationSizeMax),
            case let credentials = Configuration.parse(file).0.credentials, !credentials.isEmpty
        else { return }
        let present: [UInt8]
        switch PrivateFile.read(self.path, sizeMax: SecretsText.fileBytesMax) {
        case .missing: present = []
        case .bytes(let bytes): present = bytes
        case .refused: return Self.complain("the secrets file " + self.path + " cannot be used")
        }
        if present.isEmpty, !self.managed().isEmpty {
            return Self.complain("the service manager has another one, which counts")
        }
        guard let blanked = Configuration.withoutPassword(file, movedTo: self.path) else {
            return Self.complain("the file is not UTF-8")
        }
        let added = credentials.reduce(present) { SecretsText.adding($1, to: $0) }
        self.makeFolder()
        // First to its new place, or a power cut might lose it.
        var files: [SmallFile] = []
        if added != present {
            let failed = Self.complaint(self.path + " cannot be written")
            files.append(SmallFile(path: self.path, bytes: added, failed: failed))
        }
        let done = "the password of " + configurationPath + " was moved to " + self.path
        let failed = Self.complaint(configurationPath + " cannot be written")
        files.append(SmallFile(path: configurationPath, bytes: blanked, done: done, failed: failed))
        wires.records.order(.files(files))
    }

    private static func complaint(_ reason: ByteString) -> ByteString {
        "the password stays in the configuration file, where others can read it: " + reason
    }

    private static func complain(_ reason: ByteString) {
        Log.write("callbox: " + self.complaint(reason))
    }

    private func makeFolder() {
        guard let slash = self.path.bytes.lastIndex(of: ASCII.slash), slash > 0 else { return }
        _ = self.path.slice(0..<slash).withCString { mkdir($0, 0o700) }
    }
}
