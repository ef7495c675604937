"""What is installed: every file by its hash, from no named registry, under a stated licence."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

FILES = ("", "-build", "-dev", "-cluster")
ENTRY = re.compile(r"(?m)^([A-Za-z0-9._-]+)==([^\s;]+)(?: ;[^\\\n]*)?((?: \\\n    --hash=\S+)*)$")


def entries(root: Path, suffix: str) -> dict[tuple[str, str], str]:
    """The hashes of every name and version; a name may have one for each version of Python."""
    text = (root / f"requirements{suffix}.txt").read_text("utf-8")
    found = {(name, version): hashes for name, version, hashes in ENTRY.findall(text)}
    assert len(found) == len(re.findall(r"(?m)^\S", text)), "every line is a pin or a hash"
    return found


@pytest.mark.parametrize("suffix", FILES)
def test_every_package_is_pinned_with_hashes(root: Path, suffix: str) -> None:
    for name, hashes in entries(root, suffix).items():
        assert re.findall(r"--hash=sha256:[0-9a-f]{64}(?= |$)", hashes), name


@pytest.mark.parametrize("suffix", FILES)
def test_no_registry_is_named(root: Path, suffix: str) -> None:
    text = (root / f"requirements{suffix}.txt").read_text("utf-8")
    assert not re.search(r"://|--(index|extra-index|find)|@ |#", text)


def test_files_agree_on_versions(root: Path) -> None:
    tests = entries(root, "-dev")
    for suffix in ("", "-build"):
        for name, hashes in entries(root, suffix).items():
            assert tests[name] == hashes
    for name, hashes in entries(root, "-cluster").items():
        assert tests.get(name, hashes) == hashes


def test_hashes_are_of_every_system(root: Path) -> None:
    """A compiled package has many wheels; two files alone would be those of one system."""
    pins = {name: hashes for (name, _), hashes in entries(root, "").items()}
    for name in ("numpy", "polars-runtime-32", "pyarrow", "pygit2", "pydantic-core", "pymupdf"):
        assert pins[name].count("--hash") >= 5, name


def test_make_asks_for_the_hashes(root: Path) -> None:
    text = (root / "Makefile").read_text("utf-8")
    lines = [line for line in text.splitlines() if "-r requirements" in line]
    assert len(lines) == 3
    assert all("--require-hashes" in line for line in lines)
    assert "--no-deps" in text.split("INSTALL :=")[1].splitlines()[0]


def test_every_pinned_package_has_its_licence_told(root: Path) -> None:
    rows = re.findall(
        r"(?m)^\| (\S+) \| (\S+) \| (.+?) \| (?:run|tests|clusters) \|$",
        (root / "docs/licences.md").read_text("utf-8"),
    )
    told = {(name, version): licence for name, version, licence in rows}
    pinned = {one for suffix in FILES for one in entries(root, suffix)}
    assert set(told) == pinned, "run `make lock`"
    assert all(licence.strip() for licence in told.values())
    named = {name: licence for (name, _), licence in told.items()}
    assert named["pymupdf"].startswith("AGPL-3.0")
    assert named["pygit2"] == "GPL-2.0 with a linking exception"


def test_pymupdf_is_an_extra(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    assert not [name for name in project["dependencies"] if name.startswith("pymupdf")]
    assert [name.split(">")[0] for name in project["optional-dependencies"]["pdf"]] == ["pymupdf"]
