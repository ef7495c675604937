"""Who may say that a model's own code runs: the user's params, with the revision that fixes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from omibench.errors import ParamsError
from omibench.params.models.registry import parse_model
from omibench.params.study import parse_study, parse_study_file

pytestmark = pytest.mark.usefixtures("own_folder")

COMMIT = "c" * 40
PINNED = {"trust_remote_code": True, "revision": COMMIT}


def study(**block: Any) -> dict[str, Any]:
    return {"models": {"reader": {"provider": "transformers", "id": "org/reader", **block}}}


@pytest.mark.parametrize("provider", ["vllm", "transformers"])
@pytest.mark.parametrize(
    "revision", [None, "main", "c" * 39, "C" * 40, "g" * 40, "c" * 63, "c" * 41, "c" * 64 + "+"]
)
def test_trust_without_a_revision_that_fixes_the_code_is_one_line(
    provider: str, revision: str | None
) -> None:
    values = study(provider=provider, trust_remote_code=True, revision=revision)
    line = r"^test: models\.reader.*trust_remote_code runs third-party code and needs a `revision`"
    with pytest.raises(ParamsError, match=line) as raised:
        parse_study(values, "test")
    assert len(raised.value.lines) == 1


@pytest.mark.parametrize("revision", [COMMIT, "c" * 64, "c" * 64 + "+weights of May"])
def test_trust_with_such_a_revision_is_taken(revision: str) -> None:
    parse_study(study(trust_remote_code=True, revision=revision), "test")


def test_the_identity_of_a_model_without_it_is_what_it_was() -> None:
    values = {"provider": "vllm", "id": "org/reader", "revision": COMMIT}
    assert parse_model(values).store_identity == values
    assert parse_model(values | {"trust_remote_code": False}).store_identity == values
    trusted = parse_model(values | PINNED)
    assert trusted.store_identity == values | {"trust_remote_code": True}


@pytest.mark.parametrize(
    ("block", "line"),
    [
        ({"engine": {"trust_remote_code": True}}, "engine must not contain `trust_remote_code`"),
        ({"engine": {"trust_remote_code": False}}, "engine must not contain `trust_remote_code`"),
        (
            {**PINNED, "engine": {"tokenizer": "org/x"}},
            "engine must not contain `tokenizer` together",
        ),
        (
            {**PINNED, "engine": {"hf_overrides": {}}},
            "engine must not contain `hf_overrides` together",
        ),
    ],
)
def test_the_arguments_of_vllm_bring_no_code(block: dict[str, Any], line: str) -> None:
    with pytest.raises(ParamsError, match=line):
        parse_study(study(provider="vllm", **block), "test")


def test_only_models_that_are_loaded_here_can_say_it() -> None:
    with pytest.raises(ParamsError, match="trust_remote_code"):
        parse_study(study(provider="openai", **PINNED), "test")


@pytest.mark.parametrize(
    ("place", "mark"),
    [
        ("results/score", None),
        ("store", None),
        ("emma", None),
        ("archive", None),
        ("release", "questions.jsonl"),
        ("pulled", "provenance.json"),
        ("bought", "ledger.sqlite3"),
    ],
)
def test_params_among_data_of_others_run_no_code(
    place: str, mark: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / place / "deep" / "params.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({**study(**PINNED), "data": "emma"}))
    if mark:
        (tmp_path / place / mark).touch()
    with pytest.raises(ParamsError, match=r"models\.reader\.trust_remote_code: .* is in "):
        parse_study_file(file)
    with pytest.raises(ParamsError, match="parameters there cannot enable code"):
        parse_study_file(file.relative_to(tmp_path))
    (tmp_path / "link.yaml").symlink_to(file)
    with pytest.raises(ParamsError, match="parameters there cannot enable code"):
        parse_study_file("link.yaml")
    file.write_text(json.dumps({**study(revision=COMMIT), "data": "emma"}))
    parse_study_file(file)


def test_params_that_name_other_folders_of_results_are_refused_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("results").mkdir()
    names = {"results": "elsewhere", "store": "bought"}
    Path("results/params.yaml").write_text(json.dumps({**study(**PINNED), "study": names}))
    with pytest.raises(ParamsError, match="is in results, the folder of results, and parameters"):
        parse_study_file("results/params.yaml")


def test_params_of_ones_own_may_say_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("params.yaml").write_text(json.dumps(study(**PINNED)))
    assert parse_study_file("params.yaml").models["reader"].store_identity["trust_remote_code"]


@pytest.mark.parametrize("place", ["results/reader", "store/reader", "release/reader"])
def test_code_is_never_taken_from_data_of_others(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(place).mkdir(parents=True)
    if place.startswith("release"):
        Path("release/questions.jsonl").touch()
    Path("link").symlink_to(place)
    for name in (place, "link"):
        values = study(trust_remote_code=True, revision="c" * 64, id=name)
        with pytest.raises(ParamsError, match=rf"{name} is in .*, and code there is never run"):
            parse_study(values, "test")
        with pytest.raises(ParamsError, match="code there is never run"):
            parse_study(values, "a job", whole_study=False)


def test_a_model_that_appears_by_itself_brings_no_code() -> None:
    template = {"provider": "vllm", **PINNED}
    watch = {"new": {"kind": "hub", "match": ["org/*"], "model": template}}
    with pytest.raises(
        ParamsError,
        match="must not set `trust_remote_code`: the code of a new model has not been reviewed",
    ):
        parse_study({**study(), "reevaluate": {"watch": watch}}, "test")
