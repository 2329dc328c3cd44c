# SPDX-License-Identifier: Apache-2.0
"""Encrypted calls beside baresip: keys by SDES and DTLS, out and in, and whoever would listen or take part."""

import contextlib
import re
import socket
import struct
import time
import zlib

import numpy

from measure import image
from measure.sip import messages
from peer.baresip import Peer
from tests.arm import camera_file
from tests.bench import wait_until
from tests.desk import KIOSK, PEER, Desk
from tests.race import hang_up
from tests.runner import Failed, check
from tests.world import clip

# Packets of sound in a second; on a busy machine some are late.
SECOND, FEWEST = 50, 35
SDES = {"media.keying": "sdes", "audio.codecs": "pcmu"}
REQUIRED = {**SDES, "media.encryption": "required"}
HANDSHAKE = {"media.keying": "dtls", "media.encryption": "required", "audio.codecs": "pcmu"}


@contextlib.contextmanager
def beside(context, settings, encryption, camera="none"):
    """(kiosk, baresip), ready."""
    folder = context.folder / (encryption or "plain")
    with (Desk(folder, camera=camera) as desk,
          Peer(folder / "peer", clip(), PEER, codecs=("pcmu",), encryption=encryption) as peer):
        desk.start(changes=settings)
        yield desk, peer


def connected(desk, way):
    """Waits for the answer, and for it to be encrypted that way."""
    event = desk.wait_event("call", state="connected", limit_s=8)
    if event.get("secure") != way:
        raise Failed(f"secure: {event.get('secure')}", f"the call was to be {way}; passed: {desk.ladder()}")


def audio(desk):
    return desk.status()["counters"]["audio"]


def plays(desk, peer, seconds=2):
    """Sound comes and goes: what is counted came through decryption here, what the far end heard there."""
    time.sleep(1.2)
    before, heard = audio(desk), peer.heard_samples()
    time.sleep(seconds + 0.2)
    after, heard = audio(desk), peer.heard_samples() - heard
    gained = {key: after[key] - before[key] for key in ("rtp_in", "rtp_out", "forged", "replayed", "unkeyed")}
    if min(gained["rtp_in"], gained["rtp_out"]) < FEWEST * seconds or heard < 48000 * seconds * FEWEST // SECOND:
        raise Failed(f"{gained}, {heard} samples", f"about {SECOND * seconds} packets were due each way")
    return gained


def quiet(gained):
    """No packet of the call itself was dropped; but baresip opens the way of its reports with plain ones."""
    if gained["replayed"] or gained["forged"] + gained["unkeyed"] > 2:
        raise Failed(f"{gained}", "packets of the far end were dropped")


def call_out(context, settings, encryption, way):
    with beside(context, settings, encryption) as (desk, peer):
        desk.must("call")
        connected(desk, way)
        quiet(plays(desk, peer))
        hang_up(desk)
    return desk


def call_in(context, settings, encryption, way):
    changes = {**settings, "call.incoming": "answer", "call.incoming_from": "anyone"}
    with beside(context, changes, encryption) as (desk, peer):
        peer.dial(f"sip:callbox@{KIOSK}")
        connected(desk, way)
        quiet(plays(desk, peer))
        hang_up(desk)


def profiles(desk):
    """The profiles of the sound, as they were said in turn."""
    found = [re.search(r"^m=audio \d+ (\S+)", message.body, re.M) for message in messages(desk.wire, 0) if message.body]
    return [profile.group(1) for profile in found if profile]


@check("secure/keys-out")
def keys_out(context):
    seen = []
    for settings, encryption in ((SDES, "srtp"), (REQUIRED, "srtp-mand")):
        seen.append("/".join(dict.fromkeys(profiles(call_out(context, settings, encryption, "sdes")))))
    return ", ".join(seen)


@check("secure/keys-in")
def keys_in(context):
    for encryption in ("srtp", "srtp-mand", "srtp-mandf"):
        call_in(context, SDES, encryption, "sdes")
    return "both ways"


@check("secure/handshake")
def handshake(context):
    call_out(context, HANDSHAKE, "dtls_srtp", "dtls")
    call_in(context, HANDSHAKE, "dtls_srtp", "dtls")
    return "both ways"


@check("secure/picture")
def picture(context):
    """The kiosk's picture as the far end decrypted it: the bright block on grey of the camera's clip, and whole."""
    seen = []
    for settings, encryption, way in ((REQUIRED, "srtp-mand", "sdes"), (HANDSHAKE, "dtls_srtp", "dtls")):
        with beside(context, settings, encryption, f"file:{camera_file()}") as (desk, peer):
            desk.must("call")
            connected(desk, way)
            desk.wait_event("first_frame", limit_s=8)
            time.sleep(1)
            luma = image.expand_range(image.load(peer.snapshot("picture.png"))).mean(axis=2)
            rows, columns = (luma > 140).any(axis=1).nonzero()[0], (luma > 140).any(axis=0).nonzero()[0]
            size = (len(columns), len(rows))
            ground = abs(luma - numpy.median(luma)) < 25
            if not (34 <= size[0] <= 46 and 55 <= size[1] <= 65) or ground.mean() < 0.93:
                raise Failed(f"{size}, {ground.mean():.0%} even", "the block of the camera's clip is 40 by 60")
            decoded = desk.status()["counters"]["video"]["decoded"]
            if decoded < 10:
                raise Failed(f"{decoded} frames", "the far end's picture was not decrypted here")
            seen.append(f"{way}: block of {size[0]} by {size[1]}, {decoded} frames here")
            hang_up(desk)
    return "; ".join(seen)


def media_of(desk):
    """RTP and RTCP that the kiosk sent."""
    desk.wire.catch_up()
    return [packet for packet in desk.wire.packets if packet.source == KIOSK and 40000 <= packet.source_port < 40100]


@check("secure/refused")
def refused(context):
    texts = []
    for settings in (REQUIRED, HANDSHAKE):
        with beside(context, settings, None) as (desk, _):
            desk.must("call")
            ended = desk.ended("not-private", "refused", limit_s=8)
            texts.append(ended["text"])
            time.sleep(0.5)
            if media_of(desk):
                raise Failed(f"{len(media_of(desk))} packets", "media were sent to a far end without a key")
    return texts[0]


def own_keys(desk):
    """The keys of the sound in the messages of the kiosk, each once."""
    found = []
    for message in desk.sent():
        sound = message.body.split("m=video")[0] if message.body else ""
        found += re.findall(r"^a=crypto:\d+ AES_CM_128_HMAC_SHA1_80 inline:(\S+)", sound, re.M)
    return set(found)


@check("secure/hold")
def hold(context):
    with beside(context, REQUIRED, "srtp-mand") as (desk, peer):
        desk.must("call")
        connected(desk, "sdes")
        plays(desk, peer)
        for word, holding in (("hold", True), ("resume", False)) * 2:
            mark = desk.mark()
            desk.must(word)
            desk.wait_event("change", since=mark, holding=holding, code=200)
            time.sleep(0.5)
        plays(desk, peer)
        if len(own_keys(desk)) != 1:
            raise Failed(f"{len(own_keys(desk))} keys", "hold and resume were to keep the key")
        hang_up(desk)
    return "goes on"


def squeezed(packets):
    """What the payloads come to when compressed, as a part of their length: one for noise, far less for a tone."""
    bytes_ = b"".join(packet.payload[12:] for packet in packets)
    return len(zlib.compress(bytes_, 9)) / max(1, len(bytes_))


def sound_on(desk, source):
    return [packet for packet in desk.wire.packets if packet.source == source and packet.is_rtp()
            and 160 < packet.length < 400]


@check("secure/capture")
def capture(context):
    """Figure: how far the packets can be compressed, the worst, and a plain call's beside it."""
    worst = 1.0
    for settings, encryption, way in ((REQUIRED, "srtp-mand", "sdes"), (HANDSHAKE, "dtls_srtp", "dtls")):
        with beside(context, settings, encryption) as (desk, peer):
            desk.must("call")
            connected(desk, way)
            plays(desk, peer)
            trace = str(desk.must("trace", "messages"))
            hang_up(desk)
            desk.wire.catch_up()
            worst = min(worst, squeezed(sound_on(desk, PEER)), squeezed(sound_on(desk, KIOSK)))
            written = desk.log_path.read_text() + trace
            keys = {key for message in messages(desk.wire, 0) for key in re.findall(r"inline:([^|\s]+)", message.body)}
            if way == "sdes" and not keys:
                raise Failed("no keys", "the messages were to hold them")
            if any(key in written for key in keys) or "inline:" in written:
                raise Failed("a key", "the log or the trace has it")
    with beside(context, {"media.encryption": "off", "audio.codecs": "pcmu"}, None) as (desk, peer):
        desk.must("call")
        connected(desk, "no")
        plays(desk, peer)
        hang_up(desk)
        plain = squeezed(sound_on(desk, PEER))
    if worst < 0.97 or plain > 0.9:
        raise Failed(f"{worst:.2f}, plain {plain:.2f}", "encrypted packets look like noise, plain ones do not")
    return f"{worst:.2f}, plain {plain:.2f}"


def inject(source, source_port, target, target_port, payload):
    """A datagram that says to be from somebody else's port."""
    length = 8 + len(payload)
    header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + length, 0, 0, 64, 17, 0, socket.inet_aton(source),
                         socket.inet_aton(target))
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW) as raw:
        raw.sendto(header + struct.pack("!HHHH", source_port, target_port, length, 0) + payload, (target, 0))


@check("secure/forged")
def forged(context):
    """Thrice fifty packets that seem to come from the far end's own port."""
    with beside(context, REQUIRED, "srtp-mand") as (desk, peer):
        desk.must("call")
        connected(desk, "sdes")
        plays(desk, peer)
        desk.wire.catch_up()
        port = re.search(r"^m=audio (\d+)", desk.sent("INVITE")[0].body, re.M).group(1)
        last = [packet for packet in sound_on(desk, PEER) if packet.target_port == int(port)][-50:]
        before = audio(desk)
        for packet in last:
            sequence = struct.unpack_from("!H", packet.payload, 2)[0]
            ahead = packet.payload[:2] + struct.pack("!H", (sequence + 500) % 65536) + packet.payload[4:]
            for payload in (packet.payload, ahead, ahead[:12] + bytes(160)):
                inject(PEER, packet.source_port, KIOSK, packet.target_port, payload)
        plays(desk, peer)
        after = audio(desk)
        counted = {key: after[key] - before[key] for key in ("replayed", "forged")}
        hang_up(desk)
    if counted != {"replayed": 50, "forged": 100}:
        raise Failed(f"{counted}", "50 replayed and 100 forged packets were put in")
    return f"{counted['replayed']} replayed, {counted['forged']} forged"


@check("secure/marks")
def marks(context):
    """What routers see on signalling, sound and picture: as configured, and as it is without a word."""
    found = []
    others = {"network.dscp_signalling": "24", "network.dscp_sound": "0", "network.dscp_picture": "63"}
    for settings, wanted in (({}, (40, 46, 34)), (others, (24, 0, 63))):
        folder = context.folder / str(wanted[0])
        with Desk(folder, camera=f"file:{camera_file()}") as desk, Peer(folder / "peer", clip(), PEER) as peer:
            desk.start(changes=settings)
            desk.must("call")
            desk.wait_event("call", state="connected", limit_s=8)
            wait_until(lambda: len(media_of(desk)) > 200, 10, "media")
            sent = [packet for packet in desk.wire.packets if packet.source == KIOSK]
        ports = sorted({packet.source_port for packet in sent if packet.is_rtp()})
        seen = tuple({packet.code_point for packet in sent if packet.source_port == port} for port in (5060, *ports))
        if seen != tuple({mark} for mark in wanted):
            raise Failed(str(seen), f"the marks were to be {wanted} on signalling, sound and picture")
        found.append("/".join(str(mark) for mark in wanted))
    return ", ".join(found)
