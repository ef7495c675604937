"""The verb `omibench code-hash`: the files that would run, and the hash that fixes them."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from command_line import app
from omibench.errors import MissingInputError
from omibench.params.models.registry import parse_model


def test_it_prints_what_runs_and_the_revision_that_a_block_takes(tmp_path: Path) -> None:
    (tmp_path / "modeling.py").write_text("x = 1\n")
    (tmp_path / "model.safetensors").touch()
    ended = CliRunner().invoke(app, ["code-hash", str(tmp_path)])
    *files, last = (line.split() for line in ended.output.splitlines())
    assert files == [["runs", str(tmp_path / "modeling.py")]]
    block = {"provider": "vllm", "id": str(tmp_path), "revision": last[1]}
    assert parse_model(block | {"trust_remote_code": True})


def test_what_is_no_folder_is_said(tmp_path: Path) -> None:
    ended = CliRunner().invoke(app, ["code-hash", str(tmp_path / "absent")])
    assert isinstance(ended.exception, MissingInputError)
