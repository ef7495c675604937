"""All pages share one base: its policy, its colours, and that every value is escaped."""

from __future__ import annotations

import pytest
from jinja2 import UndefinedError

from omibench.web.templates import (
    PAGE_POLICY,
    PAGE_WITHOUT_PICTURES_POLICY,
    make_environment,
    render_page,
)

PAGE = """{% extends "base.html.j2" %}
{% from "macros.html.j2" import evidence %}
{% block title %}{{ words }}{% endblock %}
{% block body %}<p>{{ words }}</p>{{ evidence(figure) }}{% endblock %}
"""
HOSTILE = "<script>alert('1')</script>"


def test_every_value_is_escaped() -> None:
    figure = {"src": "", "name": HOSTILE, "caption": HOSTILE}
    page = make_environment("omibench.stages.analyze").from_string(PAGE)
    text = page.render(csp=PAGE_POLICY, words=HOSTILE, figure=figure)
    assert "<script" not in text
    assert text.count("&lt;script&gt;") == 4
    assert "picture is missing" in text


def test_a_name_without_a_value_is_an_error() -> None:
    page = make_environment("omibench.stages.analyze").from_string("{{ nobody }}")
    with pytest.raises(UndefinedError, match="nobody"):
        page.render()


def test_a_page_has_one_policy_and_no_source_of_scripts() -> None:
    text = render_page(
        "omibench.stages.filter", "rejects.html.j2", summary="none", groups=[], has_formulas=False
    )
    assert text.count("Content-Security-Policy") == 1
    assert f'content="{PAGE_POLICY}"'.replace("'", "&#39;") in text
    for policy in (PAGE_POLICY, PAGE_WITHOUT_PICTURES_POLICY):
        assert policy.startswith("default-src 'none'")
        assert "script-src" not in policy
