"""Statistics are counted as papers count them: on small items, and on the problems of print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from omibench.datasets.registry import load_benchmark
from omibench.datasets.release.rows import ReleaseItem
from omibench.datasets.release.statistics import (
    PrintedValue,
    Statistic,
    ValueCount,
    compare_with_print,
    compute_statistics,
    count_values,
)
from omibench.datasets.release_folder import ReleasedSource
from omibench.params.benchmark import BenchmarkParams
from omibench.schemas.problem import Answer, Choice, Figure, Question, Value
from omibench.stages.rationale.degenerate import count_words

SOURCE = ReleasedSource(name="", items=1, licence=None, redistribute=True)
Printed = Mapping[tuple[str, str], PrintedValue]


def make_item(
    number: int,
    question: str = "Why?",
    pictures: Sequence[int] = (0,),
    choices: Sequence[Choice] = (),
    attributes: Mapping[str, Value] | None = None,
    source: str | None = None,
) -> ReleaseItem:
    figures = [Figure(file=f"{k}.png", sha256=f"{k:064}") for k in pictures]
    return ReleaseItem(
        Question(
            id=str(number),
            question=question,
            images=figures,
            choices=list(choices) or None,
            subject="chemistry",
            source=source,
        ),
        Answer(
            id=str(number),
            answer=["A"],
            answer_type="mcq" if choices else "open",
            attributes=dict(attributes or {}),
        ),
        None,
        "test",
        ReleasedSource(name="", items=1, licence=None, redistribute=True),
    )


def compute(
    items: Sequence[ReleaseItem],
) -> tuple[Mapping[str, Statistic], Sequence[ValueCount]]:
    sizes = {f"{k:064}": (100 * (k + 1), 10) for k in range(4)}
    return compute_statistics(items, sizes, count_words), count_values(items)


def compare(paper: str, items: Sequence[ReleaseItem]) -> Printed:
    values = compare_with_print(paper, items, compute)
    return {(value.statistic, value.group): value for value in values}


def read_measured(printed: Printed, statistic: str, group: str = "") -> float | None:
    measured = printed[statistic, group].measured
    return None if measured is None else round(measured.value, 2)


def read_items(folder: Path, name: str, scratch: Path) -> list[ReleaseItem]:
    dataset = load_benchmark(BenchmarkParams(name=name), str(folder), scratch)
    pairs = zip(dataset.questions, dataset.answers, strict=True)
    return [ReleaseItem(q, a, None, "test", SOURCE) for q, a in pairs]


def test_marks_of_pictures_have_no_length() -> None:
    statistics, _ = compute([make_item(0, "[IMAGE0]\nHow long is [IMAGE1]?", (0, 1, 1))])
    assert statistics["mean_question_characters"] == (13, "characters")
    assert statistics["mean_question_tokens"] == (4, "tokens")
    assert statistics["mean_images"] == (3, "pictures")
    assert statistics["pictures"] == (2, "pictures")
    assert statistics["mean_image_width"] == (150, "pixels")


@pytest.mark.parametrize(
    ("question", "choices", "expected"),
    [
        ("See [IMAGE0].", (), (1, 0)),
        ("Unmarked.", (), (1, 0)),
        ("Which?", (Choice(label="A", image=0), Choice(label="B", text="none")), (0, 1)),
        ("Which?", (Choice(label="A", text="[IMAGE0]"), Choice(label="B", text="none")), (0, 1)),
        ("As [IMAGE0]?", (Choice(label="A", image=0), Choice(label="B", text="none")), (1, 1)),
    ],
)
def test_a_picture_stands_in_the_question_or_in_options(
    question: str, choices: Sequence[Choice], expected: tuple[int, int]
) -> None:
    statistics, _ = compute([make_item(0, question, (0,), choices)])
    values = statistics["image_in_question"].value, statistics["image_in_options"].value
    assert values == expected


def test_an_item_with_several_labels_counts_for_each() -> None:
    items = [
        make_item(0, attributes={"skill": ["a", "b"]}),
        make_item(1, attributes={"skill": "a"}),
    ]
    counts = [count for count in count_values(items) if count.attribute == "skill"]
    assert counts == [("skill", "a", 2), ("skill", "b", 1)]


def test_an_attribute_that_names_items_is_left_out() -> None:
    items = [make_item(k, attributes={"number": str(k)}) for k in range(41)]
    assert "number" not in {count.attribute for count in count_values(items)}


def test_sources_are_counted_where_all_items_name_one() -> None:
    items = [make_item(k, source=source) for k, source in enumerate(("icho", "bbo", "icho"))]
    assert compute(items)[0]["sources_chemistry"] == (2, "sources")
    assert "sources_chemistry" not in compute([*items, make_item(3)])[0]


def test_exams_of_usnco_v_are_columns_of_their_own() -> None:
    choices = [Choice(label=letter, text="two words") for letter in "ABCD"]
    items = [
        make_item(k, "Why so?", (k,), choices, {"exam": exam, "year": str(2000 + k)})
        for k, exam in enumerate(("local", "local", "national"))
    ]
    printed = compare("usnco_v", items)
    assert read_measured(printed, "problems", "local") == 2
    assert read_measured(printed, "last_year", "local") == 2001
    assert read_measured(printed, "first_year", "national") == 2002
    assert read_measured(printed, "choices", "national") == 4
    assert read_measured(printed, "mean_choice_tokens", "local") == 8
    assert read_measured(printed, "mean_image_width", "local") == 150
    assert "does not state a tokenizer" in printed["mean_question_tokens", "local"].note


def test_what_items_do_not_say_is_not_measured() -> None:
    printed = compare("emma", [make_item(0)])
    assert printed["newly_added", ""].measured is None
    assert "not marked" in printed["newly_added", ""].note
    assert read_measured(printed, "free_form") == 1


def test_omibench_is_counted_as_its_figure_2_prints(shared_data: Path, tmp_path: Path) -> None:
    items = read_items(shared_data / "omibench", "omibench", tmp_path)
    printed = compare("omibench", items)
    equal = {
        name
        for (name, _), value in printed.items()
        if value.measured and round(value.measured.value, 2) == float(value.printed)
    }
    counts = {"problems", "open_ended", "multiple_choice", "with_rationale"}
    subjects = {"biology", "chemistry", "mathematics", "physics"}
    assert equal == counts | subjects | {"mean_images_biology", "mean_images_mathematics"}
    # Chemistry prints one decimal more than it has; physics has fewer pictures than print.
    assert read_measured(printed, "mean_images_chemistry") == 3.99
    assert read_measured(printed, "mean_images_physics") == 2.83
    # The tokenizer of the paper is not named; `words` counts 7 % more.
    assert read_measured(printed, "mean_question_length") == 224.53
    assert read_measured(printed, "mean_rationale_length") == 452.62
    assert printed["sources_biology", ""].note == "not measured: not available in any item"


def test_the_printed_lengths_of_mathreal_are_those_of_its_480_problems(
    shared_data: Path, tmp_path: Path
) -> None:
    printed = compare("mathreal", read_items(shared_data / "mathreal", "mathreal", tmp_path))
    lengths = ("min_question_length", "max_question_length", "mean_question_length")
    for name in (*lengths, "mean_answer_length"):
        assert read_measured(printed, name) == float(printed[name, ""].printed)
    assert read_measured(printed, "real_and_clean_picture") == 175
    assert printed["several_parts", ""].measured is None
