"""Formulas of real exam papers, transcribed by eye, against what is read.

`exam_formulas.json` holds page, box (points) and SHA-256 of the normalised LaTeX alone: the papers
are not ours to print. Some formulas have several hashes, where a unit, a bracket of the sentence or
mhchem's command may stand inside or outside. A third, by the hash of its place, is held back: rules
are written on the others.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pymupdf
import pytest

from glyphtex.latex import normalise
from glyphtex.marks import Box, Formula
from glyphtex.pages import read_page

TRUTH = Path(__file__).with_name("exam_formulas.json")
STOPS = " .,;:"


def is_held(truth: dict[str, Any]) -> bool:
    """Whether a formula is one of the third that no rule was written on."""
    place = f"{truth['file']}|{truth['page']}|{truth['box']}"
    return int(hashlib.sha256(place.encode()).hexdigest(), 16) % 3 == 0


def split_aligned(latex: str) -> list[str]:
    """The rows of aligned equations: the box of a transcribed one may hold one row alone."""
    begin, end = r"\begin{aligned}", r"\end{aligned}"
    if not (latex.startswith(begin) and latex.endswith(end)):
        return []
    return latex.removeprefix(begin).removesuffix(end).split(r"\\")


def hash_text(latex: str) -> str:
    """The hash of what was read at a place, however it is parted into rows."""
    plain = normalise(latex.rstrip(STOPS)).replace("\\\\", "").replace("&", "")
    return hashlib.sha256(plain.encode()).hexdigest()


def find_formulas(formulas: Iterable[Formula], box: Box) -> list[Formula]:
    """The formulas that a box has more than a half in common with, from left to right."""
    found = []
    for formula in formulas:
        other = formula.region.box
        width = min(other.x1, box.x1) - max(other.x0, box.x0)
        height = min(other.y1, box.y1) - max(other.y0, box.y0)
        smaller = min(other.width * other.height, box.width * box.height)
        if width > 0 and height > 0 and width * height > smaller / 2:
            found.append(formula)
    return sorted(found, key=lambda formula: formula.region.box.x0)


def judge(formulas: list[Formula], hashes: list[str]) -> set[str]:
    """What became of one formula: exact, flagged, lost; silent where wrong without a doubt."""
    rows = sorted(formulas, key=lambda formula: formula.region.box.y0)
    readings = {hash_text(" ".join(f.latex for f in some)) for some in (formulas, rows)}
    readings |= {hash_text(row) for formula in formulas for row in split_aligned(formula.latex)}
    is_exact = bool(readings & set(hashes))
    is_flagged = any(formula.doubts for formula in formulas)
    outcome = {"exact" if is_exact else "wrong"}
    if is_flagged:
        outcome.add("flagged exact" if is_exact else "flagged")
    elif not is_exact:
        outcome.add("silent" if formulas else "lost")
    return outcome


@pytest.fixture(scope="module")
def rates(shared_data: Path) -> dict[str, Counter[str]]:
    """Counts of outcomes by group: shown and held, each paper, each kind."""
    truths: list[dict[str, Any]] = json.loads(TRUTH.read_text("utf-8"))
    pages: defaultdict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
    for truth in truths:
        pages[truth["file"], truth["page"]].append(truth)
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for (file, number), page_truths in pages.items():
        path = shared_data / "exam_pdfs" / file
        if not path.is_file():
            pytest.skip(f"the paper {file} is not among the shared test data")
        with pymupdf.open(path) as document:
            formulas = read_page(document[number - 1])
        for truth in page_truths:
            outcome = judge(find_formulas(formulas, Box(*truth["box"])), truth["sha256"])
            for group in ("held" if is_held(truth) else "shown", file, truth["kind"]):
                counts[group].update({*outcome, "all"})
    for group, count in counts.items():
        print(f"{group:36} {count['exact']:4} of {count['all']:4} exact,", dict(count))
    return counts


def test_the_truth_is_of_many_papers_fonts_and_kinds() -> None:
    truths = json.loads(TRUTH.read_text("utf-8"))
    assert len(truths) >= 300
    assert len({truth["file"] for truth in truths}) >= 5
    kinds = Counter(truth["kind"] for truth in truths)
    assert kinds["root"] + kinds["fraction"] >= 110
    assert 0.3 < sum(map(is_held, truths)) / len(truths) < 0.37


@pytest.mark.slow
@pytest.mark.parametrize("group", ["shown", "held"])
def test_formulas_of_real_papers_are_exact(rates: dict[str, Counter[str]], group: str) -> None:
    count = rates[group]
    assert count["exact"] >= 0.95 * count["all"]
    assert count["flagged exact"] <= 0.03 * count["exact"]


def test_no_formula_of_real_papers_is_lost(rates: dict[str, Counter[str]]) -> None:
    assert rates["shown"]["lost"] == rates["held"]["lost"] == 0
    assert rates["shown"]["silent"] + rates["held"]["silent"] <= 4


@pytest.mark.parametrize("kind", ["root", "fraction", "script", "line"])
def test_every_kind_is_read(rates: dict[str, Counter[str]], kind: str) -> None:
    assert rates[kind]["exact"] >= 0.9 * rates[kind]["all"]
