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
        self.note("lamp.call", old.callLamp != new.callLamp)
        self.note("display", old.display != new.display)
        self.note("camera", old.camera != new.camera)
        self.note("audio", old.audio != new.audio)
        self.note("video", old.video != new.video)
        self.note("media", old.media != new.media)
        self.note("rtp", old.rtp != new.rtp)
        self.note("identity", old.identity != new.identity)
        self.note("location", old.location != new.location)
        self.note("network", old.network != new.network)
    }

    private mutating func note(_ section: ByteString, _ isChanged: Bool) {
        if isChanged { self.sections.append(section) }
    }

    /// A password was moved to a place of its own, and is read from there.
    private static func comparable(_ configuration: Configuration) -> Configuration {
        var configuration = configuration
        configuration.sip.password = ByteString()
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
        }
        next.display.selfView = new.display.selfView
        next.audio.codecs = new.audio.codecs
        next.video = new.video
        // The certificate for handshakes is made at the start, where any may be wanted.
        if (old.media.encryption == .off) == (new.media.encryption == .off) { next.media = new.media }
        next.identity = new.identity
        next.location = new.location
        return next
    }
}
