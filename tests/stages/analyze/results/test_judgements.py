"""What judges and people say of errors and of reasoning."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.conftest import leave_undrawn
from tests.stages.analyze.conftest import Folders, make_study

from omibench.errors import FileFormatError, MissingInputError
from omibench.params.stages.judge import JudgeParams
from omibench.schemas.tables import JudgementRow, ResponseRow, read_parquet, write_parquet
from omibench.stages.analyze.pages import render_section
from omibench.stages.analyze.results.reasoning import PEOPLE
from omibench.stages.analyze.sections import ReportTable
from omibench.stages.analyze.sections.judges import ReasoningSection
from omibench.stages.certify import certify_judges

# Marks of rationales and types of errors: means, shares, what stands apart, and the report.

pytestmark = pytest.mark.usefixtures("undrawn")

TYPES = ("logical", "other", "logical", "<b>own</b>", "no_error", None)


def judged(folders: Folders, by_outcome: str = "") -> Folders:
    """The made study with judgements of its chain-of-thought cells.

    Errors of the type `by_outcome` have no judge: their outcome says what they are.
    """
    params = JudgeParams.model_validate(
        {"quality": ["judge"], "alignment": "judge", "errors": "judge", "settings": ["cot"]}
    )
    study = folders.study.model_copy(update={"judge": params})
    for cell in study.judged_cells:
        name = f"{cell.model}/{cell.setting}.parquet"
        responses = read_parquet(folders.infer / name, ResponseRow)
        rows = [
            row
            for i, (one, key, index) in enumerate(responses.select("id", "key", "index").rows())
            for row in _rows(one, key, index, i, by_outcome)
        ]
        write_parquet(folders.score.parent / "judge" / name, rows, JudgementRow)
    return folders._replace(study=study)


def _rows(problem: str, key: str, index: int, i: int, by_outcome: str) -> list[JudgementRow]:
    def row(instrument: str, **values: object) -> JudgementRow:
        return JudgementRow.model_validate(
            {"id": problem, "index": index, "key": key, "instrument": instrument, "version": 1,
             "judge": "judge", "outcome": "scored", "simulated": True, **values}
        )  # fmt: skip

    marks = dict.fromkeys(("correctness", "faithfulness", "information_usage", "clarity"), 4.0)
    kind = TYPES[i % len(TYPES)]
    return [
        row("quality", **marks, detail=float(1 + i % 5), overall=3.0),
        row("quality", **marks, detail=5.0, overall=5.0, counts=False, judge="another"),
        row("alignment", alignment=2.0) if i else row("alignment", outcome="judge_failed"),
        row("error_type", error_type=kind, taxonomy="omibench",
            outcome="scored" if kind else "judge_failed",
            judge=None if kind and kind == by_outcome else "judge"),
    ]  # fmt: skip


def run(folders: Folders) -> None:
    folders.analyze()


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    folders = judged(make_study(tmp_path_factory.mktemp("judged"), explorer=False), "other")
    with leave_undrawn():
        run(folders)
    return folders


def test_marks_are_means_of_what_counts(done: Folders) -> None:
    found = pl.read_csv(done.out / "rationales.csv")
    assert found.height == 3 * 7
    by_mark = {mark: rows["mean"].to_list() for (mark,), rows in found.group_by("mark")}
    assert by_mark["correctness"] == [4.0] * 3
    assert by_mark["overall"] == [3.0] * 3
    assert all(2.5 < value < 3.5 for value in by_mark["detail"])
    aligned = found.filter(mark="alignment")
    assert aligned["judge_failed"].to_list() == [1] * 3
    assert aligned["n"].to_list() == [found["n"].max() - 1] * 3  # type: ignore[operator]
    assert found["simulated"].all()
    assert found.filter(pl.col("lo") > pl.col("mean")).is_empty()


def test_errors_are_shares_of_what_was_classified(done: Folders) -> None:
    found = pl.read_csv(done.out / "errors.csv")
    assert set(found["error_type"]) == {"logical", "other", "<b>own</b>"}
    sums = found.group_by("model").agg(pl.col("share").sum(), pl.col("count").sum(), "classified")
    assert all(abs(total - 1) < 1e-5 for total in sums["share"])
    assert all(n == c[0] for n, c in sums.select("count", "classified").rows())
    one = found.filter(model="sim-weak")
    responses = read_parquet(done.infer / "sim-weak" / "cot.parquet", ResponseRow).height
    told = [TYPES[i % len(TYPES)] for i in range(responses)]
    assert one["right_after_all"][0] == told.count("no_error") > 0
    assert one["judge_failed"][0] == told.count(None) > 0
    assert dict(one.select("error_type", "count").rows())["logical"] == told.count("logical")


def test_the_report_shows_them_marked_and_escaped(done: Folders) -> None:
    page = (done.out / "report.html").read_text("utf-8")
    card = page[
        page.index('id="reasoning"') : page.index("</section>", page.index('id="reasoning"'))
    ]
    assert "SIMULATED" in card
    assert "Rationales were marked from 1 to 5 by Judge." in card
    assert "by the taxonomy omibench" in card
    assert "more have no answer and take the type of their outcome." in card
    assert "<b>own" not in card
    assert "&lt;b&gt;own" in card
    assert "4.00" in card


def test_a_cell_that_was_not_judged_is_named(tmp_path: Path) -> None:
    folders = judged(make_study(tmp_path, explorer=False, per_subject=2))
    (tmp_path / "judge" / "sim-weak" / "cot.parquet").unlink()
    with pytest.raises(MissingInputError, match="run `omibench judge` for sim-weak under cot"):
        run(folders)


# Types of errors by people's labels: alone, beside the judge's, and what stands in the report.

LABELLED = ("logical", "cross_image", "logical", "no_error")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    return make_study(tmp_path_factory.mktemp("labels"), explorer=False, per_subject=4)


def label(folders: Folders, tmp_path: Path, **more: object) -> Path:
    """People's types of the responses of one cell, and a row without a type."""
    responses = read_parquet(folders.infer / "sim-weak" / "cot.parquet", ResponseRow)["id"]
    file = tmp_path / "errors.jsonl"
    rows: list[dict[str, object]] = [
        {"id": id, "model": "sim-weak", "setting": "cot", "error_type": LABELLED[n % 4], **more}
        for n, id in enumerate(responses)
    ]
    rows.append({"id": responses[0], "model": "sim-weak", "setting": "direct", "label": 1})
    pl.DataFrame(rows).write_ndjson(file)
    return file


def analyze(folders: Folders, tmp_path: Path, **errors: Any) -> Folders:
    params = JudgeParams.model_validate({"errors": errors, "settings": ["cot"]})
    study = folders.study.model_copy(update={"judge": params})
    return folders._replace(study=study, out=tmp_path / "out")


def show(study: Folders) -> tuple[dict[str, ReportTable], str]:
    """The files of the section on reasoning, and its card."""
    section = ReasoningSection(study.open())
    html = render_section(
        section.template, section=section, view=section.view() or {}, figure=None, page={}
    )
    return {table.name: table for table in section.tables()}, html


def leave_to_people(folders: Folders) -> None:
    """What the stage `judge` writes without a judge: one failure by its outcome, one to label."""
    for cell in folders.study.cells:
        if cell.setting != "cot":
            continue
        name = f"{cell.model}/{cell.setting}.parquet"
        responses = read_parquet(folders.infer / name, ResponseRow)
        rows = [
            JudgementRow(
                id=id, index=0, key=key, instrument="error_type", version=2, taxonomy="omibench",
                outcome="unjudged" if n else "scored", error_type=None if n else "other",
            )
            for n, (id, key) in enumerate(responses.select("id", "key").head(2).iter_rows())
        ]  # fmt: skip
        write_parquet(folders.score.parent / "judge" / name, rows, JudgementRow)


def test_labels_of_people_alone_make_the_distribution(folders: Folders, tmp_path: Path) -> None:
    leave_to_people(folders)
    file = label(folders, tmp_path)
    study = analyze(folders, tmp_path, labels=str(file))
    files, page = show(study)
    table = pl.DataFrame(files["errors"].rows)
    expected = Counter(LABELLED[n % 4] for n in range(len(file.read_text().splitlines()) - 1))
    assert table["by"].unique().to_list() == ["people"]
    assert dict(table.select("error_type", "count").rows()) == {
        "logical": expected["logical"], "cross_image": expected["cross_image"]
    }  # fmt: skip
    assert table["right_after_all"].unique().to_list() == [expected["no_error"]]
    assert set(table["judge"]) <= {None, ""}
    assert "were classified by people, by the taxonomy omibench" in page
    assert "None of these judges" not in page
    assert '<td class="text">people</td>' in page


def test_a_failure_that_its_outcome_types_needs_no_label(folders: Folders, tmp_path: Path) -> None:
    leave_to_people(folders)
    file = label(folders, tmp_path)
    lines = file.read_text().splitlines()
    file.write_text("\n".join(lines[1:]))
    study = analyze(folders, tmp_path, labels=str(file))
    analysis = study.open()
    (cell,) = analysis.rows("error-judgements").to_dicts()
    types = analysis.rows("error-types").filter(slice="error_type")
    counts = dict(types.select("value", "count").iter_rows())
    assert (cell["by"], counts["other"]) == (PEOPLE, 1)
    assert cell["classified"] == sum(counts.values())


def test_a_study_whose_errors_nobody_classified_yet_has_files_with_headings(
    folders: Folders, tmp_path: Path
) -> None:
    leave_to_people(folders)
    study = analyze(folders, tmp_path, draw={"per_model": 5})
    files, _ = show(study)
    for name, column in (("errors", "error_type"), ("rationales", "mark")):
        assert not files[name].rows
        assert column in files[name].columns


def test_judge_and_people_stand_side_by_side(folders: Folders, tmp_path: Path) -> None:
    both = judged(folders)
    errors = {"models": ["judge"], "labels": str(label(folders, tmp_path, simulated=True))}
    study = analyze(both, tmp_path, **errors)
    files, page = show(study)
    table = pl.DataFrame(files["errors"].rows).filter(model="sim-weak")
    assert table["by"].unique(maintain_order=True).to_list() == ["judge", "people"]
    people = table.filter(by="people")
    assert people["simulated"].all()
    assert people["calibrated"].is_null().all()
    assert not table.filter(by="judge")["calibrated"].any()
    assert "were classified by Judge, by the taxonomy" in page
    assert "were classified by people, by the taxonomy" in page


def test_mistakes_in_the_labels_are_named(folders: Folders, tmp_path: Path) -> None:
    leave_to_people(folders)
    study = analyze(folders, tmp_path, labels=str(label(folders, tmp_path)), taxonomy="emma")
    with pytest.raises(
        FileFormatError, match=r"row 1: .*'logical' is not in .* emma; known: [a-z_, ]+$"
    ):
        study.analyze()
    with pytest.raises(MissingInputError, match=r"away\.csv"):
        analyze(folders, tmp_path, labels="away.csv").analyze()


def test_labels_of_errors_without_a_judge_are_no_mistake_of_certify(
    folders: Folders, tmp_path: Path
) -> None:
    file, root = label(folders, tmp_path), folders.freeze.parent
    alone = analyze(folders, tmp_path, labels=str(file)).study
    assert certify_judges(file, root, tmp_path / "certify", alone).reasoning == []
    with pytest.raises(
        MissingInputError, match=r"set `judge\.errors\.labels` if only people label"
    ):
        certify_judges(file, root, tmp_path / "certify", folders.study)
