"""Statistics of a release, under the names by which papers print them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from omibench.errors import FileFormatError
from omibench.files.intake import read_csv
from omibench.release.rows import ReleaseItem


def compute_statistics(
    items: Sequence[ReleaseItem], sizes: Mapping[str, tuple[int, int]]
) -> dict[str, float]:
    """Count and average what a release holds (OMIBench, figure 2 and table 3; EMMA, table 1;
    USNCO-V, table 3; MathReal, table 1).

    Args:
        items: All items.
        sizes: Width and height of pictures in pixels, by SHA-256.

    Returns:
        Values by the names that `published/*_dataset.csv` has. Lengths are in characters, of
        Markdown with LaTeX.
    """
    questions = [release_item.item.question for release_item in items]
    answers = [release_item.item.answer for release_item in items]
    images = [len({figure.sha256 for figure in question.images}) for question in questions]
    choices = [len(question.choices) for question in questions if question.choices]
    kinds = Counter(answer.answer_type for answer in answers)
    subjects: Counter[str] = Counter(question.subject for question in questions)
    values: dict[str, float] = {
        "problems": len(items),
        "multiple_choice": kinds["mcq"],
        "open_ended": kinds["open"],
        "free_form": kinds["open"],
        "with_answer": sum(bool(answer.answer) for answer in answers),
        **subjects,
        "pictures": len({figure.sha256 for q in questions for figure in q.images}),
        "one_figure": sum(count == 1 for count in images),
        "several_figures": sum(count > 1 for count in images),
        "several_images": sum(count > 1 for count in images),
        **_summarise("images", images),
    }
    for subject in subjects:
        counts = [n for n, q in zip(images, questions, strict=True) if q.subject == subject]
        values[f"mean_images_{subject}"] = sum(counts) / len(counts)
    values |= _summarise("question_length", [len(question.question) for question in questions])
    values |= _summarise("answer_length", [sum(map(len, answer.answer)) for answer in answers])
    values |= _summarise("rationale_length", [len(a.solution) for a in answers if a.solution])
    values |= _summarise("choices", choices)
    values |= _summarise("image_width", [width for width, _ in sizes.values()])
    values |= _summarise("image_height", [height for _, height in sizes.values()])
    return values


def read_printed_statistics(path: Path) -> dict[str, str]:
    """What a paper prints of its dataset: the values by their names, several joined by ` / `.

    Raises:
        FileFormatError: A file without the column `statistic`.
        MissingInputError: There is none.
    """
    rows = list(read_csv(path))
    if not rows or "statistic" not in rows[0]:
        raise FileFormatError(f"{path}: lacks the column 'statistic'")
    return {
        row["statistic"]: " / ".join(
            value for name, value in row.items() if value and name not in ("statistic", "percent")
        )
        for row in rows
    }


def _summarise(name: str, values: Iterable[int]) -> dict[str, float]:
    counts = list(values)
    if not counts:
        return {}
    mean = sum(counts) / len(counts)
    return {f"min_{name}": min(counts), f"mean_{name}": mean, f"max_{name}": max(counts)}
