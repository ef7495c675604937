"""The README and the guides: short enough to read, and true where a number can be checked."""

from __future__ import annotations

import re
from pathlib import Path

from omibench.plugins.built_in import built_in_parts

LONGEST_GUIDE = 1_500
"""Words of one guide."""
ALL_GUIDES = 25_000
"""Words of all guides together."""
REFERENCE = {"files", "papers", "licences", "gallery", "glossary", "peers", "errors"}
"""Pages of docs/ that are looked up, not read: generated tables, and lists of words or messages."""
OWN_DATA = {"frozen", "folder", "synthetic"}
"""Benchmarks that read the user's own files, or generate questions."""


def count_words(page: Path) -> int:
    return len(page.read_text("utf-8").split())


def list_guides(root: Path) -> list[Path]:
    pages = [*(root / "docs").glob("*.md"), *(root / "docs/tutorials").glob("*.md")]
    return [page for page in pages if page.stem not in REFERENCE]


def test_no_guide_is_too_long(root: Path) -> None:
    lengths = {page.name: count_words(page) for page in [*list_guides(root), root / "README.md"]}
    assert {name: n for name, n in lengths.items() if n > LONGEST_GUIDE} == {}


def test_all_guides_can_be_read_in_a_day(root: Path) -> None:
    assert sum(count_words(page) for page in list_guides(root)) <= ALL_GUIDES


def test_the_readme_has_the_number_of_benchmarks(root: Path) -> None:
    readme = (root / "README.md").read_text("utf-8")
    stated = re.search(r"\| benchmarks included \| \[(\d+)\]", readme)
    assert stated is not None
    assert int(stated[1]) == len(set(built_in_parts("benchmarks")) - OWN_DATA)


def test_each_row_of_the_comparison_has_its_evidence(root: Path) -> None:
    readme = (root / "README.md").read_text("utf-8").split("## How it compares")[1]
    rows = re.findall(r"^\| ([a-z][^|]+) \|", readme.split("## ")[0], re.MULTILINE)
    evidence = (root / "docs/peers.md").read_text("utf-8")
    rows_of_evidence = re.findall(r"^\| ([a-z][^|]+) \|", evidence, re.MULTILINE)
    assert len(rows) == len(rows_of_evidence)  # with the head of each table
    assert len(rows) >= 10


def test_the_tests_that_the_evidence_names_exist(root: Path) -> None:
    evidence = (root / "docs/peers.md").read_text("utf-8")
    for path in re.findall(r"`(tests/[\w/.]+)`", evidence):
        assert (root / path).exists(), path
