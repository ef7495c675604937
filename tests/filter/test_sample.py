"""The sample papers as they are read: what booklets mark is rejected, each for its reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from omibench.filter.stage import sift
from omibench.filter_params import FilterParams
from omibench.ocr import read_papers
from omibench.params import OcrParams
from omibench.problem import Problem
from omibench.rejects import Reject
from omibench.tables import read_jsonl

Sifted = tuple[list[Problem], list[Reject]]


@pytest.fixture(scope="module")
def sifted(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Sifted:
    """The problems of the sample that survive, and the rejects."""
    out = tmp_path_factory.mktemp("ocr")
    read_papers([], out, OcrParams(), manifest=root / "sample/sources.yaml")
    return sift(read_jsonl(out / "problems.jsonl", Problem), out, FilterParams())


@pytest.fixture(scope="module")
def marked(root: Path) -> dict[str, str | None]:
    """Problem id -> the reason that its booklet gives for rejecting it, or None.

    Pages without a text layer wait for an OCR engine, so a scan has no problems yet.
    """
    booklets: list[dict[str, Any]] = [
        yaml.safe_load(path.read_text("utf-8"))
        for path in sorted((root / "sample/booklets").glob("*.yaml"))
    ]
    return {
        f"{booklet['booklet']}-{problem['number']}": problem.get("rejected")
        for booklet in booklets
        if not booklet.get("scan")
        for problem in booklet["problems"]
    }


def test_each_marked_problem_is_rejected_for_exactly_its_reason(
    sifted: Sifted, marked: dict[str, str | None]
) -> None:
    rejected = {reject.id: reject.reason for reject in sifted[1]}
    assert rejected == {id_: reason for id_, reason in marked.items() if reason}
    assert len(set(rejected.values())) == 8


def test_every_other_problem_survives(sifted: Sifted, marked: dict[str, str | None]) -> None:
    kept = [problem.id for problem in sifted[0]]
    assert sorted(kept) == sorted(id_ for id_, reason in marked.items() if reason is None)
    assert len(kept) >= 24


def test_evidence_names_what_was_measured(sifted: Sifted) -> None:
    evidence = {reject.reason: reject.evidence for reject in sifted[1]}
    assert "1 distinct of 1 images; at least 2" in evidence["too_few_images"]
    assert "same text as " in evidence["exact_duplicate"]
    assert "at least 0.85" in evidence["near_duplicate"]
    assert "U+FFFD" in evidence["ocr_error"]
    assert "2 choices (B, D)" in evidence["answer_ambiguous"]
