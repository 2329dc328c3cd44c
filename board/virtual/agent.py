#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the harness talks to inside the virtual board: one JSON object a line over a serial line.

A request is {"id": N, "op": NAME, …}; its answer {"id": N, "ok": true, …} or {"id": N, "ok": false, "error": text}.
A long request lies in a file: {"file": path}.
Each request has a thread of its own, so a long one holds nobody up. Times are CLOCK_MONOTONIC of the board.
"""

import base64
import fcntl
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import tty
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from capture import Capture  # noqa: E402 (isolated mode leaves this folder out of the path)
from chips import Chip, play_wire  # noqa: E402

OUTPUT_MAX = 4 << 20
SAMPLE_S = 0.005
PRESSED, RELEASED = "pull-down", "pull-up"
HELD_UP_S = 0.012
# linux/uinput.h and linux/input-event-codes.h; the keys of a numeric pad.
UI_SET_EVBIT, UI_SET_KEYBIT, UI_DEV_CREATE, UI_DEV_SETUP = 0x40045564, 0x40045565, 0x5501, 0x405C5503
EV_KEY = 1
KEY_CODES = {"0": 82, "1": 79, "2": 80, "3": 81, "4": 75, "5": 76, "6": 77, "7": 71, "8": 72, "9": 73, "*": 55, "#": 96}


class Panel:
    """The lines of the simulated chip, by name; /run/panel is written by init."""

    def __init__(self):
        self.folders = dict(line.split() for line in Path("/run/panel").read_text().splitlines())

    def set(self, line, pull):
        """Sets the pull of a line; the time (ns) just before."""
        path = f"{self.folders[line]}/pull"
        handle = os.open(path, os.O_WRONLY)
        try:
            at_ns = time.monotonic_ns()
            os.write(handle, pull.encode())
        finally:
            os.close(handle)
        return at_ns

    def get(self, line):
        return int(Path(f"{self.folders[line]}/value").read_text())


class Agent:
    def __init__(self, path):
        self.line = os.open(path, os.O_RDWR | os.O_NOCTTY)
        tty.setraw(self.line)
        self.panel, self.processes, self.captures, self.chips, self.keypad = Panel(), {}, {}, {}, None
        self.sending, self.done = threading.Lock(), threading.Event()

    def serve(self):
        self.send({"id": 0, "ok": True, "uptime": time.monotonic()})
        pending = b""
        while not self.done.is_set():
            data = os.read(self.line, 65536)
            if not data:
                return
            *lines, pending = (pending + data).split(b"\n")
            for line in lines:
                threading.Thread(target=self.answer, args=(line,), daemon=True).start()

    def send(self, answer):
        data = json.dumps(answer).encode() + b"\n"
        with self.sending:
            while data:
                data = data[os.write(self.line, data[:4096]) :]

    def answer(self, line):
        request = json.loads(line)
        if "file" in request:
            path = Path(request["file"])
            request = json.loads(path.read_bytes())
            path.unlink()
        identifier, name = request.pop("id"), request.pop("op")
        try:
            result = getattr(self, f"op_{name}")(**request)
            self.send({"id": identifier, "ok": True, **(result or {})})
        except Exception as fault:  # whatever it is, the harness has to hear of it
            self.send({"id": identifier, "ok": False, "error": f"{type(fault).__name__}: {fault}"})

    # Processes

    def op_sh(self, command, timeout):
        process = subprocess.Popen(["bash", "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        try:
            output, _ = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            output += f"\n(killed after {timeout} s)".encode()
        return {"code": process.returncode, "output": base64.b64encode(output[:OUTPUT_MAX]).decode()}

    def op_ask(self, path, line, timeout):
        """What a control socket answers to a line."""
        data = b""
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(timeout)
                connection.connect(path)
                connection.sendall(line.encode() + b"\n")
                while not data.endswith(b"\n"):
                    if not (part := connection.recv(65536)):
                        return {"code": 2, "line": "no answer"}
                    data += part
        except OSError as fault:
            return {"code": 2, "line": f"{type(fault).__name__}: {fault}"}
        return {"code": int(data.startswith(b'{"ok":false')), "line": data.decode(errors="replace")}

    def op_spawn(self, command, log):
        with open(log, "ab", buffering=0) as file:
            process = subprocess.Popen(["bash", "-c", command], stdin=subprocess.DEVNULL, stdout=file,
                                       stderr=subprocess.STDOUT, start_new_session=True)
        self.processes[process.pid] = process
        return {"pid": process.pid}

    def op_poll(self, pid):
        return {"code": self.processes[pid].poll()}

    def op_signal(self, pid, number):
        self.processes[pid].send_signal(number)

    def op_terminate(self, pid, limit_s):
        """SIGTERM to the process and its children, SIGKILL after `limit_s`; exit status and milliseconds it took."""
        process = self.processes.pop(pid)
        begin = time.monotonic()
        self._signal_group(process, signal.SIGTERM)
        try:
            process.wait(limit_s)
        except subprocess.TimeoutExpired:
            self._signal_group(process, signal.SIGKILL)
            process.wait(5)
        took = time.monotonic() - begin
        self._signal_group(process, signal.SIGKILL)
        return {"code": process.returncode, "ms": took * 1000}

    @staticmethod
    def _signal_group(process, number):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            pass

    # Buttons and lamps

    def op_press(self, line, hold_ms):
        at_ns = self.panel.set(line, PRESSED)
        if hold_ms is not None:
            time.sleep(hold_ms / 1000)
            self.panel.set(line, RELEASED)
        return {"ns": at_ns}

    def op_release(self, line):
        return {"ns": self.panel.set(line, RELEASED)}

    def op_chatter(self, line, spacing_ms, count):
        """`count` bounces before the contact stays closed; the time (ns) of the first touch."""
        first = self.panel.set(line, PRESSED)
        for _ in range(count):
            for pull in (RELEASED, PRESSED):
                time.sleep(spacing_ms / 1000)
                self.panel.set(line, pull)
        return {"ns": first}

    def op_wave(self, line, steps, short_us):
        """Steps are [microseconds, pressed]: the line goes so and stays so for that long. It is released at the end.

        By how many milliseconds a step of up to `short_us` came out too long at worst, where the machine was busy.
        """
        due, late = time.monotonic(), 0.0
        for microseconds, is_pressed in steps:
            self.panel.set(line, PRESSED if is_pressed else RELEASED)
            due += microseconds / 1e6
            # Sleeping is too coarse for the last of it.
            if (left := due - time.monotonic()) > 0.002:
                time.sleep(left - 0.001)
            while time.monotonic() < due:
                pass
            now = time.monotonic()
            if microseconds <= short_us:
                late = max(late, now - due)
            # What comes next is not cut short for it.
            due = max(due, now - 0.0005)
        self.panel.set(line, RELEASED)
        return {"late_ms": late * 1000}

    def op_reaction(self, line, lamp, dismiss, count):
        """`count` times: milliseconds from a press to the lamp; another line then puts it out again.

        And how often a measurement did not count, because it was itself held up: the machine was busy.
        """
        found, held_up, is_calm = [], 0, True
        try:
            while len(found) < count and held_up < count:
                begin = time.monotonic()
                self.panel.set(line, PRESSED)
                lit, gap = self._wait_lamp(lamp, 1, begin)
                self.panel.set(line, RELEASED)
                if lit and gap <= HELD_UP_S:
                    found.append((lit - begin) * 1000)
                elif lit or not is_calm:
                    held_up += 1
                else:
                    raise TimeoutError(f"{lamp} was not lit")
                # Until what the press began has failed: many calls that end in the background are another test.
                is_calm = self._sleep(0.03)
                self.panel.set(dismiss, PRESSED)
                _, gap = self._wait_lamp(lamp, 0, time.monotonic())
                self.panel.set(dismiss, RELEASED)
                # Longer than a release takes.
                is_calm = self._sleep(0.09) and is_calm and gap <= HELD_UP_S
        finally:
            self.panel.set(line, RELEASED)
            self.panel.set(dismiss, RELEASED)
        return {"ms": found, "held_up": held_up}

    @staticmethod
    def _sleep(seconds):
        """Whether it did not take much longer: the simulated lines lose edges where all stood still meanwhile."""
        until = time.monotonic() + seconds
        time.sleep(seconds)
        return time.monotonic() - until <= HELD_UP_S

    def _wait_lamp(self, lamp, level, since):
        """When it was seen (None: not within a second), and the longest time between looks, the first at `since`."""
        last, gap = since, time.monotonic() - since
        while self.panel.get(lamp) != level:
            if time.monotonic() > since + 1:
                return None, gap
            time.sleep(0.0005)
            gap, last = max(gap, time.monotonic() - last), time.monotonic()
        return time.monotonic(), gap

    # Keypads

    def op_plug_keypad(self, name):
        """A keyboard of the kernel's with this name (uinput), until `unplug_keypad`; the one that is there stays."""
        if self.keypad is not None:
            return
        device = os.open("/dev/uinput", os.O_WRONLY)
        fcntl.ioctl(device, UI_SET_EVBIT, EV_KEY)
        for code in KEY_CODES.values():
            fcntl.ioctl(device, UI_SET_KEYBIT, code)
        # struct uinput_setup: bus, vendor, product, version, name, effects.
        fcntl.ioctl(device, UI_DEV_SETUP, struct.pack("HHHH80sI", 3, 1, 1, 1, name.encode(), 0))
        fcntl.ioctl(device, UI_DEV_CREATE)
        self.keypad = device

    def op_type_keypad(self, keys, hold_ms):
        for key in keys:
            for value in (1, 0):
                event = struct.pack("qqHHi", 0, 0, EV_KEY, KEY_CODES[key], value)
                os.write(self.keypad, event + struct.pack("qqHHi", 0, 0, 0, 0, 0))
                time.sleep(hold_ms / 1000)

    def op_unplug_keypad(self):
        device, self.keypad = self.keypad, None
        os.close(device)

    # Further chips

    def op_plug_chip(self, label, lines):
        """A chip with these lines, [[name, pull]], which then are lines of the panel."""
        if label not in self.chips:
            self.chips[label] = Chip(label, lines)
        self.panel.folders.update(self.chips[label].plug())

    def op_unplug_chip(self, label):
        self.chips[label].unplug()

    def op_pull(self, line, pull):
        self.panel.set(line, pull)

    def op_connect(self, row, column, seconds):
        play_wire(self.panel.folders[row], self.panel.folders[column], seconds)

    def op_level(self, line):
        return {"level": self.panel.get(line)}

    def op_watch(self, line, seconds):
        """The level at the start, and [milliseconds from the start, new level] of each change."""
        begin = time.monotonic()
        first = level = self.panel.get(line)
        edges = []
        while (at := time.monotonic() - begin) < seconds:
            if (now := self.panel.get(line)) != level:
                level = now
                edges.append([at * 1000, level])
            time.sleep(SAMPLE_S)
        return {"level": first, "edges": edges}

    # The wire

    def op_capture_start(self, ports):
        capture = Capture("vec0", set(ports))
        self.captures[id(capture)] = capture
        return {"capture": id(capture)}

    def op_capture_stop(self, capture):
        return {"packets": self.captures.pop(capture).stop()}

    def op_poweroff(self):
        threading.Timer(0.1, os._exit, [0]).start()


if __name__ == "__main__":
    Agent(sys.argv[1]).serve()
