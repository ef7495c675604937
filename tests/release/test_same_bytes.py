"""The same freeze, commit and packages give the same bytes, whoever builds and wherever."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.review.builders import decide, make_task, write_lines

from omibench.datasets.release.build import build_release
from omibench.datasets.release.splits import ReleaseOptions
from small_freeze import write_freeze, write_sources


def build(folder: Path, out: Path, here: Path, **environment: str) -> dict[str, bytes]:
    """Build a release in a process of its own; the content of its files."""
    words = ["release", "build", str(folder / "results/freeze"), "--out", str(out)]
    words += ["--sources", str(folder / "sources.yaml"), "--printed", "mathreal"]
    words += ["--split", "mini=3", "--by", "grade,skills"]
    if (folder / "review").is_dir():
        words += ["--review", str(folder / "review")]
    subprocess.run(
        [sys.executable, "-m", "omibench", *words],
        cwd=here,
        env=os.environ | environment,
        check=True,
        capture_output=True,
        umask=0o077 if environment["TZ"] == "UTC" else 0o022,
    )
    return read_files(out)


def read_files(out: Path) -> dict[str, bytes]:
    """The content of the files of a release, by their paths."""
    files = sorted(path for path in out.rglob("*") if path.is_file())
    return {str(path.relative_to(out)): path.read_bytes() for path in files}


def write_review(folder: Path) -> None:
    """Two people who decide on six items, not always alike in quality."""
    tasks = [make_task(f"item-{k}") for k in range(6)]
    decisions = []
    for k, task in enumerate(tasks):
        decisions.append(decide(2 * k, "Ada", "annotator", task, {"valid": "valid", "quality": 4}))
        fields = {"valid": "valid", "quality": 4 + k % 2}
        decisions.append(decide(2 * k + 1, "Ben", "auditor", task, fields))
    write_lines(folder / "tasks.jsonl", *tasks)
    write_lines(folder / "decisions.jsonl", *decisions)


def ask_git(folder: Path, *words: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    command = ["git", "-C", str(folder), *identity, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.mark.slow
def test_hash_seed_time_zone_locale_and_folder_change_nothing(tmp_path: Path) -> None:
    study = tmp_path / "study"
    write_freeze(study / "results/freeze", items=9)
    write_sources(study / "sources.yaml", beta=False)
    write_review(study / "review")
    (study / "dvc.lock").write_text("schema: '2.0'\n")
    ask_git(tmp_path, "init", "-q", str(study))
    ask_git(study, "add", "dvc.lock")
    ask_git(study, "commit", "-qm", "lock")
    one = build(
        study, tmp_path / "one", study, PYTHONHASHSEED="1", TZ="UTC", LC_ALL="C", PYTHONUTF8="0"
    )
    two = build(
        study,
        tmp_path / "two",
        tmp_path,
        PYTHONHASHSEED="2",
        TZ="Asia/Kathmandu",
        LC_ALL="tr_TR.UTF-8",
        PYTHONUTF8="1",
    )
    assert one == two
    assert len(one) == 14
    provenance = json.loads(one["provenance.json"])
    assert provenance["commit"] == ask_git(study, "rev-parse", "HEAD")
    assert provenance["dvc_lock_sha256"]
    assert b"| item | quality |" in one["datasheet.md"]


def test_every_text_file_holds_the_canary(tmp_path: Path) -> None:
    freeze = write_freeze(tmp_path / "results/freeze")
    sources = write_sources(tmp_path / "sources.yaml", beta=False)
    build_release(freeze, tmp_path / "out", ReleaseOptions(sources=sources))
    files = read_files(tmp_path / "out")
    canary = json.loads(files["provenance.json"])["canary"].encode()
    texts = {name: content for name, content in files.items() if not name.endswith(".parquet")}
    assert {name for name, content in texts.items() if canary not in content} == set()
    assert len(texts) == 11
    lines = [
        line
        for name, content in texts.items()
        if name.endswith(".jsonl")
        for line in content.splitlines()
    ]
    assert all(canary in line for line in lines)
    # `sha256sum -c` takes the canary's line for a comment.
    command = ["sha256sum", "--quiet", "--strict", "-c", "SHA256SUMS"]
    assert not subprocess.run(command, cwd=tmp_path / "out", check=True, capture_output=True).stderr
