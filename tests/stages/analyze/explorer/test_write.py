"""The explorer: every link leads somewhere, and no text of a paper or model becomes markup."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.stages.analyze.conftest import (
    HOSTILE,
    PROMPT,
    Folders,
    drop_pictures,
    make_published_study,
    make_study,
    rewrite_verdicts,
)
from tests.stages.analyze.pages import Page
from tests.stages.analyze.test_certificates import certificate

from omibench.params.panel import JudgePanel
from omibench.params.setting import Cell
from omibench.params.stages.analyze import certificate_identity
from omibench.params.stages.judge import JudgeParams
from omibench.params.study import Study
from omibench.results.load import Results
from omibench.schemas.certificate import MarkQuality, Measure, ReasoningCertificate
from omibench.schemas.tables import JudgementRow, write_parquet
from omibench.stages.analyze.explorer.pages import write_explorer
from omibench.stages.analyze.explorer.requests import (
    LONGEST,
    LONGEST_LISTED,
    clip_answer,
    natural,
    shorten_response,
)
from omibench.stages.analyze.pages import cell_anchor, cell_file, problem_file
from omibench.web.pictures import link_file


def write(folders: Folders, results: Results | None = None) -> Path:
    """Write the explorer of a study, or of results of it; its folder."""
    explorer = folders.out / "explorer"
    write_explorer(explorer, results or folders.load(), folders.out / "report.html")
    return explorer


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Page]:
    folders: Folders = make_study(tmp_path_factory.mktemp("explorer"), per_subject=4)
    (folders.out / "report.html").parent.mkdir(parents=True)
    (folders.out / "report.html").write_text("<p id=x></p>", "utf-8")
    explorer = write(folders)
    return {p.relative_to(explorer).as_posix(): Page(p) for p in explorer.rglob("*.html")}


def list_samples(page: Page) -> list[Any]:
    return [s for column in page.data["place"]["columns"] for s in column["samples"]]


def list_verdicts(page: Page, rules: str) -> list[Any]:
    return [v for s in list_samples(page) for v in s["verdicts"] if v["rules"] == rules]


def list_calibrations(page: Page) -> dict[str, str]:
    """The note on each judge of the answers."""
    return {v["judge"]: v["calibration"] for v in list_verdicts(page, "gptscore") if v["judge"]}


def test_one_page_a_problem_and_a_cell(pages: dict[str, Page]) -> None:
    assert len(pages) == 1 + 16 + 9


def test_planted_markup_stays_text(pages: dict[str, Page]) -> None:
    for page in pages.values():
        page.assert_harmless()
    planted = pages["pages/biology_02.html"]
    assert HOSTILE in planted.data["place"]["item"]["question"]
    assert "<script>alert" not in planted.path.read_text("utf-8")


def test_every_link_and_picture_leads_somewhere(pages: dict[str, Page]) -> None:
    anchors = {page.path.resolve(): page.anchors for page in pages.values()}
    for page in pages.values():
        for link in page.links() + page.links("src") + page.pictures:
            file, fragment = page.target(link)
            assert file.is_file(), (page.path, link)
            if fragment:
                assert fragment in anchors[file], (page.path, link)


def test_a_problem_shows_all_that_is_known_of_it(pages: dict[str, Page]) -> None:
    data = pages["pages/chemistry_03.html"].data
    assert "Ag₂CrO₄" in data["place"]["item"]["question"]
    assert data["place"]["item"]["solution"]
    assert data["place"]["item"]["facts"]["picture 0"].startswith("papers/chemistry.pdf, page ")
    assert data["study"]["simulated"]
    assert len(data["place"]["outcomes"]) == len(data["place"]["columns"]) == 9
    assert data["study"]["models"][0] == {"name": "sim-strong", "label": "Strong"}


def test_a_judge_is_shown_with_its_model_and_calibration(pages: dict[str, Page]) -> None:
    assert list_calibrations(pages["pages/chemistry_03.html"]) == {"judge": "uncalibrated"}
    assert "GPTScore SIMULATED uncalibrated" in pages["cells/sim-weak@cot.html"].text
    assert not any(s["judgements"] for s in list_samples(pages["pages/chemistry_03.html"]))


def test_a_judge_with_a_certificate_is_called_calibrated(tmp_path: Path) -> None:
    folders = make_study(tmp_path, per_subject=2)
    known = replace(folders.load(), certificate=certificate(folders))
    page = Page(write(folders, known) / "pages/physics_01.html")
    assert list_calibrations(page) == {"judge": "calibrated"}


def reasoning_certificate(study: Study, instrument: str, *marks: str) -> ReasoningCertificate:
    told = Measure(value=0.8, lo=0.7, hi=0.9, n=50)
    quality = MarkQuality(spearman=told, within_one=told, exact=told)
    return ReasoningCertificate(
        instrument=instrument, judge="judge",
        identity=[certificate_identity(study.models["judge"])],
        prompt_sha256=PROMPT, labels="labels.csv", labels_sha256="a" * 64, n=50, problems=14,
        judge_failed=0, not_judged=0, confidence=0.95, marks=dict.fromkeys(marks, quality),
        simulated=False, study="another",
    )  # fmt: skip


def test_judgements_stand_beside_the_response_they_are_of(tmp_path: Path) -> None:
    folders = make_study(tmp_path, per_subject=2)
    results = folders.load()
    judge = JudgePanel(models=["judge"])
    study = results.study.model_copy(update={"judge": JudgeParams(quality=judge)})
    known = (reasoning_certificate(study, "quality", "overall"),
             reasoning_certificate(study, "error_type"))  # fmt: skip
    cell = study.cells[0]
    common = {"id": "physics_00", "index": 0, "key": "k", "version": 1, "simulated": True,
              "prompt_sha256": PROMPT}  # fmt: skip
    typed = {"instrument": "error_type", "judge": "judge", "outcome": "scored",
             "error_type": "logical"}  # fmt: skip
    rows = [
        JudgementRow(**common, **typed),
        JudgementRow(**common, **typed | {"judge": "one of three"}, counts=False),
        JudgementRow(**common, instrument="quality", outcome="scored", judge="judge", overall=4.0,
                     correctness=2.0, judge_key="reply-key"),
        JudgementRow(**common, instrument="error_type", outcome="scored", error_type="unit_slip",
                     taxonomy=HOSTILE),
        JudgementRow(**common, instrument="alignment", outcome="judge_failed", judge="judge"),
    ]  # fmt: skip
    path = folders.freeze.parent / "judge" / cell.model / f"{cell.setting}.parquet"
    write_parquet(path, rows, JudgementRow)
    out = write(folders, replace(results, study=study, reasoning_certificates=known))
    page = Page(out / "pages/physics_00.html")
    page.assert_harmless()
    judged = [sample["judgements"] for sample in list_samples(page) if sample["judgements"]]
    assert [(j["words"], j["judge"], j["calibration"], j["key"]) for j in judged[0]] == [
        ("logical", "judge", "calibrated", ""),
        ("logical", "one of three", "uncalibrated", ""),
        ("correctness 2, overall 4 of 5", "judge", "calibrated for overall alone", "reply-key"),
        (f"unit slip ({HOSTILE})", "", "", ""),
        ("judge failed", "judge", "uncalibrated", ""),
    ]
    assert [j["left_out"] for j in judged[0]] == [False, True, False, False, False]
    assert len(judged) == 1
    other = Page(out / "pages/physics_01.html")
    assert not any(sample["judgements"] for sample in list_samples(other))


def test_a_dataset_without_its_pictures_says_so(tmp_path: Path) -> None:
    folders = make_study(tmp_path, per_subject=2)
    drop_pictures(folders)
    page = Page(write(folders) / "pages/physics_00.html")
    n = folders.load().answers["physics_00"].n_images
    words = f"{n} images, pictures not included"
    assert page.data["place"]["item"]["facts"]["images"] == words
    assert page.pictures == []
    index = Page(folders.out / "explorer/index.html")
    assert words in index.text
    assert "Paper" not in index.text


def test_pictures_that_are_held_are_counted(pages: dict[str, Page]) -> None:
    assert "not included" not in pages["index.html"].text
    assert "papers/physics.pdf" in pages["index.html"].text


def test_chips_stand_only_where_something_was_simulated(tmp_path: Path) -> None:
    folders = make_study(tmp_path, per_subject=2, simulated=False)
    judged = (pl.col("rules") == "gptscore") & (pl.col("id") == "physics_00")
    rewrite_verdicts(
        folders,
        lambda f: f.with_columns(simulated=judged),
        Cell("sim-weak", "cot"),
    )
    pages = {p.name: Page(p) for p in write(folders).rglob("*.html")}
    assert "SIMULATED" not in pages["index.html"].text
    simulated, real = pages["physics_00.html"], pages["physics_01.html"]
    assert (simulated.data["study"]["simulated"], real.data["study"]["simulated"]) == (True, False)
    marked = [v["judge_simulated"] for v in list_verdicts(simulated, "gptscore")]
    assert marked.count(True) == 1
    assert not any(sample["simulated"] for sample in list_samples(simulated))


def test_a_simulated_response_does_not_mark_a_scorer(pages: dict[str, Page]) -> None:
    page = pages["pages/chemistry_03.html"]
    assert all(sample["simulated"] for sample in list_samples(page))
    assert not any(v["judge_simulated"] for v in list_verdicts(page, "robust"))
    assert any(v["judge_simulated"] for v in list_verdicts(page, "gptscore"))


def test_names_sort_as_people_count() -> None:
    names = ["physics-10", "physics-2", "b", "physics-2a", "a10b2", "a10b10", "10", "9"]
    assert sorted(names, key=natural) == [
        "a10b2", "a10b10", "b", "physics-2", "physics-2a", "physics-10", "9", "10",
    ]  # fmt: skip


def test_a_long_extraction_is_cut_in_the_list(tmp_path: Path) -> None:
    folders = make_study(tmp_path, per_subject=2)
    long = "x" * 5000
    rewrite_verdicts(
        folders,
        lambda f: f.with_columns(extracted=pl.lit(long)),
    )
    out = write(folders)
    assert long not in Page(out / "cells/sim-weak@cot.html").text
    page = Page(out / "pages/physics_00.html")
    assert {v["extracted"] for v in list_verdicts(page, "robust")} == {long}
    assert len(clip_answer(long)) == LONGEST_LISTED
    assert clip_answer("B") == "B"


def test_published_verdicts_show_what_robust_extracted(tmp_path: Path) -> None:
    folders = make_published_study(tmp_path, robust=True)
    page = Page(write(folders) / "cells/sim-strong@cot.html")
    assert "Extracted is the answer found by the scorer robust" in page.text


def test_a_failure_is_named_and_not_called_wrong(pages: dict[str, Page]) -> None:
    words = " ".join(p.text for name, p in pages.items() if name.startswith("cells/"))
    assert any(kind in words for kind in ("truncated", "refused", "unparsed", "budget stop"))


def test_long_responses_keep_their_two_ends() -> None:
    text = "a" * LONGEST + "the end"
    assert len(shorten_response(text)) < LONGEST + 100
    assert shorten_response(text).endswith("the end")
    assert "7 characters omitted" in shorten_response(text)
    assert shorten_response("short") == "short"


@pytest.mark.parametrize("problem", ["../../etc", "a b/c?d#e", "<script>", "..", "é", "x" * 300])
def test_page_names_are_safe_file_names(problem: str) -> None:
    name = problem_file(problem)
    assert "/" not in name
    assert not name.startswith("..")
    assert name.isascii()
    assert len(name) < 120
    assert name != problem_file(problem + " ")


def test_no_two_cells_or_samples_share_a_page_or_an_anchor() -> None:
    cells = [Cell("a.b", "c"), Cell("a", "b.c"), Cell("a", "b")]
    assert len({cell_file(cell) for cell in cells}) == 3
    anchors = {cell_anchor(cell, sample) for cell in cells for sample in (0, 1, 2)}
    assert len(anchors) == 9
    assert cell_file(Cell("m", "cot")) == "m@cot.html"
    assert cell_anchor(Cell("m", "cot"), 2) == "m@cot@2"


def test_links_never_have_a_scheme(tmp_path: Path) -> None:
    page = tmp_path / "explorer" / "x.html"
    assert link_file(tmp_path / "javascript:alert(1)", page) == "../javascript%3Aalert%281%29"
    assert link_file(page.parent / "a:b.png", page) == "./a%3Ab.png"


@pytest.mark.slow
def test_a_page_opens_from_disk_with_its_pictures_in_the_text(
    pages: dict[str, Page], browser: Any
) -> None:
    page = browser.new_page()
    messages: list[str] = []
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.on("dialog", lambda dialog: messages.append(dialog.message))
    for name in ("pages/biology_02.html", "pages/chemistry_03.html"):
        page.goto(pages[name].path.as_uri())
        page.wait_for_selector(".column")
        assert page.locator(".problem-side .prose .figure img").count() > 0
    assert messages == []
    page.close()
