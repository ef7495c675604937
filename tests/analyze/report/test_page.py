"""The report as a reader meets it: safe, labelled, and showing what the tables hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyze.conftest import Folders, make_study, study_values
from analyze.pages import Page
from omibench.analyze.stage import analyze
from omibench.study import parse_study


@pytest.fixture(scope="module")
def report(made: Folders, tmp_path_factory: pytest.TempPathFactory) -> Page:
    out = tmp_path_factory.mktemp("report")
    return Page(analyze(*made[:3], out, made.study).report)


def test_it_needs_no_script_and_no_network(report: Page) -> None:
    report.assert_harmless()
    assert len([tag for tag, _ in report.elements if tag == "svg"]) == 4


def test_simulated_stands_at_every_model_tile_table_and_figure(report: Page) -> None:
    html = report.path.read_text("utf-8")
    for label in ("Strong", "Middle", "Weak"):
        assert f'{label}<br> <span class="sim">SIMULATED</span>' in html
    captions = html.split("<caption>")[1:]
    assert len(captions) >= 4
    assert all(c.startswith("SIMULATED. ") for c in captions)
    tiles = html.split('<p class="label">')[1:]
    assert all("SIMULATED" in tile.split("</p>")[0] for tile in tiles)
    assert "SIMULATED · Accuracy by model and setting" in html
    assert 'GPTScore <span class="sim">SIMULATED</span>' in html


def test_it_names_what_it_was_made_from(report: Page, made: Folders) -> None:
    manifest = (made.freeze / "manifest.json").read_text("utf-8")
    for words in ("sample, seed 7", "sample 1.0.0", "polars", "Parameters, SHA-256"):
        assert words in report.text
    digest = next(w for w in report.text.split() if len(w) == 64)
    assert digest in manifest


def test_words_from_params_are_escaped(made: Folders, tmp_path: Path) -> None:
    values = study_values(explorer=False)
    values["study"] = {"title": "<script>alert(1)</script>"}
    models = dict(values["models"])  # type: ignore[call-overload]
    models["sim-weak"] = {**models["sim-weak"], "label": "<img src=x onerror=alert(1)>"}
    study = parse_study({**values, "models": models}, "test")
    page = Page(analyze(*made[:3], tmp_path, study).report)
    page.assert_harmless()
    assert "<img src=x onerror=alert(1)>" in page.text


def test_printed_rows_stand_below_ours_and_differences_are_named(
    tmp_path: Path,
) -> None:
    printed = tmp_path / "printed.csv"
    printed.write_text(
        "model,strategy,total_acc,physics_acc\nStrong,cot,12.34,42.86\nOther,cot,99.99,\n", "utf-8"
    )
    folders = make_study(tmp_path / "made", published=str(printed), explorer=False)
    page = Page(analyze(*folders).report)
    assert "Of 2 printed cells for which all responses are here, 1 follow" in page.text
    assert "12.34" in page.text
    assert "99.99" in page.text
    differing = [a for _, a in page.elements if a.get("class") == "differs"]
    assert len(differing) == 1
