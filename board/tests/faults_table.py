# SPDX-License-Identifier: Apache-2.0
"""The table of faults: which are made on the board, which are not and why, and what came of each."""

import re
from pathlib import Path

from tests import faults, faults_calls, faults_secure
from tests.runner import Failed, check

ERRORS = Path(__file__).resolve().parents[2] / "docs" / "errors.md"
TABLE = "away/faults"
MADE_HERE = [
    "CB-CALL-LOOP", "CB-CALL-LOST", "CB-CALL-MEDIA", "CB-CALL-NOANSWER", "CB-CAM-GONE", "CB-CFG-FILE", "CB-CFG-KEY",
    "CB-CFG-LINE", "CB-CFG-OPEN", "CB-CFG-SECTION", "CB-CFG-TWICE", "CB-CFG-URI", "CB-CFG-VALUE", "CB-DAT-WRITE",
    "CB-DSP-GONE", "CB-MIC-GONE", "CB-NET-LINK", "CB-NET-NAME", "CB-NET-REACH", "CB-NET-SILENT", "CB-PNL-LINE",
    "CB-PNL-TAMPER", "CB-PWR-LOW", "CB-REG-403", "CB-REG-NONE", "CB-REG-PASSWORD", "CB-REG-REACH", "CB-REG-SILENT",
    "CB-SIP-301", "CB-SIP-401", "CB-SIP-403", "CB-SIP-404", "CB-SIP-480", "CB-SIP-486", "CB-SIP-488", "CB-SIP-499",
    "CB-SIP-503", "CB-SIP-599", "CB-SIP-603", "CB-SIP-699", "CB-SIP-FAULT", "CB-SPK-GONE", "CB-SRTP-KEYS",
    "CB-SRTP-NONE", "CB-TLS-CA", "CB-TLS-CHANGED", "CB-TLS-EARLY", "CB-TLS-EXPIRED", "CB-TLS-HANDSHAKE",
    "CB-TLS-NAME", "CB-TLS-OTHER", "CB-TLS-PIN", "CB-TLS-PURPOSE", "CB-TLS-SIGNATURE", "CB-TLS-SOON", "CB-TLS-TIME",
    "CB-TLS-WEAK", "CB-TLS-WILDCARD",
]
# What is not made here, and why.
NOT_HERE = {
    **dict.fromkeys(("CB-BOOT-FULL", "CB-BOOT-LOST", "CB-BOOT-SAFE", "CB-CLK-NONE", "CB-DAT-LOST", "CB-DAT-NONE"),
                    "they stand from one start of the board to the next; service/boot-notes"),
    "CB-CALL-FULL": "takes eight calls that all go on, for one that is ending makes room; unit tests",
}


def table(away):
    """All rows, printed; every code that is made here was seen."""
    folder = away.context.out / TABLE
    folder.mkdir(parents=True, exist_ok=True)
    rows = away.witness.rows
    (folder / "faults.txt").write_text("\n".join(away.witness.table()) + "\n")
    seen = {code for row in rows for code in row[0].split()}
    if missing := sorted(set(MADE_HERE) - seen):
        raise Failed(f"{len(missing)} missing", f"not seen, heard and read in this run: {', '.join(missing)}")
    whens = [row[2] for row in rows]
    return (f"{len(seen)} codes: {sum('idle' in when or 'start' in when for when in whens)} rows idle, "
            f"{sum('call' in when for when in whens)} in a call, {whens.count('press')} of presses")


@check("harness/faults")
def every_fault(_):
    """Each row of docs/errors.md, which is made from the table of faults, is made by a check here, or says why not."""
    rows = [re.findall(r"`(CB-[A-Zn0-9-]+)`", line.split("|")[1]) for line in ERRORS.read_text().splitlines()
            if line.startswith("| `CB-")]
    known = [*MADE_HERE, *NOT_HERE]
    missing = [row[0] for row in rows if not any(covers(code, one) for code in row for one in known)]
    gone = [one for one in known if not any(covers(code, one) for row in rows for code in row)]
    if missing or gone:
        raise Failed(f"{len(missing)} missing", f"neither made nor told why not: {missing}; no such code: {gone}")
    return f"{len(MADE_HERE)} codes made, {len(NOT_HERE)} told why not"


def covers(code, one):
    """`CB-SIP-4nn` is any number of its class."""
    return re.fullmatch(code.replace("n", r"\d"), one) is not None


PARTS = {"away/standing": faults.stand_idle, "away/calls": faults_calls.calls,
         "away/certificates": faults_secure.certificates, "away/named": faults_secure.named,
         "away/secured": faults_secure.secured, "away/silent": faults_calls.silent,
         "away/accounts": faults_calls.accounts, "away/account-in-call": faults_calls.account_in_call,
         "away/standing-call": faults.stand_in_call, "away/vanishes": faults_calls.vanishes,
         "away/file": faults.problems}
