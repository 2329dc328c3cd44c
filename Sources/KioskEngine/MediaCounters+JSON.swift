// SPDX-License-Identifier: Apache-2.0
import Bytes
import MediaEngine

extension MediaCounters {
    /// RTCP reports that came in: the far end lives even while it sends nothing else.
    var reports: UInt64 { self.streams.audio.reportsReceived &+ self.streams.video.reportsReceived }

    /// The members of `stats`, and of `counters` in `status`.
    func write(to json: inout JSON) {
        var audio = JSON()
        self.streams.audio.write(to: &audio)
        audio.put("playout_ms", self.playoutDelayMs)
        audio.put("concealed", self.soundConcealed)
        audio.put("xruns", self.soundXruns)
        json.put("audio", object: audio)
        var video = JSON()
        self.streams.video.write(to: &video)
        self.streams.video.writePictures(to: &video)
        video.put("captured", self.framesCaptured)
        video.put("encoded", self.framesEncoded)
        video.put("decoded", self.framesDecoded)
        video.put("shown", self.framesShown)
        video.put("dropped", self.framesDropped)
        json.put("video", object: video)
    }
}

extension StreamStatistics {
    fileprivate func write(to json: inout JSON) {
        json.put("rtp_out", self.packetsSent)
        json.put("rtp_out_bytes", self.bytesSent)
        json.put("rtp_in", self.packetsReceived)
        json.put("rtp_in_bytes", self.bytesReceived)
        json.put("lost", self.packetsLost)
        json.put("duplicated", self.packetsDuplicated)
        json.put("late", self.packetsLate)
        json.put("refused", self.packetsDropped)
        json.put("forged", self.packetsForged)
        json.put("replayed", self.packetsReplayed)
        json.put("unkeyed", self.packetsUnkeyed)
        json.put("jitter_ms", self.jitterMs)
        if let roundTripMs = self.roundTripMs { json.put("round_trip_ms", roundTripMs) }
        json.put("remote_lost", self.remotePacketsLost)
        json.put("rtcp_out", self.reportsSent)
        json.put("rtcp_in", self.reportsReceived)
    }

    fileprivate func writePictures(to json: inout JSON) {
        json.put("frames_out", self.framesSent)
        json.put("frames_in", self.framesReceived)
        json.put("frames_held", self.framesHeld)
        json.put("key_frames_out", self.keyFramesSent)
        json.put("key_frames_in", self.keyFramesReceived)
        json.put("pli_out", self.pliSent)
        json.put("pli_in", self.pliReceived)
        json.put("fir_out", self.firSent)
        json.put("fir_in", self.firReceived)
        json.put("nack_in", self.nackReceived)
        json.put("tmmbr_in", self.tmmbrReceived)
        json.put("remb_in", self.rembReceived)
        if let encodeRateKbps = self.encodeRateKbps { json.put("rate_kbps", encodeRateKbps) }
    }
}
