// SPDX-License-Identifier: Apache-2.0
import Bytes
import MediaEngine
import SDPWire
import SIPEngine
import SIPWire

/// Finding the ways of media by ICE: before a description of ours, and again where the way of a call fails.
extension KioskEngine {
    // MARK: - Servers

    /// Asks for the addresses of the servers where it is time.
    mutating func refreshICEServers(now: Instant) {
        var next: [ResolutionID] = []
        for _ in 0...ICESettings.relaysMax where self.iceServers.asksAt.map({ now >= $0 }) ?? false {
            next.append(self.machine.newResolution())
        }
        let questions = self.iceServers.questions({ next.removeLast() }, now: now)
        for (id, uri) in questions { self.findServer(id, uri, now: now) }
    }

    // MARK: - Searching

    /// Looks for the ways of the next call.
    mutating func findWays(now: Instant) {
        let settings = self.configuration.ice
        let credentials = ICECredentials(random: self.makeSecret)
        let number = self.ice.begin(credentials, now: now)
        let relay = self.passwords.relay
        let search = ICESearch(
            number: number, credentials: credentials, stun: self.iceServers.stun(settings),
            relays: self.iceServers.relays(settings), user: relay?.username ?? settings.user,
            password: relay?.password ?? ByteString(), limitMs: ICELimits.searchMs)
        self.put(.media(.findWays(search)))
    }

    /// True where what is to be done is put off until the ways are known.
    private mutating func waits(_ waiting: ICEMachine.Waiting, now: Instant) -> Bool {
        switch self.ice.wait(waiting) {
        case .goOn: return false
        case .waits: return true
        case .search:
            self.findWays(now: now)
            _ = self.ice.wait(waiting)
            return true
        }
    }

    /// A call that is to be placed offers our ways. One that takes the place of another goes without.
    mutating func placingWaits(_ id: ResolutionID, _ ways: [Flow]?, now: Instant) -> Bool {
        guard self.configuration.ice.use == .on, case .lookingUp(let state) = self.machine.state,
            state.resolution == id
        else { return false }
        // Of several calls at a time the first has the ways.
        if self.ice.inUse != nil, self.session != nil || !self.otherCalls.isEmpty { return false }
        return self.waits(.placing(id, ways), now: now)
    }

    mutating func acceptingWaits(_ handle: CallHandle, _ call: IncomingCall, now: Instant) -> Bool {
        guard self.wantsWays(call), self.ice.inUse == nil else { return false }
        return self.waits(.accepting(handle, call), now: now)
    }

    /// Whether our answer to a call from outside could name ways.
    func wantsWays(_ call: IncomingCall) -> Bool {
        switch self.configuration.ice.use {
        case .off: return false
        case .offered, .on: break
        }
        guard let offer = call.offer else { return self.configuration.ice.use == .on }
        return (try? SessionDescription.parse(offer))?.offersICE ?? false
    }

    private mutating func goOn(_ action: ICEMachine.OnFound, now: Instant) {
        switch action {
        case .ignore, .goOn(nil): break
        case .goOn(.placing(let id, let ways)?): self.place(id, ways, now: now)
        case .goOn(.accepting(let handle, let call)?): self.accept(handle, call, now: now)
        case .goOn(.moving(let handle)?): self.tellNewWays(handle, now: now)
        }
    }

    mutating func iceTimePassed(now: Instant) {
        self.goOn(self.ice.timePassed(now: now), now: now)
        self.refreshICEServers(now: now)
    }

    /// The call is over, or was never made.
    mutating func forgetWays() {
        guard self.ice.isBusy else { return }
        self.ice.reset()
        self.put(.media(.forgetWays))
    }

    // MARK: - What the media thread tells

    mutating func ice(_ report: ICEReport, now: Instant) {
        switch report {
        case .found(let number, let ways):
            let action = self.ice.found(number, ways)
            if case .goOn = action {
                self.emit("ice", now: now) {
                    $0.put("state", ways.isUsable ? "found" : "nothing")
                    $0.put("candidates", ways.audio.count + ways.video.count)
                }
            }
            self.goOn(action, now: now)
        case .selected(let number, let kind, let pair):
            guard self.ice.selected(number) else { return }
            self.emit("ice", now: now) {
                $0.put("state", "selected")
                $0.put("media", kind.text)
                $0.put("local", pair.local.text)
                $0.put("remote", pair.remote.text)
                $0.put("address", pair.address.text)
            }
        case .failed(let number, let kind): self.wayFailed(number, kind, now: now)
        case .relayInsecure(let relay, let fault): self.emit(fault, of: relay.name, at: relay.address, now: now)
        }
    }

    private mutating func wayFailed(_ number: UInt64, _ kind: StreamKind, now: Instant) {
        guard case .connected(let state) = self.machine.state, self.mediaRuns else { return }
        switch self.ice.failed(number) {
        case .ignore: break
        case .restart:
            self.emitFailed(kind, isLast: false, now: now)
            self.findOtherWays(state.handle, now: now)
        case .giveUp:
            self.emitFailed(kind, isLast: true, now: now)
            self.fail(state.handle, .vanished, now: now)
        }
    }

    private mutating func emitFailed(_ kind: StreamKind, isLast: Bool, now: Instant) {
        self.emit("ice", now: now) {
            $0.put("state", "failed")
            $0.put("media", kind.text)
            $0.put("restarts", !isLast)
        }
    }

    /// The ways of the call are no good any more: the far end is told new ones, and media stay where they are until then
    /// (RFC 8445 section 2.4).
    mutating func findOtherWays(_ handle: CallHandle, now: Instant) {
        self.findWays(now: now)
        _ = self.ice.wait(.moving(handle))
    }

    private mutating func tellNewWays(_ handle: CallHandle, now: Instant) {
        guard self.machine.state.handle == handle, let found = self.ice.take() else { return }
        self.session?.ways = found
        self.changeTakenLate(handle, now: now)
    }
}

extension ICECredentials {
    /// With the randomness that RFC 8839 section 5.4 wants: 24 and 128 bits.
    init(random: (Int) -> [UInt8]) {
        func word(_ count: Int) -> ByteString {
            var text = ByteString()
            for byte in random(count) { text.append(hex: UInt64(byte), width: 2) }
            return text
        }
        self.init(fragment: word(4), password: word(16))
    }
}
