# SPDX-License-Identifier: Apache-2.0
"""A far end by TLS that is busy: it answers each INVITE with 486, and notes how it was spoken to."""

import contextlib
import re
import socket
import ssl
import subprocess
import threading

PORT = 5061


class BusyByTLS:
    """A context manager. `seen` are (server name or None, version) of the handshakes that were done."""

    def __init__(self, certificate, key, version=None, port=PORT):
        self.port = port
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        # Also with a key that is too short for anybody.
        self.context.set_ciphers("DEFAULT@SECLEVEL=0")
        self.context.load_cert_chain(certificate, key)
        if version:
            self.context.minimum_version = self.context.maximum_version = version
        self.names, self.seen, self.streams = {}, [], []
        self.context.sni_callback = lambda connection, name, _: self.names.__setitem__(id(connection), name)

    def __enter__(self):
        self.listener = listen(self.port)
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for stream in self.streams:
            with contextlib.suppress(OSError):
                stream.shutdown(socket.SHUT_RDWR)

    def _serve(self):
        while True:
            try:
                stream, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(stream,), daemon=True).start()

    def _answer(self, stream):
        try:
            stream.settimeout(10)
            with self.context.wrap_socket(stream, server_side=True) as secure:
                self.streams.append(secure)
                self.seen.append((self.names.pop(id(secure), None), secure.version()))
                data = b""
                while part := secure.recv(65536):
                    data += part
                    if data.startswith(b"INVITE") and b"\r\n\r\n" in data:
                        secure.sendall(busy(data.decode(errors="replace")))
                        data = b""
        except OSError:
            pass


@contextlib.contextmanager
def handshakes(address, port, certificate, key, log):
    """Shakes hands with whoever wants keys for media there (DTLS, RFC 5764): the openssl program."""
    with open(log, "ab") as file:
        process = subprocess.Popen(
            ["openssl", "s_server", "-dtls", "-accept", f"{address}:{port}", "-cert", certificate, "-key", key,
             "-use_srtp", "SRTP_AES128_CM_SHA1_80"], stdin=subprocess.PIPE, stdout=file, stderr=file)
    try:
        yield
    finally:
        process.kill()
        process.wait()


def listen(port=PORT):
    """For both families; the port is free again at once."""
    return socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True)


def busy(request):
    """486 to it."""
    def lines(name):
        return "".join(re.findall(rf"(?im)^{name}:.*\r\n", request))

    to = lines("To").replace("\r\n", ";tag=busy\r\n")
    return (f"SIP/2.0 486 Busy Here\r\n{lines('Via')}{lines('From')}{to}{lines('Call-ID')}{lines('CSeq')}"
            "Content-Length: 0\r\n\r\n").encode()
