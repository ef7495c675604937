"""One item for its page: the problem, its gold answer, and selected models side by side."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from omibench.errors import MissingInputError, ParamsError
from omibench.explore.items import Items
from omibench.explore.run import RESPONSE, Run
from omibench.params.cell import Cell
from omibench.schemas.cells.files import read_cell
from omibench.schemas.problem import Choice, Figure, Question
from omibench.schemas.verdict import RIGHT
from omibench.stages.analyze.explorer.view import shorten_response
from omibench.stages.analyze.words import name_outcome, name_rules

MOST_COLUMNS: Final = 4
"""The maximum number of cells side by side."""
_LONG: Final = ("text", "reasoning", "steps", "drawn", "error", "finish_reason", "latency_s",
                "input_tokens", "reasoning_tokens", "served_model")  # fmt: skip
_VERDICT: Final = ("rules", "version", "extracted", "method", "verdict", "credit", "outcome",
                   "judge", "judge_key", "simulated")  # fmt: skip
Values = dict[str, Any]


def describe_item(items: Items, name: str) -> Values:
    """Return the problem with gold answer, rationale and location in its paper.

    Args:
        items: The items.
        name: Its id.

    Returns:
        Plain values for JSON; pictures are identified by SHA-256.

    Raises:
        MissingInputError: The item does not exist.
    """
    question = items.questions.get(name)
    if question is None:
        raise MissingInputError(f"item {name[:80]!r} not found")
    answer = items.answers[name]
    return {
        "id": name,
        "question": question.question,
        "choices": [_describe_choice(choice) for choice in question.choices or []],
        "pictures": [_describe_figure(figure) for figure in question.images],
        "gold": answer.answer,
        "solution": answer.solution or "",
        "sketch": answer.sketch or "",
        "facts": _list_facts(question, answer.topic, answer.attributes),
        "source": question.source or "",
        "pages": question.pages,
    }


def list_outcomes(run: Run, name: str, rules: str) -> list[Values]:
    """Return every cell's outcome on an item under a scorer.

    Args:
        run: The run.
        name: The id of the item.
        rules: The scorer.

    Returns:
        By cell in the run's order: model, setting, and of the samples that count the mean verdict,
        the extracted answers and the outcomes.
    """
    import polars as pl

    of_item = pl.col("id") == name, pl.col("rules") == rules
    rows = run.verdicts.filter("counts", *of_item).sort("index")
    by_cell: dict[Cell, list[Values]] = {}
    for row in rows.iter_rows(named=True):
        by_cell.setdefault(Cell(row["model"], row["setting"]), []).append(row)
    return [
        {
            "model": cell.model,
            "setting": cell.setting,
            "verdict": _mean([row["verdict"] for row in samples]),
            "extracted": [row["extracted"] or "" for row in samples],
            "outcomes": [name_outcome(row["outcome"]) for row in samples],
            "simulated": cell in run.simulated_cells,
        }
        for cell in run.cells
        if (samples := by_cell.get(cell))
    ]


def describe_responses(run: Run, name: str, cells: Sequence[Cell]) -> list[Values]:
    """Return the full responses of some cells to an item, with all verdicts.

    Args:
        run: The run.
        name: The id of the item.
        cells: At most `MOST_COLUMNS`.

    Returns:
        By cell: model, setting and its samples, each with text, reasoning, tokens, cost, keys of
        the store and verdicts.

    Raises:
        ParamsError: There are too many cells, or the run lacks one.
        FileFormatError: The file of a cell cannot be read.
    """
    if len(cells) > MOST_COLUMNS:
        raise ParamsError(f"cells: at most {MOST_COLUMNS} side by side (got {len(cells)})")
    for cell in cells:
        if cell not in run.cells:
            raise ParamsError(f"cells: {cell.model}/{cell.setting} is not in the run")
    return [
        {"model": cell.model, "setting": cell.setting, "samples": _read_samples(run, name, cell)}
        for cell in cells
    ]


def _read_samples(run: Run, name: str, cell: Cell) -> list[Values]:
    responses = read_rows(run, "infer", cell, [name], (*RESPONSE, *_LONG))
    verdicts = read_rows(run, "score", cell, [name], ("id", "index", *_VERDICT))
    others = find_others(run, cell)
    return [
        {
            **row,
            "text": shorten_response(row["text"] or ""),
            "reasoning": shorten_response(row["reasoning"] or ""),
            "outcome": name_outcome(row["outcome"]),
            "left_out": (row["id"], row["index"]) in others,
            "verdicts": [_word_verdict(v) for v in verdicts if v["index"] == row["index"]],
        }
        for row in responses
    ]


def find_others(run: Run, cell: Cell) -> set[tuple[str, int]]:
    """Return the samples (item and index) of a cell that do not count under any scorer."""
    import polars as pl

    rows = run.verdicts.filter(model=cell.model, setting=cell.setting)
    others = rows.filter(~pl.col("counts").any().over("id", "index"))
    return set(others.select("id", "index").iter_rows())


def _word_verdict(row: Mapping[str, Any]) -> Values:
    scored = row["outcome"] == "scored"
    word = "right" if row["verdict"] >= RIGHT else "wrong"
    word = word if scored else name_outcome(row["outcome"])
    return {**row, "title": name_rules(row["rules"]), "word": word, "scored": scored}


def read_rows(
    run: Run, stage: str, cell: Cell, names: Collection[str], columns: Sequence[str]
) -> list[Values]:
    """Return the rows of some items in the file of a cell, by sample.

    Args:
        run: The run.
        stage: `infer` or `score`.
        cell: The cell; empty if its file does not exist.
        names: The ids of the items.
        columns: The columns to read; those of later versions are None.

    Raises:
        FileFormatError: The file cannot be read.
    """
    import polars as pl

    path = run.files.find_file(stage, cell)
    if path is None:
        return []
    # Files of earlier versions lack columns that were added later.
    present = set(pl.read_parquet_schema(path))
    frame = read_cell(path, [column for column in columns if column in present])
    missing = [pl.lit(None).alias(column) for column in columns if column not in present]
    rows = frame.filter(pl.col("id").is_in(list(names))).with_columns(missing)
    return rows.sort("index").to_dicts()


def _describe_choice(choice: Choice) -> Values:
    return {"label": choice.label, "text": choice.text or "", "image": choice.image}


def _describe_figure(figure: Figure) -> Values:
    return {
        "sha256": figure.sha256,
        "caption": figure.caption or "",
        "page": figure.page,
        "bbox": figure.bbox,
    }


def _list_facts(question: Question, topic: str | None, attributes: Mapping[str, Any]) -> Values:
    stated = {"subject": question.subject, "language": question.language, "topic": topic,
              "stem": question.group, "licence": question.licence}  # fmt: skip
    facts = {name: value for name, value in (stated | dict(attributes)).items() if value}
    return {name: ", ".join(v) if isinstance(v, list) else str(v) for name, v in facts.items()}


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 4)
