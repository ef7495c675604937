"""A partial run is marked on every page and in every number for machines."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from tests.stages.analyze.conftest import Folders, make_study

from omibench.params.study import Study
from omibench.params.study_params import Limit
from omibench.results.load import Partial, find_partial
from omibench.schemas.problem import Question
from omibench.stages.analyze.sentences import Headline
from omibench.stages.analyze.stage import analyze_study

pytestmark = pytest.mark.usefixtures("undrawn")

FEW = 5


def keep_first(folders: Folders, count: int) -> None:
    """Leave the responses and verdicts of the first problems alone."""
    lines = (folders.freeze / "questions.jsonl").read_text("utf-8").splitlines()
    ids = [json.loads(line)["id"] for line in lines[:count]]
    for stage in (folders.infer, folders.score):
        for path in stage.rglob("*.parquet"):
            pl.read_parquet(path).filter(pl.col("id").is_in(ids)).write_parquet(path)


@pytest.fixture(scope="module")
def part(tmp_path_factory: pytest.TempPathFactory) -> tuple[Folders, Headline]:
    """A study of 28 problems of which the first five were asked, analyzed."""
    folders = make_study(tmp_path_factory.mktemp("partial"))
    keep_first(folders, FEW)
    own = folders.study.study.model_copy(update={"limit": Limit(n=FEW)})
    folders = folders._replace(study=folders.study.model_copy(update={"study": own}))
    return folders, folders.analyze()


@pytest.mark.slow
def test_the_headline_says_so_first(part: tuple[Folders, Headline]) -> None:
    said = str(part[1])
    assert said.startswith("[PARTIAL RUN] [SIMULATED] On a part of the dataset, 5 of 28 problems")
    assert "(the first 5): " in said.splitlines()[0]


def test_every_page_says_so(part: tuple[Folders, Headline]) -> None:
    pages = list(part[0].out.rglob("*.html"))
    assert len(pages) > 28 + 9
    for page in pages:
        text = page.read_text("utf-8")
        banner = "<b>PARTIAL RUN</b>\n<span>5 of 28 problems (the first 5) were evaluated."
        assert banner in text, page
        assert "<title>PARTIAL RUN · " in text, page


def test_the_numbers_for_machines_say_so(part: tuple[Folders, Headline]) -> None:
    metrics = json.loads((part[0].out / "metrics.json").read_text("utf-8"))
    cells = [entry for settings in metrics.values() for entry in settings.values()]
    assert len(cells) == 9
    assert {json.dumps(cell["partial"]) for cell in cells} == {'{"of": 28, "problems": 5}'}
    assert {cell["n"] for cell in cells} == {FEW}


@pytest.mark.slow
def test_every_table_says_so_in_a_column(part: tuple[Folders, Headline]) -> None:
    out = part[0].out
    tables = [pl.read_csv(path) for path in (*out.glob("*.csv"), *out.glob("tables/*.csv"))]
    filled = [table for table in tables if table.height]
    assert len(filled) >= 20
    for table in filled:
        assert set(table["partial"]) == {"5 of 28 problems (the first 5)"}


def test_a_whole_run_says_nothing_of_parts(made: Folders, tmp_path: Path) -> None:
    found = analyze_study(made.freeze.parent, tmp_path, made.study)
    assert found.partial is None
    assert "PARTIAL" not in str(found)
    assert "PARTIAL" not in (tmp_path / "report.html").read_text("utf-8")
    assert '"partial"' not in (tmp_path / "metrics.json").read_text("utf-8")


def test_a_limit_that_takes_all_is_no_partial_run(made: Folders) -> None:
    own = made.study.study.model_copy(update={"limit": Limit(n=1000)})
    study = made.study.model_copy(update={"study": own})
    assert made.load(study).partial is None


def test_cells_that_were_asked_for_a_part_by_hand_are_noticed(tmp_path: Path) -> None:
    folders = make_study(tmp_path)
    keep_first(folders, FEW)
    found = folders.load().partial
    assert found == Partial(FEW, 28, "selected manually")


@pytest.mark.parametrize(("asked", "partial"), [(2, False), (1, True)])
def test_a_setting_that_asks_one_subject_is_no_partial_run(asked: int, partial: bool) -> None:
    study = Study.model_validate(
        {
            "models": {"m": {"provider": "simulated", "oracle": "synthetic:emma:1"}},
            "settings": {"math": {"where": {"subject": "mathematics"}}},
            "infer": {"models": ["m"], "settings": ["math"]},
        }
    )
    subjects = ("mathematics", "physics", "mathematics")
    questions = [
        Question(id=str(place), question="Why?", subject=subject)
        for place, subject in enumerate(subjects)
    ]
    ids = [question.id for question in questions if question.subject == "mathematics"][:asked]
    responses = pl.DataFrame({"model": ["m"] * asked, "setting": ["math"] * asked, "id": ids})
    found = find_partial(study, questions, responses, [])
    assert found == (Partial(1, 3, "selected manually") if partial else None)
