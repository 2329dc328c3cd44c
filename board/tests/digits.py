# SPDX-License-Identifier: Apache-2.0
"""Keys through a way that loses a fifth of the packets: once each at Asterisk and at baresip, whatever the pace."""

import time

import numpy

from peer.baresip import Peer
from peer.lossy import LossyRelay
from peer.sipp import Scenario
from tests.bench import wait_until
from tests.desk import KIOSK, PEER, Desk
from tests.office import SERVER, Office, keys
from tests.runner import Failed, check
from tests.world import clip

KEYS, LOSS, PORT = "0123456789*#ABCD", 0.2, 5070
# Between presses, in seconds: as fast as they can be sent, as somebody types, and as somebody does who looks for each.
PACES = (0, 0.3, 0.6)
LIMIT_S = 8


def type_keys(desk, pace_s):
    if not pace_s:
        return desk.must("digits", KEYS)
    for key in KEYS:
        desk.must("digits", key)
        time.sleep(pace_s)


def paced(context, desk, relay, arrived):
    """Types all keys at each pace; `arrived` gives what the far end has taken since it was called with True."""
    for pace_s in PACES:
        arrived(True)
        type_keys(desk, pace_s)
        wait_until(lambda: len(arrived()) >= len(KEYS), LIMIT_S, f"all keys, with {arrived()} so far")
        time.sleep(0.4)
        found = arrived()
        context.log(f"{pace_s} s apart: {found}")
        if found != KEYS:
            raise Failed(found, f"{KEYS} was typed, {pace_s} s apart")
    if not 0.1 < relay.lost / relay.sent < 0.3:
        raise Failed(f"{relay.lost} of {relay.sent}", "the relay was to lose a fifth")
    return f"{len(KEYS)} keys at {len(PACES)} paces, {relay.lost} of {relay.sent} packets lost"


@check("panel/digits-asterisk")
def digits_asterisk(context):
    with Office(context.folder) as o, LossyRelay((SERVER, 5060), SERVER, KIOSK, LOSS, PORT) as relay:
        desk, begin = o.ready(), [0]
        mark = desk.mark()
        desk.must("call", f"sip:tone@{SERVER}:{PORT}")
        desk.wait_event("first_sound", since=mark)

        def arrived(is_new=False):
            if is_new:
                begin[0] = o.server.mark()
            o.server.mark()
            return keys(o, begin[0])

        figure = paced(context, desk, relay, arrived)
        desk.must("hangup")
        return figure


@check("panel/digits-baresip")
def digits_baresip(context):
    with Desk(context.folder / "kiosk") as desk, Peer(context.folder / "peer", clip(), PEER) as peer, \
            LossyRelay((PEER, 5060), PEER, KIOSK, LOSS, PORT) as relay:
        desk.start(changes={"call.uri": f"sip:peer@{PEER}:{PORT}"})
        begin, mark = [0], desk.mark()
        desk.must("call")
        desk.wait_event("first_sound", since=mark)

        def arrived(is_new=False):
            if is_new:
                begin[0] = peer.mark()
            peer.mark()
            return "".join(event.get("param", "") for event in peer.events[begin[0]:]
                           if event.get("type") == "CALL_DTMF_START")

        figure = paced(context, desk, relay, arrived)
        desk.must("hangup")
        return figure


def dialled(samples, rate=8000, frame=80):
    """The keys whose two tones (ITU-T Q.23) stand in the sound, each once for as long as it lasts."""
    rows, columns = (697, 770, 852, 941), (1209, 1336, 1477, 1633)
    times = numpy.arange(frame) / rate
    waves = {hertz: numpy.exp(-2j * numpy.pi * hertz * times) for hertz in rows + columns}
    found, last = "", None
    for begin in range(0, len(samples) - frame, frame):
        levels = {hertz: abs(numpy.dot(samples[begin : begin + frame], wave)) / frame for hertz, wave in waves.items()}
        row, column = max(rows, key=levels.get), max(columns, key=levels.get)
        is_key = min(levels[row], levels[column]) > 0.05
        key = "123A456B789C*0#D"[rows.index(row) * 4 + columns.index(column)] if is_key else None
        found += key if key and key != last else ""
        last = key
    return found


def decoded(packets):
    """The samples, -1 to 1, of packets of PCMU (ITU-T G.711)."""
    codes = ~numpy.frombuffer(b"".join(packet.payload[12:] for packet in packets), dtype=numpy.uint8)
    sizes = (((codes & 15).astype(int) << 3) + 132 << ((codes >> 4) & 7)) - 132
    return numpy.where(codes & 128, -sizes, sizes) / 32768


@check("panel/digits-in-band")
def digits_in_band(context):
    """A far end that takes neither telephone events nor INFO hears the tones themselves, muted or not."""
    scenario = Scenario().answers(headers=("Allow: INVITE, ACK, CANCEL, BYE",)).is_hung_up()
    with Desk(context.folder / "kiosk") as desk, desk.sipp(scenario):
        desk.start()
        mark, begin = desk.mark(), desk.wire.mark()
        desk.must("call")
        desk.wait_event("call", since=mark, state="connected")
        desk.must("press", "mute")
        desk.must("digits", KEYS)
        time.sleep(len(KEYS) * 0.22 + 0.5)
        desk.must("hangup")
        desk.ended("hangup", since=mark)
        desk.wire.catch_up()
        packets = [packet for packet in desk.wire.rtp(KIOSK, since=begin) if packet.payload_type() == 0]
        found = dialled(decoded(packets))
    if found != KEYS:
        raise Failed(found or "none", f"{KEYS} was typed; {len(packets)} packets of sound")
    return found


@check("panel/digits-info-refused")
def digits_info_refused(context):
    """A far end that says it takes INFO and then refuses the first key hears that key too, and those after it."""
    scenario = Scenario().answers(headers=("Allow: INVITE, ACK, CANCEL, BYE, INFO",))
    scenario.recv("INFO", keep="n").reply("n", 415, contact=False).is_hung_up()
    with Desk(context.folder / "kiosk") as desk, desk.sipp(scenario) as peer:
        desk.start()
        mark, begin = desk.mark(), desk.wire.mark()
        desk.must("call")
        desk.wait_event("call", since=mark, state="connected")
        desk.must("digits", "5")
        desk.wait_event("info_refused", since=mark)
        desk.must("digits", "67")
        time.sleep(3 * 0.22 + 0.4)
        desk.must("hangup")
        peer.done()
        desk.wire.catch_up()
        packets = [packet for packet in desk.wire.rtp(KIOSK, since=begin) if packet.payload_type() == 0]
        found, informs = dialled(decoded(packets)), len(desk.sent("INFO"))
    if found != "567" or informs != 1:
        raise Failed(f"{found or 'none'}, {informs} INFO", "567 was typed, and one INFO tells enough")
    return found
