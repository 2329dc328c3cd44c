// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem
import KioskEngine
import Loop
import SIPWire
import Secure

/// Writes what brings the network up, as `[network]` says, below a folder (`/run`). Run by root when the board starts,
/// before anybody reads the files. A file that nobody can read makes a cable that asks for its address: it is never
/// the reason that a board cannot be reached. 0, or 1 where a file could not be written.
func writeNetworkFiles(_ options: RunOptions, below folder: ByteString) -> Int32 {
    let (configuration, problems) = ConfigurationFile(options, nil).readFirst()
    for problem in problems where problem.section == "network" { Log.write("callbox: " + problem.sentence) }
    var settings = configuration.network
    fillPasswords(&settings.link, options)
    for complaint in LinkFiles.complaints(settings.link) { Log.write("callbox: " + complaint) }
    let files = LinkFiles.files(settings, makeKey: wifiKey)
    for path in LinkFiles.paths where !files.contains(where: { $0.path == path }) {
        _ = (folder + "/" + path).withCString { unlink($0) }
    }
    var areWritten = true
    for file in files {
        let path = folder + "/" + file.path
        makeFolders(above: file.path, below: folder)
        if !replaceFile(path, with: file.text.bytes, mode: file.isSecret ? 0o600 : 0o644) {
            Log.write("callbox: " + path + " cannot be written")
            areWritten = false
        }
    }
    return areWritten ? 0 : 1
}

/// One that was written into the file just now counts; it is moved when the kiosk starts.
private func fillPasswords(_ link: inout LinkSettings, _ options: RunOptions) {
    let path = options.secretsPath ?? options.dataPath + "/secrets"
    let kept: [UInt8]
    switch PrivateFile.read(path, sizeMax: SecretsText.fileBytesMax) {
    case .missing: return
    case .refused(let reason): return Log.write("callbox: the secrets file " + path + " " + reason)
    case .bytes(let bytes): kept = bytes
    }
    for credential in SecretsText.parse(kept).credentials {
        switch PasswordUse(credential) {
        case .sip, .relay: break
        case .wifi: if link.wifi.password.isEmpty { link.wifi.password = credential.password }
        case .login: if link.login.password.isEmpty { link.login.password = credential.password }
        }
    }
}

/// Whoever brings the network up is another user.
private func makeFolders(above path: ByteString, below folder: ByteString) {
    var made = folder
    for part in path.split(on: ASCII.slash).dropLast() {
        made += "/" + part
        makeFolder(made, mode: 0o755)
    }
}
