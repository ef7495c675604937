"""The stage as a whole: which files it writes, that they agree, and what it says."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path

import pytest
from tests.stages.analyze.conftest import Folders, make_study
from tests.stages.analyze.pages import Page

from omibench.errors import OmibenchError
from omibench.stages.analyze import analyze_study
from omibench.stages.analyze.sections.printed import COLUMNS
from omibench.stages.analyze.sentences import Headline, make_headline
from omibench.stages.analyze.stage import load_analysis


@pytest.fixture(scope="module")
def analyzed(reported: Folders) -> tuple[Folders, Headline]:
    report = reported.out / "report.html"
    analysis = load_analysis(reported.freeze.parent, report, reported.study)
    return reported, make_headline(analysis)


def test_a_table_without_rows_keeps_its_heading(analyzed: tuple[Folders, Headline]) -> None:
    heading = (analyzed[0].out / "differences.csv").read_text("utf-8").strip().split(",")
    assert heading == list(COLUMNS)


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_every_file_is_written(analyzed: tuple[Folders, Headline]) -> None:
    out = analyzed[0].out
    files = {p.relative_to(out).as_posix() for p in out.rglob("*") if p.is_file()}
    models = ("sim-strong", "sim-middle", "sim-weak")
    assert {
        "report.html", "metrics.json", "main.csv", "by_images.csv", "failures.csv",
        "differences.csv", "figures/accuracy.svg", "figures/images.svg", "figures/rules.svg",
        "figures/failures.svg", "explorer/index.html", "explorer/cells/sim-weak@first-image.html",
        "explorer/pages/physics_06.html",
        *(f"plots/accuracy/{m}.csv" for m in models),
        *(f"plots/by_images/{m}.csv" for m in models),
    } <= files  # fmt: skip
    assert not [f for f in files if f.endswith(".part")]


def test_metrics_agree_with_the_table_and_are_sorted(analyzed: tuple[Folders, Headline]) -> None:
    out = analyzed[0].out
    text = (out / "metrics.json").read_text("utf-8")
    metrics = json.loads(text)
    assert text == json.dumps(metrics, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    rows = {
        (r["model"], r["setting"], r["rules"]): r
        for r in read(out / "main.csv")
        if r["subject"] == "total"
    }
    for model, settings in metrics.items():
        for setting, entry in settings.items():
            for rules, acc in entry["rules"].items():
                assert acc == float(rows[model, setting, rules]["acc"])
            for name in ("acc", "lo", "hi", "n"):
                assert entry[name] == float(rows[model, setting, "robust"][name])
            assert entry["gptscore"] == float(rows[model, setting, "gptscore"]["acc"])
            assert entry["simulated"] is True


def test_the_headline_has_three_numbers_and_says_simulated(
    analyzed: tuple[Folders, Headline],
) -> None:
    folders, headline = analyzed
    assert len(headline.numbers) == 3
    assert headline.report == folders.out / "report.html"
    text = str(headline)
    assert text.startswith("[SIMULATED] ")
    assert str(headline.report) in text
    best = max(
        float(r["acc"])
        for r in read(folders.out / "main.csv")
        if (r["subject"], r["rules"], r["setting"]) == ("total", "robust", "cot")
    )
    assert headline.numbers[0].label == "Best accuracy under Chain of thought"
    assert headline.numbers[0].value == f"{100 * best:.1f}\N{NO-BREAK SPACE}%"


@pytest.mark.slow
def test_equal_inputs_give_equal_files(analyzed: tuple[Folders, Headline], tmp_path: Path) -> None:
    folders = analyzed[0]
    again = folders.out.parent / "again"
    analyze_study(folders.out.parent, again, folders.study)
    files = sorted(p.relative_to(folders.out) for p in folders.out.rglob("*") if p.is_file())
    assert files == sorted(p.relative_to(again) for p in again.rglob("*") if p.is_file())
    for file in files:
        assert (folders.out / file).read_bytes() == (again / file).read_bytes(), file


def test_a_file_where_the_folder_should_be_gets_one_line(
    analyzed: tuple[Folders, Headline], tmp_path: Path
) -> None:
    taken = tmp_path / "report"
    taken.write_text("notes", "utf-8")
    with pytest.raises(OmibenchError, match=r"report: cannot be a folder"):
        analyze_study(analyzed[0].out.parent, taken, analyzed[0].study)
    assert taken.read_text("utf-8") == "notes"


@pytest.mark.usefixtures("undrawn")
def test_a_study_of_one_cell_without_judge_or_explorer_has_a_report(tmp_path: Path) -> None:
    folders = make_study(tmp_path, per_subject=2, simulated=False, explorer=False)
    values = folders.study.model_dump()
    values["infer"] = {"models": ["sim-weak"], "settings": ["cot"]}
    headline = analyze_study(
        folders.freeze.parent, folders.out, type(folders.study).model_validate(values)
    )
    assert not (folders.out / "explorer").exists()
    page = Page(headline.report)
    page.assert_harmless()
    assert "SIMULATED" not in page.text
    assert len(headline.numbers) == 3


def test_a_number_can_be_followed_to_the_page_of_the_paper(
    analyzed: tuple[Folders, Headline],
) -> None:
    report = Page(analyzed[1].report)
    link = next(a for a in report.links() if a.startswith("explorer/cells/") and "#physics" in a)
    file, subject = report.target(link)
    cell = Page(file)
    assert subject in cell.ids
    file, anchor = cell.target(next(a for a in cell.links() if "pages/physics_03" in a))
    problem = Page(file)
    assert anchor in problem.anchors
    facts = problem.data["place"]["item"]["facts"]
    assert facts["picture 0"].startswith("papers/physics.pdf, page 2, box")
    picture, _ = problem.target(problem.pictures[0])
    assert picture.is_file()
    assert os.path.commonpath([picture, analyzed[0].freeze]) == str(analyzed[0].freeze)


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_a_report_without_the_files_of_a_cell_names_it_and_leaves_the_parameters_alone(
    tmp_path: Path,
) -> None:
    folders = make_study(tmp_path, explorer=False)
    (folders.infer / "sim-strong/cot.parquet").unlink()
    found = folders.analyze()
    gone = "1 cell is missing, without responses or verdicts: sim-strong/cot."
    assert found.sentence.endswith(gone)
    metrics = json.loads((folders.out / "metrics.json").read_text("utf-8"))
    assert metrics["sim-strong"]["cot"] == {"missing": True}
    assert "acc" in metrics["sim-strong"]["direct"]
    page = (folders.out / "report.html").read_text("utf-8")
    assert "missing: no responses or verdicts" in page
    assert "&#34;only&#34;" not in page
    assert '"only"' not in page
