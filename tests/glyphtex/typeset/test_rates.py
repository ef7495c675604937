"""Formulas of papers that we typeset: all but a few are read exactly, and the wrong ones say so.

`python benchmarks/formulas.py` prints the rates.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from benchmarks.formulas import FOLDER, read_paper

from glyphtex.latex import normalise

PAPERS = sorted(FOLDER.glob("*/*.pdf"))
TRUTHS = {pdf: json.loads(pdf.with_suffix(".json").read_text("utf-8")) for pdf in PAPERS}
MOST_BYTES = 5_000_000
LEAST_BROKEN = 100
WRONG = {
    "pdftex-stix2-held-002",
    "libreoffice-liberation-broken-shown-005",
    "libreoffice-liberation-broken-shown-046",
    "luatex-stix-two-math-shown-012",
    "luatex-stix-two-math-shown-062",
}
"""Formulas that are not read exactly."""
QUICK = {
    "held/pdftex-stix2", "held/luatex-xits-math", "held/libreoffice-dejavu",
    "held/typst-libertinus",
}  # fmt: skip
"""One paper of each tool, which the fast tests read."""


def name_paper(pdf: Path) -> str:
    return f"{pdf.parent.name}/{pdf.stem}"


def list_formulas() -> list[dict[str, Any]]:
    return [formula for truth in TRUTHS.values() for formula in truth["formulas"]]


def test_the_truth_has_every_tool_and_kind_and_a_third_is_held_back() -> None:
    formulas = list_formulas()
    assert len(formulas) >= 1_500
    assert len({formula["id"] for formula in formulas}) == len(formulas)
    assert {truth["tool"] for truth in TRUTHS.values()} == {
        "pdftex", "luatex", "typst", "libreoffice",
    }  # fmt: skip
    assert min(Counter(formula["kind"] for formula in formulas).values()) >= 10
    held = sum(len(t["formulas"]) for pdf, t in TRUTHS.items() if pdf.parent.name == "held")
    assert 0.25 < held / len(formulas) < 0.4


def test_broken_formulas_are_on_several_lines() -> None:
    formulas = list_formulas()
    broken = [formula for formula in formulas if formula["kind"] == "broken"]
    assert len(broken) >= LEAST_BROKEN
    assert [f["id"] for f in formulas if "lines" in f] == [f["id"] for f in broken]
    for formula in broken:
        first, second = formula["lines"][:2]
        assert second[1] > first[1]
        assert formula["box"] == first


def test_the_papers_are_small_and_name_no_time_and_no_folder() -> None:
    files = [path for path in FOLDER.glob("*/*") if path.suffix in {".pdf", ".json"}]
    assert sum(path.stat().st_size for path in files) < MOST_BYTES
    for pdf in PAPERS:
        content = pdf.read_bytes()
        assert not [
            mark for mark in (b"/CreationDate", b"/ID", b"/home", b"/tmp") if mark in content
        ]


def test_each_formula_stands_in_its_text_and_has_a_normal_form() -> None:
    for truth in TRUTHS.values():
        text = "\n".join(truth["blocks"])
        for formula in truth["formulas"]:
            assert f"${formula['latex']}$" in text
            form = normalise(formula["latex"])
            assert form
            assert normalise(form) == form


@pytest.mark.parametrize(
    "pdf",
    [pdf if name_paper(pdf) in QUICK else pytest.param(pdf, marks=pytest.mark.slow)
     for pdf in PAPERS],
    ids=map(name_paper, PAPERS),
)  # fmt: skip
def test_formulas_are_exact_or_flagged_and_prose_stays(pdf: Path) -> None:
    outcomes, lost = read_paper(pdf)
    wrong = [outcome for outcome in outcomes if not outcome.is_exact]
    assert {outcome.id.split()[0] for outcome in wrong} <= WRONG
    assert [outcome.id for outcome in outcomes if outcome.is_flagged == outcome.is_exact] == []
    assert set(lost) <= {"(", ")"}
