// SPDX-License-Identifier: Apache-2.0

import Bytes
import CICE
import CSystem
import KioskEngine
import Loop
import MediaEngine
import SDPWire

/// ICE of one call (RFC 8445), by libnice: finds our ways, checks them against the far end's, and carries the packets.
///
/// Everything happens in the thread that waits by `ICEWait`; what happened is in `takeEvents`.
final class ICEAgent {
    enum Event {
        case found(ICEWays)
        case received([UInt8], StreamKind, Channel)
        case selected(StreamKind, ICEPair)
        case failed(StreamKind)
    }

    let number: UInt64
    private(set) var local: ICECredentials
    /// What was told last, by stream; nil before checks begin.
    private var remote: [ICECredentials?] = [nil, nil]
    private var handle: OpaquePointer?
    private var events: [Event] = []
    /// Streams that are searched still.
    private var searching = [true, true]
    private(set) var searchEndsAt: Instant?
    private var readiness = [false, false]

    static let kinds: [StreamKind] = [.audio, .video]
    /// Events that nobody took; packets beyond are lost, as they would be in a socket.
    private static let eventsMax = 512

    /// Begins to search. Where that cannot be, `found` tells of nothing at once.
    init(_ search: ICESearch, ports: ClosedRange<UInt16>?, _ network: NetworkSettings, now: Instant) {
        self.number = search.number
        self.local = search.credentials
        self.searchEndsAt = now + .milliseconds(search.limitMs)
        self.handle = self.open(ports)
        guard let handle = self.handle else {
            self.endSearch()
            return
        }
        search.stun.map { stun in stun.address.text.withCString { callbox_ice_set_stun(handle, $0, stun.port) } }
        for relay in search.relays { self.add(relay, search.user, search.password) }
        self.setLocal()
        let isGood = callbox_ice_gather(handle, Int32(network.soundCodePoint), Int32(network.pictureCodePoint))
        if isGood == 0 { self.endSearch() }
    }

    private func open(_ ports: ClosedRange<UInt16>?) -> OpaquePointer? {
        var events = callbox_ice_events()
        events.owner = Unmanaged.passUnretained(self).toOpaque()
        events.gathered = { owner, stream in ICEAgent.of(owner).gathered(Int(stream)) }
        events.received = { owner, stream, component, bytes, count in
            ICEAgent.of(owner).received(Int(stream), component, UnsafeBufferPointer(start: bytes, count: count))
        }
        events.selected = { owner, stream, component, local, remote, address in
            guard component == 1, let address else { return }
            ICEAgent.of(owner).selected(Int(stream), local, remote, address.pointee)
        }
        events.failed = { owner, stream, component in
            if component == 1 { ICEAgent.of(owner).put(.failed(ICEAgent.kinds[Int(stream) - 1])) }
        }
        return callbox_ice_new(events, ports?.lowerBound ?? 0, ports?.upperBound ?? 0)
    }

    private static func of(_ owner: UnsafeMutableRawPointer?) -> ICEAgent {
        guard let owner else { preconditionFailure("an agent names itself as its owner") }
        return Unmanaged<ICEAgent>.fromOpaque(owner).takeUnretainedValue()
    }

    private func add(_ relay: ICERelay, _ user: ByteString, _ password: ByteString) {
        let address = relay.address
        address.address.text.withCString { host in
            user.withCString { user in
                password.withCString { password in
                    callbox_ice_add_relay(
                        self.handle, host, address.port, user, password, relay.transport == .udp ? 0 : 1)
                }
            }
        }
    }

    deinit {
        self.handle.map { callbox_ice_free($0) }
    }

    // MARK: - Events

    var hasEvents: Bool { !self.events.isEmpty }

    func takeEvents() -> [Event] {
        defer { self.events.removeAll(keepingCapacity: true) }
        return self.events
    }

    private func put(_ event: Event) {
        if self.events.count < Self.eventsMax { self.events.append(event) }
    }

    private func gathered(_ stream: Int) {
        self.searching[stream - 1] = false
        if !self.searching.contains(true) { self.endSearch() }
    }

    func timePassed(now: Instant) {
        if let due = self.searchEndsAt, now >= due { self.endSearch() }
    }

    private func endSearch() {
        guard self.searchEndsAt != nil else { return }
        self.searchEndsAt = nil
        self.put(.found(ICEWays(audio: self.candidates(1), video: self.candidates(2))))
    }

    private func received(_ stream: Int, _ component: UInt32, _ bytes: UnsafeBufferPointer<UInt8>) {
        self.put(.received(Array(bytes), Self.kinds[stream - 1], component == 1 ? .rtp : .rtcp))
    }

    private func selected(_ stream: Int, _ local: UInt32, _ remote: UInt32, _ address: sockaddr_storage) {
        guard let address = SocketAddress(address) else { return }
        self.readiness[stream - 1] = true
        self.put(
            .selected(
                Self.kinds[stream - 1],
                ICEPair(local: Self.kind(local), remote: Self.kind(remote), address: address)))
    }

    private static func kind(_ number: UInt32) -> ICECandidate.Kind {
        switch Int(number) {
        case CALLBOX_ICE_SERVER_REFLEXIVE: return .serverReflexive
        case CALLBOX_ICE_PEER_REFLEXIVE: return .peerReflexive
        case CALLBOX_ICE_RELAYED: return .relayed
        default: return .host
        }
    }

    // MARK: - Candidates

    /// Best first; of each component half of what a description may have. What is of use on one link only is left out.
    private func candidates(_ stream: UInt32) -> [ICECandidate] {
        guard let handle = self.handle else { return [] }
        let most = 4 * ICELimits.candidates
        var all: [ICECandidate] = []
        for component in [1, 2] as [UInt32] {
            var found = [callbox_ice_candidate](repeating: callbox_ice_candidate(), count: most)
            let count = callbox_ice_local_candidates(handle, stream, component, &found, most)
            let usable = found.prefix(count).compactMap { Self.candidate($0) }
            all += usable.sorted { $0.priority > $1.priority }.prefix(ICELimits.candidates / 2)
        }
        return all
    }

    private static func candidate(_ found: callbox_ice_candidate) -> ICECandidate? {
        var found = found
        guard let address = SocketAddress(found.address), !address.address.isLinkLocal, address.port != 0 else {
            return nil
        }
        let foundation = withUnsafeBytes(of: &found.foundation) { bytes in
            ByteString(Array(bytes.prefix { $0 != 0 }))
        }
        let kind = Self.kind(found.kind)
        return ICECandidate(
            foundation: foundation, component: UInt8(truncatingIfNeeded: found.component), priority: found.priority,
            address: address, kind: kind, base: kind == .host ? nil : SocketAddress(found.base))
    }

    // MARK: - Checks

    /// What was agreed upon. The same credentials as before change nothing; others begin the checks anew.
    func apply(_ ways: [NegotiatedICE?]) {
        guard let handle = self.handle, let first = ways.compactMap({ $0 }).first else { return }
        let changed = zip(ways, self.remote).contains { way, known in way != nil && way?.remote.credentials != known }
        guard changed || first.local != self.local else { return }
        if self.remote.contains(where: { $0 != nil }) { callbox_ice_restart(handle) }
        self.local = first.local
        self.setLocal()
        callbox_ice_set_controlling(handle, first.isControlling ? 1 : 0)
        for (index, way) in ways.enumerated() {
            self.remote[index] = way?.remote.credentials
            guard let remote = way?.remote else { continue }
            self.begin(UInt32(index + 1), remote)
        }
    }

    private func setLocal() {
        self.local.fragment.withCString { fragment in
            self.local.password.withCString { password in
                callbox_ice_set_local(self.handle, 1, fragment, password)
                callbox_ice_set_local(self.handle, 2, fragment, password)
            }
        }
    }

    private func begin(_ stream: UInt32, _ remote: RemoteICE) {
        remote.credentials.fragment.withCString { fragment in
            remote.credentials.password.withCString { password in
                callbox_ice_set_remote(self.handle, stream, fragment, password)
            }
        }
        for component in [1, 2] as [UInt32] {
            let list = remote.candidates.filter { $0.component == component }.map { Self.native($0) }
            guard !list.isEmpty else { continue }
            callbox_ice_set_remote_candidates(self.handle, stream, component, list, list.count)
        }
    }

    private static func native(_ candidate: ICECandidate) -> callbox_ice_candidate {
        var native = callbox_ice_candidate()
        native.component = UInt32(candidate.component)
        native.priority = candidate.priority
        switch candidate.kind {
        case .host: native.kind = UInt32(CALLBOX_ICE_HOST)
        case .serverReflexive: native.kind = UInt32(CALLBOX_ICE_SERVER_REFLEXIVE)
        case .peerReflexive: native.kind = UInt32(CALLBOX_ICE_PEER_REFLEXIVE)
        case .relayed: native.kind = UInt32(CALLBOX_ICE_RELAYED)
        }
        candidate.address.write(to: &native.address)
        (candidate.base ?? candidate.address).write(to: &native.base)
        withUnsafeMutableBytes(of: &native.foundation) { bytes in
            for (index, byte) in candidate.foundation.bytes.prefix(bytes.count - 1).enumerated() { bytes[index] = byte }
        }
        return native
    }

    // MARK: - Packets

    /// Whether there is a way for the stream.
    func isReady(_ kind: StreamKind) -> Bool { self.readiness[kind == .audio ? 0 : 1] }

    /// False where there is no way yet.
    func send(_ bytes: [UInt8], _ kind: StreamKind, _ channel: Channel) -> Bool {
        guard let handle = self.handle, !bytes.isEmpty else { return false }
        return callbox_ice_send(handle, kind == .audio ? 1 : 2, channel == .rtp ? 1 : 2, bytes, bytes.count) != 0
    }

    // MARK: - End

    func close() {
        self.handle.map { callbox_ice_close($0) }
    }

    var isClosed: Bool { self.handle.map { callbox_ice_is_closed($0) != 0 } ?? true }
}
