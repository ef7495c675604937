"""What the stages before the freeze ask: counted from the problems that are there, at most."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.plan.test_whole import bought, counted
from tests.stages.filter.conftest import STATEMENT, Draw, Make, draw, make

from omibench.params.study import Study, parse_study
from omibench.schemas.tables import write_jsonl
from omibench.stages.filter import filter_problems
from omibench.stages.rationale import write_rationales
from omibench.study.plan.build import plan_study
from omibench.study.plan.plan import Plan
from omibench.study.plan.text import render

__all__ = ["draw", "make"]
PANEL = ["one", "two"]
GERMAN = (
    "Ein Wagen rollt ohne Reibung. Figure 1 zeigt sein Tempo und Figure 2 die Bahn. "
    "Wie weit kommt der Wagen in zehn Sekunden?\n[IMAGE0]\n[IMAGE1]"
)
STEPS = "The speed of Figure 1 times the eight seconds of Figure 2 gives the distance. " * 5


@pytest.fixture
def study(make: Make, draw: Draw, tmp_path: Path) -> Study:
    """Three problems as they were read, one of them German, and a study that sifts them."""
    rows, oracle = [], []
    for number, language in enumerate(("en", "en", "de")):
        lines = [(0, 90 - 20 * number), (40, 20 + 9 * number), (95, 30 * number)]
        figures = [draw(f"{number}-{i}.png", [*lines, (99, 40 * i)]) for i in range(2)]
        text = STATEMENT.replace("eight", ("eight", "nine", "ten")[number])
        asked = GERMAN if language == "de" else text
        rows.append(make(id=f"p-{number}", images=figures, question=asked, language=language))
        oracle.append({"id": f"p-{number}", "answer": ["12 m"], "captions": ["a cart", "a road"],
                       "statement": text, "translation": text, "rationale": STEPS,
                       "subject": "physics", "topic": "mechanics"})  # fmt: skip
    read = tmp_path / "results/ocr"
    read.mkdir(parents=True)
    for file in tmp_path.glob("*.png"):
        shutil.move(file, read)
    write_jsonl(read / "problems.jsonl", rows)
    (tmp_path / "oracle.jsonl").write_text("".join(json.dumps(row) + "\n" for row in oracle))
    sim: dict[str, Any] = {"provider": "simulated", "oracle": str(tmp_path / "oracle.jsonl")}
    unable = {"one_image": -99.0, "captions": -99.0, "difficulty": -99.0}
    names = (*PANEL, "eyes", "pen", "tagger", "translator")
    return parse_study(
        {
            "study": {"store": str(tmp_path / "store"), "results": str(tmp_path / "results")},
            "models": {n: sim | {"seed": i, "setting_effects": unable}
                       for i, n in enumerate(names)},
            "filter": {
                "near_duplicate": 0.99, "near_duplicate_images": 0, "translation": "translator",
                "completeness": PANEL, "one_image": {"models": PANEL, "samples": 3, "right": 2},
                "captions": {"captioner": "eyes", "models": PANEL, "samples": 2, "right": 2},
                "difficulty": {"models": PANEL},
            },
            "rationale": {"writer": "pen", "labeller": "tagger",
                          "topics": {"physics": ["mechanics", "optics"]}},
        },
        "test",
    )  # fmt: skip


def planned(study: Study) -> Plan:
    return plan_study(study, Path(study.study.results) / "freeze/questions.jsonl")


def test_the_filter_and_the_writers_are_counted_as_they_ask(study: Study, tmp_path: Path) -> None:
    results = tmp_path / "results"
    before = planned(study)
    expected = counted(before)
    assert (before.frozen, before.building) == (False, {"rationale": ["pen", "tagger"]})
    assert expected["voter"] == 3 * 2
    assert expected["translator"] == 1
    assert expected["captioner"] == 3 * 2
    assert expected["respondent"] == 3 * 2 * (3 + 2 + 1)
    text = " ".join(render(before).split())
    assert "The dataset is not frozen yet" in text
    assert "filter: eyes captioner 6 0 6" in text
    assert "requests of the building stages (rationale: pen, tagger)" in text
    filter_problems(results / "ocr/problems.jsonl", results / "filter", study)
    held = bought(study)
    assert {role: expected[role] for role in ("voter", "translator", "captioner")} == {
        role: held[role] for role in ("voter", "translator", "captioner")
    }
    # Who comes after one that did not solve it need not try: `difficulty` asks one of two.
    assert expected["respondent"] - 3 == held["respondent"]

    sifted = planned(study)
    assert not sifted.building
    # All four candidates of each of three problems.
    assert counted(sifted) == {"rationale_writer": 3 * 4, "labeller": 3}
    write_rationales(results / "filter/problems.jsonl", results / "rationale", study)
    assert bought(study) == held + counted(sifted)
    assert not counted(planned(study))


@pytest.mark.parametrize(
    ("params", "calls", "at_most"),
    [
        ({"candidates": 16}, 3 * 16, 3 * 17),
        ({"candidates": 16, "reference_tries": 4}, 3 * 16, 3 * 20),
        ({"candidates": 16, "reference_tries": 0}, 3 * 16, 3 * 16),
        ({"candidates": 16, "stop_at_right": True}, 3, 3 * 17),
        ({"candidates": 16, "min_tokens": 1000}, 3 * 16, 3 * 17),
    ],
)
def test_a_plan_prices_every_candidate_and_at_most_every_try(
    study: Study, tmp_path: Path, params: dict[str, Any], calls: int, at_most: int
) -> None:
    sifted = tmp_path / "results/filter"
    sifted.mkdir()
    shutil.copy(tmp_path / "results/ocr/problems.jsonl", sifted)
    block = study.rationale.model_copy(update=params)
    plan = planned(study.model_copy(update={"rationale": block}))
    (row,) = [row for row in plan.rows if row.role == "rationale_writer"]
    assert row.estimate.calls == calls
    assert row.estimate.output_most == at_most * block.writer_max_tokens


def test_models_that_read_pages_and_formulas_are_named_uncounted(study: Study) -> None:
    def list_readers(**ocr: str) -> list[str] | None:
        block = study.ocr.model_copy(update=ocr)
        return planned(study.model_copy(update={"ocr": block})).building.get("ocr")

    assert list_readers() is None
    assert list_readers(formula_reader="one") == ["one"]
    assert list_readers(formula_reader="mathpix") is None
    assert list_readers(engine="vision", reader="two", formula_reader="one") == ["two", "one"]


def test_a_study_of_frozen_problems_builds_nothing(study: Study) -> None:
    bare = study.model_copy(
        update={"benchmark": study.benchmark.model_copy(update={"name": "folder"})}
    )
    with pytest.raises(Exception, match="the dataset is not frozen yet"):
        planned(bare)
