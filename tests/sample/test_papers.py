"""The committed PDFs, the manifest and the oracle are what the sources give."""

from __future__ import annotations

import hashlib
import itertools
import json
from pathlib import Path
from typing import Any

import pymupdf
import pytest
import yaml

Booklets = dict[str, dict[str, Any]]

MANIFEST_FIELDS = {
    "name",
    "paper",
    "key",
    "solutions",
    "competition",
    "year",
    "country",
    "subject",
    "language",
    "licence",
    "redistribute",
    "sha256",
}


def text_layer(path: Path) -> list[str]:
    with pymupdf.open(path) as pdf:
        return [page.get_text() for page in pdf]


def manifest(sample: Path) -> dict[str, dict[str, Any]]:
    rows = yaml.safe_load((sample / "sources.yaml").read_text(encoding="utf-8"))["sources"]
    return {row["name"]: row for row in rows}


def oracle(sample: Path) -> dict[str, dict[str, Any]]:
    lines = (sample / "oracle.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    assert len({row["id"] for row in rows}) == len(rows)
    return {row["id"]: row for row in rows}


@pytest.mark.slow
def test_rebuilding_gives_the_committed_files(name: str, sample: Path, rebuilt: Path) -> None:
    row, rows = json.loads((rebuilt / "built.json").read_text("utf-8"))[name]
    assert list(row["sha256"]) == list(manifest(sample)[name]["sha256"])
    for path in row["sha256"]:
        assert text_layer(rebuilt / path) == text_layer(sample / path), path
    known = oracle(sample)
    assert {r["id"]: r for r in rows} == {r["id"]: known[r["id"]] for r in rows}


def test_manifest_pairs_committed_files(name: str, sample: Path) -> None:
    row = manifest(sample)[name]
    assert set(row) == MANIFEST_FIELDS
    parts = [row[part] for part in ("paper", "key", "solutions") if row[part]]
    assert list(row["sha256"]) == parts
    for path, digest in row["sha256"].items():
        assert hashlib.sha256((sample / path).read_bytes()).hexdigest() == digest, path


def test_manifest_and_folder_hold_the_same_papers(sample: Path, booklets: Booklets) -> None:
    rows = manifest(sample)
    assert set(rows) == set(booklets)
    listed = {path for row in rows.values() for path in row["sha256"]}
    assert {f"papers/{path.name}" for path in (sample / "papers").iterdir()} == listed


def test_each_printed_figure_is_one_cluster_of_drawings(
    digital: str, sample: Path, booklets: Booklets
) -> None:
    booklet = booklets[digital]
    printed = sum(len(stem.get("figures") or []) for stem in booklet.get("stems") or [])
    for problem in booklet["problems"]:
        pictures = [c for c in problem.get("choices") or [] if isinstance(c, dict)]
        printed += len(problem.get("figures") or []) + len(pictures)
    with pymupdf.open(sample / "papers" / f"{digital}.pdf") as pdf:
        clusters = [page.cluster_drawings(x_tolerance=10, y_tolerance=10) for page in pdf]
    assert sum(map(len, clusters)) == printed


def test_problem_numbers_stand_in_reading_order(
    digital: str, sample: Path, booklets: Booklets
) -> None:
    style = booklets[digital].get("number_style", "{}.")
    text = "\n" + "\n".join(text_layer(sample / "papers" / f"{digital}.pdf"))
    place = 0
    for problem in booklets[digital]["problems"]:
        place = text.find("\n" + style.format(problem["number"]), place) + 1
        assert place, problem["number"]


def test_keys_print_every_answer_letter_for_letter(
    name: str, sample: Path, booklets: Booklets
) -> None:
    if not booklets[name]["key"]:
        return
    lines = "\n".join(text_layer(sample / "papers" / f"{name}_key.pdf")).splitlines()
    for problem in booklets[name]["problems"]:
        printed = "—" if problem["answer"] is None else "; ".join(problem["answer"])
        pairs = list(itertools.pairwise(lines))
        assert (str(problem["number"]), printed) in pairs, problem["number"]


def test_the_scan_is_short_and_has_no_text_layer(sample: Path, booklets: Booklets) -> None:
    for name in (n for n, b in booklets.items() if b.get("scan")):
        pages = text_layer(sample / "papers" / f"{name}.pdf")
        assert 1 <= len(pages) <= 2
        assert not "".join(pages).strip()
        known = oracle(sample)
        assert all(known[f"{name}#p{n}"]["page_text"] for n in range(1, len(pages) + 1))


def test_oracle_knows_every_problem(sample: Path, booklets: Booklets) -> None:
    known = oracle(sample)
    for name, booklet in booklets.items():
        for problem in booklet["problems"]:
            row = known[f"{name}-{problem['number']}"]
            assert row["answer"] == problem["gold"]
            assert len(row["captions"]) == row["n_images"]
            assert row["answer_type"] == ("mcq" if row["choices"] else "open")
    problems = sum(len(b["problems"]) for b in booklets.values())
    assert len([row for row in known if "#" not in row]) == problems
