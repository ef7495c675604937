"""The list `plugins:` of params.yaml, and the names that it makes known."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.plugins.test_files import RULE

from omibench.errors import ParamsError, PluginError
from omibench.graph.job_hash import slice_study
from omibench.params.study import parse_study_file

PARAMS = """\
study: {name: mine}
plugins: [rules.py]
score:
  rules: [halves, robust]
"""


@pytest.fixture
def folder(own_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (own_folder / "rules.py").write_text(RULE)
    (own_folder / "params.yaml").write_text(PARAMS)
    monkeypatch.chdir(own_folder)
    return own_folder


def test_names_of_a_plug_in_are_known(folder: Path) -> None:
    study = parse_study_file("params.yaml")
    assert study.score.scorers == ["halves", "robust"]


def test_a_job_gets_the_plug_ins_that_it_uses_with_what_they_mean(folder: Path) -> None:
    study = parse_study_file("params.yaml")
    part = slice_study(study, "score")
    assert [plugin["file"] for plugin in part["plugins"]] == ["rules.py"]
    assert slice_study(study, "analyze")["plugins"] == part["plugins"], "it scores people"
    assert slice_study(study, "certify")["plugins"] == [{"file": "rules.py"}]
    assert "plugins" not in slice_study(study, "freeze")
    assert parse_study_file(json.dumps(part)).score.scorers == ["halves", "robust"]
    (folder / "rules.py").write_text(RULE.replace("0.5", "0.75"))
    with pytest.raises(PluginError, match=r"rules\.py: has changed since this run was planned"):
        parse_study_file(json.dumps(part))


def test_a_mistake_names_the_line_of_the_parameters(folder: Path) -> None:
    (folder / "rules.py").write_text("oops\n")
    with pytest.raises(
        PluginError, match=r"^params\.yaml, line 2: plugins\.0: rules\.py, line 1: NameError"
    ):
        parse_study_file("params.yaml")
    (folder / "rules.py").unlink()
    with pytest.raises(PluginError, match=r"line 2: plugins\.0: rules\.py: the file does not"):
        parse_study_file("params.yaml")


@pytest.mark.parametrize("block", ["study: {results: out}", "study: {store: out}", "data: out"])
def test_folders_of_data_hold_no_plug_in(folder: Path, block: str) -> None:
    (folder / "out").mkdir()
    (folder / "rules.py").rename(folder / "out" / "rules.py")
    (folder / "params.yaml").write_text(f"{block}\nplugins: [out/rules.py]\n")
    with pytest.raises(PluginError, match=r"is in out, the folder of .*, where code is never run"):
        parse_study_file("params.yaml")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "score: {scorers: [robus]}",
            "score.scorers.0: unknown scorer 'robus'; did you mean 'robu",
        ),
        ("benchmark: {name: ema}", "benchmark.name: unknown benchmark 'ema'; did you mean 'emma'?"),
        ("ocr: {engine: rapid}", "ocr.engine: unknown OCR engine 'rapid'; did you mean 'rapidocr'"),
        (
            "filter: {reasons: [x]}",
            "filter.reasons.0: unknown reason of the filter 'x'; known: out",
        ),
        (
            "settings: {a: {images: fist}}",
            "settings.a.images.show: unknown image condition 'fist';",
        ),
        (
            "analyze: {main_scorer: zzz}",
            "analyze.main_scorer: unknown scorer 'zzz'; known: emma, ma",
        ),
    ],
)
def test_an_unknown_name_gets_the_nearest(tmp_path: Path, text: str, line: str) -> None:
    file = tmp_path / "params.yaml"
    file.write_text(text)
    with pytest.raises(ParamsError) as raised:
        parse_study_file(file)
    assert str(raised.value).startswith(f"{file}, line 1: {line}")
