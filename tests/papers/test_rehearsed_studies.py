"""The studies of all papers, rehearsed whole: every table and figure is as the paper prints it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from omibench.papers.catalogue import RehearsalItem, RehearsalRecord, read_rehearsal
from omibench.schemas.tables import read_typed_json


@pytest.fixture
def studies(root: Path) -> Iterator[ModuleType]:
    """The benchmark; its folder is on Python's path as when a script runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(root / "benchmarks"))
        yield import_module("paper_studies")


@pytest.fixture
def checkout(tmp_path: Path, studies: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of one commit, which the benchmark takes for its own."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    (folder / "code.py").write_text("")
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    for words in (["init", "-q"], ["add", "."], [*identity, "commit", "-qm", "One"]):
        subprocess.run(["git", "-C", str(folder), *words], check=True)
    monkeypatch.setattr(studies, "ROOT", folder)
    return folder


@pytest.fixture
def wrong_lines(studies: ModuleType, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is wrong in a rehearsal, which runs no study here."""
    wrong: list[str] = []
    items = {"emma": {"table1": RehearsalItem(kind="simulated")}}
    monkeypatch.setattr(studies, "rehearse", lambda *_, **__: studies.Outcome(items, wrong))
    return wrong


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(3600)
def test_every_item_is_made_in_its_printed_form_and_the_record_is_true(
    studies: ModuleType, tmp_path: Path
) -> None:
    outcome = studies.rehearse(studies.PAPERS, tmp_path / "work")
    assert outcome.wrong == []
    assert outcome.items == read_rehearsal().items


def test_a_record_names_the_commit_that_ran(
    studies: ModuleType, checkout: Path, wrong_lines: list[str], tmp_path: Path
) -> None:
    record = tmp_path / "record.json"
    assert studies.main(["--work", str(tmp_path / "work"), "--record", str(record)]) == 0
    head = (checkout / ".git/HEAD").read_text().removeprefix("ref: ").strip()
    commit = (checkout / ".git" / head).read_text()
    written = read_typed_json(record, RehearsalRecord)
    assert commit.startswith(written.commit)
    assert len(written.commit) == 12
    assert written.items["emma"]["table1"].kind == "simulated"


def test_nothing_is_recorded_if_an_item_is_wrong(
    studies: ModuleType, checkout: Path, wrong_lines: list[str], tmp_path: Path
) -> None:
    wrong_lines.append("table1: has another row")
    record = tmp_path / "record.json"
    assert studies.main(["--work", str(tmp_path / "work"), "--record", str(record)]) == 1
    assert not record.exists()


@pytest.mark.parametrize(
    ("more", "change", "message"),
    [
        (["--keep"], "", "leave out --paper, --keep and --export"),
        (["--export"], "", "leave out --paper, --keep and --export"),
        (["--paper", "emma"], "", "leave out --paper, --keep and --export"),
        ([], "work/store/index", "is not empty"),
        ([], "checkout/code.py", "differ from the commit"),
        ([], "checkout/new.py", "differ from the commit"),
    ],
)
def test_a_record_is_only_of_studies_run_anew_from_a_commit(
    studies: ModuleType, checkout: Path, wrong_lines: list[str], tmp_path: Path,
    capsys: pytest.CaptureFixture[str], more: list[str], change: str, message: str,
) -> None:  # fmt: skip
    if change:
        (tmp_path / change).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / change).write_text("1")
    record = tmp_path / "record.json"
    with pytest.raises(SystemExit, match="2"):
        studies.main(["--work", str(tmp_path / "work"), "--record", str(record), *more])
    assert message in capsys.readouterr().err
    assert not record.exists()


def test_files_of_an_earlier_run_are_used_only_if_they_are_to_be_kept(
    studies: ModuleType, wrong_lines: list[str], tmp_path: Path
) -> None:
    (tmp_path / "work/store").mkdir(parents=True)
    with pytest.raises(SystemExit, match="2"):
        studies.main(["--work", str(tmp_path / "work"), "--paper", "emma"])
    assert studies.main(["--work", str(tmp_path / "work"), "--paper", "emma", "--keep"]) == 0
