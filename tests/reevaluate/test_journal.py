"""The journal: what was begun is gone on with, and only one re-evaluation is at work."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from omibench.errors import OutputError
from omibench.reevaluate.budget import Priced
from omibench.reevaluate.candidates import new_models
from omibench.reevaluate.journal import note, only_one, read_journal, unfinished, was_told
from reevaluate.conftest import TEMPLATE, watching


def test_what_was_begun_is_a_candidate_until_it_is_done(tmp_path: Path) -> None:
    assert read_journal(tmp_path).models == []
    (found,) = new_models(watching(), {"lab": ["new-1"]})
    note(tmp_path, [found], "begun", "now")
    assert unfinished(watching(), read_journal(tmp_path)) == [], "killed before it was added"
    models = {"old": TEMPLATE | {"id": "old"}, "new-1": found.block}
    infer = {"models": ["old", "new-1"], "settings": ["cot", "direct"], "only": {"new-1": ["cot"]}}
    study = watching(models=models, infer=infer)
    (again,) = unfinished(study, read_journal(tmp_path))
    assert (again.name, again.id, again.settings) == ("new-1", "new-1", ("cot",))
    note(tmp_path, [found], "done", "later")
    assert unfinished(study, read_journal(tmp_path)) == []
    assert [s.state for s in read_journal(tmp_path).models] == ["done"]


def test_a_refusal_is_told_once_for_each_reason(tmp_path: Path) -> None:
    (found,) = new_models(watching(), {"lab": ["new-1"]})
    priced = Priced(found, 1, 2.0, 3.0, "too dear")
    assert not was_told(read_journal(tmp_path), priced)
    note(tmp_path, [found], "waiting", "now", "too dear")
    assert was_told(read_journal(tmp_path), priced)
    assert not was_told(read_journal(tmp_path), priced._replace(refused="still too dear"))


def test_the_second_is_turned_away_and_a_killed_one_holds_nothing(tmp_path: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path\n"
        "from omibench.reevaluate.journal import only_one\n"
        "with only_one(Path(sys.argv[1])):\n    print('held', flush=True); time.sleep(600)\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with (
            pytest.raises(OutputError, match="another re-evaluation is at work"),
            only_one(tmp_path),
        ):
            pass
        other.kill()
    with only_one(tmp_path):
        pass
