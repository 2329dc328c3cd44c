// SPDX-License-Identifier: Apache-2.0

import Bytes
import KioskEngine
import Loop
import MediaEngine

/// The four datagram sockets of the media, bound once at start: ports stay the same for the kiosk's whole life.
struct MediaSockets: ~Copyable {
    var audioRTP: UDPSocket
    var audioRTCP: UDPSocket
    var videoRTP: UDPSocket
    var videoRTCP: UDPSocket

    /// Nothing longer than this is a packet of ours: an Ethernet frame's worth, and room for jumbo ones.
    static let datagramMax = 9000

    /// Even ports for RTP, the next odd one for RTCP (RFC 3550 section 11): the first four in a row that are free.
    init(ports: ClosedRange<UInt16>) throws(SocketError) {
        var base = UInt32(ports.lowerBound) + UInt32(ports.lowerBound & 1)
        while base + 3 <= UInt32(ports.upperBound) {
            let port = UInt16(base)
            if let all = Self.open(port) {
                self = all
                return
            }
            base += 2
        }
        throw .bind(0)
    }

    private init(
        _ audioRTP: consuming UDPSocket, _ audioRTCP: consuming UDPSocket, _ videoRTP: consuming UDPSocket,
        _ videoRTCP: consuming UDPSocket
    ) {
        self.audioRTP = audioRTP
        self.audioRTCP = audioRTCP
        self.videoRTP = videoRTP
        self.videoRTCP = videoRTCP
    }

    /// Those that are named; nil where one of them cannot be had.
    init?(_ ports: MediaPorts) {
        guard let one = Self.socket(ports.audio.rtp), let two = Self.socket(ports.audio.rtcp),
            let three = Self.socket(ports.video.rtp), let four = Self.socket(ports.video.rtcp)
        else { return nil }
        self.init(one, two, three, four)
    }

    /// What is left of a range for other sockets of media; nil where that is too little.
    func portsLeft(of range: ClosedRange<UInt16>) -> ClosedRange<UInt16>? {
        let next = UInt32(max(self.audioRTP.port, self.videoRTCP.port)) + 1
        guard next + 3 <= UInt32(range.upperBound) else { return nil }
        return UInt16(next)...range.upperBound
    }

    func has(_ ports: MediaPorts) -> Bool { self.audioPorts == ports.audio && self.videoPorts == ports.video }

    /// Watches all four, sound's RTP and RTCP first.
    func watch(_ poller: borrowing Poller, tokenBase: UInt64) {
        poller.watch(self.audioRTP.descriptor, token: tokenBase)
        poller.watch(self.audioRTCP.descriptor, token: tokenBase + 1)
        poller.watch(self.videoRTP.descriptor, token: tokenBase + 2)
        poller.watch(self.videoRTCP.descriptor, token: tokenBase + 3)
    }

    private static func open(_ port: UInt16) -> MediaSockets? {
        guard let one = Self.socket(port), let two = Self.socket(port + 1), let three = Self.socket(port + 2),
            let four = Self.socket(port + 3)
        else { return nil }
        return MediaSockets(one, two, three, four)
    }

    private static func socket(_ port: UInt16) -> UDPSocket? {
        try? UDPSocket(address: nil, port: port, datagramMax: Self.datagramMax)
    }

    /// The differentiated services code points of what is sent.
    func mark(_ network: NetworkSettings) {
        self.audioRTP.mark(network.soundCodePoint)
        self.audioRTCP.mark(network.soundCodePoint)
        self.videoRTP.mark(network.pictureCodePoint)
        self.videoRTCP.mark(network.pictureCodePoint)
    }

    var audioPorts: StreamPorts { StreamPorts(rtp: self.audioRTP.port, rtcp: self.audioRTCP.port) }
    var videoPorts: StreamPorts { StreamPorts(rtp: self.videoRTP.port, rtcp: self.videoRTCP.port) }

    func send(_ bytes: [UInt8], _ kind: StreamKind, _ channel: Channel, to remote: SocketAddress) {
        switch (kind, channel) {
        case (.audio, .rtp): self.audioRTP.send(bytes, to: remote)
        case (.audio, .rtcp): self.audioRTCP.send(bytes, to: remote)
        case (.video, .rtp): self.videoRTP.send(bytes, to: remote)
        case (.video, .rtcp): self.videoRTCP.send(bytes, to: remote)
        }
    }

    mutating func receive(_ kind: StreamKind, _ channel: Channel) -> Datagram {
        switch (kind, channel) {
        case (.audio, .rtp): return self.audioRTP.receive()
        case (.audio, .rtcp): return self.audioRTCP.receive()
        case (.video, .rtp): return self.videoRTP.receive()
        case (.video, .rtcp): return self.videoRTCP.receive()
        }
    }
}
