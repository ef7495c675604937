"""The sample study from raw papers to the report, and the way back from a number to its page."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.conftest import Build
from tests.integration.conftest import Run, fill_checkout, runner

from omibench.graph.result_files import find_file
from omibench.params.models.providers import SimulatedModel
from omibench.params.study import parse_study_file
from omibench.review.folder import compute_head, read_review
from omibench.review.tasks.photographs import draft_study_problems
from omibench.review.tasks.request import TaskRequest
from omibench.schemas.certificate import Certificate
from omibench.schemas.curation import Reject
from omibench.schemas.problem import Answer, Question
from omibench.schemas.tables import (
    FrozenManifest,
    JudgementRow,
    ResponseRow,
    VerdictRow,
    read_jsonl,
    read_parquet,
    read_typed_json,
)
from omibench.schemas.verdict import UNANSWERED
from omibench.stages.analyze.page_order import PARTS

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def study(build_once: Build, root: Path) -> Path:
    """The results of a whole run, to read."""

    def fill(folder: Path) -> None:
        runner(fill_checkout(root, folder))("snakemake", "--cores", "2")

    return build_once("sample", fill) / "results"


@pytest.fixture
def again(study: Path, tmp_path: Path) -> Path:
    """A copy of the whole run, to run on."""
    return shutil.copytree(study.parent, tmp_path / "study", symlinks=True)


def test_a_second_run_has_nothing_to_do_and_buying_again_buys_nothing(again: Path) -> None:
    run = runner(again)
    done = run("snakemake", "--cores", "2")
    assert "Nothing to be done" in done.stdout + done.stderr
    before = stored_bytes(again)
    run("snakemake", "--cores", "2", "--forcerun", "infer", "--", "score_all", "judge_all")
    assert stored_bytes(again) == before


def stored_bytes(folder: Path) -> int:
    """The size of all segments of the store."""
    return sum(path.stat().st_size for path in (folder / "store").rglob("*.jsonl"))


def test_without_models_to_ask_the_study_ends_with_its_dataset(again: Path) -> None:
    done = runner(again)("snakemake", "-n", "--config", "infer={models: [], settings: []}")
    assert "Nothing to be done" in done.stdout + done.stderr


def test_every_file_that_it_writes_is_in_the_table_of_files(study: Path) -> None:
    written = [p for p in study.rglob("*") if p.is_file() and not p.name.startswith(".snakemake")]
    assert len(written) > 50
    paths = [p.relative_to(study).as_posix() for p in written]
    assert [path for path in paths if find_file(path) is None] == []


def test_the_report_of_snakemake_has_all_figures_and_tables_by_part_without_a_network(
    again: Path,
) -> None:
    nowhere = "http://127.0.0.1:9"
    runner(again)(
        "env", f"http_proxy={nowhere}", f"https_proxy={nowhere}",
        "snakemake", "--report", "report-of-snakemake.html",
    )  # fmt: skip
    page = (again / "report-of-snakemake.html").read_text("utf-8")
    assert not re.findall(r"<(?:script|link|img|iframe)[^>]*(?:src|href)=.https?:", page)
    categories = _read_variable(page, "categories")
    results = _read_variable(page, "results")
    written = again / "results/analyze"
    drawn = {path.stem for path in (written / "figures").glob("*.svg")}
    tables = {path.stem for path in (written / "tables").glob("*.csv")}
    shown = {Path(path).stem for path in results if path.endswith(".svg")}
    assert shown == drawn
    assert {Path(path).stem for path in results} == drawn | tables | {"report", "main"}
    titles = {part.title for part in PARTS}
    assert {name[3:] for name in categories} - titles == {"Report"}
    assert len(categories) > 6
    ranks = next(entry for path, entry in results.items() if path.endswith("ranks.svg"))
    assert ranks["labels"]["figure"].startswith("SIMULATED · Ranks")
    assert "allow the first rank for" in ranks["labels"]["finding"]
    assert "<em>ranks</em>" in ranks["caption"]
    assert ranks["data_uri"].startswith("data:image/svg+xml;")


def _read_variable(page: str, name: str) -> dict[str, Any]:
    """The JSON that a script of a page gives to a variable."""
    head = f'var {name} = {{"'
    place = page.index(head) + len(head) - 2
    value: dict[str, Any] = json.JSONDecoder().raw_decode(page, place)[0]
    return value


def test_the_dataset_is_what_the_booklets_promise(study: Path) -> None:
    questions = read_jsonl(study / "freeze/questions.jsonl", Question)
    answers = read_jsonl(study / "freeze/answers.jsonl", Answer)
    assert [q.id for q in questions] == [a.id for a in answers]
    for subject in ("biology", "chemistry", "mathematics", "physics"):
        assert sum(q.subject == subject for q in questions) >= 6
    for question in questions:
        assert len({figure.sha256 for figure in question.images}) >= 2, question.id
    reasons = set(read_parquet(study / "filter/rejects.parquet", Reject)["reason"])
    assert len(reasons) >= 8


def test_every_cell_answers_every_question_once_and_is_marked_simulated(study: Path) -> None:
    ids = [q.id for q in read_jsonl(study / "freeze/questions.jsonl", Question)]
    cells = parse_study_file(study.parent / "params.yaml").cells
    assert len(cells) == 9
    for cell in cells:
        frame = read_parquet(study / f"infer/{cell.model}/{cell.setting}.parquet", ResponseRow)
        assert frame["id"].to_list() == ids
        assert frame["simulated"].all()


def test_judges_say_why_and_how_well_marked_simulated(study: Path) -> None:
    params = parse_study_file(study.parent / "params.yaml")
    assert len(params.judged_cells) == 3
    for cell in params.judged_cells:
        name = f"{cell.model}/{cell.setting}.parquet"
        told = read_parquet(study / "judge" / name, JudgementRow)
        assert set(told["instrument"]) == {"quality", "alignment", "error_type"}
        assert told["simulated"].all()
        verdicts = read_parquet(study / "score" / name, VerdictRow).filter(rules="robust")
        wrong = verdicts.filter((pl.col("outcome") == "scored") & (pl.col("verdict") < 1))
        errors = told.filter(instrument="error_type")
        by_rater = errors.filter(pl.col("judge").is_not_null())
        assert by_rater["id"].to_list() == wrong["id"].to_list()
        # The rater errs in one of ten replies; a right answer that robust calls wrong is rare.
        assert (by_rater["error_type"] == "no_error").mean() < 0.3
        by_outcome = errors.filter(pl.col("judge").is_null())
        unanswered = verdicts.filter(pl.col("outcome").is_in(UNANSWERED))
        assert by_outcome["id"].to_list() == unanswered["id"].to_list()
        assert set(by_outcome["error_type"]) <= {"other"}
    assert 'id="reasoning"' in (study / "analyze/report.html").read_text("utf-8")


def test_a_number_can_be_followed_to_its_page(study: Path) -> None:
    metrics = json.loads((study / "analyze/metrics.json").read_text())
    cell = (
        metrics["models"]["sim-apex"]["cot"] if "models" in metrics else metrics["sim-apex"]["cot"]
    )
    verdicts = read_parquet(study / "score/sim-apex/cot.parquet", VerdictRow)
    robust = verdicts.filter(pl.col("rules") == "robust")
    assert cell["acc"] == pytest.approx(robust["verdict"].mean(), abs=1e-5)
    row = robust.row(0, named=True)
    responses = read_parquet(study / "infer/sim-apex/cot.parquet", ResponseRow)
    response = responses.filter(pl.col("id") == row["id"]).row(0, named=True)
    assert response["key"] == row["key"]
    stored = [
        json.loads(line)
        for segment in (study.parent / "store").rglob("*.jsonl")
        for line in segment.read_text("utf-8").splitlines()
    ]
    assert any(line["key"] == row["key"] for line in stored)
    question = next(
        q for q in read_jsonl(study / "freeze/questions.jsonl", Question) if q.id == row["id"]
    )
    assert question.source
    assert question.pages
    figure = question.images[0]
    assert figure.page in question.pages
    assert figure.bbox is not None
    assert (study / "freeze" / figure.file).is_file()
    page = (study / f"analyze/explorer/pages/{row['id']}.html").read_text("utf-8")
    assert row["key"] in page


def test_the_reviewers_decided_on_this_dataset(study: Path) -> None:
    review = read_review(study.parent / "sample/review")
    params = parse_study_file(study.parent / "params.yaml")
    request = TaskRequest("item", params, study, study, review.tasks, review.decisions)
    hashes = {draft.task.id: draft.task.content_hash for draft in draft_study_problems(request)}
    decided = {t.id: t.content_hash for t in review.tasks if t.kind == "item" and not t.of}
    assert decided == hashes, "run sample/reviewers.py again"
    counts = read_typed_json(study / "freeze/manifest.json", FrozenManifest).review
    assert counts is not None
    assert counts.problems == len(hashes)
    assert counts.people == counts.simulated_people == 4
    assert counts.head == compute_head(review.decisions)


def test_the_dataset_is_released_as_a_draft_and_loaded(again: Path, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    run, out = runner(again), tmp_path / "release"
    build = ("omibench", "release", "build", "--sources", "sample/sources.yaml", "--out", str(out))
    refused = run(*build, "--review", "sample/review", ok=False)
    assert "simulated" in refused.stderr
    run(*build, "--review", "sample/review", "--draft")
    run("omibench", "release", "verify", str(out))
    rows = datasets.load_dataset(str(out), cache_dir=str(tmp_path / "cache"))["test"]
    answers = read_jsonl(again / "results/freeze/answers.jsonl", Answer)
    assert rows["id"][:] == [answer.id for answer in answers]
    assert all(picture.width > 1 for row in rows for picture in row["images"])


def test_the_report_says_simulated_and_reaches_no_network(study: Path) -> None:
    report = (study / "analyze/report.html").read_text("utf-8")
    assert "SIMULATED" in report
    assert not re.search(r"(src|href)=[\"']?(https?:)?//", report)


def test_the_certificate_recovers_the_error_rates_that_the_judge_is_set_to(study: Path) -> None:
    judge = parse_study_file(study.parent / "params.yaml").models["sim-judge"]
    assert isinstance(judge, SimulatedModel)
    found = read_typed_json(study / "certify/certificate.json", Certificate)
    assert found.simulated
    assert found.stale == found.unknown == 0, "run sample/labels.py again"
    set_to = {"tpr": judge.true_positive_rate, "fpr": judge.false_positive_rate}
    for kind in ("all", "mcq", "open"):
        for name, rate in set_to.items():
            measure = getattr(found.quality[kind], name)
            assert measure.lo <= rate <= measure.hi, (kind, name)
    report = (study / "analyze/report.html").read_text("utf-8")
    card, reasoning = (_card(report, name) for name in ("judge", "reasoning"))
    assert "UNCALIBRATED" not in card
    assert "Compared with human labels" in card
    assert "UNCALIBRATED" in reasoning, "no person has labelled what judges say of the reasoning"


def _card(report: str, name: str) -> str:
    """The card of the report with this id."""
    start = report.index(f'<section class="card" id="{name}">')
    return report[start : report.index("</section>", start)]


def test_the_scanned_page_is_read_by_the_engine(study: Path) -> None:
    report = json.loads((study / "ocr/report.json").read_text())
    scan = next(f for f in report["files"] if "scan" in f["source"])
    assert (scan["status"], scan["codes"]) == ("ok", [])
    pages = (study / "ocr/pages.jsonl").read_text("utf-8").splitlines()
    assert {json.loads(p)["engine"] for p in pages} == {"rapidocr", "textlayer"}


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("modells={}", "modells: unknown key; did you mean 'models'?"),
        ("score={judge: nobody}", "score.judge: 'nobody' is not defined"),
        ("certify={labels: no.csv}", "the parameters list missing files: no.csv"),
    ],
)
def test_a_mistake_in_the_params_stops_snakemake_with_one_clear_line(
    run: Run, override: str, message: str
) -> None:
    done = run("snakemake", "-n", "--config", override, ok=False)
    assert done.returncode != 0
    assert message in done.stdout + done.stderr
