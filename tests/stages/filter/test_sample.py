"""The sample papers as they are read: what booklets mark is rejected, each for its reason."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from omibench.files.yaml_file import read_yaml
from omibench.params.stages.filter import FilterParams
from omibench.params.study import parse_study
from omibench.schemas.curation import FilterJudgement, Reject
from omibench.schemas.problem import Problem
from omibench.schemas.tables import read_jsonl, read_parquet
from omibench.stages.filter import filter_problems
from omibench.stages.filter.stage import sift

pytestmark = pytest.mark.slow
Sifted = tuple[list[Problem], list[Reject]]
READS_SCANS = find_spec("rapidocr") is not None


@pytest.fixture(scope="module")
def sifted(sample_papers: Path) -> Sifted:
    """The problems of the sample that survive, and the rejects."""
    problems = read_jsonl(sample_papers / "problems.jsonl", Problem)
    return sift(problems, sample_papers, FilterParams(reasons=["image_not_referred_to"]))


@pytest.fixture(scope="module")
def booklets(root: Path) -> list[dict[str, Any]]:
    """The sources of the papers that can be read here."""
    found = [read_yaml(path) for path in sorted((root / "sample/booklets").glob("*.yaml"))]
    return [booklet for booklet in found if READS_SCANS or not booklet.get("scan")]


@pytest.fixture(scope="module")
def marked(booklets: list[dict[str, Any]]) -> dict[str, str | None]:
    """Problem id -> the reason that its booklet gives for rejecting it, or None."""
    return {
        f"{booklet['booklet']}-{problem['number']}": problem.get("rejected")
        for booklet in booklets
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


@pytest.fixture(scope="module")
def judged(sample_papers: Path, root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample after the judgements of its study: the models are simulated, all is asked."""
    folder = tmp_path_factory.mktemp("judged")
    params = read_yaml(root / "params.yaml")
    for model in params["models"].values():
        model["oracle"] = str(root / model["oracle"])
    study = parse_study(
        {
            "study": {"store": str(folder / "store")},
            "filter": params["filter"],
            "models": params["models"],
        },
        "params.yaml",
    )
    filter_problems(sample_papers / "problems.jsonl", folder / "filter", study)
    return folder / "filter"


def test_models_reject_the_problem_whose_figures_words_can_replace(
    judged: Path, sifted: Sifted, booklets: list[dict[str, Any]]
) -> None:
    spared = {
        f"{booklet['booklet']}-{problem['number']}"
        for booklet in booklets
        for problem in booklet["problems"]
        if problem.get("spared")
    }
    assert len(spared) == 1
    before = {reject.id for reject in sifted[1]}
    rejects = read_parquet(judged / "rejects.parquet", Reject)
    added = rejects.filter(~rejects["id"].is_in(list(before)))
    assert set(added["id"]) == spared, "and no sound one"
    assert set(added["reason"]) == {"captions_suffice"}
    assert "SIMULATED" in added["evidence"][0]
    told = read_parquet(judged / "judgements.parquet", FilterJudgement)
    assert told["simulated"].all()
    assert set(told["judgement"]) == {
        "translation", "completeness", "one_image", "captions", "difficulty"
    }  # fmt: skip


def test_spanish_problems_are_put_into_english_where_the_translation_holds(judged: Path) -> None:
    kept = read_jsonl(judged / "problems.jsonl", Problem)
    spanish = [p for p in kept if p.source == "mixed-es"]
    done = [p for p in spanish if p.language == "en"]
    assert len(done) >= 3
    for problem in done:
        assert problem.original is not None
        assert problem.original.language == "es"
        assert "translation: SIMULATED (sim-translator)" in list(map(str, problem.warnings))
        assert all("Figure" in (figure.caption or "") for figure in problem.images)
    for problem in spanish:
        if problem not in done:
            assert problem.original is None
            assert any(str(w).startswith("translation: not used, ") for w in problem.warnings)
