// SPDX-License-Identifier: Apache-2.0
import Bytes

extension DeviceFamily {
    var fault: Fault {
        switch self {
        case .display: return .display
        case .camera: return .camera
        case .playback: return .playback
        case .capture: return .capture
        case .panel: return .panel
        case .network: return .network
        case .storage: return .storage
        case .housing: return .housing
        case .supply: return .supply
        case .safeMode: return .safeMode
        case .bootPartition: return .bootPartition
        case .bootWrite: return .bootWrite
        case .dataLost: return .dataLost
        case .dataPartition: return .dataPartition
        case .clock: return .clock
        }
    }
}

extension Fault {
    fileprivate static let display = Fault(
        "CB-DSP-GONE", .stands, nil, "There is no screen, or another program has it.",
        "Look at the cable and the screen's power, and at `[display] connector`. The picture returns by itself."
    )
    fileprivate static let camera = Fault(
        "CB-CAM-GONE", .stands, .noPicture, "There is no camera, or it failed.",
        "Look at its cable, and at `[camera] device`. The picture returns by itself."
    )
    fileprivate static let playback = Fault(
        "CB-SPK-GONE", .stands, nil, "There is no loudspeaker, or it failed.",
        "Look at its cable, and at `[audio] playback`. The sound returns by itself."
    )
    fileprivate static let capture = Fault(
        "CB-MIC-GONE", .stands, nil, "There is no microphone, or it failed.",
        "Look at its cable, and at `[audio] capture`. The sound returns by itself."
    )
    fileprivate static let panel = Fault(
        "CB-PNL-LINE", .stands, nil, "A line of a button or lamp is missing, held by another program, stuck or noisy.",
        "The text names the line. `gpioinfo` lists all and who holds them."
    )
    fileprivate static let network = Fault(
        "CB-NET-LINK", .stands, nil, "There is no network, or an address or port of it cannot be had.",
        "Look at the cable, at the help point's address, and at `[sip] listen`."
    )
    fileprivate static let storage = Fault(
        "CB-DAT-WRITE", .stands, nil, "Logs and calls cannot be written down: the data folder is full or read-only.",
        "See that `--data` is on a disk that can be written, and that there is room. Calls work without it."
    )
    fileprivate static let housing = Fault(
        "CB-PNL-TAMPER", .stands, nil, "The housing was opened. No relay is switched on, over starts too.",
        "Look at the wires, close it, and say `callbox clear-tamper`."
    )
    fileprivate static let supply = Fault(
        "CB-PWR-LOW", .stands, nil, "The mains have failed. Camera and picture rest, so that sound lasts longer.",
        "Look at the supply. The picture returns by itself."
    )
}

// MARK: - The start of the board

extension Fault {
    fileprivate static let safeMode = Fault(
        "CB-BOOT-SAFE", .stands, nil,
        "The board did not come up several times. It starts with the last good settings, and without its camera.",
        "Look at the supply and at what was changed last. The next start tries everything again."
    )
    fileprivate static let bootPartition = Fault(
        "CB-BOOT-LOST", .stands, nil,
        "There is no partition `CALLBOX` with `callbox.conf` on the card, or it cannot be read.",
        "See in a PC that the card has a FAT partition of that name. The last good settings go on."
    )
    fileprivate static let bootWrite = Fault(
        "CB-BOOT-FULL", .stands, nil,
        "The partition with `callbox.conf` is full or read-only: passwords stay in the file, the report is an old one.",
        "Remove what does not belong there; where that does not help, replace the card."
    )
    fileprivate static let dataLost = Fault(
        "CB-DAT-LOST", .stands, nil,
        "The data partition was beyond repair and was made anew: logs, calls and passwords are gone.",
        "Write the passwords into `callbox.conf` again. Where it happens again, replace the card."
    )
    fileprivate static let dataPartition = Fault(
        "CB-DAT-NONE", .stands, nil,
        "There is no data partition: logs, calls and passwords last until the board is switched off.",
        "Flash the card anew, or replace it."
    )
    fileprivate static let clock = Fault(
        "CB-CLK-NONE", .stands, nil, "Nobody has told the board what time it is.",
        "See that it reaches a time server (`[network] ntp`). Calls that need the time wait for it."
    )
}

// MARK: - Registration

extension Fault {
    static let notRegistered = Fault(
        "CB-REG-NONE", .stands, nil, "Accounts are wanted, and none of them is registered: nobody can call here.",
        "The events `registration` tell why; it is tried again by itself."
    )
    static let registrationSilent = Fault(
        "CB-REG-SILENT", .quiet, nil, "A telephone server does not answer the registration.",
        "See that the server runs, and that no firewall drops SIP on the way. It is tried again by itself."
    )
    static let registrationBroken = Fault(
        "CB-REG-REACH", .quiet, nil, "There is no way to a telephone server, or it takes no connection.",
        "Look at the network and at `registrar`. It is tried again by itself."
    )
    static let registrationRefused = Fault(
        "CB-REG", .quiet, nil, "A telephone server refuses the registration, with this SIP status.",
        "401, 403 and 407: look at `auth_user` and `password`; 404: at the `uri` of the account."
    )
    static let passwordRefused = Fault(
        "CB-REG-PASSWORD", .quiet, nil, "A server does not accept the password.",
        "Write `auth_user` and `password` into `[sip]` again. The event `password_refused` names the realm."
    )
}

// MARK: - callbox.conf

extension ConfigurationProblem.Kind {
    static let all: [ConfigurationProblem.Kind] = [.file, .line, .section, .key, .value, .twice, .missing, .opening]

    var fault: Fault {
        switch self {
        case .file: return .unreadableFile
        case .line: return .unreadableLine
        case .section: return .unknownSection
        case .key: return .unknownKey
        case .value: return .badValue
        case .twice: return .givenTwice
        case .missing: return .nobodyToCall
        case .opening: return .badFileNamed
        }
    }
}

extension Fault {
    fileprivate static let unreadableFile = Fault(
        "CB-CFG-FILE", .quiet, nil, "`callbox.conf` is missing, empty, too long, or no text.",
        "Put the file back; `callbox config` prints a fresh one. The last good settings go on."
    )
    fileprivate static let unreadableLine = Fault(
        "CB-CFG-LINE", .quiet, nil, "A line is neither `[section]` nor `key = value`, is too long, or no text.",
        "Mend the line; save the file as plain text."
    )
    fileprivate static let unknownSection = Fault(
        "CB-CFG-SECTION", .quiet, nil, "There is no such section; its lines are not read.",
        "The text names the section that is most like it."
    )
    fileprivate static let unknownKey = Fault(
        "CB-CFG-KEY", .quiet, nil, "There is no such key, or it belongs into another section.",
        "The text names the key that is most like it, or the right section."
    )
    fileprivate static let badValue = Fault(
        "CB-CFG-VALUE", .quiet, nil, "A value cannot be used; the text says which is used instead.",
        "Write one that the text names."
    )
    fileprivate static let givenTwice = Fault(
        "CB-CFG-TWICE", .quiet, nil, "A key is given twice; the first counts.", "Remove one of the lines."
    )
    fileprivate static let badFileNamed = Fault(
        "CB-CFG-OPEN", .quiet, nil, "A file that `callbox.conf` names cannot be used.",
        "See that it lies at that path and is what it should be."
    )
}
