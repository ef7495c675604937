"""Markdown, tables and loops in the replies of document readers."""

from __future__ import annotations

import pytest

from omibench.stages.ocr.engines.page_models import (
    ends_in_loop,
    list_lines,
    read_html_table,
    read_line,
    read_otsl,
    wrap_formula,
)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("## 2. Waves", "2. Waves"),
        ("#5 is a number", "#5 is a number"),
        ("**2.** A *thin* lens", "2. A thin lens"),
        ("2 * 3 * 4 = 24", "2 * 3 * 4 = 24"),
        (r"\(a_1*b*c\) and $x*y*z$", r"$a_1*b*c$ and $x*y*z$"),
        (r"1\. The set \{1, 2\}", "1. The set {1, 2}"),
        ("name: ____ and __bold__", "name: ____ and bold"),
        ("| a | $b$ |", "a | $b$"),
        (r"$$ E = mc^2 $$", "$E = mc^2$"),
    ],
)
def test_a_line_is_as_it_is_printed(line: str, text: str) -> None:
    assert read_line(line) == text


def test_displays_of_several_rows_and_tables_of_pipes_are_lines() -> None:
    page = "So\n$$\na\n= b\n$$\n\n| t | x |\n|---|:--|\n| 1 | 2 |\n```\nEnd"
    assert list_lines(page) == ["So", "$a = b$", "", "t | x", "1 | 2", "End"]


def test_a_display_that_does_not_end_is_text() -> None:
    assert list_lines("So \\[ a\nb") == ["So [ a", "b"]


@pytest.mark.parametrize("formula", ["x^2", "$x^2$", r"\(x^2\)", r"\[ x^2 \]", "$$\nx^2\n$$"])
def test_a_formula_stands_between_single_dollars(formula: str) -> None:
    assert wrap_formula(formula) == "$x^2$"


def test_formulas_beside_each_other_are_not_taken_for_one() -> None:
    assert wrap_formula("") == ""
    assert read_line(r"\(a\) or \(b\)") == "$a$ or $b$"


def test_cells_of_otsl_are_rows_and_merged_ones_stand_once() -> None:
    table = "<fcel>Speed<lcel><nl><fcel>m/s<fcel>km/h<nl><ucel><fcel>36<nl><ecel><ecel><nl>"
    assert read_otsl(table) == ["Speed", "m/s | km/h", "36"]
    assert read_otsl("Table 1<fcel>a<nl>") == ["Table 1", "a"]


def test_cells_of_html_are_rows_whether_tags_end_or_not() -> None:
    table = "<table><tr><th rowspan=2>a</th><td>b &amp; c<br>d</td><tr><td>x < 3</table>after"
    assert read_html_table(table) == ["a | b & c d", "x < 3", "after"]
    assert read_html_table("<script>alert(1)</script>") == ["alert(1)"]


@pytest.mark.parametrize(
    ("text", "is_loop"),
    [
        ("So x = 1 and " * 40, True),
        ("start " + "a" * 400, True),
        ("Name: " + "_" * 400, False),
        ("Contents " + ". " * 300, False),
        ("0 | 1 | 0 | 1", False),
        ("", False),
    ],
)
def test_a_loop_is_twenty_repeats_of_something_that_can_be_read(text: str, is_loop: bool) -> None:
    assert ends_in_loop(text) == is_loop
