"""Sections of the report: notes under the main table, judges, audit, plug-ins."""

from __future__ import annotations

import csv
import logging
import re
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from logging.handlers import BufferingHandler
from pathlib import Path
from typing import NamedTuple

import polars as pl
import pytest
from tests.conftest import leave_undrawn
from tests.judges.plugin_judges import plugin_judges
from tests.stages.analyze.conftest import Folders, analysis_of, make_study
from tests.stages.analyze.pages import Page

from omibench.params.models.providers import SimulatedModel
from omibench.params.setting import Cell
from omibench.params.stages.infer import InferParams
from omibench.params.stages.judge import JudgeParams
from omibench.params.study import Study, parse_study
from omibench.plugins.registry import loading
from omibench.results.load import Results
from omibench.schemas.tables import (
    FrozenManifest,
    JudgementRow,
    ResponseRow,
    read_parquet,
    read_typed_json,
    write_json,
    write_parquet,
)
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.results.accuracy import TOTAL
from omibench.stages.analyze.sections import SECTIONS
from omibench.stages.analyze.sections.leaderboard import (
    describe_gain,
    describe_places,
    describe_size,
)
from omibench.stages.analyze.sections.printed import describe_audit
from omibench.stages.analyze.sentences import make_headline
from omibench.stages.analyze.stage import analyze_study

# A section of the report is one module, ours or a plug-in's.

pytestmark = pytest.mark.usefixtures("undrawn")

PLUGIN = Path(__file__).with_name("my_sections.py")
FAILING = {
    "unseeing": ("    def view(self):\n        return {}[1]", "KeyError: 1"),
    "unmade": ("    def __init__(self, analysis):\n        1 / 0", "ZeroDivisionError"),
    "misnamed": (
        "    def tables(self):\n        yield ReportTable('../main', [])",
        "'../main' is not a valid table name",
    ),
    "doubled": (
        "    def tables(self):\n        yield ReportTable('main', [])",
        "main.csv is written by the report sections 'main' and 'doubled'",
    ),
    "unfilled": (
        "    template = '{{ nobody }}'\n    def view(self):\n        return {}",
        "'nobody' is undefined",
    ),
}
"""Sections that fail: what each does, and what is said of it."""
SHOWING = (
    '    shows = "ranks"\n'
    "    template = '<p id=\"showing\">{{ figure.takeaway }}</p>{{ figure.svg }}'\n"
    "    def view(self):\n        return {}\n"
    "    def takeaway(self):\n        return 'Nobody leads.'"
)


class Plugged(NamedTuple):
    """A report with the sections of a plug-in."""

    page: Page
    sections: list[str]
    messages: list[str]
    """What was logged."""


@pytest.fixture(scope="module")
def plugged(made: Folders, tmp_path_factory: pytest.TempPathFactory) -> Plugged:
    folder = tmp_path_factory.mktemp("plugged")
    file = folder / "my_sections.py"
    bodies = {name: body for name, (body, _) in FAILING.items()} | {"showing": SHOWING}
    file.write_text(
        PLUGIN.read_text("utf-8")
        + "".join(
            f'\n\n@section("{name}")\nclass {name.title()}(ReportSection):\n{body}\n'
            for name, body in bodies.items()
        ),
        "utf-8",
    )
    spec = spec_from_file_location("my_sections", file)
    assert spec
    assert spec.loader
    logged, logger = BufferingHandler(1000), logging.getLogger("omibench.stages.analyze")
    logger.addHandler(logged)
    try:
        with loading(str(file)):
            spec.loader.exec_module(module_from_spec(spec))
        with leave_undrawn():
            report = made.analyze(folder / "out", explorer=False).report
        messages = [record.getMessage() for record in logged.buffer]
        return Plugged(Page(report), list(SECTIONS), messages)
    finally:
        logger.removeHandler(logged)
        SECTIONS.forget(str(file))


def test_a_plug_in_adds_cards_tables_and_figures(plugged: Plugged) -> None:
    page, out = plugged.page, plugged.page.path.parent
    page.assert_harmless()
    assert {"main", "languages", "loudest", "own", "provenance"} <= page.ids
    assert "unseen" not in page.ids
    assert "Problems by language" in page.text
    assert "of each <language>." in page.text
    assert '<script>alert("pwned")</script>' in page.text
    with (out / "languages.csv").open() as file:
        assert list(csv.DictReader(file)) == [
            {"language": "de", "problems": "7"},
            {"language": "en", "problems": "21"},
        ]
    assert (out / "figures/loudest.svg").read_text() == "<svg id='own'></svg>"
    assert plugged.sections[-9:] == ["languages", "loudest", "unseen", *FAILING, "showing"]


@pytest.mark.parametrize("name", FAILING)
def test_a_plug_in_that_fails_costs_its_own_section_and_is_named_on_one_line(
    plugged: Plugged, name: str
) -> None:
    failed = [text for text in plugged.messages if "left out of the report" in text]
    assert len(failed) == len(FAILING)
    (line,) = [text for text in failed if text.startswith(f"report section {name!r} failed")]
    assert FAILING[name][1] in line
    assert len(line.splitlines()) == 1
    assert {"main", "provenance", "failed-parts"} <= plugged.page.ids
    assert f"report section {name!r}" in plugged.page.text


def test_a_section_shows_a_registered_figure_in_its_card(plugged: Plugged) -> None:
    page = plugged.page
    assert "Nobody leads." in page.text
    assert "figure-ranks" not in page.ids
    figures = {path.name for path in (page.path.parent / "figures").glob("*.svg")}
    assert "showing.svg" in figures
    assert "ranks.svg" not in figures


# What stands beside numbers: sizes, gains of fine-tuned models, tables, made-up problems.


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


@pytest.mark.slow
def test_made_up_problems_are_told_first(tmp_path: Path) -> None:
    folders = make_study(tmp_path, simulated=False, explorer=True)
    path = folders.freeze / "manifest.json"
    manifest = read_typed_json(path, FrozenManifest)
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


@pytest.mark.slow
def test_a_dataset_that_simulated_models_judged_is_told(tmp_path: Path) -> None:
    folders = make_study(tmp_path, simulated=False, explorer=False)
    report = analyze_study(folders.freeze.parent, folders.out, folders.study).report
    text = re.sub(r"<script\b.*?</script>", "", report.read_text("utf-8"), flags=re.DOTALL)
    assert "SIMULATED" not in text
    path = folders.freeze / "manifest.json"
    manifest = read_typed_json(path, FrozenManifest)
    write_json(path, manifest.model_copy(update={"simulated": {"captions": 4}}))
    html = folders.analyze().report.read_text("utf-8")
    told = "Simulated models judged the problems before they were frozen (captions of 4)."
    assert told in html
    assert "SIMULATED" in html


# The section of judges under `judge.others`: means and shares with intervals and n, marked.

LABELS = ("good", "good", "bad", None)


@pytest.fixture(scope="module")
def judged_folders(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    """A study whose judges of plug-ins gave marks 4 and 8 in turn, and labels."""
    made = make_study(tmp_path_factory.mktemp("others"), explorer=True, per_subject=2)
    with plugin_judges(), leave_undrawn():
        params = JudgeParams.model_validate(
            {"others": {"tempo": "judge", "tone": "judge"}, "settings": ["cot"]}
        )
        study = made.study.model_copy(update={"judge": params})
        for cell in study.judged_cells:
            name = f"{cell.model}/{cell.setting}.parquet"
            keys = read_parquet(made.infer / name, ResponseRow).select("id", "key", "index").rows()
            rows = [row for i, key in enumerate(keys) for row in judge_response(i, *key)]
            write_parquet(made.score.parent / "judge" / name, rows, JudgementRow)
        judged_folders = made._replace(study=study)
        judged_folders.analyze()
    return judged_folders


def judge_response(number: int, problem: str, key: str, index: int) -> list[JudgementRow]:
    base = {"id": problem, "index": index, "key": key, "version": 1, "judge": "judge"}
    label = LABELS[number % 4]
    mark = {"mark": 4.0 + 4 * (number % 2), "lowest": 0.0, "highest": 10.0}
    tone = {"outcome": "scored" if label else "judge_failed", "label": label}
    return [
        JudgementRow.model_validate({**base, "outcome": "scored", "instrument": "tempo", **mark}),
        JudgementRow.model_validate({**base, "instrument": "tone", "simulated": True, **tone}),
    ]


def test_a_mean_and_shares_by_cell(judged_folders: Folders) -> None:
    table = pl.read_csv(judged_folders.out / "other-judges.csv")
    (marks,) = table.filter(model="sim-weak", instrument="tempo").to_dicts()
    assert (marks["value"], marks["estimate"], marks["judge_failed"]) == ("mean", 6.0, 0)
    assert marks["n"] == 8
    assert 0 < marks["lo"] < 6 < marks["hi"] < 10
    labels = table.filter(model="sim-weak", instrument="tone")
    assert labels["value"].to_list() == ["good", "bad"]
    assert labels["n"].to_list() == [6, 6]
    assert labels["judge_failed"].to_list() == [2, 2]
    assert labels["estimate"].to_list() == [0.666667, 0.333333]
    assert labels["simulated"].all()


def test_the_report_and_the_explorer_show_them(judged_folders: Folders) -> None:
    page = (judged_folders.out / "report.html").read_text("utf-8")
    card = page[page.index('id="other-judges"') :].partition("</section>")[0]
    assert "SIMULATED" in card
    assert "have no certificates" in card
    assert "mean, 0 to 10" in card
    assert 'id="reasoning"' not in page
    problem = next(iter(sorted((judged_folders.out / "explorer/pages").glob("*.html"))))
    shown = problem.read_text("utf-8")
    assert "of 0 to 10" in shown
    assert "tempo" in shown


# The card on printed tables that contradict themselves.


@pytest.mark.parametrize(
    ("contradictions", "words"),
    [(0, "all agree"), (1, "1 does not agree with other"), (1200, "1,200 do not agree with")],
)
def test_contradictions_are_counted(contradictions: int, words: str) -> None:
    sentence = describe_audit(2, 3000, contradictions)
    assert sentence.startswith("3,000 checks of 2 printed tables, ")
    assert words in sentence


@pytest.mark.slow
def test_a_printed_total_that_its_parts_do_not_give_is_in_the_report(
    tmp_path: Path, root: Path
) -> None:
    folders = make_study(
        tmp_path, explorer=False, published=[str(root / "published/emma_main.csv")]
    )
    folders.analyze()
    page = (folders.out / "report.html").read_text("utf-8")
    assert 'id="audit"' in page
    assert "checks of 1 printed table, of values against counts" in page
    rows = (folders.out / "audit.csv").read_text("utf-8").splitlines()
    assert rows[0] == "file,model,cell,kind,printed,recomputed,n,note"
    assert len(rows) > 50
