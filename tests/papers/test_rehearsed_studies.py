"""The studies of all papers, rehearsed whole: every table and figure is as the paper prints it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from omibench.papers.catalogue import RehearsalRecord, read_rehearsal
from omibench.schemas.tables import read_typed_json

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(3600)]


def test_every_item_is_made_in_its_printed_form_and_the_record_is_true(
    root: Path, tmp_path: Path
) -> None:
    record = tmp_path / "rehearsed.json"
    command = [sys.executable, "benchmarks/paper_studies.py", "--work", str(tmp_path / "work")]
    done = subprocess.run(
        [*command, "--record", str(record)], cwd=root, capture_output=True, text=True,
        check=False, env=os.environ,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert read_typed_json(record, RehearsalRecord).items == read_rehearsal().items
