"""A study's tables in the layout of a paper's, as CSV files and pages of statistics."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Final

from omibench.datasets.release.rows import FrozenFolder, ReleaseItem, read_freeze
from omibench.datasets.release.statistics import (
    PictureSizes,
    Statistic,
    ValueCount,
    compute_statistics,
    count_values,
    measure_printed,
)
from omibench.datasets.release.tables import PictureReader
from omibench.datasets.release_folder import ReleasedSource
from omibench.files.outputs import write_csv
from omibench.papers.catalogue import PaperItem, TableView, read_item_statistics
from omibench.papers.export.wide_tables import (
    PageNumber,
    Place,
    WideTable,
    find_best,
    find_ranks,
    join_names,
    rename_metric,
)
from omibench.stages.analyze.sentences import SIMULATED
from omibench.stages.rationale.degenerate import count_words

# Printed statistics of a dataset, measured on the frozen problems of a study.

_LOG = logging.getLogger("omibench")


def make_statistics_page(folder: Path, item: PaperItem) -> WideTable | None:
    """Measure the printed statistics of a dataset on frozen problems.

    Args:
        folder: The folder of `freeze`.
        item: A table or figure with `measures`.

    Returns:
        One row per printed number in the paper's order, with a column per group of problems; a
        number that the problems do not give is lacking, and a warning says why. Tokens are words,
        numbers, Chinese characters and signs, since no paper names its tokenizer. None without the
        folder.

    Raises:
        FileFormatError: The rows of the freeze do not match each other, or a picture is not the
            frozen one, broken or outside of the folder.
        MissingInputError: A file is missing.
    """
    if not (folder / "manifest.json").is_file():
        return None
    freeze = read_freeze(folder)
    source = ReleasedSource(name="", items=len(freeze.items), licence=None, redistribute=None)
    items = [ReleaseItem(*frozen, "", source) for frozen in freeze.items]
    printed = read_item_statistics(item)
    sizes = _read_sizes(freeze) if any("image_" in s.rule.statistic for s in printed) else {}

    def compute(
        members: Sequence[ReleaseItem],
    ) -> tuple[dict[str, Statistic], list[ValueCount]]:
        counts = [count for count in count_values(members) if count.value]
        return compute_statistics(members, sizes, count_words), counts

    simulated = freeze.manifest.synthetic is not None
    cells: dict[Place, PageNumber] = {}
    rows: list[tuple[str, ...]] = []
    for value in measure_printed(printed, items, compute):
        row = (value.statistic.replace("_", " ").capitalize(),)
        rows += [row] if row not in rows else []
        if value.measured is None:
            _LOG.warning("%s: %s", row[0], value.note)
            continue
        number = value.measured.value
        whole = float(number).is_integer() and not value.statistic.startswith("mean")
        cells[row, (value.group.capitalize() or "Number",)] = PageNumber(
            number, simulated=simulated, digits=0 if whole else None
        )
    columns = list(dict.fromkeys(column for _, column in cells))
    view = TableView(result="dataset", percent=False, best="none")
    return WideTable(view, ["statistic"], rows, columns, cells) if cells else None


def _read_sizes(freeze: FrozenFolder) -> PictureSizes:
    reader = PictureReader(freeze.folder)
    for frozen in freeze.items:
        for figure in frozen.question.images:
            if figure.sha256:  # else the benchmark lacks it
                reader.note_size(figure)
    return reader.sizes


# Printed tables in CSV, Markdown and LaTeX.

_KEY_NAMES: Final[Mapping[str, str]] = {
    "p": "p", "p_holm": "p (Holm)", "k": "k", "rules": "Scorer", "respondent": "Evaluation subject",
}  # fmt: skip
_TEX: Final = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "_": r"\_", "%": r"\%", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
    "×": r"$\times$", "−": r"$-$", "–": "--", "↑": r"$\uparrow$", "↓": r"$\downarrow$",
    "Δ": r"$\Delta$", "≥": r"$\geq$", "ρ": r"$\rho$",
}  # fmt: skip
_COLUMN_PT, _PAGE_PT = 219.0, 397.0
"""The narrowest column (ACL) and the narrowest page (NeurIPS) of the usual templates, in points."""
_SIGN_PT: Final = 5.5
"""Width of a sign at 10 pt, on average."""
_GAP_PT: Final = 6
"""Space on each side of a column."""
_FONTS: Final = (
    (r"\small", 0.9, 3), (r"\footnotesize", 0.8, 3),
    (r"\scriptsize", 0.7, 3), (r"\scriptsize", 0.7, 2),
)  # fmt: skip
"""Smaller fonts, their scale, and the space on each side of a column."""
_MARKDOWN: Final = "\\`*_{}[]<>()#|!~$"


def write_wide_csv(path: Path, table: WideTable, *, intervals: bool = False) -> None:
    """Write a printed table as CSV: one column per number, and two more for its interval, if asked.

    Raises:
        OutputError: The file cannot be written.
    """
    records = []
    has_changes = {
        column: any(n.change is not None for (_, c), n in table.cells.items() if c == column)
        for column in table.columns
    }
    for row in table.rows:
        record: dict[str, object] = {"group": table.groups[row]} if table.groups else {}
        record |= dict(zip(table.keys, row, strict=True))
        for column in table.columns:
            name, number = join_names(column), table.cells.get((row, column))
            record[name] = table.scale(number and number.estimate)
            if has_changes[column]:
                record[f"{name} change"] = table.scale(number and number.change)
            if intervals or any(
                n.has_interval for (_, other), n in table.cells.items() if other == column
            ):
                record[f"{name} low"] = table.scale(number and number.low)
                record[f"{name} high"] = table.scale(number and number.high)
        record["simulated"] = any(
            number.simulated for (name, _), number in table.cells.items() if name == row
        )
        records.append(record)
    group = ["group"] if table.groups else []
    write_csv(path, records, columns=[*group, *table.keys, *map(join_names, table.columns)])


def render_markdown(table: WideTable, title: str, *, intervals: bool = False) -> str:
    """Render a printed table in Markdown: the best in bold, the second best in italics."""
    heads = [*map(_title, table.keys), *map(join_names, table.columns)]
    lines = [
        f"{_escape_markdown(_mark_title(table, title))}",
        "",
        "| " + " | ".join(map(_escape_markdown, heads)) + " |",
        "|" + "---|" * len(table.keys) + "---:|" * len(table.columns),
    ]
    marks = ("%s", "**%s**", "*%s*")
    ranks = {1: "¹", 2: "²", 3: "³"}
    for group, rows in _list_rows(table, _escape_markdown, marks, ranks, intervals):
        if group:
            lines.append(f"| *{_escape_markdown(group)}* |" + " |" * (len(heads) - 1))
        lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(lines) + "\n"


def render_latex(table: WideTable, title: str, label: str, *, intervals: bool = False) -> str:
    """Render a printed table in LaTeX (package booktabs): best bold, second best underlined.

    One that is wider than a column of text spans the page, in a font with which it fits.

    Args:
        table: The table.
        title: Its caption.
        label: Its label.
        intervals: Whether each number is followed by its interval.
    """
    marks = ("%s", r"\textbf{%s}", r"\underline{%s}")
    ranks = {1: "$^{1}$", 2: "$^{2}$", 3: "$^{3}$"}
    width = len(table.keys) + len(table.columns)
    body: list[str] = []
    for group, rows in _list_rows(table, escape_latex, marks, ranks, intervals):
        if group:
            rule = [r"\midrule"] if body else []
            body += [*rule, rf"\multicolumn{{{width}}}{{l}}{{\textit{{{escape_latex(group)}}}}} \\"]
        body += [" & ".join(row) + r" \\" for row in rows]
    wide, font = _fit_page(table, intervals)
    lines = [
        "% needs \\usepackage{booktabs}",
        rf"\begin{{table{wide}}}",
        r"\centering",
        *font,
        rf"\caption{{{escape_latex(_mark_title(table, title))}}}",
        rf"\label{{{label}}}",
        rf"\begin{{tabular}}{{{'l' * len(table.keys)}{'r' * len(table.columns)}}}",
        r"\toprule",
        *_latex_heads(table),
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
        rf"\end{{table{wide}}}",
    ]
    return "\n".join(lines) + "\n"


def _list_rows(
    table: WideTable,
    escape: Callable[[str], str],
    marks: tuple[str, str, str],
    rank_marks: Mapping[int, str],
    intervals: bool,
) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield each group, and the texts of its rows.

    `marks` are the formats of others, the best and the second; `rank_marks` are added to ranks.
    """
    best, ranks = find_best(table), find_ranks(table)
    for group, rows in groupby(table.rows, key=lambda row: table.groups.get(row, "")):
        texts = []
        for row in rows:
            numbers = [
                marks[best.get((row, column), 0)]
                % escape(table.format(table.cells.get((row, column)), intervals))
                + rank_marks.get(ranks.get((row, column), 0), "")
                for column in table.columns
            ]
            texts.append([*map(escape, row), *numbers])
        yield group, texts


def _fit_page(table: WideTable, intervals: bool) -> tuple[str, list[str]]:
    """Return `*` if a table spans the page, and the lines that set a font with which it fits."""
    groups = _list_rows(table, str, ("%s", "%s", "%s"), {}, intervals)
    signs = _count_signs(table, [row for _, rows in groups for row in rows])

    def measure(scale: float, gap: int) -> float:
        return sum(signs) * _SIGN_PT * scale + len(signs) * 2 * gap

    if measure(1, _GAP_PT) <= _COLUMN_PT:
        return "", []
    if measure(1, _GAP_PT) <= _PAGE_PT:
        return "*", []
    fitting = (font for font in _FONTS if measure(*font[1:]) <= _PAGE_PT)
    font, _, gap = next(fitting, _FONTS[-1])
    return "*", [font, rf"\setlength{{\tabcolsep}}{{{gap}pt}}"]


def _count_signs(table: WideTable, rows: Sequence[Sequence[str]]) -> list[int]:
    """Return the most signs in each column, its head included."""
    two_heads = bool(table.columns) and len(table.columns[0]) == 2
    heads = [rename_metric(c[1]) if two_heads else join_names(c) for c in table.columns]
    texts = zip([*map(_title, table.keys), *heads], *rows, strict=True)
    signs = [max(map(len, column)) for column in texts]
    if two_heads:  # a head over several columns may be wider than they are
        start = len(table.keys)
        for first, group in groupby(table.columns, key=lambda column: column[0]):
            end = start + len(list(group))
            signs[end - 1] += max(0, len(rename_metric(first)) - sum(signs[start:end]))
            start = end
    return signs


def escape_latex(text: str) -> str:
    """Escape any text so that LaTeX prints it and runs none of it."""
    return "".join(_TEX.get(sign, sign) for sign in " ".join(text.split()))


def _latex_heads(table: WideTable) -> list[str]:
    """Return one line, or two if columns have two labels: the first spans its columns."""
    keys = [escape_latex(_title(key)) for key in table.keys]
    if not table.columns or len(table.columns[0]) != 2:
        heads = [escape_latex(join_names(column)) for column in table.columns]
        return [" & ".join([*keys, *heads]) + r" \\"]
    spans, rules, start = [], [], len(keys) + 1
    for first, group in groupby(table.columns, key=lambda column: column[0]):
        count = len(list(group))
        spans.append(rf"\multicolumn{{{count}}}{{c}}{{{escape_latex(rename_metric(first))}}}")
        if count > 1:
            rules.append(rf"\cmidrule(lr){{{start}-{start + count - 1}}}")
        start += count
    seconds = [escape_latex(rename_metric(second)) for _, second in table.columns]
    return [
        " & ".join([*[""] * len(keys), *spans]) + r" \\",
        *rules,
        " & ".join([*keys, *seconds]) + r" \\",
    ]


def _mark_title(table: WideTable, title: str) -> str:
    return f"{SIMULATED}. {title}" if table.is_simulated else title


def _title(key: str) -> str:
    return _KEY_NAMES.get(key, key.replace("_", " ").capitalize())


def _escape_markdown(text: str) -> str:
    flat = " ".join(text.split())
    return "".join(f"\\{sign}" if sign in _MARKDOWN else sign for sign in flat)
