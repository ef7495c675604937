"""Tables of a whole study: slices, chance, the dataset, costs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import altair as alt
import polars as pl
import pytest
import vl_convert
from tests.stages.analyze.conftest import Folders, table_of
from tests.stages.analyze.pages import Page

from omibench.datasets.registry import BENCHMARKS
from omibench.errors import ParamsError
from omibench.params.benchmark import BenchmarkParams
from omibench.plugins.registry import loading
from omibench.results.statistics.intervals import Estimate
from omibench.results.statistics.paired import independent_difference
from omibench.results.statistics.people import guess_accuracy
from omibench.schemas.problem import Answer, Choice, Question
from omibench.schemas.tables import AggregateRow, read_jsonl, write_jsonl, write_parquet
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.figures import FIGURES, figure, theme
from omibench.stages.analyze.figures.scatter_plots import (
    count_frontier,
    draw_costs,
    find_frontier,
    pick_cost,
)
from omibench.stages.analyze.results import RESULTS, result
from omibench.stages.analyze.results.chance import guess_chance
from omibench.stages.analyze.results.result import COLUMNS

# Results by attributes of a study: slices, averages of parts, what was studied.

pytestmark = pytest.mark.usefixtures("undrawn")


def open_analysis(made: Folders, *slices: str, freeze: Path | None = None) -> Analysis:
    return made._replace(freeze=freeze or made.freeze).open(slices=slices or None)


def table(analysis: Analysis, name: str) -> pl.DataFrame:
    frame = table_of(analysis, name)
    assert frame.columns[: len(COLUMNS)] == [*COLUMNS]
    return frame


def freeze_exams(made: Folders, folder: Path) -> Path:
    """The frozen dataset with an exam and skills for each item."""
    folder.mkdir()
    for name in ("questions.jsonl", "manifest.json"):
        (folder / name).write_bytes((made.freeze / name).read_bytes())
    answers = [
        answer.model_copy(
            update={
                "attributes": {"exam": "local" if n % 3 else "national"}
                | ({"skills": ["a", "b"][: n % 3]} if n % 3 else {})
            }
        )
        for n, answer in enumerate(read_jsonl(made.freeze / "answers.jsonl", Answer))
    ]
    write_jsonl(folder / "answers.jsonl", answers)
    return folder


def test_subjects_images_and_types_are_the_slices_of_a_study_that_names_none(made: Folders) -> None:
    frame = table(open_analysis(made), "slices")
    assert frame["slice"].unique(maintain_order=True).to_list() == [
        "subject", "n_images", "answer_type",
    ]  # fmt: skip
    analysis = open_analysis(made)
    physics = frame.filter(
        slice="subject", value="physics", model="sim-weak", setting="cot", rules="emma",
        metric="accuracy",
    ).row(0, named=True)  # fmt: skip
    (score,) = analysis.scores.filter(
        model="sim-weak", setting="cot", rules="emma", subject="physics"
    ).to_dicts()
    stated = (physics["estimate"], physics["low"], physics["high"], physics["n"])
    assert stated == pytest.approx(
        (score["estimate"], score["low"], score["high"], score["n"]), abs=1e-6
    )
    assert physics["clusters"] < physics["n"]
    assert physics["simulated"]


def test_two_attributes_and_lists_of_labels(made: Folders, tmp_path: Path) -> None:
    analysis = open_analysis(
        made, "exam,skills", "images", freeze=freeze_exams(made, tmp_path / "frozen")
    )
    frame = table(analysis, "slices").filter(rules="robust")
    cell = frame.filter(model="sim-weak", setting="direct")
    items = len(analysis.results.answers)
    assert dict(cell.select("value", "n").iter_rows()) == {
        "local × a": sum(n % 3 > 0 for n in range(items)),
        "local × b": sum(n % 3 == 2 for n in range(items)),
        "national × not stated": sum(n % 3 == 0 for n in range(items)),
    }
    pooled = frame.filter(slice="images", model="sim-weak")
    assert pooled.select("setting", "value", "cells").rows() == [("", "all", 2), ("", "first", 1)]


def test_a_slice_by_what_is_not_there_is_a_line_before_anything_is_written(
    made: Folders, tmp_path: Path
) -> None:
    message = r"analyze\.slices: slice 'subjekt': no .*; available: subject, "
    with pytest.raises(ParamsError, match=message):
        made.analyze(tmp_path / "out", slices=["subjekt"])
    assert not (tmp_path / "out").exists()


def test_the_parts_of_a_slice_have_an_average_and_a_difference(
    made: Folders, tmp_path: Path
) -> None:
    analysis = open_analysis(made, "exam", freeze=freeze_exams(made, tmp_path / "frozen"))
    where = {"model": "sim-weak", "setting": "cot", "rules": "robust"}
    local, national = (
        Estimate(row["estimate"], row["low"], row["high"], row["n"], 0.0)
        for row in table(analysis, "slices").filter(**where).iter_rows(named=True)
    )
    macro, difference = table(analysis, "macro").filter(**where).iter_rows(named=True)
    assert (macro["metric"], macro["of"], macro["value"]) == (
        "macro", "accuracy", "local, national",
    )  # fmt: skip
    assert macro["estimate"] == pytest.approx((local.mean + national.mean) / 2, abs=1e-6)
    assert macro["low"] < macro["estimate"] < macro["high"]
    expected = independent_difference(local, national)
    stated = difference["estimate"], difference["low"], difference["high"]
    assert stated == pytest.approx(tuple(expected)[:3], abs=2e-6)
    assert difference["value"] == "local - national"


def test_slices_that_share_items_have_no_average(made: Folders, tmp_path: Path) -> None:
    freeze = freeze_exams(made, tmp_path / "frozen")
    assert open_analysis(made, "skills", "exam,skills", freeze=freeze).table("macro") is None


def test_outcomes_and_lengths_have_tables(made: Folders) -> None:
    analysis = open_analysis(made, "subject")
    outcomes = table(analysis, "slice-outcomes")
    assert set(outcomes["metric"]) >= {"outcome-refused", "outcome-truncated"}
    lengths = table(analysis, "slice-lengths")
    assert set(lengths["metric"]) == {"characters", "output_tokens"}
    assert lengths["rules"].unique().to_list() == [""]
    assert analysis.table("slice-samples") is None


def test_samples_are_read_from_the_stage_that_aggregates(made: Folders, tmp_path: Path) -> None:
    study = made.study
    setting = study.settings["cot"]
    decoding = setting.decoding.model_copy(update={"samples": 2})
    settings = {**study.settings, "cot": setting.model_copy(update={"decoding": decoding})}
    study = study.model_copy(update={"settings": settings})
    results = made.load(study)
    rows = [
        AggregateRow(id=name, rules="robust", metric="pass", k=2, value=1.0)
        for name in results.answers
    ]
    write_parquet(tmp_path / "aggregate/sim-weak/cot.parquet", rows, AggregateRow)
    analysis = Analysis(study, results, tmp_path, made.out / "report.html")
    frame = table(analysis, "slice-samples").filter(slice="subject")
    assert frame.select("model", "metric", "estimate").unique().rows() == [
        ("sim-weak", "pass@2", 1.0)
    ]


def test_models_and_settings_are_tables(made: Folders) -> None:
    analysis = open_analysis(made)
    assert table(analysis, "models").select("model", "group", "provider").rows()[0] == (
        "sim-strong", "High ability", "simulated",
    )  # fmt: skip
    settings = table(analysis, "settings")
    assert settings["simulated"].all()
    assert settings.select("setting", "images", "full").rows() == [
        ("cot", "all", True), ("direct", "all", True), ("first-image", "first", False),
    ]  # fmt: skip


# What guessing gives: by item, by slice, beside the cells that it explains, and in the report.


def make_answer(gold: list[str], choices: int) -> Answer:
    labels = [Choice(label=label, text=f"{label}.") for label in "ABCDEFGH"[:choices]]
    return Answer(
        id="p",
        answer=gold,
        answer_type="mcq" if choices else "open",
        choices=labels or None,
    )


@pytest.mark.parametrize(
    ("gold", "choices", "chance"),
    [(["B"], 4, 1 / 4), (["b"], 5, 1 / 5), (["A", "C"], 4, 1 / 15), (["BD"], 4, 1 / 15)],
)
def test_a_guess_picks_one_choice_or_one_set_of_them(
    gold: list[str], choices: int, chance: float
) -> None:
    assert guess_chance(make_answer(gold, choices)) == chance


def test_an_open_answer_is_not_guessed() -> None:
    assert guess_chance(make_answer(["42"], 0)) == 0


def test_slices_have_the_chance_of_their_items(made: Folders) -> None:
    analysis = made.open()
    table = table_of(analysis, "chance")
    answers = list(analysis.results.answers.values())
    for name, subject in [("", ""), ("subject", "physics")]:
        part = [a for a in answers if subject in ("", a.subject)]
        expected = guess_accuracy([guess_chance(answer) for answer in part])
        (row,) = table.filter(metric="chance", slice=name, value=subject).to_dicts()
        assert (row["estimate"], row["upper"]) == pytest.approx(
            (expected.mean, expected.upper), abs=1e-6
        )
        assert (row["n"], row["model"]) == (len(part), "")
        assert row["low"] < row["estimate"] < row["high"]
    values = table.filter(metric="chance", slice="n_images")["value"].to_list()
    assert values == sorted(values, key=lambda value: int(value.rstrip("+")))


def test_the_share_of_cells_at_chance_is_that_of_their_intervals(made: Folders) -> None:
    analysis = made.open()
    model, rules = "sim-weak", "robust"
    answers = analysis.results.answers
    at_chance = []
    for score in analysis.scores.filter(model=model, setting="cot", rules=rules).to_dicts():
        part = [a for a in answers.values() if score["subject"] in ("total", a.subject)]
        chance = guess_accuracy([guess_chance(a) for a in part]).mean
        at_chance.append(score["low"] <= chance <= score["high"])
    table = table_of(made.open(slices=["subject"]), "chance")
    (row,) = table.filter(metric="at chance", model=model, setting="cot", rules=rules).to_dicts()
    assert row["n"] == len(at_chance) == 5
    assert row["estimate"] == pytest.approx(sum(at_chance) / 5)
    assert row["simulated"]
    assert "gptscore" not in table["rules"].to_list()


def test_a_cell_stands_beside_the_chance_of_the_items_that_it_answered(made: Folders) -> None:
    analysis = made.open()
    results = analysis.results
    opened = [id for id, answer in results.answers.items() if not answer.choices]
    cell = (pl.col("model") == "sim-weak") & (pl.col("setting") == "cot")
    verdicts = results.verdicts.filter(~cell | pl.col("id").is_in(opened))
    partial = replace(analysis, results=replace(results, verdicts=verdicts))
    table = table_of(partial, "chance")
    at_chance = table.filter(metric="at chance", model="sim-weak", rules="robust")
    assert at_chance["setting"].to_list() == ["direct", "first-image", ""], "open items alone"
    assert at_chance["n"][-1] == at_chance["n"][:2].sum()


def test_a_study_of_open_answers_has_no_chance(made: Folders) -> None:
    analysis = made.open()
    opened = {
        id: answer.model_copy(update={"choices": None})
        for id, answer in analysis.results.answers.items()
    }
    bare = replace(analysis, results=replace(analysis.results, answers=opened))
    assert bare.table("chance") is None


def test_the_main_table_has_a_row_of_guessing(reported: Folders) -> None:
    html = (reported.out / "report.html").read_text("utf-8")
    assert "Random choice" in html
    assert "contain the accuracy of guessing" in html
    table = pl.read_csv(reported.out / "tables" / "chance.csv")
    whole = table.filter(pl.col("metric") == "chance", pl.col("slice") == "")
    assert f"{100 * whole['estimate'][0]:.1f}" in html


def test_the_random_choice_that_is_printed_is_a_likely_draw(
    shared_data: Path, tmp_path: Path
) -> None:
    """EMMA, table 2, EMMA-mini: whole counts out of 100, as one draw gives them."""
    params = BenchmarkParams(name="emma-mini")
    answers = BENCHMARKS.get("emma-mini").load(shared_data / "emma", tmp_path, params).answers
    printed = {"mathematics": 0.13, "physics": 0.23, "chemistry": 0.27, "coding": 0.28}
    for subject, share in printed.items():
        guessed = guess_accuracy([guess_chance(a) for a in answers if a.subject == subject])
        assert guessed.lo <= share <= guessed.hi
    total = guess_accuracy([guess_chance(answer) for answer in answers])
    assert total.lo <= 0.2275 <= total.hi


# What the dataset holds, counted from the frozen problems.


@pytest.fixture
def tables(reported: Folders) -> Path:
    return reported.out / "tables"


def test_counts_and_means_are_those_of_the_frozen_problems(made: Folders, tables: Path) -> None:
    table = pl.read_parquet(tables / "dataset.parquet")
    answers = read_jsonl(made.freeze / "answers.jsonl", Answer)
    questions = {q.id: q for q in read_jsonl(made.freeze / "questions.jsonl", Question)}

    def estimate(metric: str, value: str = "", cut: str = "") -> float:
        (row,) = table.filter(metric=metric, slice=cut, value=value).iter_rows(named=True)
        return float(row["estimate"])

    assert estimate("problems") == len(answers)
    biology = [a for a in answers if a.subject == "biology"]
    assert estimate("problems", "biology", "subject") == len(biology)
    assert estimate("share of problems", "biology", "subject") == pytest.approx(
        len(biology) / len(answers), abs=1e-6
    )
    assert estimate("images", "biology", "subject") == pytest.approx(
        sum(a.n_images for a in biology) / len(biology), abs=1e-6
    )
    lengths = [len(questions[a.id].question) for a in answers]
    row = table.filter(metric="question characters", slice="").row(0, named=True)
    assert row["estimate"] == pytest.approx(sum(lengths) / len(lengths), abs=1e-6)
    assert (row["least"], row["most"]) == (min(lengths), max(lengths))


def test_every_question_is_in_one_bin_of_lengths(made: Folders, tables: Path) -> None:
    table = pl.read_parquet(tables / "question-lengths.parquet")
    questions = read_jsonl(made.freeze / "questions.jsonl", Question)
    for row in table.iter_rows(named=True):
        inside = [q for q in questions if row["least"] <= len(q.question) <= row["most"]]
        assert row["n"] == len(inside)
    assert table["n"].sum() == len(questions)


# Results of a study: which there are, and what a plug-in's mistake says.

MINE, MY_FIGURE, OF_NOTHING = "of-a-test", "drawn-by-a-test", "drawn-of-nothing"


@pytest.fixture
def registered() -> Iterator[None]:
    """What a test registers under these names is forgotten again."""
    yield
    for registry, name in ((RESULTS, MINE), (FIGURES, MY_FIGURE), (FIGURES, OF_NOTHING)):
        registry._parts.pop(name, None)  # type: ignore[attr-defined]
        registry._origins.pop(name, None)  # type: ignore[attr-defined]


def test_every_built_in_result_has_a_title_and_says_in_its_docstring_what_it_is() -> None:
    for name in RESULTS.built_in_names:
        part = RESULTS.get(name)
        assert part.name == name
        assert part.title
        assert part.tabulate.__doc__
    for name in FIGURES.built_in_names:
        drawn = FIGURES.get(name)
        assert drawn.title
        assert drawn.table in RESULTS.names


def test_accuracy_is_that_of_the_main_table(reported: Folders) -> None:
    main = pl.read_csv(reported.out / "main.csv").filter(subject="total")
    table = pl.read_parquet(reported.out / "tables/accuracy.parquet")
    means = table.filter(pl.col("metric").is_in(["accuracy", "gptscore"]))
    joined = main.join(means, on=["model", "setting", "rules"], suffix="_result")
    assert joined.height == main.height == means.height
    for ours, other in (("acc", "estimate"), ("lo", "low"), ("hi", "high"), ("n", "n_result")):
        assert joined[ours].to_list() == pytest.approx(joined[other].to_list(), abs=2e-6)
    assert joined["simulated"].to_list() == joined["simulated_result"].to_list()


def test_a_report_without_failed_parts_names_none(reported: Folders) -> None:
    assert "failed-parts" not in Page(reported.out / "report.html").ids


@pytest.mark.usefixtures("registered")
def test_parts_of_a_plug_in_that_fail_cost_themselves_and_the_others_are_shown(
    made: Folders,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A result fails, a figure is of no table, and another has colours of its own."""
    rows = alt.Data(values=[{"a": 1, "b": 2}])
    chart = alt.Chart(rows).mark_bar(color="#4c78a8").encode(x="a:Q", y="b:Q")
    svg = vl_convert.vegalite_to_svg(chart.to_dict())
    monkeypatch.setattr(theme, "render_specification", lambda specification: svg)
    with loading("mine.py"):

        @result(MINE, title="None works")
        def tabulate(analysis: Analysis) -> pl.DataFrame | None:
            return analysis.items.select("no_such_column")

        figure(MY_FIGURE, table="accuracy", title="In Altair's blue")(lambda table: chart)
        figure(OF_NOTHING, table="acuracy", title="Nothing")(lambda table: None)
    left = tmp_path / "tables/earlier.csv"
    left.parent.mkdir(parents=True)
    left.write_text("result\n")
    made.analyze(tmp_path, explorer=False)
    assert re.search(rf"result '{MINE}': mine.py: Column", caplog.text)
    assert re.search(r"unknown result 'acuracy'.*'accuracy'", caplog.text)
    assert caplog.text.count("left out of the report") == 2
    tables = {path.name for path in left.parent.glob("*.csv")}
    assert "accuracy.csv" in tables
    assert tables.isdisjoint({f"{MINE}.csv", left.name})
    page = Page(tmp_path / "report.html")
    assert {"main", "failed-parts", "provenance", f"figure-{MY_FIGURE}"} <= page.ids
    assert f"result '{MINE}'" in page.text
    assert f"figure '{OF_NOTHING}'" in page.text
    assert f"figure '{MY_FIGURE}'" not in page.text
    assert 'fill="#4c78a8"' in page.path.read_text("utf-8")


# What a problem costs: sums over samples, means over problems, nothing where it is not known.

SPENT = ("cost_usd", "input_tokens", "output_tokens", "latency_s")


@pytest.fixture(scope="module")
def analysis(made: Folders) -> Analysis:
    return made.open()


def spend(analysis: Analysis, **values: pl.Expr | float | None) -> Analysis:
    """The analysis with other costs of its responses."""
    responses = analysis.results.responses.with_columns(
        **{name: values.get(name, pl.lit(None, dtype=pl.Float64)) for name in SPENT},
        reasoning_tokens=pl.lit(None, dtype=pl.Int64),
    )
    results = replace(analysis.results, responses=responses)
    return Analysis(analysis.study, results, analysis.folder, analysis.report)


def test_all_samples_of_a_problem_are_paid_for(analysis: Analysis) -> None:
    twice = spend(analysis, cost_usd=pl.lit(0.25), output_tokens=pl.lit(10))
    responses = twice.results.responses.cast({"index": pl.Int64})
    doubled = replace(
        twice.results,
        responses=pl.concat([responses, responses.with_columns(index=pl.lit(1, dtype=pl.Int64))]),
    )
    table = table_of(Analysis(twice.study, doubled, twice.folder, twice.report), "accuracy-by-cost")
    assert table.height == 9
    assert set(table["dollars"]) == {0.5}
    assert set(table["output_tokens"]) == {20}
    assert set(table["total_dollars"]) == {0.5 * 28}
    row = table.row(0, named=True)
    assert row["dollars_per_right"] == pytest.approx(14 / (row["estimate"] * 28), abs=1e-4)


def test_a_response_that_does_not_say_makes_the_cost_of_its_cell_unknown(
    analysis: Analysis,
) -> None:
    is_silent = (pl.col("model") == "sim-weak") & (pl.col("id") == "biology_00")
    cost = pl.when(~is_silent).then(0.5)
    table = table_of(spend(analysis, cost_usd=cost, output_tokens=pl.lit(3)), "accuracy-by-cost")
    unknown = table.filter(pl.col("dollars").is_null())
    assert set(unknown["model"]) == {"sim-weak"}
    assert pick_cost(table) == "output_tokens"


def test_without_any_cost_there_is_no_table(analysis: Analysis) -> None:
    assert spend(analysis).table("accuracy-by-cost") is None


def test_the_frontier_holds_what_no_other_beats() -> None:
    points = [(3.0, 0.5), (1.0, 0.2), (2.0, 0.2), (1.0, 0.1), (4.0, 0.5)]
    assert find_frontier(points) == [1, 0]


def test_a_free_model_is_not_compared_in_dollars(analysis: Analysis) -> None:
    free = spend(analysis, cost_usd=pl.lit(0.0), output_tokens=pl.col("input_tokens"))
    table = table_of(free, "accuracy-by-cost")
    assert pick_cost(table) is None
    assert draw_costs(table) is None
    assert count_frontier(table) is None


def test_the_sentence_says_that_nothing_was_tested(analysis: Analysis) -> None:
    table = spend(
        analysis, output_tokens=pl.col("id").rank("dense") + pl.col("model").rank("dense")
    ).table("accuracy-by-cost")
    assert table is not None
    found = count_frontier(table)
    assert found is not None
    assert found.endswith("these are point estimates, and were not tested.")
    chart = draw_costs(table)
    assert chart is not None
    lines = chart.to_dict()["title"]["subtitle"]
    assert lines[1].startswith("1 ")


def test_the_report_has_a_part_on_cost(reported: Folders) -> None:
    page = (reported.out / "report.html").read_text("utf-8")
    assert 'id="part-cost"' in page
    assert page.index('id="part-failures"') < page.index('id="part-cost"')
