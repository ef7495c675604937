"""Keys of papers with sections, of sub-questions, in runs and in tables of many columns."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.stages.ocr.printed import Press

from omibench.stages.ocr.layout.layout import Line
from omibench.stages.ocr.structure.key_tables import read_key
from omibench.stages.ocr.structure.keys import Names

Column = Callable[..., list[Line]]


def read(labels: list[str], *rows: str) -> dict[str, list[str] | None]:
    press = Press()
    for row in rows:
        press.set(*((72 + 90.0 * k, cell) for k, cell in enumerate(row.split("|"))))
    key = read_key(press.flow(), labels)
    return {label: answer for label in labels if (answer := key.get(label))}


@pytest.mark.parametrize(
    ("text", "label"),
    [("B2", "B2"), ("b 2", None), ("(B2)", "B2"), ("3.", "A3"), ("2", None), ("Q3", "A3"),
     ("第3题", "A3"), ("C1", None), ("A02", "A2")],
)  # fmt: skip
def test_which_problem_a_printed_number_means(text: str, label: str | None) -> None:
    entry = Names(["A1", "A2", "A3", "B1", "B2"]).find(text)
    assert (entry.label if entry else None) == label


def test_runs_of_letters() -> None:
    labels = [str(n) for n in range(1, 13)]
    found = read(labels, "1-5 ABCDA  6～8：B C D", "9—10. AC BD")
    assert "".join((found[n][0] if n in found else "?") for n in labels[:8]) == "ABCDABCD"
    assert (found["9"], found["10"]) == (["A", "C"], ["B", "D"])
    assert read(labels, "1-5 ABC") == {}


def test_sections_of_a_key_by_their_titles_or_by_letters_in_the_numbers() -> None:
    labels = ["A1", "A2", "B1", "B2"]
    spoken = read(labels, "Section A", "1. C", "2. D", "Section B", "1. A", "2. B")
    assert spoken == {"A1": ["C"], "A2": ["D"], "B1": ["A"], "B2": ["B"]}
    assert read(labels, "A1|C", "A2|D", "B1|A", "B2|B") == spoken
    assert read(labels, "1. C", "2. D", "1. A", "2. B") == {}


def test_answers_of_sub_questions_are_parts_of_one_answer() -> None:
    found = read(["1", "2"], "Question|Answer", "1(a)|5 J", "1(b)|7 K", "2|3 m")
    assert found == {"1": ["(a) 5 J", "(b) 7 K"], "2": ["3 m"]}


def test_one_column_of_several_is_that_of_the_answers() -> None:
    rows = ["No.|Answer|Topic|Points", "1|B|Optics|3", "2|12 m|Waves|4", "3||Heat|2"]
    assert read(["1", "2", "3"], *rows) == {"1": ["B"], "2": ["12 m"]}


def test_a_grid_may_end_with_a_row_of_one() -> None:
    rows = ["题号|1|2|3", "答案|A|B|C", "题号|4", "答案|D"]
    assert read(["1", "2", "3", "4"], *rows) == {"1": ["A"], "2": ["B"], "3": ["C"], "4": ["D"]}


@pytest.mark.parametrize("head", ["Ans.", "Antw.", "Resp.", "Rép.", "Lettre juste", "答"])
def test_whatever_stands_left_of_a_row_below_consecutive_numbers_is_its_head(head: str) -> None:
    rows = ["No.|1|2|3|4", f"{head}|C|A|B, C|D"]
    found = read(["1", "2", "3", "4"], *rows)
    assert found == {"1": ["C"], "2": ["A"], "3": ["B", "C"], "4": ["D"]}


def test_a_row_with_one_cell_too_many_below_other_numbers_is_no_key() -> None:
    assert read(["1", "2", "3", "4"], "No.|1|3|4", "Ohm|A|B|C") == {}
    assert read(["1", "2", "3"], "No.|1|2|3", "A|B|C|D") == {}


def test_a_pair_that_cannot_be_read_takes_no_others_with_it() -> None:
    labels = [str(n) for n in range(1, 9)]
    press = Press()
    press.set((72, "1-b 2-c? 3-a/b 4-d"))
    press.set((72, "5. A  6. A or x  7. C  8. D"))
    key = read_key(press.flow(), labels)
    letters = [key.get(label) for label in labels]
    assert letters == [["B"], None, ["A", "B"], ["D"], ["A"], None, ["C"], ["D"]]
    assert key.unread == {"2": "2-c?", "6": "6. A or x"}
    assert read(labels, "1. A ball of 2 kg falls 2. B is fast 3. C is slow") == {}
    assert read(labels, "1. A 2. A body 3. It is C") == {}
    assert read(labels, "1. A 2. B 4. because") == {}
