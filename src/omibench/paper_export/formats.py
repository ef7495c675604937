"""Printed tables as CSV, Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from omibench.files.csv_file import write_csv
from omibench.stages.analyze.claims import SIMULATED
from omibench.stages.analyze.words import NO_VALUE, format_decimals

if TYPE_CHECKING:
    from omibench.paper_export.wide import PageNumber, WideTable

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


class NumberStyle(NamedTuple):
    """The format of the numbers in a printed table.

    `percent`: shares are shown in per cent. `best`: which number of a column is marked as the best,
    and which as the second best. `intervals`: whether each number is followed by its interval.
    """

    percent: bool = True
    digits: int = 2
    best: Literal["highest", "lowest", "none"] = "highest"
    intervals: bool = False


def write_wide_csv(path: Path, table: WideTable, style: NumberStyle) -> None:
    """Write a printed table as CSV: one column per number, and two more for its interval.

    Raises:
        OutputError: The file cannot be written.
    """
    records = []
    for row in table.rows:
        record: dict[str, object] = dict(zip(table.keys, row, strict=True))
        for column in table.columns:
            name, number = _join_names(column), table.cells.get((row, column))
            record[name] = _scale(number.estimate if number else None, style)
            if style.intervals:
                record[f"{name} low"] = _scale(number.low if number else None, style)
                record[f"{name} high"] = _scale(number.high if number else None, style)
        record["simulated"] = any(
            number.simulated for (name, _), number in table.cells.items() if name == row
        )
        records.append(record)
    write_csv(path, records, columns=[*table.keys, *map(_join_names, table.columns)])


def render_markdown(table: WideTable, style: NumberStyle, title: str) -> str:
    """Render a printed table in Markdown: the best in bold, the second best in italics."""
    heads = [*map(_title, table.keys), *map(_join_names, table.columns)]
    marks = _rank_columns(table, style)
    lines = [
        f"{_escape_markdown(_mark_title(table, title))}",
        "",
        "| " + " | ".join(map(_escape_markdown, heads)) + " |",
        "|" + "---|" * len(table.keys) + "---:|" * len(table.columns),
    ]
    wrap = {1: "**{}**", 2: "*{}*"}
    for row in table.rows:
        texts = [_escape_markdown(name) for name in row]
        for column in table.columns:
            text = _escape_markdown(_format(table.cells.get((row, column)), style))
            texts.append(wrap.get(marks.get((row, column), 0), "{}").format(text))
        lines.append("| " + " | ".join(texts) + " |")
    return "\n".join(lines) + "\n"


def render_latex(table: WideTable, style: NumberStyle, title: str, label: str) -> str:
    """Render a printed table in LaTeX (package booktabs): best bold, second best underlined.

    Args:
        table: The table.
        style: The format of its numbers.
        title: Its caption.
        label: Its label.
    """
    marks = _rank_columns(table, style)
    wrap = {1: r"\textbf{%s}", 2: r"\underline{%s}"}
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
    ]
    for row in table.rows:
        texts = [escape_latex(name) for name in row]
        for column in table.columns:
            text = escape_latex(_format(table.cells.get((row, column)), style))
            texts.append(wrap.get(marks.get((row, column), 0), "%s") % text)
        lines.append(" & ".join(texts) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}", r"\end{table}"]
    return "\n".join(lines) + "\n"


def escape_latex(text: str) -> str:
    """Escape any text so that LaTeX prints it and runs none of it."""
    return "".join(_TEX.get(sign, sign) for sign in " ".join(text.split()))


def _latex_heads(table: WideTable) -> list[str]:
    """Return one line, or two if columns have two labels: the first spans its columns."""
    keys = [escape_latex(_title(key)) for key in table.keys]
    if not table.columns or len(table.columns[0]) != 2:
        heads = [escape_latex(_join_names(column)) for column in table.columns]
        return [" & ".join([*keys, *heads]) + r" \\"]
    groups: list[list[str]] = []
    for first, _ in table.columns:
        if groups and groups[-1][0] == first:
            groups[-1].append(first)
        else:
            groups.append([first])
    spans = [
        rf"\multicolumn{{{len(group)}}}{{c}}{{{escape_latex(_rename(group[0]))}}}"
        for group in groups
    ]
    seconds = [escape_latex(_rename(second)) for _, second in table.columns]
    return [
        " & ".join([*[""] * len(keys), *spans]) + r" \\",
        " & ".join([*keys, *seconds]) + r" \\",
    ]


def _rank_columns(
    table: WideTable, style: NumberStyle
) -> dict[tuple[tuple[str, ...], tuple[str, ...]], int]:
    """Return 1 for the best numbers of a column, 2 for the second best, as printed."""
    if style.best == "none" or len(table.rows) < 2:
        return {}
    ranks = {}
    for column in table.columns:
        values = {
            row: round(number.estimate * (100 if style.percent else 1), style.digits)
            for row in table.rows
            if (number := table.cells.get((row, column))) is not None
        }
        highest = sorted(set(values.values()), reverse=style.best == "highest")
        for row, value in values.items():
            if value in highest[:2] and len(highest) > 1:
                ranks[row, column] = highest.index(value) + 1
    return ranks


def _format(number: PageNumber | None, style: NumberStyle) -> str:
    if number is None:
        return NO_VALUE
    text = _decimals(number.estimate, style)
    if style.intervals and number.low is not None and number.high is not None:
        return f"{text} [{_decimals(number.low, style)}, {_decimals(number.high, style)}]"
    return text


def _decimals(value: float, style: NumberStyle) -> str:
    return format_decimals(value * (100 if style.percent else 1), style.digits)


def _scale(value: float | None, style: NumberStyle) -> float | None:
    return None if value is None else round(value * (100 if style.percent else 1), 6)


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
