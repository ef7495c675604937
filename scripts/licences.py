"""Print docs/licences.md: the licence of each pinned package.

Licences come from the metadata of installed packages. Packages without one, or pinned for other
systems, versions of Python or clusters, are listed in `ELSEWHERE`.
"""

from __future__ import annotations

import re
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

ROOT = Path(__file__).parents[1]
LISTS = {"": "run", "-build": "run", "-dev": "tests", "-cluster": "clusters"}
ELSEWHERE = {
    "appnope": "BSD-2-Clause",
    "async-timeout": "Apache-2.0",
    "durationpy": "MIT",
    "google-auth": "Apache-2.0",
    "httpx2-jsfetch": "BSD-3-Clause",
    "kubernetes": "Apache-2.0",
    "mlcroissant": "Apache-2.0",
    "pyasn1": "BSD-2-Clause",
    "pyasn1-modules": "BSD",
    "pyreadline3": "BSD",
    "pywin32": "PSF-2.0",
    "reretry": "Apache-2.0",
    "snakemake-executor-plugin-kubernetes": "MIT",
    "snakemake-executor-plugin-slurm": "MIT",
    "snakemake-executor-plugin-slurm-jobstep": "MIT",
    "snakemake-storage-plugin-fs": "MIT",
    "sysrsync": "MIT",
    "websocket-client": "Apache-2.0",
    "whenever": "MIT",
}
SAME = {
    "Apache Software License": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "Apache 2.0": "Apache-2.0",
    "Apache 2": "Apache-2.0",
    "MIT License": "MIT",
    "The MIT License": "MIT",
    "BSD License": "BSD",
    "3-Clause BSD License": "BSD-3-Clause",
    "ISC License (ISCL)": "ISC",
    "ISC License": "ISC",
    "MIT license": "MIT",
    "New BSD": "BSD-3-Clause",
    "Dual Licensed - GNU AFFERO GPL 3.0 or Artifex Commercial License": (
        "AGPL-3.0, or a commercial licence from Artifex"
    ),
    "GPLv2 / EPLv1": "GPL-2.0 or EPL-1.0",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
    "GNU General Public License v2 (GPLv2)": "GPL-2.0",
    "GPLv2 with linking exception": "GPL-2.0 with a linking exception",
}
VAGUE = ("UNKNOWN", "Dual License", "license")
COPYLEFT = re.compile(r"GPL|GNU|MPL|EPL|CDDL|Artistic", re.IGNORECASE)
LONGEST = 90
HEAD = """# Licences of the packages that omibench installs

Written by `scripts/licences.py` from the metadata of the packages; `make lock` updates it.
omibench's own code is under Apache-2.0. It includes no code of these packages: pip installs them
separately, each under its own licence. This is not legal advice.

Two matter if you distribute more than your results:

- **PyMuPDF** reads papers. It is under the **AGPL-3.0**, or a commercial licence from Artifex. It
  is the extra `pdf`, which `make` installs; a study of a frozen dataset or of published responses
  runs without it ([README](../README.md#licence)).
- **pygit2** comes with DVC (through scmrepo) and links libgit2. It is under the **GPL-2.0 with a
  linking exception**: combining it unchanged with code of other licences is permitted; a changed
  pygit2 that you distribute stays under the GPL-2.0. Without the extra `workflow` it is not
  installed.

Wheels may bundle libraries under further licences (OpenCV's bundles FFmpeg, under the LGPL-2.1);
their texts are in the packages' `*.dist-info` folders and next to their code.

The repository's own third-party content is listed in [THIRD_PARTY.md](../THIRD_PARTY.md).
"""


def pins() -> dict[tuple[str, str], str]:
    """Return the first use of every pinned package and version."""
    found: dict[tuple[str, str], str] = {}
    for suffix, use in LISTS.items():
        text = (ROOT / f"requirements{suffix}.txt").read_text("utf-8")
        for name, version in re.findall(r"(?m)^([A-Za-z0-9._-]+)(?:\[[^]]*\])?==([^\s;]+)", text):
            found.setdefault((name, version), use)
    return found


def licence_of(name: str) -> str:
    """Return a package's licence. Raises SystemExit if it is unknown."""
    try:
        found = distribution(name)
    except PackageNotFoundError:
        if name in ELSEWHERE:
            return ELSEWHERE[name]
        sys.exit(f"{name} is not installed here: find its licence and add it to ELSEWHERE")
    said = (
        found.metadata.get("License-Expression")
        or _told(found)
        or _first_line(found)
        or ELSEWHERE.get(name)
    )
    if not said:
        sys.exit(
            f"{name} has no licence in its metadata: find it in the source and add it to ELSEWHERE"
        )
    return SAME.get(said, said)


def _told(found: Distribution) -> str:
    text = (found.metadata.get("License") or "").strip()
    if text and "\n" not in text and len(text) <= LONGEST and text not in VAGUE:
        return text
    listed = found.metadata.get_all("Classifier") or []
    names = [c.rpartition(" :: ")[2] for c in listed if c.startswith("License :: ")]
    kinds = [SAME.get(n, n) for n in names if not n.endswith("pproved")]
    return "; ".join(dict.fromkeys(k for k in kinds if k))


def _first_line(found: Distribution) -> str:
    for file in found.files or []:
        if re.search(r"LICEN[SC]E|COPYING", file.name, re.IGNORECASE) and ".dist-info" in str(file):
            lines = Path(str(file.locate())).read_text("utf-8").splitlines()
            return next((line.strip() for line in lines if line.strip()), "")
    return ""


def table(rows: list[tuple[str, str, str, str]]) -> str:
    """Return rows as a Markdown table."""
    lines = [f"| {n} | {v} | {lic.replace('|', '/')} | {use} |" for n, v, lic, use in rows]
    return "\n".join(["| package | version | licence | for |", "|---|---|---|---|", *lines])


def page() -> str:
    """Return the whole page."""
    rows = [(n, v, licence_of(n), use) for (n, v), use in sorted(pins().items())]
    strict = [row for row in rows if COPYLEFT.search(row[2])]
    return (
        f"{HEAD}\n## Copyleft licences"
        f"\n\n{table(strict)}\n\n## All\n\n`run`: `make study` installs it; `tests`: installed by "
        "`make test` or an extra; `clusters`: needed only on clusters with a scheduler.\n\n"
        f"{table(rows)}\n"
    )


if __name__ == "__main__":
    sys.stdout.write(page())
