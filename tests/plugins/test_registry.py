"""Registries: parts by name, imported when asked for, never two under one name."""

from __future__ import annotations

import pytest

from omibench.errors import PluginError
from omibench.plugins import Registry
from omibench.plugins.registry import REGISTRIES, loading
from omibench.rule_books.registry import RULE_BOOKS


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
            match=r"fruit 'apple' is defined by mine\.py and by theirs 1\.2: rename one",
        ),
    ):
        fruits.add("apple", "blue")
    assert fruits.get("apple") == "green"
    fruits.forget("mine.py")
    assert "apple" not in fruits


def test_an_unknown_name_names_the_nearest(fruits: Registry[str]) -> None:
    fruits.add("apple", "red")
    with pytest.raises(PluginError, match=r"there is no fruit 'aple'.*'apple'"):
        fruits.get("aple")


def test_a_plug_in_cannot_replace_a_built_in_part() -> None:
    with loading("mine.py"), pytest.raises(PluginError, match="by omibench and by mine"):
        RULE_BOOKS.register("emma")(RULE_BOOKS.get("emma"))
