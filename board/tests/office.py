# SPDX-License-Identifier: Apache-2.0
"""A kiosk beside Asterisk 22, and a telephone where one is asked for."""

import contextlib
from pathlib import Path

from peer.asterisk import HERE, Asterisk
from peer.baresip import Peer
from tests.arm import camera_file
from tests.bench import wait_until
from tests.desk import KIOSK, PEER, Beside, Desk
from tests.race import told
from tests.runner import check
from tests.world import THIRD, clip

# baresip takes the first address of the network for its own.
SERVER = THIRD


class Office(Beside):
    """A server, a kiosk whose calls go to it, and a telephone where one is asked for."""

    def __init__(self, folder):
        self.folder, self.options = Path(folder), None
        self.desk = Desk(self.folder / "kiosk", camera=f"file:{camera_file()}")
        values = {"@SERVER@": SERVER, "@KIOSK@": KIOSK, "@PEER@": PEER}
        files = {}
        for path in (HERE / "etc-asterisk").iterdir():
            text = path.read_text()
            for name, value in values.items():
                text = text.replace(name, value)
            files[path.name] = text
        self.server = Asterisk(self.folder / "asterisk", files)

    def ready(self, **changes):
        """The kiosk with this configuration, idle."""
        options = {"call.uri": f"sip:echo@{SERVER}", "call.media_timeout": "10",
                   **{key.replace("__", "."): value for key, value in changes.items()}}
        if not self.desk.alive() or options != self.options or self.desk.status()["state"] not in ("idle", "ended"):
            self.desk.start(changes=options)
            self.options = options
        return self.desk

    def telephone(self, **options):
        """baresip, for sound: it does not know FIR (RFC 5104), as which Asterisk asks it for key frames."""
        return Peer(self.folder / "peer", clip(), PEER, **options)

    @contextlib.contextmanager
    def other_kiosk(self):
        """A second kiosk at the other telephone's place, which answers. baresip does not live through fifty holds."""
        with Desk(self.folder / "other", camera=f"file:{camera_file()}", address=PEER) as other:
            other.start(changes={"call.uri": f"sip:echo@{SERVER}", "call.incoming": "answer",
                                 "call.incoming_from": "anyone", "rtp.ports": "42000-42099"})
            yield other

    def dial(self, extension, limit_s=5):
        """The kiosk calls an extension and is connected; the index of the first event."""
        mark = self.desk.mark()
        self.desk.must("call", f"sip:{extension}@{SERVER}")
        self.desk.wait_event("call", since=mark, state="connected", limit_s=limit_s)
        return mark

    def hang_up(self):
        """From here, and nothing is left on either side."""
        mark = self.desk.mark()
        self.desk.must("hangup")
        self.desk.ended("hangup", since=mark)
        self.server.idle()


def office(context):
    folder = context.out / "asterisk" / "office"
    found = context.once("Asterisk", lambda: context.keep(Office(folder)))
    if context.failures:
        # What a failed check left behind is not the next one's business.
        found.options = None
        for channel in found.server.channels():
            found.server.action("Hangup", Channel=channel)
    return found


def flows(desk, kind):
    """Frames, or packets of sound, come in from now on."""
    key = {"audio": "rtp_in", "video": "decoded"}[kind]
    before = counted(desk, kind, key)
    wait_until(lambda: counted(desk, kind, key) > before + 5, 4, f"{kind} to come in")


def flows_still(desk):
    """The call is up and sends sound."""
    before = counted(desk, "audio", "rtp_out")
    wait_until(lambda: counted(desk, "audio", "rtp_out") > before + 5, 3, "sound to go out")


def counted(desk, kind, key):
    """A counter of the call, which are there from its first second on."""
    return desk.status()["counters"].get(kind, {}).get(key, 0)


def keys(o, since):
    return "".join(event["Digit"] for event in o.server.events[since:] if event.get("Event") == "DTMFEnd"
                   and event.get("Direction") == "Received")


def beside(name):
    """Declares a function of the Office as the check `asterisk/NAME`; what passed on the wire is kept."""

    def declare(function):
        def run(context):
            found = office(context)
            mark = found.desk.wire.mark()
            try:
                return function(found)
            finally:
                (context.folder / "wire.txt").write_text(told(found.desk, mark))

        check(f"asterisk/{name}")(run)
        return function

    return declare
