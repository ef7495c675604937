"""The guide's setting of one's own works as it stands there, from params alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from tests.stages.infer.conftest import frozen_questions, study_maker

from omibench.params.setting import Cell
from omibench.schemas.tables import ResponseRow, read_parquet
from omibench.stages.infer import infer_cell, list_requests


@pytest.fixture
def guide(root: Path) -> str:
    text = (root / "docs" / "settings.md").read_text("utf-8")
    return text[text.index("## A setting of your own") :]


def block(guide: str, kind: str) -> str:
    found = re.search(rf"```{kind}\n(.*?)```", guide, re.DOTALL)
    assert found, f"the guide has a block of {kind}"
    return found[1]


def test_a_setting_of_ones_own(guide: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("prompts").mkdir()
    Path("prompts/examiner.txt").write_text(block(guide, "text"), "utf-8")
    params = yaml.safe_load(block(guide, "yaml"))
    params["settings"]["cot"] = {}
    study = study_maker(tmp_path)(
        settings=params["settings"], infer={"models": ["sim"], **params["infer"]}
    )
    cell, questions = Cell("sim", "examiner"), frozen_questions(tmp_path)
    first, *_ = list_requests(questions, study, cell)
    system, user = first.conversation.messages
    assert system.role == "system"
    assert "strict examiner" in first.conversation.text
    assert len([part for part in user.parts if part.kind == "image"]) == 2
    assert "A. option A" in first.conversation.text
    assert infer_cell(questions, tmp_path / "own.parquet", study, cell) == 3 * 4
    assert read_parquet(tmp_path / "own.parquet", ResponseRow)["outcome"].to_list()
