"""From what is listed to models that are new: each once, under a name that is free."""

from __future__ import annotations

import difflib
from datetime import date
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from tests.reevaluate.conftest import TEMPLATE, watching

from omibench.errors import ParamsError
from omibench.files.yaml_file import list_dates
from omibench.params.reevaluate import fill_template
from omibench.params.setting import Cell
from omibench.study.reevaluate.candidates import (
    ModelCandidate,
    add_to_params,
    find_new_models,
    remove_from_params,
    replace_models,
)


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


# New models in params.yaml: lines are added, and nothing else of the file changes.


BLOCK = {"provider": "openai", "id": "Lab/new: 1", "price": {"input": 1.0, "output": 2.0}}
BLOCK["price"] = {"input": 1.0, "output": 2.0, "as_of": "2026-11-21"}
NEW = ModelCandidate("new-1", "Lab/new: 1", "lab", BLOCK)
ONE = {**NEW._asdict(), "settings": ("direct",)}

BLOCKS = """\
# Before everything.
models:
    # The first.
    old: {provider: openai, id: old}   # trailing

    other:
        provider: openai
        id: other      # the last line of the models

# Between the blocks.
settings:
    cot: {}
    direct: {prompt: "direct"}
infer:
    models:
    -   old     # one
    -   other   # two
    # After the list.
    settings: [cot, direct]

analyze: {confidence: 0.9}   # the end"""

FLOWS = """\
models: {old: {provider: openai, id: old}}  # flow
settings: {cot: {}, direct: {}}
infer: {models: [old], settings: [cot, direct]}
"""

WRAPPED = """\
infer:
  models: [
    old,  # the first
    other
  ]
  settings: [cot, direct]
  only:
    old: [cot]
settings:
  cot: {}
  direct: {}
models:
  old: {provider: openai, id: old}
  other: {provider: openai, id: other}
"""

EMPTY = "settings: {cot: {}, direct: {}}\ninfer: {settings: [cot]}   # no model yet\n"


@pytest.mark.parametrize(
    "text", [BLOCKS, FLOWS, WRAPPED, EMPTY], ids=["blocks", "flows", "wrapped", "empty"]
)
@pytest.mark.parametrize("candidate", [NEW, ModelCandidate(**ONE)], ids=["all", "one setting"])
def test_the_model_is_added_and_comments_stay(
    text: str, candidate: ModelCandidate, tmp_path: Path
) -> None:
    if candidate.settings and text == EMPTY:
        text = text.replace("[cot]", "[cot, direct]")
    params = tmp_path / "params.yaml"
    params.write_text(text)
    add_to_params(params, [candidate])
    before, after = yaml.safe_load(text), yaml.safe_load(params.read_text())
    assert after["models"].pop("new-1") == BLOCK
    assert after["infer"]["models"][-1] == "new-1"
    assert after["infer"]["models"][:-1] == (before["infer"].get("models") or [])
    assert after["infer"].get("only", {}).get("new-1") == (list(candidate.settings) or None)
    for word in (line.partition("#")[2] for line in text.splitlines() if "#" in line):
        assert f"#{word}" in params.read_text()
    once = params.read_text()
    add_to_params(params, [candidate])
    assert params.read_text() == once, "what is there already stays"
    remove_from_params(params, [candidate.name])
    removed = yaml.safe_load(params.read_text())
    assert "new-1" not in removed["infer"]["models"]
    assert "new-1" not in (removed["infer"].get("only") or {})
    assert removed["models"]["new-1"] == BLOCK, "its block stays"
    for word in (line.partition("#")[2] for line in text.splitlines() if "#" in line):
        assert f"#{word}" in params.read_text()


@pytest.mark.parametrize("name", ["params.yaml", "studies/emma_recorded.yaml"])
def test_in_our_own_files_lines_are_only_added(name: str, root: Path, tmp_path: Path) -> None:
    text = (root / name).read_text("utf-8")
    params = tmp_path / "params.yaml"
    params.write_text(text)
    setting = yaml.safe_load(text)["infer"]["settings"][0]
    add_to_params(params, [NEW._replace(settings=(setting,)), NEW._replace(name="new-2")])
    lines = list(difflib.ndiff(text.splitlines(), params.read_text().splitlines()))
    gone = [line for line in lines if line.startswith("- ")]
    assert all(line.lstrip("- ").startswith("models: [") for line in gone), gone
    assert len(gone) <= 1


def test_a_model_that_does_not_fit_the_study_changes_nothing(tmp_path: Path) -> None:
    params = tmp_path / "params.yaml"
    params.write_text(BLOCKS)
    with pytest.raises(ParamsError, match=r"models\.new-1\.id: Field required"):
        add_to_params(params, [NEW._replace(block={"provider": "openai"})])
    assert params.read_text() == BLOCKS


@pytest.mark.parametrize("models", ["[old]", "\n  - old"], ids=["flow", "block"])
def test_a_list_that_another_part_repeats_is_not_extended_there(
    models: str, tmp_path: Path
) -> None:
    params = tmp_path / "params.yaml"
    text = (
        "models:\n  old: {provider: openai, id: old}\nsettings: {cot: {}}\n"
        f"infer:\n  settings: [cot]\n  models: &all {models}\n"
        "saliency: {models: *all, settings: [cot]}\n"
    )
    params.write_text(text)
    with pytest.raises(ParamsError, match=r"the model 'new-1' cannot be added automatically"):
        add_to_params(params, [NEW])
    assert params.read_text() == text


def test_a_model_that_cannot_be_taken_out_is_named(tmp_path: Path) -> None:
    params = tmp_path / "params.yaml"
    text = FLOWS.replace(
        "infer: {models: [old]", "x: &only {old: [cot]}\ninfer: {only: {<<: *only}, models: [old]"
    )
    params.write_text(text)
    with pytest.raises(ParamsError, match=r"params\.yaml: the model 'old' cannot be removed"):
        remove_from_params(params, ["old"])
    assert params.read_text() == text


@pytest.mark.parametrize("text", [BLOCKS, FLOWS, WRAPPED])
def test_a_date_of_the_watch_is_written_in_quotes(tmp_path: Path, text: str) -> None:
    watch = {
        "provider": "openai",
        "price": {"input": 1.0, "output": 2.0, "as_of": date(2026, 11, 21)},
    }
    candidate = ModelCandidate("new-1", "new", "lab", fill_template(watch, "new"), ())
    file = tmp_path / "params.yaml"
    file.write_text(text.replace("models: {}", ""))
    add_to_params(file, [candidate])
    assert list_dates(file.read_text()) == []
    assert yaml.safe_load(file.read_text())["models"]["new-1"]["price"]["as_of"] == "2026-11-21"
