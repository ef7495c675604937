"""What the stages before the freeze ask: counted from the problems that are there, at most."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from tests.plan.test_whole import bought, counted
from tests.stages.filter.conftest import STATEMENT, Draw, Make, draw, make

from command_line import call_main
from omibench.params.study import Study, parse_study
from omibench.schemas.tables import write_jsonl
from omibench.stages.filter import filter_problems
from omibench.stages.freeze import freeze_dataset
from omibench.stages.rationale import write_rationales
from omibench.study.plan.build import plan_study
from omibench.study.plan.plan import Plan
from omibench.study.plan.questions import plan_questions
from omibench.study.plan.text import NARROW, render

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


# A plan before the freeze: over the problems that are there, counted as a run asks them.


MODEL = {
    "provider": "openai", "id": "x", "price": {"input": 1.0, "output": 2.0, "as_of": "2026-01-01"},
}  # fmt: skip
DIRECT = "direct-with-a-name-too-long-for-half-of-a-line"
LONG = "a-model-whose-name-is-as-long-as-those-of-some-hubs-are"


@pytest.fixture
def values(tmp_path: Path) -> dict[str, Any]:
    """A study of two models on EMMA, whose three problems are in its data folder."""
    data = tmp_path / "data"
    data.mkdir()
    pl.DataFrame(
        {"pid": ["a", "b", "c"], "question": ["Which?", "What?", "Where?"],
         "options": [["1", "2"]] * 3, "answer": ["A"] * 3, "type": ["Multiple Choice"] * 3,
         "category": ["Counting"] * 3, "subject": ["Physics"] * 3}
    ).write_parquet(data / "physics.parquet")  # fmt: skip
    return {
        "study": {"name": "s", "results": f"{tmp_path}/results", "store": f"{tmp_path}/store"},
        "data": str(data), "benchmark": {"name": "emma"},
        "models": {"m": MODEL, LONG: MODEL | {"id": "y"}},
        "settings": {"cot": {}, DIRECT: {"prompt": "direct"}},
        "infer": {"models": ["m", LONG],
                  "settings": ["cot", DIRECT]},
    }  # fmt: skip


def test_problems_in_the_data_folder_are_planned_as_once_they_are_frozen(
    values: dict[str, Any], tmp_path: Path
) -> None:
    study = parse_study(values, "test")
    before = plan_questions(study)
    assert before.over == f"Counted over the 3 problems in {values['data']}, not frozen yet"
    assert not (tmp_path / "results").exists()
    freeze_dataset(None, tmp_path / "results/freeze", study)
    after = plan_questions(study)
    assert after.over == ""
    assert before.model_copy(update={"over": ""}) == after
    assert [row.to_buy for row in after.rows] == [3, 3, 3, 3]


def test_a_rehearsal_is_planned_before_its_answers_are_frozen(
    values: dict[str, Any], tmp_path: Path
) -> None:
    file = tmp_path / "params.yaml"
    file.write_text(yaml.safe_dump(values))
    done = call_main("plan", "--simulated", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Counted over the 3 problems in" in done.stdout


def test_a_plan_fits_eighty_columns_and_keeps_every_name_and_number(
    values: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(values))
    narrow = call_main("plan", cwd=tmp_path).stdout.splitlines()
    assert max(map(len, narrow)) <= NARROW
    wide = call_main("plan", "--wide", cwd=tmp_path).stdout.splitlines()
    assert max(map(len, wide)) > NARROW
    assert LONG in narrow
    assert narrow.count(f"  {DIRECT}") == 2
    head = next(" ".join(line.split()) for line in narrow if "requests  stored" in line)
    assert head == "setting requests stored to buy expected at most time"
    assert sum(bool(re.search(r" 3 +0 +3 +\$", line)) for line in narrow) == 4
    total = next(line.split() for line in narrow if line.startswith("all "))
    assert total[1:4] == ["12", "0", "12"]


def test_the_latest_problems_of_papers_are_planned_and_named(study: Study, tmp_path: Path) -> None:
    whole = study.model_copy(
        update={"settings": parse_study({"settings": {"cot": {}}}, "x").settings,
                "infer": study.infer.model_copy(update={"models": ["one"], "settings": ["cot"]})}
    )  # fmt: skip
    read = plan_questions(whole)
    assert read.over.startswith("Counted over the 3 problems that ocr read")
    assert "an upper bound" in read.over
    assert [row.requests for row in read.rows if row.setting == "cot"] == [3]
    results = tmp_path / "results"
    filter_problems(results / "ocr/problems.jsonl", results / "filter", study)
    sifted = plan_questions(whole)
    kept = len((results / "filter/problems.jsonl").read_text().splitlines())
    assert sifted.over.startswith(f"Counted over the {kept} problems that filter kept")


def test_unread_papers_are_known_by_number_and_their_cells_estimated(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.4")
    (tmp_path / "sources.yaml").write_text(json.dumps(
        {"sources": [{"name": "a", "subject": "physics", "paper": "a.pdf"}]}
    ))  # fmt: skip
    study = parse_study(
        {"ocr": {"sources": str(tmp_path / "sources.yaml")}, "benchmark": {"like": "emma-mini"},
         "study": {"results": f"{tmp_path}/results", "store": f"{tmp_path}/store"},
         "models": {"m": MODEL}, "settings": {"cot": {}},
         "infer": {"models": ["m"], "settings": ["cot"]}},
        "test",
    )  # fmt: skip
    plan = plan_questions(study)
    text = " ".join(render(plan).split())
    assert "Known: 1 paper without a problem yet, 1 cell. Estimated over 100 generated" in text
    assert "100 requests of the cells, $" in text
    assert not (tmp_path / "results").exists()


def test_papers_that_are_not_named_are_no_plan(tmp_path: Path) -> None:
    done = call_main("plan", "--params", json.dumps({"study": {"results": f"{tmp_path}/r"}}))
    assert done.returncode == 2
    assert "the dataset is not frozen yet; run `snakemake freeze_all" in done.stderr
