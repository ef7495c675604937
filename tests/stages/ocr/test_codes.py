"""The documented codes are the codes there are, and the package is cheap to import."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from scripts.site.ocr_codes import write_ocr_codes

from omibench.stages.ocr.codes import CODES


def test_the_reference_lists_every_code_with_its_meaning() -> None:
    errors, warnings = write_ocr_codes().split("## Warnings")
    for code, entry in CODES.items():
        row = f"| `{code}` | {entry.meaning} | {entry.remedy} |"
        assert row in (errors if entry.fails else warnings), code


def test_the_docs_list_every_warning_of_a_problem(root: Path) -> None:
    text = (root / "docs/errors.md").read_text("utf-8")
    sources = (root / "src/omibench/stages/ocr").rglob("*.py")
    code = "\n".join(path.read_text("utf-8") for path in sources)
    given = set(re.findall(r"f?\"((?:answer|figure|choice|number|garbled|math)_[a-z]+)[:\"]", code))
    assert len(given) >= 8
    assert all(f"| `{name}` |" in text for name in given), given


def test_importing_the_stage_loads_nothing_heavy() -> None:
    check = (
        "import omibench.stages.ocr, sys; print({'pymupdf', 'polars', 'yaml'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
