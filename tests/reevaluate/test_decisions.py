"""What people decide about models, and what a list of models says about those of the study."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.reevaluate.conftest import PRICE, TEMPLATE, watching, watching_with

from omibench.errors import OutputError, ParamsError
from omibench.params.study import Study
from omibench.schemas.certificate import Journal
from omibench.study.plan.study_file import read_study
from omibench.study.reevaluate.candidates import (
    add_to_params,
    find_new_models,
    remove_from_params,
    replace_models,
)
from omibench.study.reevaluate.changes import (
    MonthlyAllowance,
    Priced,
    choose_candidates,
    find_unfinished,
    is_already_waiting,
    lock_results,
    note,
    read_journal,
)
from omibench.study.reevaluate.decisions import (
    approve,
    cancel,
    find_approved,
    list_asked,
    note_retired,
)

FREE = MonthlyAllowance(None, None, "")
PARAMS = """\
# Keep this comment.
study: {name: s, results: RESULTS}
models:
  old: MODEL   # the first
settings:
  cot: {}
  direct: {}
infer:
  models: [old]
  settings: [cot, direct]
reevaluate:
  approve: true
  watch:
    lab: {kind: endpoint, match: [new-*], settings: [cot], model: TEMPLATE}
"""


@pytest.fixture
def params(tmp_path: Path) -> Path:
    """A parameter file of a study that approves each model."""
    text = PARAMS.replace("RESULTS", str(tmp_path / "results"))
    text = text.replace("TEMPLATE", str(TEMPLATE)).replace("MODEL", str(TEMPLATE | {"id": "old"}))
    (tmp_path / "params.yaml").write_text(text)
    return tmp_path / "params.yaml"


def read(params: Path) -> Study:
    return read_study(str(params))


def test_a_new_model_is_pending_until_its_id_is_approved(params: Path, questions: Path) -> None:
    study = read(params)
    results = Path(study.study.results)
    found = find_new_models(study, {"lab": ["new-1", "new-2"]})

    def choose() -> list[tuple[bool, str]]:
        approved = find_approved(study, read_journal(results))
        priced = choose_candidates(study, found, questions, FREE, approved)
        return [(one.pending, one.refused or "") for one in priced]

    assert [pending for pending, _ in choose()] == [True, True]
    assert choose()[0][1].startswith("new-1 (new-1): 10 requests, $")
    (first, _) = choose_candidates(study, found, questions, FREE, set())
    assert not is_already_waiting(read_journal(results), first)
    note(results, found, "pending", "now", "why")
    assert is_already_waiting(read_journal(results), first)
    assert approve(study, params, ["new-1"], "later") == ["new-1"]
    assert choose()[0] == (False, "")
    assert choose()[1][0]
    assert [s.model for s in list_asked(results)] == ["new-2"]
    note(results, found[:1], "waiting", "now", "too dear")
    assert choose()[0] == (False, ""), "the approval stays while it waits for a budget"
    with pytest.raises(ParamsError, match=r"--approve new-1: no such .* those that do: new-2"):
        approve(study, params, ["new-1"], "later")
    assert approve(study, params, ["all"], "later") == ["new-2"]
    with pytest.raises(ParamsError, match="none does"):
        approve(study, params, ["new-2"], "later")


def test_without_approve_nothing_is_pending(questions: Path) -> None:
    study = watching()
    found = find_new_models(study, {"lab": ["new-1"]})
    approved = find_approved(study, Journal())
    (one,) = choose_candidates(study, found, questions, FREE, approved)
    assert (one.pending, one.refused) == (False, None)


def test_a_cancelled_model_leaves_the_cells_and_comes_back_when_asked(params: Path) -> None:
    text = params.read_text()
    study = read(params)
    results = Path(study.study.results)
    found = find_new_models(study, {"lab": ["new-1"]})
    note(results, found, "begun", "now", run="run-1")
    add_to_params(params, found)
    study = read(params)
    assert study.infer.models == ["old", "new-1"]

    assert cancel(study, params, ["run-2"], "later") == []
    assert cancel(study, params, ["run-1"], "later") == ["new-1"]
    study = read(params)
    assert study.infer.models == ["old"]
    assert "new-1" in study.models, "its block stays"
    assert not study.infer.only
    assert params.read_text().startswith("# Keep this comment.\n")
    assert "# the first" in params.read_text()
    assert find_unfinished(study, read_journal(results), None) == []
    assert find_new_models(study, {"lab": ["new-1"]}) == []
    assert cancel(study, params, ["run-1"], "later") == [], "it is not cancelled twice"

    assert approve(study, params, ["new-1"], "last") == ["new-1"]
    study = read(params)
    assert study.infer.models == ["old", "new-1"]
    assert study.infer.only == {"new-1": ["cot"]}
    (again,) = find_unfinished(study, read_journal(results), None)
    assert (again.name, again.settings) == ("new-1", ("cot",))
    assert yaml.safe_load(text)["settings"] == yaml.safe_load(params.read_text())["settings"]


def test_the_only_model_of_a_study_can_be_cancelled(params: Path) -> None:
    params.write_text(params.read_text().replace("models: [old]", "models: []  # none yet"))
    study = read(params)
    found = find_new_models(study, {"lab": ["new-1"]})
    note(Path(study.study.results), found, "begun", "now", run="run-1")
    add_to_params(params, found)
    assert cancel(read(params), params, ["run-1"], "later") == ["new-1"]
    study = read(params)
    assert study.infer.models == []
    assert approve(study, params, ["all"], "last") == ["new-1"]
    assert read(params).infer.models == ["new-1"]


def test_removal_of_a_model_that_is_not_there_changes_nothing(params: Path) -> None:
    before = params.read_bytes()
    remove_from_params(params, ["none"])
    assert params.read_bytes() == before


def test_a_model_that_its_endpoint_does_not_list_is_retired_once(params: Path) -> None:
    study = read(params)
    assert note_retired(study, {"lab": ["old", "x"]}, "1") == ([], [])
    assert note_retired(study, {"lab": []}, "2") == ([], []), "an empty list says nothing"
    assert note_retired(study, {}, "3") == ([], []), "nor does a failed look"
    assert note_retired(study, {"lab": ["x"]}, "4") == (["old"], [])
    assert note_retired(study, {"lab": ["x"]}, "5") == ([], [])
    assert note_retired(study, {}, "6") == ([], [])
    assert read_journal(Path(study.study.results)).retired == {"old": "4"}
    assert note_retired(study, {"lab": ["x", "old"]}, "7") == ([], ["old"])
    assert read_journal(Path(study.study.results)).retired == {}


def priced(**prices: dict[str, Any]) -> Study:
    """A study with a monthly budget whose watch has prices by pattern."""
    watch = {
        "kind": "endpoint", "match": ["*"],
        "model": {key: value for key, value in TEMPLATE.items() if key != "price"},
        "prices": [{"match": match, "price": price} for match, price in prices.items()],
    }  # fmt: skip
    return watching(reevaluate={"watch": {"lab": watch}, "monthly_budget_usd": 5.0})


def test_the_first_price_whose_pattern_matches_applies() -> None:
    study = priced(**{"*-mini": PRICE | {"input": 0.1}, "new-*": PRICE | {"input": 9.0}})
    found = find_new_models(study, {"lab": ["new-mini", "new-1", "other"]})
    assert [c.block.get("price", {}).get("input") for c in found] == [0.1, 9.0, None]
    assert found[0].block["price"]["as_of"] == "2026-11-21", "DVC reads no dates"


def test_a_model_without_a_matching_price_is_refused_under_a_budget(questions: Path) -> None:
    study = priced(**{"new-*": PRICE})
    found = find_new_models(study, {"lab": ["other", "new-1"]})
    allowed = MonthlyAllowance(5.0, 5.0, "$5 are left")
    other, new = choose_candidates(study, found, questions, allowed)
    assert "has no price, so no budget can be enforced" in (other.refused or "")
    assert new.refused is None


def test_a_study_that_analyses_the_saliency_of_listed_models_takes_new_ones() -> None:
    study = watching(saliency={"models": ["old"], "settings": ["cot"]})
    alone = replace_models(study, find_new_models(study, {"lab": ["new-1"]}))
    assert alone.salient_cells == []


# The journal: what was begun is gone on with, and only one re-evaluation is at work.


def test_what_was_begun_is_a_candidate_until_it_is_done(tmp_path: Path) -> None:
    assert read_journal(tmp_path).models == []
    (found,) = find_new_models(watching(), {"lab": ["new-1"]})
    note(tmp_path, [found], "begun", "now")
    assert find_unfinished(watching(), read_journal(tmp_path), None) == [], (
        "killed before it was added"
    )
    study = watching_with(found, only={"new-1": ["cot"]})
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
    note(tmp_path, [found], "waiting", "now", "the budget ended", cap_usd=2.0)
    again = find_unfinished(watching_with(found), read_journal(tmp_path), cap)
    assert [c.name for c in again] == ["new-1"] * goes_on
    assert find_unfinished(watching(), read_journal(tmp_path), cap) == [], (
        "a study without the model"
    )


def test_what_was_begun_and_then_had_no_budget_is_not_forgotten(tmp_path: Path) -> None:
    (found,) = find_new_models(watching(), {"lab": ["new-1"]})
    note(tmp_path, [found], "begun", "now")
    note(tmp_path, [found], "waiting", "after a kill", "too dear")
    again = find_unfinished(watching_with(found), read_journal(tmp_path), 0.1)
    assert [c.name for c in again] == ["new-1"]


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
