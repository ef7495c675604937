"""The section of judges under `judge.others`: means and shares with intervals and n, marked."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.judges.plugin_judges import plugin_judges
from tests.stages.analyze.conftest import Folders, make_study

from omibench.params.stages.judge import JudgeParams
from omibench.schemas.tables import JudgementRow, ResponseRow, read_parquet, write_parquet

pytestmark = pytest.mark.usefixtures("undrawn")

LABELS = ("good", "good", "bad", None)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    """A study whose judges of plug-ins gave marks 4 and 8 in turn, and labels."""
    made = make_study(tmp_path_factory.mktemp("others"), explorer=True, per_subject=2)
    with plugin_judges():
        params = JudgeParams.model_validate(
            {"others": {"tempo": "judge", "tone": "judge"}, "settings": ["cot"]}
        )
        study = made.study.model_copy(update={"judge": params})
        for cell in study.judged_cells:
            name = f"{cell.model}/{cell.setting}.parquet"
            keys = read_parquet(made.infer / name, ResponseRow).select("id", "key", "index").rows()
            rows = [row for i, key in enumerate(keys) for row in judge_response(i, *key)]
            write_parquet(made.score.parent / "judge" / name, rows, JudgementRow)
        folders = made._replace(study=study)
        folders.analyze()
    return folders


def judge_response(number: int, problem: str, key: str, index: int) -> list[JudgementRow]:
    base = {"id": problem, "index": index, "key": key, "version": 1, "judge": "judge"}
    label = LABELS[number % 4]
    mark = {"mark": 4.0 + 4 * (number % 2), "lowest": 0.0, "highest": 10.0}
    tone = {"outcome": "scored" if label else "judge_failed", "label": label}
    return [
        JudgementRow.model_validate({**base, "outcome": "scored", "instrument": "tempo", **mark}),
        JudgementRow.model_validate({**base, "instrument": "tone", "simulated": True, **tone}),
    ]


def test_a_mean_and_shares_by_cell(folders: Folders) -> None:
    table = pl.read_csv(folders.out / "other-judges.csv")
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


def test_the_report_and_the_explorer_show_them(folders: Folders) -> None:
    page = (folders.out / "report.html").read_text("utf-8")
    card = page[page.index('id="other-judges"') :].partition("</section>")[0]
    assert "SIMULATED" in card
    assert "have no certificates" in card
    assert "mean, 0 to 10" in card
    assert 'id="reasoning"' not in page
    problem = next(iter(sorted((folders.out / "explorer/pages").glob("*.html"))))
    shown = problem.read_text("utf-8")
    assert "of 0 to 10" in shown
    assert "tempo" in shown


def test_a_study_without_them_has_no_such_section(tmp_path: Path) -> None:
    folders = make_study(tmp_path, explorer=False, per_subject=2)
    folders.analyze()
    assert 'id="other-judges"' not in (folders.out / "report.html").read_text("utf-8")
    assert not (folders.out / "other-judges.csv").exists()
