// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// How things stand, in sentences: for `callbox-report.txt` on the boot partition, and for `callbox doctor`.
extension KioskEngine {
    /// What `callbox doctor` says of a kiosk that lacks nothing.
    public static let nothingWrong: ByteString = "Nothing is wrong."

    // MARK: - What is wrong now

    /// A line for each fault: its code, what it is, and what to do.
    public var complaints: [ByteString] {
        var lines = self.problems.map { $0.complaint }
        for family in DeviceFamily.all {
            guard let text = self.faults[family] else { continue }
            if let complaint = DeviceReport.failed(family, text).complaint { lines.append(complaint) }
        }
        if self.isCutOff { lines.append(Fault.notRegistered.complaint(Texts.english.faults.cutOff)) }
        // Nobody at the other side is no fault of the help point's.
        if let last = self.recentCalls.last, let fault = last.outcome.fault, last.outcome.manner == .failure(.error) {
            lines.append(fault.complaint("The last call, " + last.sentence))
        }
        return lines
    }

    /// What `callbox doctor` says where the server's name leads nowhere.
    public static func unknownName(_ host: ByteString) -> ByteString {
        Fault.unknownHost.complaint("The name " + host + " is not known.")
    }

    // MARK: - callbox-report.txt

    /// The report but for its date; lines end with CR LF, so that every editor shows them.
    /// - Parameters:
    ///   - file: the name of the configuration file.
    ///   - addresses: the help point's own.
    public func report(file: ByteString, addresses: [ByteString]) -> ByteString {
        var lines: [ByteString] = ["This is what the help point says of itself. It writes the file anew by itself."]
        lines += ["", "Program: callbox " + self.world.version, "Settings: " + file]
        lines.append("Calls: " + (self.configuration.call.uri?.printed ?? "nobody"))
        lines.append("Own addresses: " + (addresses.isEmpty ? "none" : ConfigurationValue.joined(addresses)))
        for account in self.accounts {
            lines.append("Account " + (account.settings.uri?.printed ?? "") + ": " + account.text)
        }
        let complaints = self.complaints
        lines += ["", complaints.isEmpty ? Self.nothingWrong : "What is wrong:"]
        lines += complaints.map { "- " + $0 }
        if !self.recentCalls.isEmpty { lines += ["", "The last calls, the newest first:"] }
        lines += self.recentCalls.reversed().map { "- " + $0.sentence }
        lines += ["", "The codes are explained in docs/errors.md."]
        return lines.reduce(into: ByteString()) { text, line in
            text += UTF8Text.displayable(line.withoutSecrets, bytesMax: Self.reportLineBytesMax) + "\r\n"
        }
    }

    private static let reportLineBytesMax = 600
}

extension DeviceReport {
    /// Nil of a device that is well.
    public var complaint: ByteString? {
        switch self {
        case .failed(let family, let text):
            return family.fault.complaint(Texts.english.fault(family) + ": " + text)
        case .restored: return nil
        }
    }
}

extension ConfigurationProblem {
    /// As in `callbox-report.txt`: the code, the place and the reason, and what to do.
    public var complaint: ByteString { self.kind.fault.complaint("callbox.conf, " + self.sentence + ".") }
}

extension Fault {
    /// `CB-CAM-GONE: No camera: … Look at its cable.`
    func complaint(_ text: ByteString) -> ByteString {
        let advice = ByteString(ByteString(self.advice).bytes.filter { $0 != UInt8(ascii: "`") })
        return self.code + ": " + text + (text.bytes.last == ASCII.dot ? " " : ". ") + advice
    }
}
