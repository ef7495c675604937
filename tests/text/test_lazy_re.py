"""Patterns that compile on first use."""

import re
from importlib import import_module
from pkgutil import walk_packages

import pytest

import glyphtex.latex
import omibench.answers
import omibench.text
from glyphtex import lazy_re


def test_a_pattern_compiles_once_and_only_when_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    compile_now = re.compile

    def count(pattern: str, flags: int) -> re.Pattern[str]:
        compiled.append(pattern)
        return compile_now(pattern, flags)

    monkeypatch.setattr(re, "compile", count)
    word = lazy_re.compile("(a)|b", lazy_re.IGNORECASE)
    assert (word.pattern, compiled) == ("(a)|b", [])
    assert [match[0] for match in word.finditer("xAb")] == ["A", "b"]
    assert [match[0] for match in word.finditer("b")] == ["b"]
    assert compiled == ["(a)|b"]


def test_an_invalid_pattern_is_an_error_when_it_is_used() -> None:
    with pytest.raises(lazy_re.error, match="unterminated"):
        lazy_re.compile("(a").search("a")


def test_every_pattern_of_scorers_is_valid() -> None:
    lazy = type(lazy_re.compile(""))
    names = [
        name
        for package in (omibench.answers, omibench.text, glyphtex.latex)
        for _, name, _ in walk_packages(package.__path__, f"{package.__name__}.")
    ]
    patterns = [
        value
        for name in names
        for value in vars(import_module(name)).values()
        if isinstance(value, lazy)
    ]
    assert len(patterns) > 200
    assert all(re.compile(pattern.pattern, pattern.flags) for pattern in patterns)
