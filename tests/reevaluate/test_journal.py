"""The journal: what was begun is gone on with, and only one re-evaluation is at work."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path

import pytest
from tests.reevaluate.conftest import TEMPLATE, watching

from omibench.errors import OutputError
from omibench.study.reevaluate.candidates import find_new_models
from omibench.study.reevaluate.changes import (
    Priced,
    find_unfinished,
    is_already_waiting,
    lock_results,
    note,
    read_journal,
)


def test_what_was_begun_is_a_candidate_until_it_is_done(tmp_path: Path) -> None:
    assert read_journal(tmp_path).models == []
    (found,) = find_new_models(watching(), {"lab": ["new-1"]})
    note(tmp_path, [found], "begun", "now")
    assert find_unfinished(watching(), read_journal(tmp_path), None) == [], (
        "killed before it was added"
    )
    models = {"old": TEMPLATE | {"id": "old"}, "new-1": found.block}
    infer = {"models": ["old", "new-1"], "settings": ["cot", "direct"], "only": {"new-1": ["cot"]}}
    study = watching(models=models, infer=infer)
    (again,) = find_unfinished(study, read_journal(tmp_path), 1.0)
    assert (again.name, again.id, again.settings) == ("new-1", "new-1", ("cot",))
    note(tmp_path, [found], "done", "later")
    assert find_unfinished(study, read_journal(tmp_path), 1.0) == []
    assert [s.state for s in read_journal(tmp_path).models] == ["done"]


@pytest.mark.parametrize(
    ("cap", "goes_on"), [(2.0, False), (1.0 + 1.0 + 1e-12, False), (3.0, True), (None, True)]
)
def test_what_a_budget_cut_off_goes_on_under_a_larger_one(
    tmp_path: Path, cap: float | None, goes_on: bool
) -> None:
    (found,) = find_new_models(watching(), {"lab": ["new-1"]})
    models = {"old": TEMPLATE | {"id": "old"}, "new-1": found.block}
    study = watching(models=models, infer={"models": ["old", "new-1"], "settings": ["cot"]})
    note(tmp_path, [found], "waiting", "now", "the budget ended", cap_usd=2.0)
    again = find_unfinished(study, read_journal(tmp_path), cap)
    assert [c.name for c in again] == ["new-1"] * goes_on
    assert find_unfinished(watching(), read_journal(tmp_path), cap) == [], (
        "a study without the model"
    )


def test_what_was_begun_and_then_had_no_budget_is_not_forgotten(tmp_path: Path) -> None:
    (found,) = find_new_models(watching(), {"lab": ["new-1"]})
    models = {"old": TEMPLATE | {"id": "old"}, "new-1": found.block}
    study = watching(models=models, infer={"models": ["old", "new-1"], "settings": ["cot"]})
    note(tmp_path, [found], "begun", "now")
    note(tmp_path, [found], "waiting", "after a kill", "too dear")
    assert [c.name for c in find_unfinished(study, read_journal(tmp_path), 0.1)] == ["new-1"]


def test_a_refusal_is_told_once_for_each_reason(tmp_path: Path) -> None:
    (found,) = find_new_models(watching(), {"lab": ["new-1"]})
    priced = Priced(found, 1, 2.0, 3.0, "too dear")
    assert not is_already_waiting(read_journal(tmp_path), priced)
    note(tmp_path, [found], "waiting", "now", "too dear")
    assert is_already_waiting(read_journal(tmp_path), priced)
    assert not is_already_waiting(read_journal(tmp_path), priced._replace(refused="still too dear"))


def test_the_second_is_turned_away_and_a_killed_one_holds_nothing(tmp_path: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path\n"
        "from omibench.study.reevaluate.changes import lock_results\n"
        "with lock_results(Path(sys.argv[1])):\n    print('held', flush=True); time.sleep(600)\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with (
            pytest.raises(OutputError, match="another re-evaluation is running"),
            lock_results(tmp_path),
        ):
            pass
        other.kill()
    with lock_results(tmp_path):
        pass


def test_a_folder_that_cannot_be_locked_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(file: int, how: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("fcntl.flock", refuse)
    with (
        pytest.raises(OutputError, match="cannot be locked: Input/output error"),
        lock_results(tmp_path),
    ):
        pass
