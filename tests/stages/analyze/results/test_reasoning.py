"""Marks of rationales and types of errors: means, shares, what stands apart, and the report."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.stages.analyze.conftest import Folders, make_study

from omibench.errors import MissingInputError
from omibench.params.stages.judge import JudgeParams
from omibench.schemas.tables import JudgementRow, ResponseRow, read_parquet, write_parquet

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


def test_a_study_without_judges_of_reasoning_has_neither(tmp_path: Path) -> None:
    folders = make_study(tmp_path, explorer=False, per_subject=2)
    run(folders)
    assert 'id="reasoning"' not in (folders.out / "report.html").read_text("utf-8")
    assert not (folders.out / "errors.csv").exists()


def test_a_cell_that_was_not_judged_is_named(tmp_path: Path) -> None:
    folders = judged(make_study(tmp_path, explorer=False, per_subject=2))
    (tmp_path / "judge" / "sim-weak" / "cot.parquet").unlink()
    with pytest.raises(MissingInputError, match="run `omibench judge` for sim-weak under cot"):
        run(folders)
