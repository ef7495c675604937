"""Lower-case texts of responses by model and item, for fast searches."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby
from typing import Final, Literal, NamedTuple

import polars as pl

from omibench.errors import ParamsError
from omibench.explore.index import CellReader, Index, name_part, stamp_cells
from omibench.explore.run import Items, Run
from omibench.params.setting import Cell

TEXTS: Final = ("text", "reasoning")


def find_texts(run: Run, text: str, index: Index | None = None) -> set[str]:
    """Return the items with a response that contains a text.

    Args:
        run: The run.
        text: The text in lower case.
        index: The run's index; missing models are read from their files.
    """
    holds = pl.col("text").str.contains(text, literal=True)
    ids: set[str] = set()
    for cells in group_by_model(run.cells):
        part = index.find(name_texts(run, cells)) if index else None
        # Without an index, only one cell at a time is in memory.
        tables = [pl.scan_ipc(part)] if part else (scan_texts(run, cell) for cell in cells)
        for table in tables:
            ids.update(table.filter(holds).select("id").collect()["id"].to_list())
    return ids


def build_index(run: Run, reader: CellReader, index: Index) -> None:
    """Write missing parts of a run's index, and delete outdated ones.

    Args:
        run: The run.
        reader: The reader of the run.
        index: Its index.

    Raises:
        OSError: The index cannot be written.
    """
    names = set()
    for name, rows in reader.list_parts():
        names.add(name)
        if index.find(name) is None:
            index.write(name, rows, is_packed=True)
    for cells in group_by_model(run.cells):
        name = name_texts(run, cells)
        names.add(name)
        if index.find(name) is None:
            index.write(name, join_texts(run, cells))
    index.keep(names)


def group_by_model(cells: tuple[Cell, ...]) -> Iterator[list[Cell]]:
    """Return the cells of each model."""
    for _, group in groupby(cells, key=lambda cell: cell.model):
        yield list(group)


def name_texts(run: Run, cells: list[Cell]) -> str:
    """Return the name of the index part with the texts of some cells."""
    return name_part("texts", stamp_cells(run.files.locate("infer", cell) for cell in cells))


def scan_texts(run: Run, cell: Cell) -> pl.LazyFrame:
    """Return text and reasoning of each response of a cell, joined and in lower case."""
    path = run.files.locate("infer", cell)
    joined = pl.concat_str(TEXTS, separator="\n", ignore_nulls=True).str.to_lowercase()
    return pl.scan_parquet(path, glob=False).select("id", joined.alias("text"))


def join_texts(run: Run, cells: list[Cell]) -> pl.DataFrame:
    """Return one row per item with the texts of all its cells."""
    tables = pl.concat([scan_texts(run, cell) for cell in cells])
    return tables.group_by("id").agg(pl.col("text").str.join("\n")).collect()


# Text search in questions, responses, extracted answers and rationales.

Field = Literal["question", "response", "extracted", "rationale"]
FIELDS: Final[tuple[Field, ...]] = ("question", "response", "extracted", "rationale")
LONGEST: Final = 200
"""Maximum characters of a search text."""


def find_items(
    items: Items,
    run: Run | None,
    words: str,
    fields: tuple[Field, ...],
    index: Index | None = None,
) -> set[str]:
    """Return the items in which a field contains the text, ignoring case.

    Args:
        items: The items.
        run: The run with the responses; None to search only items.
        words: The text; not a pattern.
        fields: The fields to search.
        index: The run's index, if any.

    Returns:
        Their ids.

    Raises:
        ParamsError: The text is too long.
    """
    text = words.strip().lower()
    if len(text) > LONGEST:
        raise ParamsError(f"search: {len(text)} characters; the limit is {LONGEST}")
    if not text:
        return set(items.ids)
    found: set[str] = set()
    if "question" in fields:
        found |= {name for name, words in items.texts.items() if text in words}
    if "rationale" in fields:
        answers = items.answers.values()
        found |= {a.id for a in answers if text in (a.solution or "").lower()}
    if run is not None and "extracted" in fields:
        found |= set(_keep(run.verdicts, "extracted", text)["id"].unique().to_list())
    if run is not None and "response" in fields:
        found |= find_texts(run, text, index)
    return found & set(items.ids)


def _keep(frame: pl.DataFrame, column: str, text: str) -> pl.DataFrame:
    return frame.filter(pl.col(column).str.to_lowercase().str.contains(text, literal=True))


# Excerpts around a found text.

_BEFORE: Final = 12
_AFTER: Final = 160
"""Characters of an excerpt before and after the found text."""
_LONGEST_FORMULA: Final = 300
_FORMULA: Final = re.compile(
    r"\$\$.{1,300}?\$\$|\$[^$\n]{1,300}?\$|\\\(.{1,300}?\\\)|\\\[.{1,300}?\\\]", re.DOTALL
)


class Hit(NamedTuple):
    """The first place of a searched text in an item.

    Attributes:
        field: The field.
        text: An excerpt with the text, in which formulas are whole.
        model: Of a response or answer: the model.
        setting: Of a response or answer: the setting.
    """

    field: Field
    text: str
    model: str | None = None
    setting: str | None = None


def find_hits(
    items: Items,
    run: Run | None,
    sought: tuple[str, Collection[Field]],
    names: Sequence[str],
    index: Index | None = None,
) -> dict[str, Hit]:
    """Return where items contain a text, each in the first of the fields.

    Args:
        items: The items.
        run: The run with the responses, if any.
        sought: The text, and the fields to search.
        names: The ids of the items.
        index: The run's index, if any.
    """
    text, fields = sought[0].strip(), sought[1]
    hits: dict[str, Hit] = {}
    for name in names if text else ():
        question, answer = items.questions[name], items.answers[name]
        choices = [choice.text or "" for choice in question.choices or []]
        stated = "\n".join([question.question, *choices, *answer.answer, name])
        places: tuple[tuple[Field, str], ...]
        places = ("question", stated), ("rationale", answer.solution or "")
        for field, whole in places:
            if field in fields and name not in hits and text.lower() in whole.lower():
                hits[name] = Hit(field, cut_around(whole, text))
    if run is not None and "extracted" in fields:
        of_names = run.verdicts.filter(pl.col("id").is_in(list(names)))
        rows = _keep(of_names, "extracted", text.lower())
        places_of = rows.select("id", "model", "setting", "extracted")
        for name, model, setting, found in places_of.iter_rows():
            hits.setdefault(name, Hit("extracted", cut_around(found, text), model, setting))
    if run is not None and "response" in fields:
        missing = {name for name in names if name not in hits}
        hits |= _find_responses(run, text, missing, index) if text else {}
    return hits


def _find_responses(run: Run, text: str, missing: set[str], index: Index | None) -> dict[str, Hit]:
    """Return the first response to each item that contains a text."""
    hits: dict[str, Hit] = {}
    holds = pl.col("text").str.contains(text.lower(), literal=True)
    for cells in group_by_model(run.cells):
        wanted = missing - hits.keys()
        part = index.find(name_texts(run, cells)) if index and wanted else None
        if part:
            rows = pl.scan_ipc(part).filter(pl.col("id").is_in(list(wanted)), holds)
            wanted = set(rows.select("id").collect()["id"].to_list())
        for cell in cells:
            if not (wanted := wanted - hits.keys()):
                break
            found = scan_texts(run, cell).filter(pl.col("id").is_in(list(wanted)), holds)
            texts = pl.scan_parquet(run.files.locate("infer", cell), glob=False)
            names = found.select("id").collect()["id"].to_list()
            if not names:
                continue
            of_cell = texts.filter(pl.col("id").is_in(names)).select("id", *TEXTS).collect()
            for name, *parts in of_cell.iter_rows():
                whole = next((p for p in parts if p and text.lower() in p.lower()), None)
                if whole is not None:
                    excerpt = cut_around(whole, text)
                    hits.setdefault(name, Hit("response", excerpt, cell.model, cell.setting))
    return hits


def cut_around(whole: str, text: str) -> str:
    """Return an excerpt of a text around another one, ignoring case."""
    place = re.search(re.escape(text), whole, re.IGNORECASE)
    start = place.start() if place else 0
    return _cut(whole, start - _BEFORE, (place.end() if place else 0) + _AFTER)


def cut_start(whole: str, length: int) -> str:
    """Return the first characters of a text, without a cut formula."""
    return _cut(whole[: length + _LONGEST_FORMULA + 4], 0, length)


def _cut(whole: str, start: int, end: int) -> str:
    """Return a part of a text in one line, widened so that no formula or word is cut."""
    start, end = max(0, start), min(len(whole), end)
    near = max(0, start - _LONGEST_FORMULA - 4)
    for formula in _FORMULA.finditer(whole, near, end + _LONGEST_FORMULA + 4):
        if formula.start() < start < formula.end():
            start = formula.start()
        if formula.start() < end < formula.end():
            end = formula.end()
    while start > 0 and not whole[start - 1].isspace() and near < start:
        start -= 1
    line = " ".join(whole[start:end].split())
    return f"{'… ' if start > 0 else ''}{line}{' …' if end < len(whole) else ''}"
