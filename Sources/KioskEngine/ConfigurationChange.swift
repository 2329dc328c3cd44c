// SPDX-License-Identifier: Apache-2.0
import Bytes
import SDPWire

/// What is different in a configuration file that was read again, and whether the kiosk can go over to it as it is.
struct ConfigurationChange: Equatable {
    /// The sections that say something else now, in the order of `Configuration`, without brackets.
    private(set) var sections: [ByteString] = []
    /// Sockets and devices were opened with what has changed.
    let needsRestart: Bool

    init(from old: Configuration, to new: Configuration) {
        let old = Self.comparable(old)
        let new = Self.comparable(new)
        self.needsRestart = Self.changedInPlace(old, to: new) != new
        self.note("call", old.call != new.call)
        self.note("auto_call", old.autoCall != new.autoCall)
        self.note("sip", old.sip != new.sip)
        self.note("tls", old.tls != new.tls)
        for index in old.accounts.indices where index < new.accounts.count {
            let name: ByteString = index == 0 ? "account" : "account." + ByteString(decimal: index + 1)
            self.note(name, old.accounts[index] != new.accounts[index])
        }
        self.note("servers", old.servers != new.servers)
        for button in ButtonName.all { self.note("button." + button.text, old[button] != new[button]) }
        self.notePanel(old.panel, new.panel)
        self.note("display", old.display != new.display)
        self.note("screen", old.screen.words != new.screen.words || !old.screen.hasSameGeneralKeys(as: new.screen))
        for language in Language.all {
            let index = Int(language.rawValue)
            let isChanged = old.screen.wordsByLanguage[index] != new.screen.wordsByLanguage[index]
            self.note("screen." + language.code, isChanged)
        }
        self.note("language", old.language != new.language)
        self.note("camera", old.camera != new.camera)
        self.note("audio", old.audio != new.audio)
        self.note("sound", old.sound != new.sound)
        self.note("video", old.video != new.video)
        self.note("media", old.media != new.media)
        self.note("rtp", old.rtp != new.rtp)
        self.note("ice", old.ice != new.ice)
        self.note("identity", old.identity != new.identity)
        self.note("location", old.location != new.location)
        self.note("network", old.network != new.network)
        self.note("update", old.update != new.update)
        self.note("log", old.log != new.log)
    }

    private mutating func notePanel(_ old: PanelSettings, _ new: PanelSettings) {
        for input in InputName.all { self.note("input." + input.text, old[input] != new[input]) }
        self.note("keypad", old.keypad != new.keypad)
        for lamp in LampName.all { self.note("lamp." + lamp.text, old[lamp] != new[lamp]) }
        for index in new.relays.indices {
            self.note("relay." + ByteString(decimal: index + 1), old.relays[index] != new.relays[index])
        }
        self.note("panel", (old.healthChord, old.stuckSeconds) != (new.healthChord, new.stuckSeconds))
    }

    private mutating func note(_ section: ByteString, _ isChanged: Bool) {
        if isChanged { self.sections.append(section) }
    }

    /// A password was moved to a place of its own, and is read from there.
    private static func comparable(_ configuration: Configuration) -> Configuration {
        var configuration = configuration
        configuration.sip.password = ByteString()
        configuration.ice.password = ByteString()
        configuration.network.link.wifi.password = ByteString()
        configuration.network.link.login.password = ByteString()
        return configuration
    }

    /// `old` with all of `new` that is looked at anew for each call or request. What is not named here waits for a
    /// restart.
    private static func changedInPlace(_ old: Configuration, to new: Configuration) -> Configuration {
        var next = old
        next.call = new.call
        next.autoCall = new.autoCall
        next.autoCall.zone = old.autoCall.zone
        next.sip = new.sip
        next.sip.listen = old.sip.listen
        next.accounts = new.accounts
        next.servers = new.servers
        for button in ButtonName.all {
            next[button].steps = new[button].steps
            next[button].ringTimeoutMs = new[button].ringTimeoutMs
            next[button].start = new[button].start
            next[button].endsCall = new[button].endsCall
            next[button].callerName = new[button].callerName
            next[button].label = new[button].label
            next[button].holdSeconds = new[button].holdSeconds
            next[button].long = new[button].long
            next[button].longAfterSeconds = new[button].longAfterSeconds
            next[button].text = new[button].text
        }
        next.panel = Self.changedInPlace(old.panel, to: new.panel)
        next.display.selfView = new.display.selfView
        next.screen = new.screen
        // The picture was read at the start.
        next.screen.image = old.screen.image
        next.language = new.language
        next.camera.rotationDegrees = new.camera.rotationDegrees
        next.audio.codecs = new.audio.codecs
        next.sound.chimes = new.sound.chimes
        next.sound.tellsStatus = new.sound.tellsStatus
        next.sound.speaks = new.sound.speaks
        next.video = new.video
        next.video.decoder = old.video.decoder
        next.video.encoder = old.video.encoder
        // The certificate for handshakes is made at the start, where any may be wanted.
        if (old.media.encryption == .off) == (new.media.encryption == .off) { next.media = new.media }
        // What is known of certificates is read at the start, where any may be wanted.
        if old.ice.needsTLS == new.ice.needsTLS { next.ice = new.ice }
        next.identity = new.identity
        next.location = new.location
        next.log = new.log
        next.update = new.update
        // Not the program's affair, but the board's next start's.
        next.network.link = new.network.link
        return next
    }

    /// Lines stay open as they are; what is done with them follows the file.
    private static func changedInPlace(_ old: PanelSettings, to new: PanelSettings) -> PanelSettings {
        var next = new
        for input in InputName.all {
            next[input] = old[input]
            next[input].dials = new[input].dials
        }
        for lamp in LampName.all {
            next[lamp].line = old[lamp].line
            next[lamp].isActiveLow = old[lamp].isActiveLow
        }
        for index in next.relays.indices {
            next.relays[index].line = old.relays[index].line
            next.relays[index].isActiveLow = old.relays[index].isActiveLow
        }
        next.keypad = old.keypad
        next.keypad.beforeAnswer = new.keypad.beforeAnswer
        next.stuckSeconds = old.stuckSeconds
        return next
    }
}
