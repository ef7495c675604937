"""The report as a reader meets it: safe, labelled, and showing what the tables hold."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest
from tests.stages.analyze.conftest import (
    Folders,
    drop_pictures,
    make_published_study,
    make_study,
    rewrite_cells,
    rewrite_verdicts,
    study_values,
)
from tests.stages.analyze.pages import Page

from omibench.params.setting import Cell
from omibench.params.study import parse_study
from omibench.stages.analyze.stage import analyze_study
from omibench.web.plots_page import read_vega_scripts


@pytest.fixture(scope="module")
def report(reported: Folders) -> Page:
    return Page(reported.out / "report.html")


def test_its_scripts_are_ours_and_it_needs_no_network(report: Page) -> None:
    report.assert_harmless()
    assert len(report.scripts) == 2
    assert report.packed == "\n".join(read_vega_scripts())
    assert report.path.stat().st_size < 1_000_000
    drawings = [tag for tag, _ in report.elements if tag == "svg"]
    files = [path.stem for path in (report.path.parent / "figures").glob("*.svg")]
    assert {"accuracy", "images", "rules", "failures", "ranks"} <= set(files)
    assert len(drawings) == len(files)


def test_a_study_without_judges_of_reasoning_or_print_has_no_such_cards(report: Page) -> None:
    assert not {"reasoning", "other-judges", "audit"} & report.ids
    names = {path.name for path in report.path.parent.glob("*.csv")}
    assert not {"errors.csv", "rationales.csv", "other-judges.csv"} & names


def test_figures_name_models_by_their_labels(report: Page) -> None:
    figures = [path.read_text("utf-8") for path in (report.path.parent / "figures").glob("*.svg")]
    assert figures
    assert not [text for text in figures if "sim-strong" in text]
    ranks = (report.path.parent / "figures/ranks.svg").read_text("utf-8")
    assert all(label in ranks for label in ("Strong", "Middle", "Weak"))


def test_simulated_stands_at_every_model_tile_table_and_figure(report: Page) -> None:
    html = report.path.read_text("utf-8")
    for label in ("Strong", "Middle", "Weak"):
        assert f'{label}</span> <span class="sim">SIMULATED</span>' in html
    captions = html.split("<caption>")[1:]
    assert len(captions) >= 4
    assert all(c.startswith("<span>SIMULATED. ") for c in captions)
    tiles = html.split('<p class="label">')[1:]
    assert all("SIMULATED" in tile.split("</p>")[0] for tile in tiles)
    assert "SIMULATED · Accuracy by model and setting" in html
    assert 'GPTScore <span class="sim">SIMULATED</span>' in html


@pytest.mark.slow
def test_a_simulated_judge_marks_only_what_it_judged(tmp_path: Path) -> None:
    folders = make_study(tmp_path, simulated=False, explorer=False)
    judged = pl.col("rules") == "gptscore"
    rewrite_verdicts(folders, lambda f: f.with_columns(simulated=judged))
    html = folders.analyze().report.read_text("utf-8")
    assert 'GPTScore <span class="sim">SIMULATED</span>' in html
    tiles = [text.split("</p>")[0] for text in html.split('<p class="label">')[1:]]
    assert [tile for tile in tiles if "SIMULATED" in tile] == [
        tile for tile in tiles if tile.startswith("Judge minus scorer")
    ]
    assert "Strong</span> <span" not in html
    assert "SIMULATED · Accuracy by model" not in html
    assert "SIMULATED · Scorers and judge" in html
    assert "<caption><span>ACC in per cent" in html


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_published_verdicts_alone_promise_no_failures(tmp_path: Path) -> None:
    folders = make_published_study(tmp_path, robust=False, explorer=False)
    headline = folders.analyze()
    assert headline.numbers[-1].value == "not known"
    text = Page(headline.report).text
    assert "0.0\N{NO-BREAK SPACE}%" not in headline.numbers[-1].detail
    assert "Published verdicts do not say" not in text  # no figure of failures
    assert "published verdicts do not show which responses have no answer" in text
    rows = [r for r in table_rows(headline.report) if "Chain of thought" in r]
    assert len(rows) == 3
    assert all(r.count("<td>–</td><td>–</td>") == 1 for r in rows)
    assert '"failures"' not in (folders.out / "metrics.json").read_text("utf-8")


@pytest.mark.slow
def test_failures_taken_from_robust_are_named_as_such(tmp_path: Path) -> None:
    folders = make_published_study(tmp_path, robust=True, explorer=False)
    headline = folders.analyze()
    assert "by the scorer robust" in headline.numbers[-1].detail
    text = Page(headline.report).text
    assert "No answer, by robust" in text
    assert "Failures by outcome by the scorer robust" in text


def table_rows(report: Path) -> list[str]:
    table = report.read_text("utf-8").split("<h2>Leaderboard")[1].split("</table>")[0]
    return [row for row in table.split("<tr") if row.startswith(' class="cell')]


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_a_total_over_part_of_the_problems_says_so(tmp_path: Path) -> None:
    folders = make_study(tmp_path, simulated=False, explorer=False)
    few = Cell("sim-strong", "cot")
    rewrite_cells(folders, lambda f: f.filter(pl.col("id").str.starts_with("physics")), few)
    headline = folders.analyze()
    marked = [r for r in table_rows(headline.report) if "7 of 28 problems" in r]
    assert len(marked) == 1
    assert "Chain of thought" in marked[0]
    assert "leader" not in marked[0]
    assert headline.numbers[0].detail.endswith("1 cell without all problems left out")
    assert "1 cell without all of these problems cannot lead." in Page(headline.report).text


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_a_dataset_without_pictures_says_so(tmp_path: Path) -> None:
    folders = make_study(tmp_path)
    drop_pictures(folders)
    text = Page(folders.analyze().report).text
    assert "28 problems (pictures not held)" in text
    assert "0 images" not in text


def test_interval_and_gptscore_cannot_be_confused(report: Page) -> None:
    rows = [r for r in table_rows(report.path) if "Chain of thought" in r]
    for row in rows:
        total = row.split('class="text bars"')[1]
        small = re.findall(r'<span class="sub">([^<]*)</span>', total)
        assert re.fullmatch(r"\[\d+\.\d, \d+\.\d\]", small[0])
        assert all(re.fullmatch(r"GPT \d+\.\d", s) for s in small[1:5])
        assert re.search(r"<td>\d+\.\d to \d+\.\d</td>", row)


def test_it_names_what_it_was_made_from(report: Page, made: Folders) -> None:
    manifest = (made.freeze / "manifest.json").read_text("utf-8")
    for words in ("sample, seed 7", "sample 1.0.0", "polars", "Parameters, SHA-256"):
        assert words in report.text
    digest = next(w for w in report.text.split() if len(w) == 64)
    assert digest in manifest


@pytest.mark.slow
def test_words_from_params_are_escaped(made: Folders, tmp_path: Path) -> None:
    values = study_values(explorer=False)
    values["study"] = {"title": "<script>alert(1)</script>"}
    models = dict(values["models"])  # type: ignore[call-overload]
    models["sim-weak"] = {**models["sim-weak"], "label": "<img src=x onerror=alert(1)>"}
    study = parse_study({**values, "models": models}, "test")
    page = Page(analyze_study(made.freeze.parent, tmp_path, study).report)
    page.assert_harmless()
    assert "<img src=x onerror=alert(1)>" in page.text


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_printed_rows_stand_below_ours_and_differences_are_named(
    tmp_path: Path,
) -> None:
    printed = tmp_path / "printed.csv"
    printed.write_text(
        "model,strategy,total_acc,physics_acc\nStrong,cot,12.34,42.86\nOther,cot,99.99,\n", "utf-8"
    )
    folders = make_study(tmp_path / "made", simulated=False, published=str(printed), explorer=False)
    page = Page(folders.analyze().report)
    assert "Of 2 printed cells with complete responses, 1 follow" in page.text
    assert "12.34" in page.text
    # With printed rows below them, all accuracies have two decimals, like these.
    assert all(
        re.findall(r'<td class="total">(\d+\.\d+)<span class="sub">\[', row)[0][-3] == "."
        for row in table_rows(page.path)
        if "First image only" in row
    )
    assert "99.99" in page.text
    differing = [a for _, a in page.elements if a.get("class") == "differs"]
    assert len(differing) == 1
