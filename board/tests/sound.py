# SPDX-License-Identifier: Apache-2.0
"""Tones both ways: what the loudspeaker plays, what the far end hears; each codec; mute and the camera switch."""

import time

from measure import tone
from peer import relay
from tests.bench import MICROPHONE_HZ, TONE_HZ, bench
from tests.kiosk import GUEST
from tests.picture import observed
from tests.runner import Failed, check

# Opus carries 20 kHz, but the question is the voice band, which is the same for every codec.
BAND_HZ = (100.0, 3400.0)
LISTEN_S = 10.0


def at_loudspeaker(context):
    return context.once("the tone at the loudspeaker", lambda: _at_loudspeaker(context))


def _at_loudspeaker(context):
    rate, samples = tone.load(observed(context).heard)
    middle = samples[int(rate * 0.5) : int(rate * (0.5 + LISTEN_S))]
    found = tone.analyse(middle, rate, BAND_HZ, TONE_HZ)
    context.log("at the loudspeaker:", found)
    return found


def at_far_end(context):
    return context.once("the tone at the far end", lambda: _at_far_end(context))


def _at_far_end(context):
    seen = observed(context)
    rate, samples = tone.load(seen.peer_heard)
    begin, end = seen.peer_part
    found = tone.analyse(samples[begin : min(end, begin + int(rate * LISTEN_S))], rate, BAND_HZ, MICROPHONE_HZ)
    context.log("at the far end:", found)
    return found


for _name, _heard, _wanted in (("loudspeaker", at_loudspeaker, TONE_HZ), ("far-end", at_far_end, MICROPHONE_HZ)):
    _again = ("the observed call", "the tone at the loudspeaker", "the tone at the far end")
    check(f"board/tone-{_name}-frequency")(
        lambda context, heard=_heard, wanted=_wanted: abs(heard(context).frequency_hz - wanted))
    # What a machine that stands still leaves out is noise, too.
    check(f"board/tone-{_name}-snr", again=_again)(lambda context, heard=_heard: float(heard(context).snr_db))
    check(f"board/tone-{_name}-gap", again=_again)(lambda context, heard=_heard: heard(context).gap_ms)


def codec_call(context, codec, seconds=4.0):
    """A call in which the far end has one codec only: the worse SNR of both ways, frequencies seen to."""
    b = bench(context)
    peer, kiosk = b.peer(codecs=(codec,)), b.ready()
    mark, _ = kiosk.call()
    kiosk.wait_event("first_sound", since=mark)
    time.sleep(1.0)
    recorder = b.record(f"{codec}.wav")
    begin = peer.heard_samples()
    time.sleep(seconds)
    end = peer.heard_samples()
    b.board.terminate(recorder, 2)
    kiosk.hang_up()
    time.sleep(0.3)
    rate, samples = tone.load(b.board.share / f"{codec}.wav")
    heard = tone.analyse(samples[int(rate * 0.3) :], rate, BAND_HZ, TONE_HZ)
    rate, samples = tone.load(peer.heard)
    sent = tone.analyse(samples[begin:end], rate, BAND_HZ, MICROPHONE_HZ)
    context.log(f"{codec}: at the loudspeaker {heard}, at the far end {sent}")
    for found, wanted, where in ((heard, TONE_HZ, "loudspeaker"), (sent, MICROPHONE_HZ, "far end")):
        if abs(found.frequency_hz - wanted) > 1:
            raise Failed(f"{found.frequency_hz:.1f} Hz", f"at the {where}; {wanted} Hz was played")
    return float(min(heard.snr_db, sent.snr_db))


for _codec in ("opus", "pcmu", "pcma"):
    check(f"board/codec-{_codec}", again=())(lambda context, codec=_codec: codec_call(context, codec))


def packetization(context, mode):
    """A call through a relay that leaves one packetization mode in the offer: frames both ways."""
    b = bench(context)
    peer = b.peer()
    with relay.Relay(relay.only_packetization_mode(mode)) as between:
        kiosk = b.ready()
        mark, wire_mark = kiosk.mark(), b.wire.mark()
        kiosk.tell("call", "sip:peer@10.77.0.1:5070")
        kiosk.wait_event("call", since=mark, state="connected")
        kiosk.wait_event("first_frame", since=mark)
        peer.snapshot("mode.png")
        time.sleep(1)
        video = b.wire.rtp(GUEST, None, wire_mark)
        kiosk.hang_up()
        if not between.offers or b"H264" not in between.offers[0]:
            raise Failed("no H.264", f"the kiosk offered no H.264 of mode {mode}")
    kinds = {packet.payload[12] & 31 for packet in video if packet.length > 200}
    context.log(f"NAL unit types sent in large packets: {sorted(kinds)}")
    if mode == 0 and kinds & {24, 28}:
        raise Failed(f"{sorted(kinds)}", "aggregation or fragments were sent in mode 0")
    return f"{len(video)} packets"


for _mode in (0, 1):
    check(f"board/h264-mode-{_mode}")(lambda context, mode=_mode: packetization(context, mode))


@check("board/mute")
def mute(context):
    """Between two presses on mute the far end hears nothing, and before and after it does. Figure: the level, dBFS."""
    b = bench(context)
    peer, kiosk = b.peer(), b.ready()
    mark, _ = kiosk.call()
    time.sleep(1.5)
    parts = []
    for on in (None, True, False):
        if on is not None:
            kiosk.press("mute")
            kiosk.wait_event("mute", since=mark, on=on)
            time.sleep(0.7)
        begin = peer.heard_samples()
        time.sleep(1.2)
        parts.append((begin, peer.heard_samples()))
    kiosk.hang_up()
    time.sleep(0.3)
    _, samples = tone.load(peer.heard)
    before, during, after = (tone.level_dbfs(samples[begin:end]) for begin, end in parts)
    context.log(f"level at the far end: {before:.1f}, muted {during:.1f}, again {after:.1f} dBFS")
    if before < -40 or after < -40:
        raise Failed(f"{before:.1f}, {after:.1f} dBFS", "the far end did not hear the kiosk when it was not muted")
    return during


@check("board/video-off")
def video_off(context):
    """Between two presses on video no picture goes out, and after the second one it does again. Figure: packets."""
    b = bench(context)
    b.peer()
    kiosk = b.ready()
    dialled = b.wire.mark()
    mark, _ = kiosk.call()
    port = video_target(b, dialled)
    # The camera of a kiosk that has just begun needs a moment.
    until = time.monotonic() + 4
    while not b.wire.rtp(GUEST, {port}, dialled) and time.monotonic() < until:
        time.sleep(0.05)
    counts = []
    for on in (None, False, True):
        if on is not None:
            kiosk.press("video")
            kiosk.wait_event("video", since=mark, on=on)
        time.sleep(0.7)
        begin = b.wire.mark()
        time.sleep(1.2)
        counts.append(len(b.wire.rtp(GUEST, {port}, begin)))
    kiosk.hang_up()
    before, during, after = counts
    context.log(f"video packets in 1.2 s: {before}, off {during}, on again {after}")
    if not before or not after:
        raise Failed(f"{before}, {after}", "no video was sent while it was on")
    return during


def video_target(b, since):
    """The far end's video port, from the session description of its answer."""
    from tests.kiosk import PEER

    answer = b.wire.wait_sip("SIP/2.0 200", PEER, 2, since)
    if answer is None or b"m=video" not in answer.payload:
        raise Failed("no video", "the far end's session description has no video")
    return int(answer.payload.split(b"m=video ")[1].split(b" ")[0])
