"""Registries: parts by name, imported when asked for, never two under one name."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import omibench
from omibench.answers.scorers.registry import SCORERS
from omibench.errors import PluginError
from omibench.params.models.base import ModelBlock
from omibench.plugins import Registry
from omibench.plugins.registry import REGISTRIES, loading
from omibench.settings.registry import CONDITIONS, PROMPTS
from omibench.stages.analyze.sections import SECTIONS


@pytest.fixture
def fruits(monkeypatch: pytest.MonkeyPatch) -> Registry[str]:
    monkeypatch.setattr("omibench.plugins.registry.REGISTRIES", {**REGISTRIES})
    return Registry("fruits", "fruit")


def test_what_is_registered_is_found(fruits: Registry[str]) -> None:
    with loading("mine.py"):
        fruits.add("apple", "red")
    assert fruits.get("apple") == "red"
    assert fruits.names == ["apple"]
    assert "apple" in fruits
    assert fruits.origin("apple") == "mine.py"


def test_a_name_belongs_to_one_origin(fruits: Registry[str]) -> None:
    with loading("mine.py"):
        fruits.add("apple", "red")
        fruits.add("apple", "green")
    with (
        loading("theirs 1.2"),
        pytest.raises(
            PluginError,
            match=r"fruit 'apple' is defined by mine\.py and by theirs 1\.2; rename one",
        ),
    ):
        fruits.add("apple", "blue")
    assert fruits.get("apple") == "green"
    fruits.forget("mine.py")
    assert "apple" not in fruits


def test_an_unknown_name_names_the_nearest(fruits: Registry[str]) -> None:
    fruits.add("apple", "red")
    with pytest.raises(PluginError, match=r"unknown fruit 'aple'.*'apple'"):
        fruits.get("aple")


def test_a_plug_in_cannot_replace_a_built_in_part() -> None:
    with loading("mine.py"), pytest.raises(PluginError, match="by omibench and by mine"):
        SCORERS.register("emma")(SCORERS.get("emma"))


@pytest.mark.parametrize("name", [None, 1, len, "", "My Rules!", "-x", "a" * 81])
def test_a_decorator_takes_names_that_params_can_hold(name: object) -> None:
    for decorate in (
        omibench.scorer, omibench.prompt, omibench.condition, omibench.benchmark,
        omibench.engine, omibench.reason, omibench.section,
    ):  # fmt: skip
        with pytest.raises(PluginError, match=r"the name is .*; give letters, digits"):
            decorate(name)  # type: ignore[operator]
    with pytest.raises(PluginError, match="provider: the name is"):
        omibench.provider(name, block=ModelBlock)  # type: ignore[arg-type]


@pytest.mark.parametrize("version", ["2", 0, -1, True, 1.5])
def test_a_scorer_has_a_version(version: object) -> None:
    with pytest.raises(
        PluginError, match=r"scorer 'x': its version is .*; give a number of at least 1"
    ):
        omibench.scorer("x", version)  # type: ignore[arg-type]


@pytest.fixture
def forget() -> Iterator[None]:
    yield
    for registry in (SCORERS, PROMPTS, CONDITIONS, SECTIONS):
        registry.forget("mine.py")


@pytest.mark.usefixtures("forget")
def test_a_part_that_gives_another_type_is_one_line() -> None:
    with loading("mine.py"):
        omibench.scorer("no-verdict")(lambda item: None)  # type: ignore[arg-type,return-value]
        omibench.condition("no-pictures")(lambda pictures: {})  # type: ignore[arg-type,return-value]
        with pytest.raises(PluginError, match=r"prompt 'no-prompt': .* returned str; return a Pro"):
            omibench.prompt("no-prompt")(lambda: "words")  # type: ignore[arg-type,return-value]
        with pytest.raises(PluginError, match="section 'no-section': decorate a subclass"):
            omibench.section("no-section")(len)  # type: ignore[type-var]
    with pytest.raises(
        PluginError, match=r"'no-verdict' \(of 0\): returned NoneType; return a Ver"
    ):
        omibench.score("1", "1", rules="no-verdict")
    with pytest.raises(PluginError, match=r"'no-pictures' \(of q\): returned dict; return Shown"):
        omibench.build_conversation({"id": "q", "question": "Why?"}, {"images": "no-pictures"})
