"""What people decide about models, and what a list of models says about those of the study."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from tests.reevaluate.conftest import PRICE, TEMPLATE, watching

from omibench.errors import ParamsError
from omibench.params.study import Study
from omibench.schemas.problem import Question
from omibench.schemas.tables import write_jsonl
from omibench.study.reevaluate.candidates import (
    add_to_params,
    find_new_models,
    remove_from_params,
    replace_models,
)
from omibench.study.reevaluate.changes import (
    MonthlyAllowance,
    choose_candidates,
    find_unfinished,
    is_already_waiting,
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
    from omibench.study.plan.study_file import read_study

    return read_study(str(params))


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "questions.jsonl"
    write_jsonl(path, [Question(id=str(n), question=f"What is {n}?") for n in range(10)])
    return path


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
    from omibench.schemas.certificate import Journal

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


def test_the_first_price_whose_pattern_matches_applies() -> None:
    template = {key: value for key, value in TEMPLATE.items() if key != "price"}
    cheap, dear = PRICE | {"input": 0.1}, PRICE | {"input": 9.0}
    watch = {
        "kind": "endpoint", "match": ["*"], "model": template,
        "prices": [{"match": "*-mini", "price": cheap}, {"match": "new-*", "price": dear}],
    }  # fmt: skip
    study = watching(reevaluate={"watch": {"lab": watch}, "monthly_budget_usd": 5.0})
    found = find_new_models(study, {"lab": ["new-mini", "new-1", "other"]})
    assert [c.block.get("price", {}).get("input") for c in found] == [0.1, 9.0, None]
    assert found[0].block["price"]["as_of"] == "2026-11-21", "DVC reads no dates"


def test_a_model_without_a_matching_price_is_refused_under_a_budget(questions: Path) -> None:
    template = {key: value for key, value in TEMPLATE.items() if key != "price"}
    watch = {
        "kind": "endpoint", "match": ["*"], "model": template,
        "prices": [{"match": "new-*", "price": PRICE}],
    }  # fmt: skip
    study = watching(reevaluate={"watch": {"lab": watch}, "monthly_budget_usd": 5.0})
    found = find_new_models(study, {"lab": ["other", "new-1"]})
    allowed = MonthlyAllowance(5.0, 5.0, "$5 are left")
    other, new = choose_candidates(study, found, questions, allowed)
    assert "has no price, so no budget can be enforced" in (other.refused or "")
    assert new.refused is None


def test_a_study_that_analyses_the_saliency_of_listed_models_takes_new_ones() -> None:
    study = watching(saliency={"models": ["old"], "settings": ["cot"]})
    alone = replace_models(study, find_new_models(study, {"lab": ["new-1"]}))
    assert alone.salient_cells == []
