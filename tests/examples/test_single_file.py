"""The YAML in the docstring of the example of one file can be copied as it stands."""

from __future__ import annotations

import ast
import shutil
import textwrap
from pathlib import Path

import pytest

from omibench.params.study import parse_study_file

pytestmark = pytest.mark.usefixtures("own_folder")


def test_its_yaml_uses_its_parts(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = root / "examples/plugin/single_file.py"
    shutil.copy(file, tmp_path)
    words = ast.get_docstring(ast.parse(file.read_text("utf-8"))) or ""
    (tmp_path / "params.yaml").write_text(textwrap.dedent(words.partition("\n\n")[2]), "utf-8")
    monkeypatch.chdir(tmp_path)
    study = parse_study_file("params.yaml")
    assert study.score.scorers == ["first-letter"]
    assert study.settings["mine"].prompt == "letter-only"
    assert study.infer.settings == ["mine"]
