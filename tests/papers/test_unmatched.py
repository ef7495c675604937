"""Names of print that a study has not are told in one line, with the nearest that it has."""

from __future__ import annotations

import pytest
from tests.papers.print import make_printed
from tests.stages.analyze.conftest import Folders, make_study

from omibench.papers.comparison import MOST_NAMES, describe_unmatched
from omibench.papers.study import PrintedResult
from omibench.results.load import Results

ROW = make_printed({("total", "acc"): 50.0})


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    """A study of 28 problems, read-only."""
    return make_study(tmp_path_factory.mktemp("made"))


@pytest.fixture(scope="module")
def results(made: Folders) -> Results:
    return made.load()


def test_what_matches_is_not_told(results: Results) -> None:
    rows = [ROW, make_printed({("physics", "acc"): 1.0})._replace(model="STRONG-Instruct")]
    assert describe_unmatched(results, rows) == []


@pytest.mark.parametrize(
    ("row", "line"),
    [
        (
            ROW._replace(model="Stronk"),
            "t.csv: 1 of 1 models match nothing in this study: 'Stronk' (nearest: 'Strong')",
        ),
        (
            ROW._replace(strategy="Chain of thoughts"),
            "t.csv: 1 of 1 settings match nothing in this study: 'Chain of thoughts' "
            "(nearest: 'Chain of thought')",
        ),
        (
            make_printed({("physic", "acc"): 1.0, ("biology", "acc"): 1.0}),
            "t.csv: 1 of 2 values of subject match nothing in this study: 'physic' "
            "(nearest: 'physics')",
        ),
        (
            make_printed({("year=1999", "acc"): 1.0}),
            "t.csv: 1 of 1 values of year match nothing in this study: '1999'",
        ),
    ],
)
def test_a_name_that_matches_nothing_is_one_line(
    results: Results, row: PrintedResult, line: str
) -> None:
    assert describe_unmatched(results, [row]) == [line]


def test_a_part_of_another_size_is_told_with_both_sizes(results: Results) -> None:
    row = make_printed({("physics", "acc"): 1.0, ("biology", "acc"): 1.0})
    ours = sum(answer.subject == "physics" for answer in results.answers.values())
    cells = [cell._replace(n=ours + (cell.part == "biology")) for cell in row.cells]
    assert describe_unmatched(results, [row._replace(cells=cells)]) == [
        "t.csv: 1 of 2 parts have another number of problems than in print, so their values are "
        f"not compared: 'biology' ({ours} problems, {ours + 1} in print)"
    ]


def test_many_names_are_counted(results: Results) -> None:
    rows = [ROW._replace(model=f"{n}{n}{n}") for n in range(9)]
    (line,) = describe_unmatched(results, rows)
    assert line.startswith("t.csv: 9 of 9 models")
    assert line.endswith(f"and {9 - MOST_NAMES} more")
