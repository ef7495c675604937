"""The folder in which a study runs, wherever a command was started."""

from __future__ import annotations

from pathlib import Path

import pytest

from omibench.errors import MissingInputError
from omibench.files.locations import find_study, in_study_folder


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, a study; the folder `there` beside it is another."""
    for name in ("here", "there"):
        (tmp_path / name / "studies").mkdir(parents=True)
        (tmp_path / name / "Snakefile").touch()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


@pytest.mark.parametrize(
    ("given", "folder", "there"),
    [
        ("params.yaml", "here", "params.yaml"),
        ("./my own.yaml", "here", "my own.yaml"),
        ("studies/emma.yaml", "here", "studies/emma.yaml"),
        ("../there/params.yaml", "there", "params.yaml"),
        ("../there/studies/emma.yaml", "there", "studies/emma.yaml"),
        ("../there/other/params.yaml", "there/other", "params.yaml"),
        ("../there/other/of/mine.yaml", "there", "other/of/mine.yaml"),
        ("../beside/mine.yaml", "beside", "mine.yaml"),
        ('  {"study": {}}', "here", '  {"study": {}}'),
    ],
)
def test_a_study_runs_in_the_folder_of_its_parameter_file(
    here: Path, given: str, folder: str, there: str
) -> None:
    assert find_study(given) == (here.parent / folder, there)
    if not given.startswith(" "):
        assert find_study(str(here / given)) == (here.parent / folder, there)


def test_a_folder_named_studies_can_be_a_study(here: Path) -> None:
    (here / "studies/Snakefile").touch()
    assert find_study("studies/params.yaml") == (here / "studies", "params.yaml")


def test_a_folder_of_studies_without_rules_above_it_is_a_study(here: Path) -> None:
    (here / "Snakefile").unlink()
    assert find_study("studies/params.yaml") == (here / "studies", "params.yaml")


def test_a_linked_parameter_file_belongs_to_the_folder_of_the_link(here: Path) -> None:
    (here / "params.yaml").symlink_to(here.parent / "there/params.yaml")
    assert find_study("params.yaml") == (here, "params.yaml")


def test_the_current_folder_changes_for_a_block_and_is_told(here: Path) -> None:
    told: list[str] = []
    with in_study_folder("../there/params.yaml", told.append) as there:
        assert (Path.cwd(), there) == (here.parent / "there", "params.yaml")
        with in_study_folder(there, told.append):
            assert Path.cwd() == here.parent / "there"
    assert Path.cwd() == here
    folder = here.parent / "there"
    assert told == [f"../there/params.yaml: runs in the folder of its study, {folder}"]
    with pytest.raises(ZeroDivisionError), in_study_folder("../there/params.yaml", told.append):
        raise ZeroDivisionError
    assert Path.cwd() == here


@pytest.mark.usefixtures("here")
def test_a_folder_that_is_not_there_is_told() -> None:
    with (
        pytest.raises(MissingInputError, match=r"absent/params.yaml: the folder .*/absent cannot"),
        in_study_folder("absent/params.yaml", print),
    ):
        pass
