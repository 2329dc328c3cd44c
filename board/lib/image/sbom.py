# SPDX-License-Identifier: Apache-2.0
"""Usage: sbom.py NAME PACKAGES: what an image is made of, as SPDX 2.3 JSON. PACKAGES has a line for each Debian
package: name, version, architecture. The time is that of SOURCE_DATE_EPOCH, so that the same image has the same
document."""

import hashlib
import json
import os
import re
import sys
import time
from urllib.parse import quote


def entry(name, version, architecture):
    identity = "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", f"{name}-{architecture}")
    purl = f"pkg:deb/debian/{quote(name)}@{quote(version, safe='')}?arch={architecture}"
    return {"SPDXID": identity, "name": name, "versionInfo": version, "supplier": "Organization: Debian",
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                              "referenceLocator": purl}]}


def document(name, packages):
    made = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"])))
    product = {"SPDXID": "SPDXRef-callbox", "name": "callbox", "versionInfo": name.rsplit("-", 1)[-1],
               "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseDeclared": "Apache-2.0"}
    entries = [entry(*line) for line in packages]
    digest = hashlib.sha256(json.dumps(entries, sort_keys=True).encode()).hexdigest()
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": name,
        "documentNamespace": f"https://spdx.org/spdxdocs/{name}-{digest[:32]}",
        "creationInfo": {"created": made, "creators": ["Tool: callbox-board-image"]},
        "packages": [product, *entries],
        "relationships": [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
                           "relatedSpdxElement": "SPDXRef-callbox"},
                          *({"spdxElementId": "SPDXRef-callbox", "relationshipType": "DEPENDS_ON",
                             "relatedSpdxElement": one["SPDXID"]} for one in entries)],
    }


def main(name, path):
    with open(path) as file:
        packages = [line.split() for line in file if line.strip()]
    json.dump(document(name, packages), sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main(*sys.argv[1:])
