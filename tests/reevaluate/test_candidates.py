"""From what is listed to models that are new: each once, under a name that is free."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reevaluate.conftest import TEMPLATE, watching

from omibench.errors import ParamsError
from omibench.params.setting import Cell
from omibench.study.reevaluate.candidates import ModelCandidate, find_new_models, replace_models


def test_what_matches_and_is_not_known_is_new() -> None:
    found = find_new_models(watching(), {"lab": ["old", "new-1", "other", "Org/new-2", "new-1"]})
    assert [(c.name, c.id, c.watch) for c in found] == [
        ("new-1", "new-1", "lab"),
        ("Org-new-2", "Org/new-2", "lab"),
    ]
    assert found[0].block == {"id": "new-1"} | TEMPLATE


def test_what_was_added_is_not_new_again() -> None:
    study = watching()
    (candidate,) = find_new_models(study, {"lab": ["new-1"]})
    known = watching(models={"old": study.models["old"], "renamed": candidate.block})
    assert find_new_models(known, {"lab": ["new-1", "old"]}) == []


def test_names_that_are_taken_get_their_watch_before_them() -> None:
    taken = watching(
        models={
            "old": TEMPLATE | {"id": "old"},
            "Org-new-2": TEMPLATE | {"id": "x"},
            "lab-Org-new-2": TEMPLATE | {"id": "y"},
        }
    )
    (candidate,) = find_new_models(taken, {"lab": ["Org/new-2"]})
    assert candidate.name == "Org-new-2-2"


def test_a_stand_in_is_known_by_its_name() -> None:
    stand_in = {"provider": "simulated", "oracle": "o.jsonl"}
    watch = {"kind": "endpoint", "base_url": "http://x", "match": ["new-*"], "model": stand_in}
    study = watching(reevaluate={"watch": {"lab": watch}})
    (candidate,) = find_new_models(study, {"lab": ["new-1"]})
    assert candidate.block == stand_in
    known = watching(
        reevaluate={"watch": {"lab": watch}}, models={"old": stand_in, "new-1": stand_in}
    )
    assert find_new_models(known, {"lab": ["new-1"]}) == []


@given(st.lists(st.text(max_size=120), max_size=8))
def test_whatever_is_listed_every_name_is_valid_and_free(ids: list[str]) -> None:
    everything = watching(
        reevaluate={"watch": {"lab": {"kind": "endpoint", "match": ["*"], "model": TEMPLATE}}}
    )
    found = find_new_models(everything, {"lab": ids})
    assert len({c.name for c in found} | {"old"}) == len(found) + 1
    if found:
        assert replace_models(everything, found).infer.models == [c.name for c in found]


def test_evaluating_candidates_takes_their_cells_alone() -> None:
    study = watching()
    found = find_new_models(study, {"lab": ["new-1", "new-2"]})
    found[1] = found[1]._replace(settings=("direct",))
    assert replace_models(study, found).cells == [
        Cell("new-1", "cot"), Cell("new-1", "direct"), Cell("new-2", "direct"),
    ]  # fmt: skip


def test_a_candidate_that_contradicts_the_study_is_an_error() -> None:
    wrong = ModelCandidate("new-1", "new-1", "lab", {"provider": "openai"})
    with pytest.raises(ParamsError, match=r"models\.new-1\.id: Field required"):
        replace_models(watching(), [wrong])
