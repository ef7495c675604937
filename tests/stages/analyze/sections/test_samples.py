"""A setting with several samples, from its verdicts to the report."""

from __future__ import annotations

from dataclasses import replace
from math import comb
from pathlib import Path

import polars as pl
import pytest
from tests.stages.analyze.conftest import (
    Folders,
    analysis_of,
    make_study,
    repeat_samples,
    rewrite_cells,
    study_values,
)
from tests.stages.analyze.pages import Page

from omibench.errors import FileFormatError, MissingInputError
from omibench.params.panel import JudgePanel
from omibench.params.setting import Aggregation, Cell
from omibench.params.study import parse_study
from omibench.results.load import Results, load_results
from omibench.stages.aggregate import aggregate_cell
from omibench.stages.analyze import analyze_study
from omibench.stages.analyze.csv_files import pivot_result
from omibench.stages.analyze.results.accuracy import TOTAL
from omibench.stages.analyze.results.samples import RUNS
from omibench.stages.analyze.sections.accuracy import SamplesSection

pytestmark = pytest.mark.usefixtures("undrawn")

CELL = Cell("sim-middle", "cot")
K = 4


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    """The made study, in which chain of thought draws 4 samples and votes."""
    folders = make_study(tmp_path_factory.mktemp("sampled"))

    def repeat(frame: pl.DataFrame) -> pl.DataFrame:
        grown = repeat_samples(frame, K)
        if "rules" not in grown.columns:
            return grown
        # Samples 1 to 3 of an open problem agree on one wrong answer; the first stays as it was.
        later = (pl.col("index") > 0) & (pl.col("outcome") == "scored")
        later &= pl.col("id").str.ends_with("5")
        return grown.with_columns(
            verdict=pl.when(later).then(0.0).otherwise("verdict"),
            extracted=pl.when(later).then(pl.lit("31415")).otherwise("extracted"),
        )

    own = [c for c in folders.study.cells if c.setting == "cot"]
    rewrite_cells(folders, repeat, *own)
    values = study_values()
    values["settings"]["cot"] |= {  # type: ignore[index]
        "decoding": {"samples": K}, "aggregate": {"how": "majority", "k": [1, 2]},
    }  # fmt: skip
    study = parse_study(values, "test")
    root = folders.freeze.parent
    for cell in own:
        out = root / "aggregate" / cell.model / f"{cell.setting}.parquet"
        aggregate_cell(root, out, study, cell)
    return folders._replace(study=study)


@pytest.fixture(scope="module")
def results(sampled: Folders) -> Results:
    return sampled.load()


def test_the_chosen_sample_is_the_one_that_counts(results: Results) -> None:
    counted = results.select_verdicts("robust", CELL)
    assert counted.height == 28
    assert counted["id"].n_unique() == 28
    voted = counted.filter(pl.col("id").str.ends_with("5"), pl.col("outcome") == "scored")
    assert voted.height
    assert (voted["extracted"] == "31415").all()
    assert (voted["index"] == 1).all()
    (total,) = (
        analysis_of(results)
        .scores.filter(model=CELL.model, setting=CELL.setting, rules="robust", subject=TOTAL)
        .to_dicts()
    )
    assert total["responses"] == 28
    assert total["estimate"] == pytest.approx(counted["verdict"].mean())
    assert results.select_verdicts("robust", Cell("sim-middle", "direct")).height == 28


def test_metrics_equal_plain_counts(results: Results) -> None:
    rows = analysis_of(results).rows("samples")
    mine = rows.filter(model=CELL.model, setting=CELL.setting, rules="robust")
    found = {(row["metric"], row["k"]): row for row in mine.to_dicts()}
    assert set(found) == {(RUNS, K)} | {
        (metric, k) for metric in ("majority", "pass", "consistency") for k in (1, 2, K)
    }
    own = results.verdicts.filter(model=CELL.model, setting=CELL.setting, rules="robust")
    runs = own.group_by("index").agg(pl.col("verdict").mean())["verdict"]
    told = found[RUNS, K]
    assert told["estimate"] == pytest.approx(runs.mean())
    assert told["sd"] == pytest.approx(runs.std())
    right = own.group_by("id").agg(pl.col("verdict").sum())["verdict"]
    for k in (1, 2, K):
        passed = [1 - comb(K - int(c), k) / comb(K, k) for c in right]
        assert found["pass", k]["estimate"] == pytest.approx(sum(passed) / 28)
    counted = results.select_verdicts("robust", CELL)["verdict"].mean()
    assert found["majority", K]["estimate"] == pytest.approx(counted)
    first = own.filter(index=0)["verdict"].mean()
    assert found["majority", 1]["estimate"] == pytest.approx(first)


@pytest.mark.slow
def test_the_report_shows_them(sampled: Folders, tmp_path: Path) -> None:
    root = sampled.freeze.parent
    analyze_study(root, tmp_path, sampled.study)
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "Several samples of a problem" in page
    assert "consistency@k" in page
    table = pl.read_csv(tmp_path / "samples.csv")
    assert set(table["metric"]) == {RUNS, "majority", "pass", "consistency"}
    assert table["simulated"].all()
    problem = Page(next((tmp_path / "explorer" / "pages").glob("*5.html")))
    samples = [s for column in problem.data["place"]["columns"] for s in column["samples"]]
    assert {sample["left_out"] for sample in samples} == {True, False}


def test_a_cell_that_was_not_aggregated_is_named(sampled: Folders, tmp_path: Path) -> None:
    (tmp_path / "score").symlink_to(sampled.score)
    with pytest.raises(MissingInputError, match=r"run `omibench\s+aggregate` for sim-strong"):
        load_results(sampled.freeze, sampled.infer, tmp_path / "score", sampled.study)


def test_all_samples_count_without_a_choice(sampled: Folders, tmp_path: Path) -> None:
    values = study_values()
    values["settings"]["cot"] |= {"decoding": {"samples": K}}  # type: ignore[index]
    (tmp_path / "score").symlink_to(sampled.score)
    found = load_results(
        sampled.freeze, sampled.infer, tmp_path / "score", parse_study(values, "test")
    )
    assert found.select_verdicts("robust", CELL).height == 28 * K
    rows = replace(analysis_of(found), folder=tmp_path).rows("samples")
    assert rows.filter(rules="robust")["metric"].to_list() == [RUNS] * 3


@pytest.mark.parametrize(
    ("aggregate", "message"),
    [
        ("first", r"aggregate: majority.* say first; run `omibench aggr"),
        (
            {"how": "majority", "runs": 2},
            r"aggregate: majority of 4.* say of 2; run `omibench aggr",
        ),
    ],
)
def test_a_choice_of_other_parameters_is_refused(
    sampled: Folders, aggregate: object, message: str
) -> None:
    values = study_values()
    values["settings"]["cot"] |= {"decoding": {"samples": K}, "aggregate": aggregate}  # type: ignore[index]
    with pytest.raises(FileFormatError, match=message):
        load_results(sampled.freeze, sampled.infer, sampled.score, parse_study(values, "test"))


def test_candidates_that_one_prompt_did_not_hold_are_told(results: Results) -> None:
    setting = results.study.settings[CELL.setting]
    joint = Aggregation(how="best-of-n", judge=JudgePanel(models=["self"]), marking="joint")
    settings = {CELL.setting: setting.model_copy(update={"aggregate": joint})}
    study = results.study.model_copy(update={"settings": {**results.study.settings, **settings}})
    by_prompts = {1: None, 2: 1.0, K: 1.25}
    chosen = pl.col("metric") == "majority"
    rows = analysis_of(results).rows("samples")
    samples = rows.with_columns(
        metric=pl.when(chosen).then(pl.lit("best-of-n")).otherwise("metric"),
        prompts=pl.when(chosen).then(pl.col("k").replace_strict(by_prompts)),
    )
    analysis = analysis_of(replace(results, study=study), samples=samples)
    view = SamplesSection(analysis).view()
    assert view is not None
    lines = {row[-4][1].text: row[-3][1].lines for row in view["tables"][0].body}
    assert {k: line[1] for k, line in lines.items()} == {1: "", 2: "", K: "in 1.2 prompts"}
    records = [r for r in pivot_result(analysis, "samples") or () if r["metric"] == "best-of-n"]
    assert {r["k"]: r["prompts"] for r in records} == by_prompts
