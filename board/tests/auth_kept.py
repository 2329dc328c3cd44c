# SPDX-License-Identifier: Apache-2.0
"""Passwords: where they are kept."""

import stat

from peer.guard import ADDRESS, Guard
from tests.auth import at_a_desk, call, refused_call, until_let_in
from tests.desk import KIOSK
from tests.race import expect


@at_a_desk("moved")
def moved(desk):
    text = (f"\ufeff# my door\r\n[call]\r\nuri = sip:guard@{ADDRESS}\r\n\r\n[sip]\r\nlisten = {KIOSK}:5060\r\n"
            "user = door\r\n\tpassword = \"secret\"  # of the PBX\r\nname = Door   \r\n")
    configuration, secrets = desk.folder / "callbox.conf", desk.folder / "secrets"
    with Guard(until_let_in(', qop="auth"')):
        desk.start(text=text)
        call(desk)
        desk.stop()
        left = configuration.read_bytes().decode()
        wanted = text.replace("\tpassword = \"secret\"  # of the PBX",
                              f"# The password is in {secrets} now.\r\npassword =")
        expect(repr(left), left == wanted, "the rest is as it was")
        mode = stat.S_IMODE(secrets.stat().st_mode)
        expect(oct(mode), mode == 0o600, "the secrets file is its owner's alone")
        expect(secrets.read_text(), secrets.read_text() == '* "door" secret\n', "what is in it")
        desk.start(text=left)
        call(desk)
    return "blanked"


@at_a_desk("credential")
def credential(desk):
    """systemd's credential, of the two names that are read; the file has no password and none is moved to it."""
    folder = desk.folder / "credentials"
    folder.mkdir(exist_ok=True)
    text = desk.base.changed({"sip.user": "door"})
    desk.before = ["env", f"CREDENTIALS_DIRECTORY={folder}"]
    with Guard(until_let_in(', qop="auth"')):
        for name, content in (("sip-password", "secret\n"), ("callbox-secrets", '* "door" secret\n')):
            for former in folder.iterdir():
                former.unlink()
            (folder / name).write_text(content)
            desk.start(text=text)
            call(desk)
    expect("a secrets file", not (desk.folder / "secrets").exists(), "it stays with the service manager")
    return "let in by both names"


@at_a_desk("open-file")
def open_file(desk):
    secrets, faults = desk.folder / "secrets", []
    text = desk.base.changed({"sip.user": "door"})
    with Guard(until_let_in(', qop="auth"')):
        for name in ("open", "link", "long"):
            secrets.unlink(missing_ok=True)
            if name == "link":
                (desk.folder / "elsewhere").write_text("* door secret\n")
                (desk.folder / "elsewhere").chmod(0o600)
                secrets.symlink_to(desk.folder / "elsewhere")
            else:
                secrets.write_text("* door secret\n" + ("#" * 65_535 if name == "long" else ""))
                secrets.chmod(0o644 if name == "open" else 0o600)
            desk.start(text=text)
            refused_call(desk)
            faults += [line for line in desk.log_path.read_text().splitlines() if "the secrets file" in line][:1]
        secrets.unlink()
        secrets.write_text("* door secret\n")
        secrets.chmod(0o600)
        desk.start(text=text)
        call(desk)
    expect(f"{len(faults)} sentences", len(faults) == 3, "each fault is told in the log")
    return "not used"
