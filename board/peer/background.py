# SPDX-License-Identifier: Apache-2.0
"""Far ends that live in a thread of ours, for as long as they are used as a context."""

import contextlib
import socket
import threading


class DatagramServer:
    """Takes datagrams at a port; `received(data, source)` says what becomes of each."""

    def __init__(self, address, port):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.settimeout(0.1)
        self.socket.bind((address, port))
        self.running = True
        self.thread = threading.Thread(target=self._serve, daemon=True)

    def received(self, data, source):
        raise NotImplementedError

    def _serve(self):
        while self.running:
            try:
                data, source = self.socket.recvfrom(65536)
            except TimeoutError:
                continue
            except OSError:
                return
            self.received(data, source)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.running = False
        self.thread.join(3)
        self.socket.close()


def response(request, code, tag, headers=(), body=""):
    """The bytes of an answer to a `measure.sip.Message`."""
    kept = [f"{name}: {value}" for name in ("Via", "From", "Call-ID", "CSeq") for value in request.headers(name)]
    lines = [f"SIP/2.0 {code} Reply", *kept, f"To: {request.header('to')};tag={tag}", *headers]
    return "\r\n".join([*lines, f"Content-Length: {len(body)}", "", body]).encode()


@contextlib.contextmanager
def accepted(address, port, serve):
    """A TCP port where `serve(stream)` is done with each connection, which is then closed."""
    listener = socket.create_server((address, port))

    def run():
        with contextlib.suppress(OSError):
            while True:
                stream, _ = listener.accept()
                with stream, contextlib.suppress(OSError):
                    serve(stream)

    threading.Thread(target=run, daemon=True).start()
    try:
        yield
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
