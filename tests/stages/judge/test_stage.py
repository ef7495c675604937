"""The stage judge: a cell in, judgements out, through a real store."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from pydantic import ValidationError
from tests.judges.plugin_judges import plugin_judges

from omibench.errors import FileFormatError, MissingInputError, ParamsError
from omibench.params.setting import Cell
from omibench.params.study import Study
from omibench.schemas.problem import Answer, Figure, Question
from omibench.schemas.tables import (
    JudgementRow,
    ResponseRow,
    VerdictRow,
    read_parquet,
    write_jsonl,
    write_parquet,
)
from omibench.schemas.verdict import UNANSWERED
from omibench.stages.judge import CellFiles, judge_cell
from omibench.stages.judge.material import choose_ids
from omibench.store.store import Store

PROBLEMS = {"right": ["4"], "wrong": ["5"], "refused": ["6"], "bare": ["7"]}
TEXTS = {
    "right": "We add. We check it. Both agree. So be it. \\boxed{4}",
    "wrong": "We add. \\boxed{3}",
    "refused": "",
    "bare": "\\boxed{8}",
}
OUTCOMES = {"refused": "refused"}


@pytest.fixture
def files(tmp_path: Path) -> CellFiles:
    names = list(PROBLEMS)
    write_jsonl(tmp_path / "questions.jsonl", [Question(id=n, question=f"{n}?") for n in names])
    write_jsonl(
        tmp_path / "answers.jsonl",
        [
            Answer(id=n, answer=gold, answer_type="open", solution=None if n == "bare" else "Add.")
            for n, gold in PROBLEMS.items()
        ],
    )
    write_parquet(
        tmp_path / "responses.parquet",
        [
            ResponseRow(
                id=n, index=0, key=f"k-{n}", outcome=OUTCOMES.get(n, "answered"), text=TEXTS[n]
            )
            for n in names
        ],
        ResponseRow,
    )
    verdicts = [
        VerdictRow(
            id=n, index=0, key=f"k-{n}", rules=rules, version=1, method="box",
            verdict=float(n == "right" or rules == "lenient"), outcome=OUTCOMES.get(n, "scored"),
        )
        for rules in ("robust", "lenient")
        for n in names
    ]  # fmt: skip
    write_parquet(tmp_path / "verdicts.parquet", verdicts, VerdictRow)
    oracle = [{"id": n, "answer": gold} for n, gold in PROBLEMS.items()]
    (tmp_path / "oracle.jsonl").write_text("".join(json.dumps(row) + "\n" for row in oracle))
    return CellFiles(
        *(tmp_path / name for name in ("responses.parquet", "verdicts.parquet")),
        *(tmp_path / name for name in ("answers.jsonl", "questions.jsonl")),
    )


def study(files: CellFiles, **judge: Any) -> Study:
    folder = files.answers.parent
    simulated = {"provider": "simulated", "oracle": str(folder / "oracle.jsonl")}
    return Study.model_validate(
        {
            "study": {"store": str(folder / "store")},
            "models": {name: {**simulated, "seed": i} for i, name in enumerate("abc")},
            "judge": judge,
        }
    )


def judged(files: CellFiles, **judge: Any) -> pl.DataFrame:
    out = files.answers.parent / "out.parquet"
    rows = judge_cell(files, out, study(files, **judge))
    frame = read_parquet(out, JudgementRow)
    assert frame.height == rows
    return frame


def test_every_judge_is_asked_about_what_it_can_judge(files: CellFiles) -> None:
    found = judged(files, quality="a", alignment="a", errors="b")
    about = {
        name: found.filter(instrument=name)["id"].to_list()
        for name in ("quality", "alignment", "error_type")
    }
    assert about == {
        "quality": ["right", "wrong", "bare"],
        "alignment": ["right", "wrong"],
        "error_type": ["refused", "wrong", "bare"],
    }
    assert found["outcome"].unique().to_list() == ["scored"]
    assert found["counts"].all()
    found = found.filter(pl.col("judge").is_not_null())
    assert found["simulated"].all()
    assert found["prompt_sha256"].str.len_chars().unique().to_list() == [64]
    assert found["prompt_sha256"].n_unique() == 3
    by_id = found.filter(instrument="alignment").select("id", "alignment")
    assert by_id["alignment"][0] >= 4
    assert by_id["alignment"][1] <= 2
    assert found.filter(instrument="quality").drop_nulls("overall").height == 3
    assert set(found.drop_nulls("error_type")["taxonomy"]) == {"omibench"}


def test_a_reading_of_the_pictures_is_judged_once_a_problem(files: CellFiles) -> None:
    texts = {"right": ["right?", "A cart."], "wrong": ["8 wheels"], "refused": ["refused?"]}
    rows = [
        ResponseRow(
            id=n, index=index, key=f"k-{n}-{index}", outcome=OUTCOMES.get(n, "answered"),
            text=TEXTS[n], readings=texts.get(n),
        )
        for n in PROBLEMS for index in range(2)
    ]  # fmt: skip
    write_parquet(files.responses, rows, ResponseRow)
    panel = {"models": ["b", "c"], "max_tokens": 99}
    frame = judged(files._replace(verdicts=None), transcripts=panel)
    counting = frame.filter("counts")
    assert counting["id"].to_list() == ["right", "wrong", "refused"]
    assert counting["index"].to_list() == [0, 0, 0]
    assert set(frame["instrument"]) == {"transcript"}
    shares = dict(counting.select("id", "terms").iter_rows())
    assert shares["right"] == shares["refused"] == 1.0
    assert shares["wrong"] < 0.5
    assert frame.height == 9, "each judge's own shares stand behind the median"
    assert "terms" not in judged_columns(files, quality="a")


def judged_columns(files: CellFiles, **judge: Any) -> set[str]:
    out = files.answers.parent / "columns.parquet"
    write_parquet(files.responses, [
        ResponseRow(id="right", index=0, key="k", outcome="answered", text="So. \\boxed{4}")
    ], ResponseRow)  # fmt: skip
    judge_cell(files._replace(verdicts=None), out, study(files, **judge))
    return set(pl.read_parquet_schema(out))


def test_cells_without_readings_are_not_judged_for_transcripts_alone(files: CellFiles) -> None:
    values: dict[str, Any] = {
        "models": {"a": {"provider": "simulated", "oracle": "o.jsonl"}},
        "settings": {"i": {"perception": "I"}, "qm": {"perception": "I+QM"}},
        "infer": {"models": ["a"], "settings": ["i", "qm"]},
        "judge": {"transcripts": "a"},
    }
    assert Study.model_validate(values).judged_cells == [Cell("a", "qm")]
    values["judge"]["quality"] = "a"
    assert len(Study.model_validate(values).judged_cells) == 2


def test_judgements_are_in_the_store_and_not_bought_twice(files: CellFiles) -> None:
    first = judged(files, quality="a")
    one = study(files, quality="a")
    with Store(one.study.store) as store:
        text = "".join(p.read_text("utf-8") for p in store.folder.rglob("*.jsonl"))
    assert all(key in text for key in first["judge_key"])
    before = sorted(p.stat().st_size for p in Path(one.study.store).rglob("*.jsonl"))
    again = judged(files, quality="a")
    assert again.equals(first)
    assert sorted(p.stat().st_size for p in Path(one.study.store).rglob("*.jsonl")) == before


def test_what_is_wrong_is_said_by_the_scorer_that_is_named(files: CellFiles) -> None:
    assert judged(files, errors="a", wrong_by="lenient")["id"].to_list() == ["refused"]
    with pytest.raises(ParamsError, match=r"wrong_by: .* no verdict of 'emma'; it has robust, l"):
        judged(files, errors="a", wrong_by="emma")


@pytest.mark.parametrize(
    ("taxonomy", "kind"), [("mathreal", "reject"), ("omibench", "other"), ("emma", "no_answer")]
)
@pytest.mark.parametrize("outcome", UNANSWERED)
def test_a_failure_of_any_kind_has_its_type_without_a_judge(
    files: CellFiles, taxonomy: str, kind: str, outcome: str
) -> None:
    change_verdicts(files, pl.col("id") == "refused", outcome=outcome)
    found = judged(files, errors={"models": ["a"], "taxonomy": taxonomy})
    failure = found.filter(id="refused").row(0, named=True)
    assert (failure["error_type"], failure["judge"], failure["judge_key"]) == (kind, None, None)
    assert found.height == 3


@pytest.mark.parametrize("outcome", ["provider_error", "budget_stop", "judge_failed", "unjudged"])
def test_what_is_no_failure_of_the_model_has_no_type(files: CellFiles, outcome: str) -> None:
    change_verdicts(files, pl.col("id") == "refused", outcome=outcome)
    assert judged(files, errors="a")["id"].to_list() == ["wrong", "bare"]


def test_under_mathreal_an_answer_with_a_right_part_is_no_failure(files: CellFiles) -> None:
    """Error Analysis: failed cases have Acc = 0, the loose accuracy."""
    change_verdicts(files, pl.col("id") == "bare", verdict=0.5, strict=0.0)
    change_verdicts(files, pl.col("id") == "wrong", strict=0.0)
    assert judged(files, errors="a")["id"].to_list() == ["refused", "wrong"]
    change_verdicts(files, pl.col("id") == "bare", strict=None)  # another scorer's credit
    assert judged(files, errors="a")["id"].to_list() == ["refused", "wrong", "bare"]


def test_drawn_are_failures_whatever_problems_the_others_judge(files: CellFiles) -> None:
    def draw(**values: Any) -> list[str]:
        errors = {"models": ["a"], "draw": values}
        found = judged(files, quality="a", errors=errors, problems=1)
        assert found.filter(instrument="quality").height <= 1
        return found.filter(instrument="error_type")["id"].to_list()

    assert sorted(draw(per_model=3)) == ["bare", "refused", "wrong"]
    draws = [tuple(draw(per_model=1, seed=seed)) for seed in range(12)]
    assert draws == [tuple(draw(per_model=1, seed=seed)) for seed in range(12)]
    assert all(len(one) == 1 for one in draws)
    assert len(set(draws)) > 1
    assert len(draw(per_model=2, by="subject")) == 2
    with pytest.raises(ParamsError, match=r"draw\.by: no problem has the attribute 'subjekt'; did"):
        draw(per_model=2, by="subjekt")


def test_failures_are_drawn_by_an_attribute_in_their_proportion(files: CellFiles) -> None:
    golds = [
        Answer(
            id=n, answer=gold, answer_type="open",
            attributes={"category": "PG" if n == "bare" else "SC"},
        )
        for n, gold in PROBLEMS.items()
    ]  # fmt: skip
    write_jsonl(files.answers, golds)
    for seed in range(6):
        errors = {"models": ["a"], "draw": {"per_model": 2, "seed": seed, "by": "category"}}
        drawn = judged(files, errors=errors)["id"].to_list()
        assert len(drawn) == 2
        assert "bare" in drawn  # the only failure of PG, whose share is 2 * 1 / 3
    with pytest.raises(ParamsError, match="no problem has the attribute 'exam'; known: categ"):
        judged(files, errors={"models": ["a"], "draw": {"by": "exam"}})


def test_without_a_judge_errors_are_left_to_people(files: CellFiles) -> None:
    found = judged(files, errors={"draw": {"per_model": 9}})
    assert found.select("id", "outcome", "error_type", "judge").rows() == [
        ("refused", "scored", "other", None),
        ("wrong", "unjudged", None, None),
        ("bare", "unjudged", None, None),
    ]
    assert not Path(study(files).study.store).exists()
    with pytest.raises(ValidationError, match="is empty; set `models`"):
        judged(files, errors={"taxonomy": "emma"})


def change_verdicts(files: CellFiles, rows: pl.Expr, **values: object) -> None:
    frame = read_parquet(files.verdicts or "", VerdictRow)
    changed = [
        pl.when(rows).then(pl.lit(value, frame.schema[name])).otherwise(name).alias(name)
        for name, value in values.items()
    ]
    frame.with_columns(changed).write_parquet(files.verdicts or "")


def test_several_judges_keep_their_own_verdicts(files: CellFiles) -> None:
    found = judged(files, quality=["a", "b", "c"])
    one = found.filter(id="right")
    assert one["judge"].to_list() == ["a+b+c", "a", "b", "c"]
    assert one["counts"].to_list() == [True, False, False, False]
    assert one["overall"][0] == sorted(one["overall"][1:])[1]


def test_other_judges_have_a_column_for_their_value(files: CellFiles) -> None:
    without = judged(files, quality="a")
    with plugin_judges():
        frame = judged(files, quality="a", others={"tempo": ["a", "b", "c"], "tone": "b"})
        with pytest.raises(MissingInputError, match=r"judge\.others\.tone: needs .* --verdicts"):
            judged(files._replace(verdicts=None), others={"tone": "a"})
    marked, labelled = frame.filter(instrument="tempo"), frame.filter(instrument="tone")
    assert marked.filter("counts")["id"].to_list() == ["right", "wrong", "bare"]
    assert labelled["id"].to_list() == ["wrong", "bare"]
    assert set(labelled["label"]) == {"bad"}
    bounds = marked.select("lowest", "highest", "simulated").unique().row(0)
    assert bounds == (0.0, 10.0, True)
    counting, *votes = marked.filter(id="right")["mark"].to_list()
    assert counting == sorted(votes)[1] >= 5
    quality = frame.filter(instrument="quality").select(without.columns)
    assert quality.equals(without)


def test_only_so_many_problems_the_same_of_every_cell(files: CellFiles) -> None:
    found = judged(files, quality="a", problems=2)
    assert set(found["id"]) == choose_ids(PROBLEMS, 2) - {"refused"}
    assert (
        choose_ids(PROBLEMS, 2)
        < choose_ids(PROBLEMS, 3)
        < choose_ids(PROBLEMS, None)
        == set(PROBLEMS)
    )


def test_pictures_are_shown_when_asked_for(files: CellFiles, tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"picture")
    figure = Figure(file="a.png", sha256=sha256(b"picture").hexdigest())
    rows = [Question(id=n, question="[IMAGE0]?", images=[figure]) for n in PROBLEMS]
    write_jsonl(files.questions, rows)
    blind = judged(files, quality="a")
    seeing = judged(files, quality="a", images=True)
    assert not set(blind["judge_key"]) & set(seeing["judge_key"])


def test_what_is_missing_is_said(files: CellFiles) -> None:
    with pytest.raises(ParamsError, match="no judge is set"):
        judged(files)
    with pytest.raises(MissingInputError, match="--verdicts"):
        judged(files._replace(verdicts=None), errors="a")
    verdicts = read_parquet(files.verdicts or "", VerdictRow).filter(pl.col("id") != "bare")
    verdicts.write_parquet(files.verdicts or "")
    with pytest.raises(FileFormatError, match="'bare', sample 0, has no verdict"):
        judged(files, errors="a")
