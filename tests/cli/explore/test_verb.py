"""`omibench explore`: what it refuses, and what it says when it starts."""

from __future__ import annotations

import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from tests.command_line import call_main
from tests.stages.analyze.conftest import make_study


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["absent"], "absent: is not a results folder"),
        (["--host", "0.0.0.0"], "requires TLS"),
        (["--behind-tls", "https://explore.example"], "--secret-file"),
        (["--secret-file", "absent"], "absent: cannot be read"),
        (["--dataset", "x", "--other", "y"], "need results"),
        (["--benchmark", "emma"], "--dataset"),
        (["--dataset", "absent"], "is not a dataset"),
        (["--export", "x"], "--export, --out: give both or neither"),
        (["--out", "x"], "--export, --out: give both or neither"),
        (["--models", "x"], "need --export"),
    ],
)
def test_what_it_needs_is_one_line(tmp_path: Path, words: list[str], message: str) -> None:
    ended = call_main("explore", *words, cwd=tmp_path)
    assert ended.returncode == 2
    assert message in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


@pytest.mark.slow
def test_it_says_where_it_is_and_ends_without_an_error(tmp_path: Path) -> None:
    folder = make_study(tmp_path / "study").freeze.parent
    process = subprocess.Popen(
        [sys.executable, "-m", "omibench", "explore", str(folder), "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().partition(": ")[2].split()[0]
        assert address.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(f"{address}/healthz") as answer:
            assert answer.read() == b"ok\n"
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=30)
    finally:
        process.kill()
    assert errors == ""


def test_items_are_exported_to_a_folder(tmp_path: Path) -> None:
    folder = make_study(tmp_path / "study").freeze.parent
    query = "?is.subject=physics&models=sim-weak"
    ended = call_main("explore", str(folder), "--export", query, "--out", "appendix", cwd=tmp_path)
    assert ended.returncode == 0
    assert "appendix/index.html: 7 problems, 3 cells" in ended.stderr
    assert len(list((tmp_path / "appendix" / "pages").glob("*.html"))) == 7
    inside = ["explore", str(folder), "--export", query, "--out", str(folder / "appendix")]
    refused = call_main(*inside, cwd=tmp_path)
    assert refused.returncode == 2
    assert "give a folder outside of it" in refused.stderr
