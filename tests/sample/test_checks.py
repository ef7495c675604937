"""The gold of every sample problem is found a second time: computed, or by the second solver."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import sympy
from tests.sample.conftest import BOOKLETS as SOURCES
from tests.sample.conftest import SAMPLE

from omibench.files.yaml_file import read_yaml

sys.path.insert(0, str(SAMPLE))  # its scripts stand outside every package

from checks.compare import agrees
from checks.page import Data, Page, pages
from checks.values import Quantity, Value, letter

Check = Callable[[Page], list[Value]]
SOLVED = read_yaml(SAMPLE / "checks/second_solver.yaml")
ALL = [(name, problem) for name in SOURCES for problem in SOURCES[name]["problems"]]


def cases(problems: list[tuple[str, dict[str, Any]]]) -> pytest.MarkDecorator:
    """One case for each problem, named after its booklet and number."""
    ids = [f"{booklet}-{problem['number']}" for booklet, problem in problems]
    return pytest.mark.parametrize(("booklet", "problem"), problems, ids=ids)


every_problem = cases(ALL)
surviving = cases([(booklet, problem) for booklet, problem in ALL if not problem.get("rejected")])


def check_of(name: str, number: int) -> Check | None:
    """The function that computes a problem's answer, or None."""
    module = importlib.import_module(f"checks.{name.replace('-', '_')}")
    check: Check | None = getattr(module, f"problem_{number}", None)
    return check


def second_answer(name: str, number: int) -> list[Value]:
    """What the figures' data give, or what the second solver says."""
    check = check_of(name, number)
    if check is not None:
        return check(pages(SOURCES[name])[number])
    return list(SOLVED[name][number]["answer"])


def disagreement(name: str, number: int, gold: list[str]) -> str | None:
    """One line with both answers where they differ, else None."""
    found = second_answer(name, number)
    if agrees(gold, found, comma=SOURCES[name].get("language") == "es"):
        return None
    said = "; ".join(map(str, found))
    return f"{name}, problem {number}: the gold is {'; '.join(gold)}, the second answer is {said}"


@every_problem
def test_every_surviving_problem_has_exactly_one_second_answer(
    booklet: str, problem: dict[str, Any]
) -> None:
    number = problem["number"]
    ways = (check_of(booklet, number) is not None) + (number in SOLVED.get(booklet, {}))
    line = f"{booklet}, problem {number}: {ways} second answers, expected one"
    assert ways == 1 or (problem.get("rejected") and ways == 0), line


@every_problem
def test_gold_is_the_second_answer(booklet: str, problem: dict[str, Any]) -> None:
    number = problem["number"]
    covered = check_of(booklet, number) or number in SOLVED.get(booklet, {})
    if covered and problem.get("gold") is not None:
        line = disagreement(booklet, number, problem["gold"])
        assert line is None, line


def test_second_answers_belong_to_problems_that_exist() -> None:
    numbers = {name: {p["number"] for p in source["problems"]} for name, source in SOURCES.items()}
    assert all(set(answers) <= numbers[name] for name, answers in SOLVED.items())
    for name in SOURCES:
        module = importlib.import_module(f"checks.{name.replace('-', '_')}")
        checks = {int(f.removeprefix("problem_")) for f in vars(module) if f.startswith("problem_")}
        assert checks <= numbers[name]


def changed(gold: list[str]) -> list[str]:
    """A gold with another letter, truth value or digit in its first part."""
    first = gold[0].removeprefix("(a) ")
    swaps = {"TRUE": "FALSE", "FALSE": "TRUE", "A": "B", "B": "C", "C": "D", "D": "E", "E": "A"}
    other = swaps.get(first)
    if other is None:
        at = next(i for i, character in enumerate(first) if character.isdigit())
        other = first[:at] + str((int(first[at]) + 1) % 10) + first[at + 1 :]
    return [other, *gold[1:]]


@surviving
def test_changed_gold_is_a_disagreement(booklet: str, problem: dict[str, Any]) -> None:
    line = disagreement(booklet, problem["number"], changed(problem["gold"]))
    assert line is not None
    assert line.startswith(f"{booklet}, problem {problem['number']}: the gold is ")


@surviving
def test_computed_answer_needs_every_figure(booklet: str, problem: dict[str, Any]) -> None:
    check = check_of(booklet, problem["number"])
    if check is None:
        return
    page = pages(SOURCES[booklet])[problem["number"]]
    for at in range(len(page.figures)):
        without = (*page.figures[:at], {}, *page.figures[at + 1 :])
        with pytest.raises((KeyError, ValueError)):
            check(replace(page, figures=without))


N = sympy.Symbol("n")


@pytest.mark.parametrize(
    ("printed", "found", "same"),
    [
        ("5.3", Quantity(5.28), True),
        ("5.2", Quantity(5.28), False),
        ("1.2 × 10^3 J", Quantity(1249.0, "J"), True),
        ("1.2 × 10³ J", Quantity(1251.0, "J"), False),
        ("5 cm", Quantity(5.0, "m"), False),
        ("5", Quantity(5.0, "m"), False),
        ("5", Quantity(5.0, "m", asked=True), True),
        ("3 : 1", Quantity(3.0), True),
        ("3/8", Quantity(0.376), False),
        ("1,160 K", Quantity(1160.0, "K"), True),
        ("about five", Quantity(5.0), False),
        ("n(n+1)/2", (N**2 + N) / 2, True),
        ("0.5n² + 0.5n", (N**2 + N) / 2, True),
        ("n(n-1)/2", (N**2 + N) / 2, False),
        (r"\frac{n", N, False),
        ("Fe₄N", "Fe4N", True),
        ("Fe₃N", "Fe4N", False),
    ],
)
def test_comparison(printed: str, found: Value, same: bool) -> None:
    assert agrees([printed], [found]) is same


def test_comma_is_the_decimal_sign_where_said() -> None:
    found = [Quantity(0.044, "mol/L")]
    assert agrees(["0,0440 mol/L"], found, comma=True)
    assert not agrees(["0,0440 mol/L"], found)


def test_answers_with_another_number_of_parts_differ() -> None:
    assert not agrees(["TRUE"], ["TRUE", "TRUE"])


def test_letter_needs_exactly_one_choice() -> None:
    assert letter(12.0, ["6.0 cm", "12.0 cm"]) == "B"
    wrong: list[list[str | Data]] = [["6.0 cm"], ["12 cm", "12.0 cm"], [{"draw": "plot"}, "12 cm"]]
    for choices in wrong:
        with pytest.raises(ValueError, match="not exactly one of the choices"):
            letter(12.0, choices)


def test_pages_hold_no_answer() -> None:
    for source in SOURCES.values():
        for page in pages(source).values():
            assert all(
                "supplies" not in figure and "hidden" not in figure for figure in page.figures
            )
            assert set(vars(page)) == {"figures", "choices"}
