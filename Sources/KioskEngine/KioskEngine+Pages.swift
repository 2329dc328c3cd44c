// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// What the screen shows beside calls: pages for whoever installs the kiosk, and nothing at all after a while.
extension KioskEngine {
    /// A page for whoever installs the kiosk.
    enum ServicePage: Equatable {
        case health
        case problems

        static func named(_ name: ByteString) -> ServicePage? {
            if name == "health" { return .health }
            return name == "problems" ? .problems : nil
        }
    }

    /// How long such a page stays. A press of the call button ends it at once.
    static let servicePageMs = 60_000
    /// The same for problems of a file that was just read: whoever wrote it stands before the screen.
    static let newProblemsMs = 30_000

    // MARK: - Pages

    mutating func show(_ page: ServicePage?, forMs: Int = KioskEngine.servicePageMs, now: Instant) {
        self.servicePage = page.map { ($0, now + .milliseconds(forMs)) }
        self.somebodyIsThere(now: now)
        guard page == .health else { return }
        // Nothing is sent there: it is what the way to anywhere begins with.
        let question = self.machine.newResolution()
        self.healthQuestion = question
        self.put(.route(question, to: [Self.anywhere]))
    }

    /// In the block for documentation (RFC 5737).
    private static let anywhere = SocketAddress(.v4(0xC000_0201), port: 5060)

    /// The chord: health, then problems where there are some, then neither.
    mutating func nextServicePage(now: Instant) {
        switch self.servicePage?.page {
        case nil: self.show(.health, now: now)
        case .health: self.show(self.problems.isEmpty ? nil : .problems, now: now)
        case .problems: self.show(nil, now: now)
        }
    }

    mutating func healthAddressFound(_ local: SocketAddress?) {
        self.healthQuestion = nil
        self.healthAddress = local?.address.text ?? ByteString()
    }

    /// Calls need the screen.
    mutating func settlePages(now: Instant) {
        guard case .idle = self.machine.state else {
            self.servicePage = nil
            self.quietSince = nil
            return
        }
        if let until = self.servicePage?.until, now >= until { self.servicePage = nil }
        if self.quietSince == nil || self.servicePage != nil || self.notice != nil { self.quietSince = now }
    }

    // MARK: - Darkness

    /// Lights the screen, and starts the time until it goes dark anew.
    mutating func somebodyIsThere(now: Instant) {
        if self.quietSince != nil { self.quietSince = now }
    }

    /// When the screen goes dark, or went.
    private var darkAt: Instant? {
        guard let quietSince = self.quietSince, let wait = self.configuration.screen.blankAfterMs else { return nil }
        return quietSince + .milliseconds(wait)
    }

    func isDark(now: Instant) -> Bool {
        self.darkAt.map { now >= $0 } ?? false
    }

    /// What the screen waits for.
    var pagesWakeAt: Instant? {
        if let page = self.servicePage { return page.until }
        return self.shown?.screen.page == .dark ? nil : self.darkAt
    }

    // MARK: - Health

    var serviceView: Presentation.ServiceView? {
        switch self.servicePage?.page {
        case nil: return nil
        case .problems: return .problems(self.problems.map { $0.sentence })
        case .health: return .health(self.healthLines)
        }
    }

    private var healthLines: [HealthLine] {
        let texts = Texts.of(self.language).pages
        var lines = [
            HealthLine(texts.version, self.world.version),
            HealthLine(
                texts.address, self.healthAddress.isEmpty ? texts.missing : self.healthAddress,
                isGood: !self.healthAddress.isEmpty),
        ]
        for account in self.accounts {
            let isRegistered = account.registered != nil
            lines.append(
                HealthLine(
                    texts.account, (account.settings.uri?.printed ?? "") + ": " + account.text, isGood: isRegistered))
        }
        for family in DeviceFamily.all {
            let fault = self.faults[family]
            guard let name = texts.name(of: family) else {
                if let fault { lines.append(HealthLine(Texts.of(self.language).fault(family), fault, isGood: false)) }
                continue
            }
            let isFitted = self.isFitted(family)
            let value = fault ?? (isFitted ? texts.works : texts.missing)
            lines.append(HealthLine(name, value, isGood: fault == nil && isFitted))
        }
        lines.append(
            HealthLine(
                texts.configuration, self.problems.first.map { $0.sentence } ?? texts.works,
                isGood: self.problems.isEmpty))
        return lines
    }

    private func isFitted(_ family: DeviceFamily) -> Bool {
        switch family {
        case .display: return self.world.hasScreen
        case .camera: return self.world.hasCamera
        case .panel: return !self.world.buttons.isEmpty
        case .playback: return self.configuration.audio.playback != .none
        case .capture: return self.configuration.audio.capture != .none
        case .network, .storage, .housing, .supply, .safeMode, .bootPartition, .bootWrite, .dataLost, .dataPartition,
            .clock:
            return true
        }
    }
}
