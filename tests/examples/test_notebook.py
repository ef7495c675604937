"""examples/notebook.ipynb runs whole, and examples/compare_models.py too, on a made study."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from tests.stages.analyze.conftest import Folders, made

from omibench.schemas.problem import Answer, Question
from omibench.schemas.tables import (
    FrozenManifest,
    content_hash,
    read_jsonl,
    read_typed_json,
    write_json,
)

__all__ = ["made"]


def test_the_notebook_stores_no_output(root: Path) -> None:
    notebook = json.loads((root / "examples/notebook.ipynb").read_text("utf-8"))
    for cell in notebook["cells"]:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
        assert not cell["metadata"]


def _copy_results(made: Folders, results: Path) -> None:
    """The results of the made study, its dataset as `freeze` would have sealed it."""
    shutil.copytree(made.freeze.parent, results)
    freeze = results / "freeze"
    hashes = {
        "questions_sha256": content_hash(read_jsonl(freeze / "questions.jsonl", Question)),
        "answers_sha256": content_hash(read_jsonl(freeze / "answers.jsonl", Answer)),
    }
    manifest = read_typed_json(freeze / "manifest.json", FrozenManifest)
    write_json(freeze / "manifest.json", manifest.model_copy(update=hashes))


@pytest.mark.slow
def test_the_notebook_runs_whole(
    root: Path, made: Folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "jupyter"))
    _copy_results(made, tmp_path / "results")
    notebook = nbformat.read(root / "examples/notebook.ipynb", as_version=4)
    place = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=120, resources=place).execute()
    outputs = {cell["id"]: cell.get("outputs", []) for cell in notebook.cells}
    assert any("image/svg+xml" in output["data"] for output in outputs["plot"])
    assert "beside" in "".join(output["text"] for output in outputs["why"])
    printed = "".join(output["text"] for output in outputs["compare"])
    assert "cannot be told apart" in printed or "they differ" in printed
    assert "[image]" in "".join(output["text"] for output in outputs["asked"])


def test_the_script_compares_every_pair_of_models(
    module_at: Callable[[str], ModuleType], made: Folders, capsys: pytest.CaptureFixture[str]
) -> None:
    module_at("examples/compare_models.py").main(str(made.freeze.parent))
    lines = capsys.readouterr().out.splitlines()
    models = len(made.study.infer.models)
    assert len(lines) == models * (models - 1) // 2
    assert all("problems: they " in line for line in lines)
