# SPDX-License-Identifier: Apache-2.0
"""What `callbox network` writes, in the hands of those who read it: systemd-networkd in a network of its own."""

import json
import re
import shutil
import stat
import subprocess
import time

from tests.desk import BINARY
from tests.runner import Failed, check

NETWORKD = "/usr/lib/systemd/systemd-networkd"
# A cable to nobody, and the folders that the system's start makes. What networkd may not do here, it is not given.
BRING_UP = """set -e
ip link set lo up; ip link add e0 type veth peer name far; ip link set far up
mount -t tmpfs tmpfs /run; mkdir -p /run/systemd/netif/links /run/systemd/netif/leases
cp -r {files}/systemd /run/
chown -R systemd-network: /run/systemd
echo 0123456789abcdef0123456789abcdef > /run/machine-id; mount --bind /run/machine-id /etc/machine-id
mount --bind /sys /sys; mount -o remount,ro,bind /sys
caps=+net_admin,+net_raw,+net_bind_service
SYSTEMD_LOG_TARGET=console container=other timeout {seconds} setpriv --reuid systemd-network \\
    --regid systemd-network --clear-groups --inh-caps $caps --ambient-caps $caps {networkd} >&2 || true
ip -json address; echo; ip -json route
"""
SECONDS = 3
STATIC = """[network]
address = 192.0.2.10/24, 2001:db8::10/64
gateway = 192.0.2.1
dns = 192.0.2.53
ntp = time.example.com, 192.0.2.123
hostname = gate-3
"""
LOGIN = "auth = peap\nauth_identity = gate\nauth_password = hunter2\n"


def written(context, name, text):
    """The folder with the files of a callbox.conf."""
    folder = context.folder / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "callbox.conf").write_text("[call]\nuri = sip:a@192.0.2.99\n" + text)
    context.run(BINARY, "network", "--config", folder / "callbox.conf", "--data", folder / "data", "--out", folder)
    return folder


def brought_up(context, folder):
    """What stands after networkd has read them: ({interface: addresses}, routes, what it said)."""
    script = BRING_UP.format(files=folder, seconds=SECONDS, networkd=NETWORKD)
    done = subprocess.run(["unshare", "--net", "--mount", "bash", "-c", script], capture_output=True, text=True)
    context.log(done.stderr)
    if done.returncode != 0:
        raise Failed(f"exit {done.returncode}", done.stderr.strip()[-160:])
    addresses, routes = (json.loads(line) for line in done.stdout.splitlines() if line.startswith("["))
    found = {link["ifname"]: [f"{entry['local']}/{entry['prefixlen']}" for entry in link["addr_info"]]
             for link in addresses}
    return found, routes, done.stderr


@check("service/network")
def network(context):
    """Addresses and gateway as the file says; a VLAN where the kernel has any; nothing that networkd does not know."""
    folder = written(context, "static", STATIC)
    expect_static(*brought_up(context, folder), "e0")
    if (folder / "callbox-hostname").read_text() != "gate-3\n":
        raise Failed("no name", "of the board")
    found, routes, said = brought_up(context, written(context, "vlan", STATIC + "vlan = 42\n"))
    expect_known(said)
    # Some machines that run checks have a kernel without VLANs: there it counts that networkd wants this one.
    has_none = "vlan42: Failed to create netdev: Operation not supported" in said
    if not has_none:
        expect_static(found, routes, said, "vlan42")
    if any("192.0.2" in address for address in found["e0"]):
        raise Failed(f"{found['e0']}", "the cable itself was to have no address")
    _, _, said = brought_up(context, written(context, "dhcp", ""))
    expect_known(said)
    return "on the cable, by DHCP, " + ("a VLAN that the kernel here cannot make" if has_none else "on a VLAN")


def expect_static(found, routes, said, interface):
    expect_known(said)
    for address in ("192.0.2.10/24", "2001:db8::10/64"):
        if address not in found.get(interface, []):
            raise Failed(f"no {address}", f"{interface} was to have it: {found}")
    if not any(route["dst"] == "default" and route.get("gateway") == "192.0.2.1" for route in routes):
        raise Failed("no gateway", f"{routes}")


def expect_known(said):
    """What networkd does not know of a file, it tells with the file's name."""
    if complaints := re.findall(r"^/run/systemd/network/.*", said, re.M):
        raise Failed(f"{len(complaints)} complaints", complaints[0])


@check("service/network-secrets")
def secrets(context):
    """Passwords lie in files of their owner alone, come from the secrets file too, and go with their setting."""
    begin = time.monotonic()
    folder = written(context, "login", "[network]\n" + LOGIN)
    supplicant = folder / "callbox-supplicant" / "cable.conf"
    mode = stat.S_IMODE(supplicant.stat().st_mode)
    if mode != 0o600:
        raise Failed(oct(mode), "others can read the password")
    readable = [path for path in folder.rglob("*") if path.is_file() and path.stat().st_mode & 0o077
                and path.name != "callbox.conf" and ("hunter2" in path.read_text() or "68756e74" in path.read_text())]
    if readable:
        raise Failed(f"{len(readable)} files", f"others can read the password: {readable}")
    before = supplicant.read_text()
    (folder / "data").mkdir()
    kept = folder / "data" / "secrets"
    kept.write_text('"802.1x:" "network" hunter2\n')
    kept.chmod(0o600)
    configuration = folder / "callbox.conf"
    configuration.write_text(configuration.read_text().replace("hunter2", ""))
    again = [BINARY, "network", "--config", configuration, "--data", folder / "data", "--out", folder]
    context.run(*again)
    if supplicant.read_text() != before:
        raise Failed("another text", "with the password from the secrets file")
    configuration.write_text("[call]\nuri = sip:a@192.0.2.99\n")
    context.run(*again)
    if supplicant.exists():
        raise Failed("still there", "a password whose setting is gone")
    return f"{time.monotonic() - begin:.1f} s"
