"""Tidy tables as printed ones: labelled rows and columns, in CSV, Markdown and LaTeX."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Final, Literal, NamedTuple

import polars as pl

from omibench.errors import ArgumentError
from omibench.files.outputs import write_csv
from omibench.papers.catalogue import PaperItem, PaperItems, TableView
from omibench.schemas.tables import write_text
from omibench.schemas.validation import suggest_name
from omibench.stages.analyze.figures import FIGURES
from omibench.stages.analyze.formatting import NO_VALUE, format_decimals
from omibench.stages.analyze.sentences import SIMULATED

METRIC_NAMES: Final[Mapping[str, str]] = {
    "accuracy": "ACC", "gptscore": "GPTScore", "strict": "Strict ACC", "credit": "Credit",
    "ratio": "ACC (eq. 6)", "difference": "Difference",
}  # fmt: skip
_KEY_NAMES: Final[Mapping[str, str]] = {"p": "p", "p_holm": "p (Holm)"}
_TEX: Final = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "_": r"\_", "%": r"\%", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
    "×": r"$\times$", "−": r"$-$", "–": "--",
}  # fmt: skip
_MARKDOWN: Final = "\\`*_{}[]<>()#|!~$"
Place = tuple[tuple[str, ...], tuple[str, ...]]
"""The labels of a row, and those of a column."""
ALL_ITEMS = "Total"
"""The label of a column or row over all items."""


class PageNumber(NamedTuple):
    """A number of a printed table with its interval, from the tidy table."""

    estimate: float
    low: float | None = None
    high: float | None = None
    simulated: bool = False


class WideTable(NamedTuple):
    """A printed table.

    `view` has its format; `keys` heads the columns that label a row; `rows` and `columns` contain
    the labels, `cells` the numbers by row and column.
    """

    view: TableView
    keys: list[str]
    rows: list[tuple[str, ...]]
    columns: list[tuple[str, ...]]
    cells: dict[Place, PageNumber]

    @property
    def is_simulated(self) -> bool:
        """Whether any number depends on simulated responses, judges or problems."""
        return any(number.simulated for number in self.cells.values())

    @property
    def factor(self) -> int:
        """The factor from the tidy numbers to the printed ones."""
        return 100 if self.view.percent else 1

    def scale(self, value: float | None) -> float | None:
        """Return the printed number, with all its digits."""
        return None if value is None else round(value * self.factor, 6)

    def format(self, number: PageNumber | None, intervals: bool) -> str:
        """Return the printed text of a number, with its interval if asked."""
        if number is None:
            return NO_VALUE
        values = (number.estimate, number.low, number.high)
        texts = [
            "" if value is None else format_decimals(value * self.factor, self.view.digits)
            for value in values
        ]
        is_whole = intervals and all(texts)
        return f"{texts[0]} [{texts[1]}, {texts[2]}]" if is_whole else texts[0]


def widen_table(
    frame: pl.DataFrame,
    view: TableView,
    labels: Mapping[str, str] | None = None,
    kept: Sequence[str] = (),
) -> WideTable:
    """Make a printed table from a tidy table.

    Args:
        frame: The tidy table of a result.
        view: The rows to keep, and the labels of rows and columns.
        labels: Model -> its display name.
        kept: Label columns to keep even if they have a single value.

    Returns:
        The table; rows and columns in the order of their first occurrence, `Total` last. Label
        columns with a single value are omitted, except `kept`.

    Raises:
        ArgumentError: The tidy table lacks a column of the view, or has two numbers for one place.
    """
    needed = [*view.where, *view.rows, *view.columns]
    for column in needed:
        if column not in frame.columns:
            raise ArgumentError(
                f"result {view.result!r}: has no column {column!r}"
                f"{suggest_name(column, frame.columns)}"
            )
    for column, values in view.where.items():
        frame = frame.filter(pl.col(column).cast(pl.String).is_in(values))
    frame = frame.filter(pl.col("estimate").is_not_null())
    keys, heads = _drop_constant(frame, view.rows, kept), _drop_constant(frame, view.columns)
    cells: dict[Place, PageNumber] = {}
    for record in frame.iter_rows(named=True):
        place = (
            tuple(_name(record, key, labels) for key in keys),
            tuple(_name(record, head, labels) for head in heads),
        )
        if place in cells:
            where = " · ".join([*place[0], *place[1]])
            raise ArgumentError(
                f"result {view.result!r}: has two numbers for {where}; add columns, or keep fewer "
                "rows with `where`"
            )
        cells[place] = PageNumber(
            record["estimate"], record["low"], record["high"], bool(record["simulated"])
        )
    return WideTable(
        view,
        list(keys),
        _order(place[0] for place in cells),
        _order(place[1] for place in cells),
        cells,
    )


def _drop_constant(
    frame: pl.DataFrame, columns: Sequence[str], kept: Sequence[str] = ()
) -> list[str]:
    """Return the columns that distinguish rows, and `kept`; the first if there are none."""
    varying = [name for name in columns if name in kept or frame[name].n_unique() > 1]
    return varying or list(columns[:1])


def _name(record: Mapping[str, object], column: str, labels: Mapping[str, str] | None) -> str:
    value = record[column]
    text = "" if value is None else str(value)
    if column in ("model", "baseline_model"):
        return (labels or {}).get(text, text)
    return text or (ALL_ITEMS if column in ("value", "slice") else "")


def _order(names: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return the labels in order.

    They are sorted by first occurrence, grouped by the first label, numbers by size, with `Total`
    after its neighbours.
    """
    unique = list(dict.fromkeys(names))
    firsts = {name[0]: place for place, name in reversed(list(enumerate(unique)))}
    by_size = all(name[-1].isdecimal() for name in unique)

    def place(name: tuple[str, ...]) -> tuple[bool, int, bool, int]:
        group = 0 if by_size and len(name) == 1 else firsts[name[0]]
        size = int(name[-1]) if by_size else 0
        return name[0] == ALL_ITEMS, group, ALL_ITEMS in name[1:], size

    return sorted(unique, key=place)


def write_wide_csv(path: Path, table: WideTable, *, intervals: bool = False) -> None:
    """Write a printed table as CSV: one column per number, and two more for its interval, if asked.

    Raises:
        OutputError: The file cannot be written.
    """
    records = []
    for row in table.rows:
        record: dict[str, object] = dict(zip(table.keys, row, strict=True))
        for column in table.columns:
            name, number = _join_names(column), table.cells.get((row, column))
            record[name] = table.scale(number and number.estimate)
            if intervals:
                record[f"{name} low"] = table.scale(number and number.low)
                record[f"{name} high"] = table.scale(number and number.high)
        record["simulated"] = any(
            number.simulated for (name, _), number in table.cells.items() if name == row
        )
        records.append(record)
    write_csv(path, records, columns=[*table.keys, *map(_join_names, table.columns)])


def render_markdown(table: WideTable, title: str, *, intervals: bool = False) -> str:
    """Render a printed table in Markdown: the best in bold, the second best in italics."""
    heads = [*map(_title, table.keys), *map(_join_names, table.columns)]
    lines = [
        f"{_escape_markdown(_mark_title(table, title))}",
        "",
        "| " + " | ".join(map(_escape_markdown, heads)) + " |",
        "|" + "---|" * len(table.keys) + "---:|" * len(table.columns),
    ]
    rows = _list_rows(table, _escape_markdown, ("%s", "**%s**", "*%s*"), intervals)
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)]) + "\n"


def render_latex(table: WideTable, title: str, label: str, *, intervals: bool = False) -> str:
    """Render a printed table in LaTeX (package booktabs): best bold, second best underlined.

    Args:
        table: The table.
        title: Its caption.
        label: Its label.
        intervals: Whether each number is followed by its interval.
    """
    marks = ("%s", r"\textbf{%s}", r"\underline{%s}")
    lines = [
        "% needs \\usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escape_latex(_mark_title(table, title))}}}",
        rf"\label{{{label}}}",
        rf"\begin{{tabular}}{{{'l' * len(table.keys)}{'r' * len(table.columns)}}}",
        r"\toprule",
        *_latex_heads(table),
        r"\midrule",
        *(" & ".join(row) + r" \\" for row in _list_rows(table, escape_latex, marks, intervals)),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _list_rows(
    table: WideTable, escape: Callable[[str], str], marks: Sequence[str], intervals: bool
) -> Iterator[list[str]]:
    """Return the texts of each row; `marks` are the formats of others, the best and the second."""
    ranks = _rank_columns(table)
    for row in table.rows:
        yield [
            *map(escape, row),
            *(
                marks[ranks.get((row, column), 0)]
                % escape(table.format(table.cells.get((row, column)), intervals))
                for column in table.columns
            ),
        ]


def escape_latex(text: str) -> str:
    """Escape any text so that LaTeX prints it and runs none of it."""
    return "".join(_TEX.get(sign, sign) for sign in " ".join(text.split()))


def _latex_heads(table: WideTable) -> list[str]:
    """Return one line, or two if columns have two labels: the first spans its columns."""
    keys = [escape_latex(_title(key)) for key in table.keys]
    if not table.columns or len(table.columns[0]) != 2:
        heads = [escape_latex(_join_names(column)) for column in table.columns]
        return [" & ".join([*keys, *heads]) + r" \\"]
    spans = [
        rf"\multicolumn{{{len(list(group))}}}{{c}}{{{escape_latex(_rename(first))}}}"
        for first, group in groupby(table.columns, key=lambda column: column[0])
    ]
    seconds = [escape_latex(_rename(second)) for _, second in table.columns]
    return [
        " & ".join([*[""] * len(keys), *spans]) + r" \\",
        " & ".join([*keys, *seconds]) + r" \\",
    ]


def _rank_columns(table: WideTable) -> dict[Place, int]:
    """Return 1 for the best numbers of a column, 2 for the second best, as printed."""
    best, digits = table.view.best, table.view.digits
    if best == "none" or len(table.rows) < 2:
        return {}
    ranks = {}
    for column in table.columns:
        values = {
            row: round(number.estimate * table.factor, digits)
            for row in table.rows
            if (number := table.cells.get((row, column))) is not None
        }
        highest = sorted(set(values.values()), reverse=best == "highest")
        for row, value in values.items():
            if value in highest[:2] and len(highest) > 1:
                ranks[row, column] = highest.index(value) + 1
    return ranks


def _mark_title(table: WideTable, title: str) -> str:
    return f"{SIMULATED}. {title}" if table.is_simulated else title


def _join_names(names: Sequence[str]) -> str:
    return " ".join(_rename(name) for name in names if name)


def _rename(name: str) -> str:
    return METRIC_NAMES.get(name, name)


def _title(key: str) -> str:
    return _KEY_NAMES.get(key, key.replace("_", " ").capitalize())


def _escape_markdown(text: str) -> str:
    flat = " ".join(text.split())
    return "".join(f"\\{sign}" if sign in _MARKDOWN else sign for sign in flat)


# What each table and figure of a paper is: README.md of an exported folder, and docs/papers.md.

Kind = Literal["measured", "simulated", "printed", "missing", "impossible", "no numbers"]
Status = Literal["made", "made, simulated", "printed", "impossible", "no numbers"]
MEANINGS: dict[Kind, str] = {
    "measured": "made from this study's responses",
    "simulated": "made from this study, with SIMULATED responses, judges or problems: the numbers "
    "say nothing about a real model",
    "printed": "only the paper's own numbers",
    "missing": "not made: the study lacks a requirement",
    "impossible": "cannot be made: its data was never published",
    "no numbers": "an example or a drawing, without results",
}
GUIDE_HEAD: Final = """\
# Tables and figures of the four papers

Written from `published/papers.yaml` by `make generated`. To make these files from the
results of a study:

    omibench results export RESULTS --paper NAME --out DIR

- **made**: from data that the authors published; the row lists it.
- **made, simulated**: the code makes it, but was run only with simulated models, not with the
  real ones.
- **printed**: only the paper's own numbers.
- **impossible**: its data was never published.
- **no numbers**: an example, a drawing or a list of prompts.
"""


class ExportedItem(NamedTuple):
    """A table or figure: number, content, status, reason if it is missing, and files."""

    key: str
    title: str
    kind: Kind
    reason: str
    files: list[str]


def write_overview(path: Path, title: str, dataset: str, entries: Sequence[ExportedItem]) -> None:
    """Write the README of an exported folder.

    Args:
        path: The file.
        title: The paper's title.
        dataset: The dataset of the study's results.
        entries: The content of the folder, in order.

    Raises:
        OutputError: The file cannot be written.
    """
    counts = Counter(entry.kind for entry in entries)
    lines = [
        f"# {_plain(title)}: tables and figures",
        "",
        f"Dataset of the study: {_plain(dataset)}.",
        "",
        *(f"- **{kind}** ({counts[kind]}): {MEANINGS[kind]}" for kind in MEANINGS if counts[kind]),
        "",
        "| | what it shows | what it is | files |",
        "|---|---|---|---|",
        *(_describe(entry) for entry in entries),
        "",
        "Files that end in `_printed.csv` contain the paper's printed numbers.",
    ]
    write_text(path, "\n".join(lines) + "\n")


def summarise_entries(entries: Sequence[ExportedItem]) -> str:
    """Return the number of tables and figures of each kind: '12 measured, 3 missing'."""
    counts = Counter(entry.kind for entry in entries)
    return ", ".join(f"{counts[kind]} {kind}" for kind in MEANINGS if counts[kind])


def _describe(entry: ExportedItem) -> str:
    reason = f": {_plain(entry.reason)}" if entry.reason else ""
    files = ", ".join(f"[{name}]({name})" for name in entry.files)
    return f"| {entry.key} | {_plain(entry.title)} | {entry.kind}{reason} | {files} |"


def _plain(text: str) -> str:
    flat = " ".join(text.split())
    return "".join(f"\\{sign}" if sign in "\\`*{}[]<>|" else sign for sign in flat)


def describe_papers(papers: Mapping[str, PaperItems]) -> str:
    """Render docs/papers.md.

    Args:
        papers: The catalogue.

    Returns:
        Markdown with a table for each paper.
    """
    counts = Counter(
        find_status(item) for paper in papers.values() for item in paper.items.values()
    )
    total = sum(counts.values())
    lines = [
        GUIDE_HEAD,
        f"{total} tables and figures: "
        + ", ".join(f"{count} {status}" for status, count in counts.most_common())
        + ".",
    ]
    for name, paper in papers.items():
        lines += [
            "",
            f"## {paper.title}",
            "",
            f"`--paper {name}`",
            "",
            "| | content | status | made from | needs |",
            "|---|---|---|---|---|",
            *(_describe_item(key, item) for key, item in paper.items.items()),
        ]
    return "\n".join(lines) + "\n"


def find_status(item: PaperItem) -> Status:
    """Return the best status that a table or figure can have."""
    if item.no_numbers:
        return "no numbers"
    if item.impossible:
        return "printed" if item.printed else "impossible"
    if not item.table and not item.figures:
        return "printed"
    return "made" if item.made else "made, simulated"


def _describe_item(key: str, item: PaperItem) -> str:
    results = [f"`{name}`" for name in list_results(item)]
    drawn = [f"figure `{name}`" for name in item.figures]
    sources = [*results, *drawn, *([f"[print](../published/{item.printed})"] * bool(item.printed))]
    status = find_status(item)
    reason = item.made or item.impossible or item.no_numbers
    words = f"{status}: {reason}" if reason else status
    needs = item.needs.words if item.needs else ""
    return f"| {key} | {item.title} | {words} | {', '.join(sources)} | {needs} |"


def list_results(item: PaperItem) -> list[str]:
    """Return the results that the table and figures of an item are made from."""
    table = [item.table.result, *item.table.more] if item.table else []
    return list(dict.fromkeys([*table, *(FIGURES.get(name).table for name in item.figures)]))
