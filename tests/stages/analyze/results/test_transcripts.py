"""OCR accuracy of models, beside and correlated with their answers (MathReal, table 7)."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean

import pytest
from scipy import stats
from tests.stages.analyze.conftest import Folders
from tests.stages.analyze.results.reading_study import (
    CUTS,
    open_reading_study,
    read_metrics,
    spoil_text,
)

from omibench.answers.transcripts import print_text, similarity
from omibench.schemas.problem import Choice, Figure, Question
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.figures.figure import FIGURES
from omibench.stages.analyze.figures.theme import apply_theme, render


@pytest.fixture(scope="module")
def analysis(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    return open_reading_study(tmp_path_factory.mktemp("read"), judged=True)


def test_the_printed_text_has_options_and_no_marks() -> None:
    choices = [Choice(label="A", text="1 cm"), Choice(label="B", text="2 cm")]
    figures = [Figure(file="a.png", sha256="0" * 64)]
    question = Question(id="p", question="How long is [IMAGE0]?", images=figures, choices=choices)
    assert print_text(question) == "How long is ?\nA. 1 cm\nB. 2 cm"


def test_accuracy_is_the_mean_of_five_parts(analysis: Analysis) -> None:
    table = analysis.table("ocr")
    strong = read_metrics(table, model="sim-strong")
    assert strong["lexical"] == strong["numbers"] == strong["structure"] == 1
    assert (strong["terms"], strong["semantics"]) == (0.75, 0.75)
    assert strong["accocr"] == pytest.approx((1 + 0.75 + 0.75 + 1 + 1) / 5)
    assert table is not None
    counts = dict(table.filter(model="sim-weak").select("metric", "n").iter_rows())
    assert (counts["lexical"], counts["accocr"]) == (27, 26), "one was not judged, one not read"
    questions = list(analysis.results.questions.values())[1:]
    expected = [
        similarity(spoil_text(print_text(q), CUTS["sim-weak"]), print_text(q)) for q in questions
    ]
    weak = read_metrics(table, model="sim-weak")
    assert weak["lexical"] == pytest.approx(fmean(expected), abs=1e-6)
    assert table["simulated"].all()


def test_without_a_judge_rules_say_what_they_can(tmp_path: Path) -> None:
    bare = open_reading_study(tmp_path, judged=False)
    assert set(read_metrics(bare.table("ocr"), model="sim-weak")) == {
        "numbers", "structure", "lexical",
    }  # fmt: skip
    table = bare.table("ocr-accuracy")
    assert table is not None
    assert set(table["measure"]) == {"lexical"}


def test_a_reading_is_of_the_model_that_read(tmp_path: Path) -> None:
    table = open_reading_study(tmp_path, judged=False, reader="judge").table("ocr-readings")
    assert table is not None
    assert set(table["model"]) == {"judge"}
    assert table["id"].is_unique().all()


def test_accuracies_stand_beside_how_well_a_model_reads(analysis: Analysis) -> None:
    table, accuracy = analysis.table("ocr-accuracy"), analysis.table("accuracy")
    assert table is not None
    assert accuracy is not None
    assert table.height == 9, "three models under three settings"
    place = {"model": "sim-weak", "setting": "direct"}
    (row,) = table.filter(**place).rows(named=True)
    expected = read_metrics(accuracy, **place, rules="robust")
    assert row["estimate"] == expected["accuracy"]
    assert row["ocr"] == read_metrics(analysis.table("ocr"), model="sim-weak")["accocr"]
    assert row["measure"] == "accocr"


def test_correlations_are_over_items_and_over_models(analysis: Analysis) -> None:
    table = analysis.table("ocr-correlation")
    assert table is not None
    place = {"model": "sim-weak", "setting": "cot", "rules": "robust", "metric": "pearson"}
    (row,) = table.filter(**place).rows(named=True)
    readings = analysis.table("ocr-readings")
    assert readings is not None
    values = analysis.item_values.filter(model="sim-weak", setting="cot", rules="robust")
    pairs = readings.filter(model="sim-weak").drop_nulls("accocr").join(values, on="id")
    expected = stats.pearsonr(pairs["accocr"].to_numpy(), pairs["verdict"].to_numpy())
    assert row["estimate"] == pytest.approx(expected.statistic, abs=1e-5)
    assert (row["n"], row["over"]) == (26, "items")
    assert row["low"] <= row["estimate"] <= row["high"]
    models = table.filter(over="models", metric="spearman", setting="direct")
    (row,) = models.rows(named=True)
    sides = analysis.table("ocr-accuracy")
    assert sides is not None
    direct = sides.filter(setting="direct")
    expected = stats.spearmanr(direct["ocr"].to_numpy(), direct["estimate"].to_numpy())
    assert row["estimate"] == pytest.approx(expected.statistic)
    assert row["n"] == 3


def test_a_study_that_reads_nothing_has_none_of_these(made: Folders) -> None:
    results = made.load()
    analysis = Analysis(made.study, results, made.freeze.parent, made.out / "report.html")
    names = ("ocr-readings", "ocr", "ocr-accuracy", "ocr-correlation")
    assert [analysis.table(name) for name in names] == [None] * 4


def test_the_figure_is_drawn_from_the_table(analysis: Analysis) -> None:
    table = analysis.table("ocr-accuracy")
    assert table is not None
    chart = FIGURES.get("ocr-accuracy").draw(table)
    assert chart is not None
    svg = render(chart)
    apply_theme(svg, "A figure")
    assert "SIMULATED" in svg
    assert "sim-strong" in svg
    assert "AccOCR" in svg
    assert FIGURES.get("ocr-accuracy").draw(table.clear()) is None
