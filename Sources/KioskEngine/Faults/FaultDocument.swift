// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// The table of faults as Markdown, for `docs/errors.md`.
enum FaultDocument {
    static var tables: ByteString {
        self.section(
            "Calls", "Shown when the call ends, with the code below the sentence.",
            Fault.outcomes.compactMap { outcome in
                outcome.fault.map { Row($0, shown: Texts.english.sentence(outcome)) }
            })
            + self.section(
                "Answers of servers and of the other side",
                """
                `CB-SIP-` and the SIP status; `nn` stands for every other number of its class. Where a telephone network
                behind the server said more (ITU-T Q.850), the sentence follows that, and may be another one.
                """, self.refusals)
            + self.section(
                "Encryption", "Why TLS with a server, or the encryption of sound and picture, could not be had.",
                self.encryption)
            + self.section(
                "Devices and network", "Shown at the upper edge as long as they stand. Calls go on as far as they can.",
                DeviceFamily.all.map { Row($0.fault, shown: Texts.english.fault($0)) })
            + self.section(
                "Registration", "With the SIP status, as in `CB-REG-403`, where the server gave one.",
                self.registrations)
            + self.section(
                "callbox.conf", "Shown at the upper edge, and written into `callbox-report.txt` beside the file.",
                ConfigurationProblem.Kind.all.filter { $0 != .missing }.map { Row($0.fault) })
    }

    private struct Row {
        var fault: Fault
        var codes: [ByteString]
        /// What stands on the screen; empty where the text is the problem's own, or nothing is shown.
        var shown: ByteString

        init(_ fault: Fault, codes: [ByteString]? = nil, shown: ByteString = "") {
            self.fault = fault
            self.codes = codes ?? [fault.code]
            self.shown = shown
        }
    }

    // MARK: - Rows

    private static func meaning(_ status: Int) -> RefusalMeaning { RefusalMeaning(StatusCode(status), q850: nil) }

    /// What a status of its class means that nobody has heard of (RFC 3261 section 8.1.3.2).
    private static func meaningOfClass(_ status: Int) -> RefusalMeaning { self.meaning(status / 100 * 100 + 99) }

    /// A row for each meaning, with the statuses that have it.
    private static var refusals: [Row] {
        RefusalMeaning.all.map { meaning in
            let statuses = (300...699).filter { self.meaning($0) == meaning }
            let own = statuses.filter { self.meaningOfClass($0) != meaning }.map { ByteString(decimal: $0) }
            let classes = [3, 4, 5, 6].filter { self.meaningOfClass($0 * 100) == meaning }
            let numbers = own + classes.map { ByteString(decimal: $0) + "nn" }
            let outcome = CallOutcome.refused(StatusCode(statuses.first ?? 499), phrase: "", q850: nil)
            return Row(
                meaning.fault, codes: numbers.map { meaning.fault.code + "-" + $0 },
                shown: Texts.english.sentence(outcome))
        }
    }

    private static var encryption: [Row] {
        let insecure = Texts.english.sentence(.insecure(""))
        return CertificateReason.all.map { Row($0.fault, shown: insecure) } + [
            Row(.handshake, shown: insecure),
            Row(.unknownTime, shown: Texts.english.sentence(.waitsForTime)),
            Row(.endsSoon),
            Row(.handshakeOfMedia, shown: Texts.english.sentence(.notPrivate)),
        ]
    }

    private static var registrations: [Row] {
        [
            Row(.notRegistered, shown: Texts.english.faults.cutOff),
            Row(.registrationRefused, codes: ["CB-REG-nnn"]),
            Row(.registrationSilent),
            Row(.registrationBroken),
            Row(.passwordRefused),
        ]
    }

    // MARK: - Markdown

    private static func section(_ heading: ByteString, _ text: ByteString, _ rows: [Row]) -> ByteString {
        var markdown: ByteString = "## " + heading + "\n\n" + self.onOneLine(text) + "\n\n"
        markdown += "| Code | What happened | What to do | On the screen | Sign | Spoken |\n"
        markdown += "| --- | --- | --- | --- | --- | --- |\n"
        for row in rows {
            let fault = row.fault
            let spoken = fault.prompt?.text ?? ""
            let codes = row.codes.map { "`" + $0 + "`" }.reduce("") { $0.isEmpty ? $1 : $0 + " " + $1 }
            let cells: [ByteString] = [
                codes, ByteString(fault.cause), ByteString(fault.advice), row.shown, fault.sign.text,
                spoken.isEmpty ? "" : "`" + spoken + "`",
            ]
            markdown += cells.reduce("|") { $0 + " " + self.onOneLine($1) + " |" } + "\n"
        }
        return markdown + "\n"
    }

    private static func onOneLine(_ text: ByteString) -> ByteString {
        ByteString(text.bytes.map { $0 == ASCII.lineFeed ? ASCII.space : $0 })
    }
}
