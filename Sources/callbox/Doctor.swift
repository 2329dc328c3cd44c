// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem
import Display
import KioskEngine
import Loop
import Picture
import SIPWire

/// Says what is wrong, in sentences with their codes and what to do. 0 where nothing is, 1 where something is.
///
/// A kiosk that runs says it itself; where none does, the file, the devices and the network are looked at from here.
func doctor(_ options: RunOptions) -> Int32 {
    if let lines = askKiosk("doctor", socket: options.controlPath) {
        lines.forEach { printLine($0) }
        return lines == [KioskEngine.nothingWrong] ? 0 : 1
    }
    printLine("No kiosk runs (nothing listens at " + options.controlPath + "). This is what can be seen without it:")
    let file = ConfigurationFile(options, nil)
    let (configuration, problems) = file.readFirst()
    var complaints = problems.map { $0.complaint }
    complaints += readBootNotes().reports.compactMap { $0.complaint }
    complaints += deviceComplaints(configuration)
    complaints += networkComplaints(configuration)
    (complaints.isEmpty ? [KioskEngine.nothingWrong] : complaints).forEach { printLine($0) }
    return 1
}

private func deviceComplaints(_ configuration: Configuration) -> [ByteString] {
    var reports: [DeviceReport] = []
    let display = Display(configuration.display, now: Clock.now())
    display.turn(now: Clock.now())
    if let fault = display.fault { reports.append(.failed(.display, fault.sentence)) }
    _ = probeCamera(configuration.camera, &reports)
    if let fault = PanelLines(configuration, now: Clock.now()).fault { reports.append(.failed(.panel, fault)) }
    return reports.compactMap { $0.complaint }
}

private func networkComplaints(_ configuration: Configuration) -> [ByteString] {
    guard !ownAddresses().isEmpty else {
        return [DeviceReport.failed(.network, "this machine has no address.").complaint].compactMap { $0 }
    }
    guard case .name(let host)? = configuration.call.uri?.host else { return [] }
    guard host.withCString({ callbox_has_address($0) }) == 0 else { return [] }
    return [KioskEngine.unknownName(host)]
}
