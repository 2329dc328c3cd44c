# SPDX-License-Identifier: Apache-2.0
"""coturn as STUN and TURN server, by UDP, TCP and TLS, with one user."""

import socket
import subprocess
import time

USER, PASSWORD, REALM = "kiosk", "relayed", "example.test"


class Coturn:
    """One turnserver at `address`; `tls` is (certificate file, key file)."""

    def __init__(self, folder, address, tls=None, port=3478, tls_port=5349):
        self.folder, self.address, self.port, self.process = folder, address, port, None
        self.command = [
            "turnserver", "-n", "--listening-ip", address, "--relay-ip", address, "--listening-port", str(port),
            "--tls-listening-port", str(tls_port), "--lt-cred-mech", "--user", f"{USER}:{PASSWORD}", "--realm", REALM,
            "--no-cli", "--no-dtls", "--no-multicast-peers", "--log-file", "stdout", "--simple-log", "--verbose",
            "--pidfile", str(folder / "turnserver.pid"), "--userdb", str(folder / "turn.db"),
            *(["--cert", str(tls[0]), "--pkey", str(tls[1])] if tls else ["--no-tls"])]

    def __enter__(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        self.log = self.folder / "turnserver.log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            cwd=self.folder)
        until = time.monotonic() + 8
        while True:
            try:
                socket.create_connection((self.address, self.port), timeout=1).close()
                return self
            except OSError:
                if self.process.poll() is not None or time.monotonic() > until:
                    self.__exit__()
                    raise RuntimeError(f"turnserver did not start; see {self.log}") from None
                time.sleep(0.05)

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(2)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
