"""Interactive figures: compiled, in the page's colours, with hover and a legend that picks."""

from __future__ import annotations

import json
from typing import Any

import altair as alt

from omibench.stages.analyze.figures.interactive import PALE, compile_interactive
from omibench.stages.analyze.figures.theme import SERIES, describe_chart


def make_chart(**colour: Any) -> alt.Chart:
    rows = alt.Data(values=[{"a": 1, "b": 2, "kind": "x"}, {"a": 2, "b": 3, "kind": "y"}])
    scale = alt.Scale(domain=["x", "y"], range=list(SERIES[:2]))
    return (
        alt.Chart(rows)
        .mark_point()
        .encode(x="a:Q", y="b:Q", color=alt.Color("kind:N", scale=scale, **colour))
    )


def test_colours_are_variables_and_marks_have_tooltips() -> None:
    text = json.dumps(compile_interactive(describe_chart(make_chart())))
    assert f"var(--series-1, {SERIES[0]})" in text
    assert f'"{SERIES[0]}"' not in text
    assert '"tooltip"' in text


def test_the_legend_picks_a_series() -> None:
    vega = compile_interactive(describe_chart(make_chart()))
    marks = json.dumps(vega["marks"])
    assert "legend_store" in marks
    assert f'"value": {PALE}' in marks


def test_without_a_legend_nothing_is_picked() -> None:
    vega = compile_interactive(describe_chart(make_chart(legend=None)))
    assert "legend_store" not in json.dumps(vega)


def test_the_given_specification_is_left_alone() -> None:
    specification = describe_chart(alt.layer(make_chart(), make_chart()))
    before = json.dumps(specification, sort_keys=True)
    compile_interactive(specification)
    assert json.dumps(specification, sort_keys=True) == before


def test_charts_beside_each_other_are_compiled() -> None:
    vega = compile_interactive(describe_chart(alt.hconcat(make_chart(), make_chart())))
    assert len(vega["marks"]) == 2
