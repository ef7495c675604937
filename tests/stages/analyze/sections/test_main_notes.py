"""What stands beside numbers: sizes, gains of fine-tuned models, tables, made-up problems."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.stages.analyze.conftest import Folders, analysis_of, make_study
from tests.stages.analyze.pages import Page

from omibench.params.models.providers import SimulatedModel
from omibench.params.setting import Cell
from omibench.params.stages.infer import InferParams
from omibench.params.study import Study, parse_study
from omibench.results.load import Results
from omibench.schemas.tables import FrozenManifest, read_json, write_json
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.results.accuracy import TOTAL
from omibench.stages.analyze.sections.leaderboard import (
    describe_gain,
    describe_places,
    describe_size,
)
from omibench.stages.analyze.sentences import make_headline
from omibench.stages.analyze.stage import analyze_study

pytestmark = pytest.mark.usefixtures("undrawn")


def described(study: Study) -> Study:
    """The study with a fine-tuned model, sizes, and two tables that print some of its cells."""
    values = study.model_dump(mode="json", exclude_defaults=True)
    values["models"]["sim-strong"] |= {"base": "sim-weak", "parameters_b": 8.0}
    values["models"]["sim-weak"] |= {"parameters_b": 235.0, "active_parameters_b": 22.0}
    values["infer"]["printed"] = {
        "table 2": {"models": ["sim-strong", "sim-weak"], "settings": ["cot"]},
        "figure 4": {"models": ["sim-strong"], "settings": ["cot", "direct"]},
    }
    values["analyze"] = {"explorer": False}
    return parse_study(values, "test")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    made = make_study(tmp_path_factory.mktemp("told"))
    return made._replace(study=described(made.study))


@pytest.fixture(scope="module")
def results(folders: Folders) -> Results:
    return folders.load()


def test_sizes_are_those_that_are_known() -> None:
    model = SimulatedModel(provider="simulated", oracle="o")
    assert describe_size(model) == ""
    whole = model.model_copy(update={"parameters_b": 0.5})
    assert describe_size(whole) == "0.5 B"
    mixed = model.model_copy(update={"parameters_b": 235.0, "active_parameters_b": 22.0})
    assert describe_size(mixed) == "235 B, 22 B active"


def test_a_gain_is_told_where_both_answered_the_same_number(
    results: Results, folders: Folders
) -> None:
    rows = analysis_of(results).scores.to_dicts()
    scores = {(r["model"], r["setting"], r["rules"], r["subject"]): r for r in rows}
    mine, base = (scores[m, "cot", "robust", TOTAL] for m in ("sim-strong", "sim-weak"))
    cell = Cell("sim-strong", "cot")
    difference = 100 * (mine["estimate"] - base["estimate"])
    assert describe_gain(results, cell, scores) == f"+{difference:.2f} from Weak"
    key = ("sim-weak", "cot", "robust", TOTAL)
    assert describe_gain(results, cell, {**scores, key: {**base, "n": 3}}) == ""
    alone = {place: row for place, row in scores.items() if place != key}
    assert describe_gain(results, cell, alone) == ""
    assert describe_gain(results, Cell("sim-weak", "cot"), scores) == ""


def test_tables_come_before_figures_in_the_order_of_their_numbers(results: Results) -> None:
    crossed = {"models": ["sim-strong"], "settings": ["cot"]}
    names = ("figure 10", "table 10", "appendix", "figure 3c", "table 2", "figure 3b", "table 9")
    infer = InferParams.model_validate({"printed": dict.fromkeys(names, crossed)})
    told_of = replace(results, study=results.study.model_copy(update={"infer": infer}))
    shown = describe_places(told_of, Cell("sim-strong", "cot"))
    assert shown == "table 2, 9, 10, appendix, figure 3b, 3c, 10"
    assert describe_places(told_of, Cell("sim-weak", "cot")) == ""


def test_the_report_shows_all_of_it(folders: Folders, tmp_path: Path) -> None:
    found = analyze_study(folders.freeze.parent, tmp_path, folders.study)
    html = found.report.read_text("utf-8")
    for text in ("235 B, 22 B active", "from Weak", "table 2, figure 4"):
        assert f'<span class="sub">{text}' in html or f"{text}</span>" in html


def test_made_up_problems_are_told_first(tmp_path: Path) -> None:
    folders = make_study(tmp_path, simulated=False, explorer=True)
    path = folders.freeze / "manifest.json"
    manifest = read_json(path, FrozenManifest)
    write_json(path, manifest.model_copy(update={"synthetic": "synthetic:omibench"}))
    results = folders.load()
    found = make_headline(
        Analysis(folders.study, results, folders.score.parent, tmp_path / "r.html")
    )
    assert found.simulated
    assert str(found).startswith("[SIMULATED] On made-up problems (synthetic:omibench)")
    assert results.main_simulated
    html = folders.analyze().report.read_text("utf-8")
    assert "The problems are synthetic (synthetic:omibench)." in html
    captions = html.split("<caption>")[1:]
    assert captions
    assert all(c.startswith("<span>SIMULATED. ") for c in captions)
    pages = [Page(path) for path in (folders.out / "explorer").rglob("*.html")]
    for page in pages:
        if page.has_data:
            assert page.data["study"]["synthetic"] == "synthetic:omibench"
        else:
            assert "The problems are synthetic and not part of a benchmark." in page.text
    assert {page.has_data for page in pages} == {True, False}


def test_a_dataset_that_simulated_models_judged_is_told(tmp_path: Path) -> None:
    folders = make_study(tmp_path, simulated=False, explorer=False)
    report = analyze_study(folders.freeze.parent, folders.out, folders.study).report
    text = re.sub(r"<script\b.*?</script>", "", report.read_text("utf-8"), flags=re.DOTALL)
    assert "SIMULATED" not in text
    path = folders.freeze / "manifest.json"
    manifest = read_json(path, FrozenManifest)
    write_json(path, manifest.model_copy(update={"simulated": {"captions": 4}}))
    html = folders.analyze().report.read_text("utf-8")
    told = "Simulated models judged the problems before they were frozen (captions of 4)."
    assert told in html
    assert "SIMULATED" in html
