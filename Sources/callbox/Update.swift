// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem
import KioskEngine
import Loop

/// Installs a bundle into the root that does not run, by RAUC, and starts the board anew into it: never while there is
/// a call. Tells each step in a sentence. 0 where that is done, or where there is nothing to do.
struct Update {
    private let options: RunOptions
    private let configuration: Configuration
    /// By the timer: what was tried before is not tried again, and the network is asked at its hour only.
    private let isByItself: Bool

    private static let outputMax = 64 * 1024
    private static let callPauseUs: UInt32 = 5_000_000
    private static let stickFolder: ByteString = "/run/callbox-stick"
    private static let disks: ByteString = "/dev/disk/by-id"
    private static let sticksMax = 8

    init(_ options: RunOptions, isByItself: Bool) {
        self.options = options
        self.isByItself = isByItself
        self.configuration = ConfigurationFile(options, nil).readFirst().0
        if !self.configuration.autoCall.zone.isEmpty { setTimeZone(self.configuration.autoCall.zone) }
    }

    /// - Parameter source: a file or URL; nil for the first that is found.
    func run(_ source: ByteString?) -> Int32 {
        guard Tool.isInPath("rauc") else {
            Log.write("callbox: this is no flashed board (there is no rauc): it has nothing to update")
            return 1
        }
        if let source { return self.install(source) }
        let (folder, _) = splitPath(self.options.configurationPath)
        if let bundle = Self.bundle(in: folder) { return self.install(bundle) }
        if self.configuration.update.usesSticks, let status = self.installFromStick() { return status }
        if let url = self.configuration.update.url, !self.isByItself || self.isHour { return self.install(url) }
        if !self.isByItself { Self.tell("there is no bundle in " + folder + " or on a USB stick, and no [update] url") }
        return 0
    }

    private var isHour: Bool {
        guard let hour = self.configuration.update.hour else { return false }
        var seconds = time_t(callbox_wall_time())
        var parts = tm()
        return localtime_r(&seconds, &parts) != nil && Int(parts.tm_hour) == hour
    }

    private static func tell(_ sentence: ByteString) { printLine("callbox: " + sentence) }

    // MARK: - Where it is

    /// The first by its name.
    private static func bundle(in folder: ByteString) -> ByteString? {
        namesInFolder(folder).filter { $0.hasSuffix(".raucb") }.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
            .first.map { folder + "/" + $0 }
    }

    /// Nil where no stick has one.
    private func installFromStick() -> Int32? {
        let sticks = namesInFolder(Self.disks).filter { $0.hasPrefix("usb-") && Self.isPartition($0) }
        for stick in sticks.prefix(Self.sticksMax) {
            makeFolder(Self.stickFolder)
            let device = Self.disks + "/" + stick
            guard Tool.run(["mount", "-o", "ro,nosuid,nodev,noexec", device, Self.stickFolder]).status == 0 else {
                continue
            }
            defer { _ = Tool.run(["umount", "-l", Self.stickFolder]) }
            if let bundle = Self.bundle(in: Self.stickFolder) { return self.install(bundle) }
        }
        return nil
    }

    private static func isPartition(_ name: ByteString) -> Bool {
        guard let dash = name.bytes.lastIndex(of: ASCII.minus) else { return false }
        return name.slice(dash + 1..<name.count).hasPrefix("part")
    }

    // MARK: - Installing it

    private func install(_ source: ByteString) -> Int32 {
        let (status, output) = Tool.run(["rauc", "info", "--output-format=shell", source])
        guard status == 0 else {
            Log.write("callbox: " + source + " cannot be had, is damaged, or is not signed by whom this board believes")
            return 1
        }
        let identity = output.split(on: ASCII.lineFeed).first { $0.hasPrefix("RAUC_MF_HASH=") } ?? output
        let path = self.options.dataPath + "/update"
        if self.isByItself, ByteString(readFile(path, sizeMax: Self.outputMax) ?? []).trimmed() == identity.trimmed() {
            return 0
        }
        self.awaitIdle()
        // Before: what spoils the board is not to be tried over and over.
        _ = replaceFile(path, with: (identity + "\n").bytes, mode: 0o644)
        Self.tell("installing " + source)
        guard Tool.run(["rauc", "install", source], isHeard: true).status == 0 else {
            Log.write("callbox: " + source + " could not be installed; the board goes on as it is")
            return 1
        }
        self.awaitIdle()
        Self.tell("installed; the board starts anew")
        return Tool.run(["systemctl", "reboot"]).status == 0 ? 0 : 1
    }

    /// A kiosk that does not run has no calls.
    private func awaitIdle() {
        var isTold = false
        while let status = replyOfKiosk("status", socket: self.options.controlPath),
            !status.hasPrefix("{\"state\":\"idle\"")
        {
            if !isTold { Self.tell("waiting for the end of the call") }
            isTold = true
            usleep(Self.callPauseUs)
        }
    }
}
