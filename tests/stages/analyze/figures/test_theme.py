"""Colours of figures follow the page's theme, and a colour of nobody's is refused.

Interactive figures are in the page's colours, with hover and a legend that picks.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import altair as alt
import pytest
from tests.stages.analyze.conftest import Folders

from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.figures.theme import (
    PALE,
    SERIES,
    apply_theme,
    compile_interactive,
    describe_chart,
    render,
)
from omibench.stages.analyze.stage import make_sections

WEB = Path(__file__).parents[4] / "src/omibench/web"


@pytest.mark.slow
def test_every_colour_of_every_figure_is_a_variable(made: Folders) -> None:
    results = made.load()
    sections = make_sections(
        Analysis(made.study, results, made.score.parent, made.out / "report.html")
    )
    drawn = {section.name: figure for section in sections if (figure := section.figure())}
    assert drawn.keys() == {"accuracy", "images", "rules", "failures"}
    for picture in drawn.values():
        svg = apply_theme(picture.svg, "A <b>")
        assert svg.startswith('<svg role="img" aria-label="A &lt;b&gt;" ')
        left = set(re.findall(r'(?:fill|stroke)="([^"]+)"', svg))
        assert all(c in ("none", "transparent") or c.startswith("var(--") for c in left), left
        assert "SIMULATED" in picture.svg
        assert "http" not in re.sub(r'xmlns(:\w+)?="[^"]+"', "", svg)


def test_both_themes_know_every_variable() -> None:
    light = dark = ""
    for path in (WEB / "static/theme.css", WEB / "templates/style.css"):
        css = path.read_text("utf-8")
        before, after = css.split("@media (prefers-color-scheme: dark)", 1)
        light, dark = light + before, dark + after
    wanted = ["--ink", "--muted", "--grid", *(f"--series-{i}" for i in range(1, len(SERIES) + 1))]
    for name in wanted:
        assert f"{name}:" in light
        assert f"{name}:" in dark


def test_a_label_that_no_xml_may_hold_is_drawn() -> None:
    """The library ended the process, and with it the whole report."""
    rows = alt.Data(values=[{"a": "x\x1b[31m \x00y\ufffe", "b": 1}])
    svg = render(alt.Chart(rows).mark_bar().encode(x="b:Q", y="a:N"))
    assert "x\ufffd[31m \ufffdy\ufffd" in svg


def test_a_label_that_reads_like_a_colour_is_left_alone() -> None:
    svg = '<text fill="#1c2430">fill="#123456" stroke="red"</text>'
    assert apply_theme(svg, "") == '<text fill="var(--ink)">fill="#123456" stroke="red"</text>'
    assert apply_theme('<path d="a > b" fill="#1c2430"/>', "").endswith('fill="var(--ink)"/>')


def test_a_foreign_colour_is_refused() -> None:
    with pytest.raises(KeyError):
        apply_theme('<path fill="#123456"/>', "")


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
    assert "var(--series-1)" in text
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
