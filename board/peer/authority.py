# SPDX-License-Identifier: Apache-2.0
"""Certificates for checks, made by the openssl program: an authority and what it signs."""

import datetime
import ssl
import subprocess

CURVE = ("ec", "-pkeyopt", "ec_paramgen_curve:P-256")


class Authority:
    """Its own certificate is `self.file`; `issue` makes others beside it."""

    def __init__(self, folder, name="authority"):
        self.folder, self.name, self.file = folder, name, folder / f"{name}.pem"
        folder.mkdir(parents=True, exist_ok=True)
        self._run("req", "-x509", "-newkey", *CURVE, "-nodes", "-keyout",
                  folder / f"{name}.key", "-out", self.file, "-days", "3650", "-subj", f"/CN={name}")

    def issue(self, name, alternatives, begins_days=-2, ends_days=300, key=CURVE, use="serverAuth", extension=None):
        """(certificate file, key file); valid from and to are days from now; the rest is openssl's."""
        certificate, key_file = self.folder / f"{name}.pem", self.folder / f"{name}.key"
        request = self.folder / f"{name}.csr"
        self._run("req", "-new", "-newkey", *key, "-nodes", "-keyout", key_file, "-out", request, "-subj",
                  f"/CN={name}", "-addext", f"subjectAltName={alternatives}", "-addext", f"extendedKeyUsage={use}",
                  *(["-addext", extension] if extension else []))
        self._run("x509", "-req", "-in", request, "-CA", self.file, "-CAkey", self.folder / f"{self.name}.key",
                  "-copy_extensions", "copy", "-out", certificate, "-not_before", self._date(begins_days),
                  "-not_after", self._date(ends_days))
        return certificate, key_file

    def forge(self, name, alternatives):
        """As `issue`, with a signature that nobody has made."""
        certificate, key_file = self.issue(name, alternatives)
        data = bytearray(ssl.PEM_cert_to_DER_cert(certificate.read_text()))
        data[-1] ^= 1
        certificate.write_text(ssl.DER_cert_to_PEM_cert(bytes(data)))
        return certificate, key_file

    @staticmethod
    def fingerprint(certificate):
        text = subprocess.run(["openssl", "x509", "-noout", "-fingerprint", "-sha256", "-in", certificate],
                              check=True, capture_output=True, text=True).stdout
        return text.strip().split("=", 1)[1]

    @staticmethod
    def _date(days):
        when = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=days)
        return when.strftime("%Y%m%d%H%M%SZ")

    @staticmethod
    def _run(*words):
        subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)
