"""Formulas of papers that we typeset: how many are read exactly, and how many wrong ones say so.

`python benchmarks/formulas.py` prints the rates; the floors here are a little below them.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.formulas import FOLDER, Outcome

from omibench.latex import normalise

PAPERS = sorted(FOLDER.glob("*/*.pdf"))
TRUTHS = {pdf: json.loads(pdf.with_suffix(".json").read_text("utf-8")) for pdf in PAPERS}
MOST_BYTES = 5_000_000
SAMPLE = ("shown/pdftex-cm", "shown/typst-newcm")


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


def share(outcomes: list[Outcome]) -> float:
    return sum(outcome.is_exact for outcome in outcomes) / max(1, len(outcomes))
