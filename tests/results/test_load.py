"""What is joined, and what is said when something does not fit together."""

from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl
import pytest
from tests.stages.analyze.conftest import Folders, make_study, rewrite_verdicts, study_values

from omibench.errors import FileFormatError, MissingInputError, ParamsError
from omibench.params.setting import Cell
from omibench.params.study import parse_study
from omibench.results.load import _read_looks
from omibench.results.study_files import LONG_COLUMNS
from omibench.schemas.adaptive import Look
from omibench.schemas.tables import ResponseRow, write_jsonl


def test_one_row_a_verdict_and_a_response(made: Folders) -> None:
    results = made.load()
    assert results.verdicts.height == 9 * 28 * 4
    assert results.responses.height == 9 * 28
    assert results.rules == ["robust", "omibench", "emma", "gptscore"]
    assert all(results.simulated_cells.values())
    assert results.judge_simulated


def test_texts_are_read_when_they_are_asked_for_and_their_lengths_stay(made: Folders) -> None:
    results = made.load()
    assert not set(LONG_COLUMNS) & set(results.responses.columns)
    whole = results.read_responses()
    assert set(whole.columns) == {"model", "setting", *ResponseRow.model_fields}
    assert whole["text"].str.len_chars().to_list() == results.responses["characters"].to_list()


def test_problems_that_share_a_stem_are_one_cluster(made: Folders) -> None:
    rows = made.load().select_verdicts("robust", Cell("sim-weak", "cot"))
    clusters = dict(rows.select("id", "cluster").iter_rows())
    assert clusters["physics_00"] == clusters["physics_01"] == "physics-stem"
    assert clusters["physics_02"] == "physics_02"


def test_nothing_is_marked_simulated_that_is_not(tmp_path: Path) -> None:
    results = make_study(tmp_path, per_subject=2, simulated=False).load()
    assert not results.any_simulated


def test_a_judge_of_simulated_responses_may_be_real(tmp_path: Path) -> None:
    folders = make_study(tmp_path, per_subject=2)
    values = study_values()
    models = dict(values["models"])  # type: ignore[call-overload]
    models["judge"] = {"provider": "recorded", "responses": {}, "label": "Judge"}
    study = parse_study(values | {"models": models}, "test")
    assert folders.load().judge_simulated
    results = folders._replace(study=study).load()
    assert not results.judge_simulated
    assert results.any_simulated


def test_a_simulated_judge_of_real_responses_is_marked(tmp_path: Path) -> None:
    folders = make_study(tmp_path, per_subject=2, simulated=False)
    judged = pl.col("rules") == "gptscore"
    rewrite_verdicts(folders, lambda f: f.with_columns(simulated=judged))
    results = folders.load()
    assert results.judge_simulated
    assert results.rests_on_simulation("gptscore")
    assert not results.main_simulated


def test_a_missing_cell_is_told_and_the_others_are_read(made: Folders, tmp_path: Path) -> None:
    score = shutil.copytree(made.score, tmp_path / "score")
    (score / "sim-weak" / "direct.parquet").unlink()
    found = made._replace(score=score).load()
    gone = Cell("sim-weak", "direct")
    assert found.missing == (gone,)
    assert found.study.cells == [cell for cell in made.study.cells if cell != gone]
    assert found.full_study == made.study
    assert set(found.simulated_cells) == set(found.study.cells)


def test_a_study_of_which_every_cell_is_missing_is_refused(made: Folders, tmp_path: Path) -> None:
    with pytest.raises(MissingInputError, match="sim-strong under cot"):
        made._replace(score=tmp_path / "score").load()


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("id", "no problem in freeze/answers.jsonl"),
        ("index", "no response"),
        ("key", "no response"),
    ],
)
def test_a_verdict_without_its_origin_is_named(
    made: Folders, tmp_path: Path, column: str, message: str
) -> None:
    score = shutil.copytree(made.score, tmp_path / "score")
    file = score / "sim-weak" / "direct.parquet"
    frame = pl.read_parquet(file)
    odd = pl.lit(7, pl.Int64) if column == "index" else pl.lit("nowhere")
    first = pl.int_range(pl.len()) == 0
    frame.with_columns(pl.when(first).then(odd).otherwise(column).alias(column)).write_parquet(file)
    with pytest.raises(FileFormatError, match=message):
        made._replace(score=score).load()


def test_a_response_without_a_verdict_of_a_scorer_is_named(made: Folders, tmp_path: Path) -> None:
    score = shutil.copytree(made.score, tmp_path / "score")
    file = score / "sim-weak" / "direct.parquet"
    lost = (pl.col("id") == "physics_03") & (pl.col("rules") == "omibench")
    pl.read_parquet(file).filter(~lost).write_parquet(file)
    with pytest.raises(
        FileFormatError, match=r"sim-weak/direct\.parquet.*'physics_03', sample 0.*'omibench'"
    ):
        made._replace(score=score).load()


def test_a_scorer_may_be_absent_from_a_whole_cell(made: Folders, tmp_path: Path) -> None:
    score = shutil.copytree(made.score, tmp_path / "score")
    file = score / "sim-weak" / "direct.parquet"
    pl.read_parquet(file).filter(pl.col("rules") != "omibench").write_parquet(file)
    assert made._replace(score=score).load().verdicts.height == 9 * 28 * 4 - 28


def test_a_study_without_cells_is_refused(made: Folders) -> None:
    with pytest.raises(ParamsError, match="nothing to analyze"):
        made._replace(study=parse_study({}, "test")).load()


def test_main_rules_without_verdicts_are_refused(made: Folders) -> None:
    values = study_values(main_scorer="mathreal") | {"score": {"scorers": ["robust", "mathreal"]}}
    study = parse_study(values, "test")
    with pytest.raises(ParamsError, match=r"mathreal.*robust, emma, omibench, gptscore"):
        made._replace(study=study).load()


def test_a_cell_found_behind_when_all_had_answered_is_no_stopped_one(tmp_path: Path) -> None:
    stop = {"cell": ("b", "cot"), "behind": ("a", "cot"), "difference": 0.3, "p": 0.001}
    looks = [
        Look(
            look=n, problems=problems, of=20, order="0", scorer="robust", level=0.01,
            open=[("a", "cot"), ("b", "cot")], leader=("a", "cot"), stopped=[stop],
        )
        for n, problems in ((1, 10), (2, 20))
    ]  # fmt: skip
    write_jsonl(tmp_path / "adaptive/looks.jsonl", looks)
    values = {
        "models": {name: {"provider": "simulated", "oracle": "o.jsonl"} for name in "ab"},
        "settings": {"cot": {}},
        "infer": {"models": ["a", "b"], "settings": ["cot"], "adaptive": {"looks": [0.5, 1]}},
    }
    read = _read_looks(tmp_path, parse_study(values, "test"))
    assert [len(look.stopped) for look in read] == [1, 0]
