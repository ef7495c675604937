"""Parameters from Prefect's page, and folders that were not allowed: flows refuse both."""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path

import pytest
import typer
from tests.extras import require_extra
from tests.plugins.test_files import RULE
from tests.workflows_support import Hook

from omibench.errors import ParamsError, UntrustedError

require_extra("flows", "prefect")

NAMES = ("evaluate", "judge", "rationales", "reevaluate")
PARAMS = """\
plugins: [rules.py]
score: {scorers: [halves]}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stranger's study, of which nothing was allowed."""
    folder = tmp_path / "theirs"
    folder.mkdir()
    (folder / "rules.py").write_text(f'from pathlib import Path\nPath("ran").touch()\n{RULE}')
    (folder / "params.yaml").write_text(PARAMS)
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("shard", 0), ("shard", -1), ("lanes", 0), ("lanes", 10**30), ("cores", "--snakefile=x"),
        ("budget_usd", -1), ("budget_usd", "nan"), ("budget_usd", "inf"), ("params", ""),
        ("params", ' {"models": {}}'), ("params", "a\0b"), ("params", "a\nb"),
        ("params", "x" * 5000), ("params", "\x1b[31mx"),
    ],
)  # fmt: skip
def test_a_value_that_no_flow_can_use_is_refused(key: str, value: object) -> None:
    from prefect.exceptions import ParameterTypeError

    for name in NAMES if key != "budget_usd" else NAMES[:1]:
        flow = getattr(import_module(f"omibench.flows.{name}"), name)
        assert flow.validate_parameters({"params": "params.yaml"})
        with pytest.raises(ParameterTypeError, match=key):
            flow.validate_parameters({key: value})


@pytest.mark.parametrize("name", NAMES)
def test_a_flow_of_a_folder_that_was_not_allowed_is_refused(folder: Path, name: str) -> None:
    flow = getattr(import_module(f"omibench.flows.{name}"), name)
    with pytest.raises(UntrustedError, match=r"rules\.py \(new\); .*omibench allow --show"):
        inspect.unwrap(flow.fn)("params.yaml")
    assert sorted(path.name for path in folder.iterdir()) == ["params.yaml", "rules.py"]


def test_a_flow_starts_no_snakefile_that_was_not_allowed(folder: Path) -> None:
    from omibench.flows.build import snakemake

    (folder / "params.yaml").write_text("{}\n")
    (folder / "Snakefile").write_text('open("ran", "w")\n')
    with pytest.raises(UntrustedError, match=r"Snakefile \(new\)"):
        snakemake("params.yaml", ["all"], 1, say=pytest.fail)
    assert not (folder / "ran").exists()


def test_a_refused_flow_writes_no_journal_outside_its_folder(
    folder: Path, tmp_path: Path, hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    from omibench.flows.news import report_failures
    from omibench.study.plan.study_file import read_study

    for name, url in hook.variables.items():
        monkeypatch.setenv(name, url)
    (folder / "params.yaml").write_text("study: {results: ../elsewhere}\n")
    with pytest.raises(UntrustedError, match=r"study\.results: writes to .*elsewhere \(new\)"):
        report_failures(read_study)("params.yaml")
    assert not (tmp_path / "elsewhere").exists()
    assert hook.events() == []


def test_a_server_runs_studies_of_its_folder_alone(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from prefect.runtime import deployment

    from omibench.flows import FOLDER_ENV
    from omibench.flows.shared import refuse_other_folders

    (tmp_path / "link").symlink_to(folder)
    (folder / "out").symlink_to(tmp_path)
    monkeypatch.setenv(FOLDER_ENV, str(tmp_path / "link"))
    refuse_other_folders("/elsewhere/params.yaml")  # typed here: no run of the server
    monkeypatch.setattr(deployment, "get_id", lambda: "a run of the server")
    for params in ("params.yaml", str(tmp_path / "link/params.yaml"), "studies/params.yaml"):
        refuse_other_folders(params)
    for params in ("../params.yaml", "/elsewhere/params.yaml", "out/params.yaml"):
        with pytest.raises(ParamsError, match=rf"params: '{params}' belongs to the study in "):
            refuse_other_folders(params)


def test_pages_of_other_sites_reach_no_server(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import os

    from omibench.flows import serve

    monkeypatch.setattr(os, "environ", dict(os.environ))
    monkeypatch.setattr(serve, "_answers", lambda port: True)
    with pytest.raises(typer.Exit):
        serve.serve_folder(4321, None)
    allowed = os.environ["PREFECT_SERVER_API_CORS_ALLOWED_ORIGINS"]
    assert allowed == "http://127.0.0.1:4321,http://localhost:4321"
    assert os.environ["PREFECT_SERVER_API_CSRF_PROTECTION_ENABLED"] == "true"
