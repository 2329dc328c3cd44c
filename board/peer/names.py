# SPDX-License-Identifier: Apache-2.0
"""Name servers: dnsmasq with the records that a check wants, and one that lies."""

import random
import socket
import subprocess
import time
from pathlib import Path

from peer.background import DatagramServer

ADDRESS, PORT = "10.77.0.1", 5300
SERVER = f"{ADDRESS}:{PORT}"


class Names:
    """dnsmasq with these records, to be entered. Names below `.test` that have none are not known."""

    def __init__(self, folder, hosts=(), services=(), pointers=()):
        """`hosts`: (name, address); `services`: (name, target, port, priority, weight); `pointers`: as dnsmasq writes
        a NAPTR record."""
        self.folder, self.process = Path(folder), None
        lines = ["no-resolv", "no-hosts", "local=/test/", f"port={PORT}", f"listen-address={ADDRESS}",
                 "bind-interfaces", "user=root", "log-queries"]
        lines += [f"host-record={name},{address}" for name, address in hosts]
        lines += [f"srv-host={','.join(str(part) for part in service)}" for service in services]
        lines += [f"naptr-record={pointer}" for pointer in pointers]
        self.folder.mkdir(parents=True, exist_ok=True)
        self.configuration = self.folder / "dnsmasq.conf"
        self.configuration.write_text("\n".join(lines) + "\n")

    def __enter__(self):
        with open(self.folder / "dnsmasq.log", "ab") as log:
            self.process = subprocess.Popen(
                ["dnsmasq", "--keep-in-foreground", f"--conf-file={self.configuration}", "--pid-file=",
                 "--log-facility=-"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        until = time.monotonic() + 5
        while not self._listens():
            if self.process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"dnsmasq did not start; see {self.folder / 'dnsmasq.log'}")
            time.sleep(0.01)
        return self

    @staticmethod
    def _listens():
        wanted = f": {socket.inet_aton(ADDRESS)[::-1].hex().upper()}:{PORT:04X} 00000000:0000 "
        return wanted in Path("/proc/thread-self/net/udp").read_text()

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(5)


class Liar(DatagramServer):
    """A name server whose answers are no answers: another question's, cut off, circles of compression, noise."""

    def __init__(self):
        super().__init__(ADDRESS, PORT)
        self.draw, self.asked = random.Random(7), 0

    def received(self, question, asker):
        self.asked += 1
        for lie in self._lies(question):
            self.socket.sendto(lie, asker)

    def _lies(self, question):
        name, kind = question[:2], self.asked % 5
        body = question[12:]
        if kind == 0:
            return [bytes(self.draw.randrange(256) for _ in range(self.draw.randrange(1, 400)))]
        if kind == 1:
            return [name + b"\x81\x80\x00\x01\xff\xff\x00\x00\x00\x00" + body]
        if kind == 2:
            loop = b"\xc0\x0c\x00\x21\x00\x01\x00\x00\x00\x01\x00\x10\x00\x01\x00\x01\x13\xc4\xc0\x0c"
            return [name + b"\x81\x80\x00\x01\x00\x01\x00\x00\x00\x00" + body + loop]
        if kind == 3:
            return [name + b"\x81\x80\x00\x00\x00\x00\x00\x00\x00\x00"]
        return [question[: self.draw.randrange(len(question))]]
