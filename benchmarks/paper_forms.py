"""Check exported tables and figures of a paper against its printed form.

Rows and columns are those of the printed CSV in `published/`, in its order; every figure has a
picture; no two items have the same content.
"""

from __future__ import annotations

import csv
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from typing import Any

from omibench.papers.catalogue import PaperItem
from omibench.papers.export.overview import ExportedItem
from omibench.papers.tables import match_models

WORDS: Mapping[str, Mapping[str, str]] = {
    "omibench": {
        "biology": "Biology", "chemistry": "Chemistry", "mathematics": "Mathematics",
        "physics": "Physics", "total": "Total", "acc": "ACC", "gptscore": "Score",
        "mean": "Mean", "std": "Std", "spearman": "Spearman Cor.", "accuracy": "Accuracy",
    },
    "emma": {
        "mini": "EMMA-mini", "emma": "EMMA", "math": "Math", "physics": "Phys.",
        "chemistry": "Chem.", "coding": "Coding", "overall": "Overall", "multi": "MH", "hop": "",
        "2d": "2D", "3d": "3D", "path": "Path", "pattern": "Pat", "decomposition": "VD",
        "graph": "GR", "structure": "SR", "reaction": "RS", "pro": "RS-pro", "counting": "KS",
        "n1": "N=1", "n2": "N=2", "n4": "N=4", "n8": "N=8", "n16": "N=16",
    },
    "usnco-v": {
        "local": "Local Set", "national": "National Set", "acc": "Acc (95% CI)",
        "ci": "Acc (95% CI)", "low": "low", "high": "high", "pass5": "Pass@5", "cons5": "Cons@5",
        "average": "Average",
    },
    "mathreal": {
        "strict": "Acc_str", "loose": "Acc", "avg": "Avg", "ocr": "AccOCR", "acc": "",
        "real": "Real", "clean": "Clean", "delta": "Δ",
        **{name: name for name in ("PG", "SG", "LR", "FG", "SC")},
        **{name: name for name in ("I", "IUER", "I+QM", "I+QG", "I+QM+DM", "I+QG+DG")},
    },
}  # fmt: skip
"""Paper -> a word of the printed files' heads -> as the paper prints it."""
HEADS = {
    "choose_vis": "CCV", "choose_code": "VCC", "modify_without": "MwoI", "modify_with": "MwI",
    "reaction_pro": "RS-pro", "multi_hop": "MH",
}  # fmt: skip
"""Parts of EMMA's heads that are no single words."""
OVERALL = {"table8": "math", "table9": "physics", "table10": "chemistry", "table11": "coding"}
"""EMMA's tables of one subject, whose head is `Overall`."""
UNPRINTED = ("Difference", "p-value")
"""Columns that are in the paper and not in its file."""
NAMED = {"awaits", "impossible", "no_numbers"}


def check_items(
    paper: str, items: Mapping[str, PaperItem], entries: Sequence[ExportedItem], out: Path
) -> Iterator[str]:
    """Yield a sentence for each item that is neither made nor named, or differs from print."""
    contents: dict[str, str] = {}
    for entry in entries:
        item = items[entry.key]
        if entry.kind != "simulated":
            if not any(getattr(item, name) for name in NAMED):
                yield f"{entry.key}: {entry.kind}: {entry.reason}"
            continue
        if entry.key.startswith("figure") and not _has_picture(entry):
            yield f"{entry.key}: has no picture"
        for name in entry.files:
            if not (name.endswith(".svg") or (item.table and name == f"{entry.key}.csv")):
                continue
            digest = sha256((out / name).read_bytes()).hexdigest()
            if digest in contents:
                yield f"{entry.key}: {name} is equal to {contents[digest]}"
            contents[digest] = name
        if f"{entry.key}.tex" in entry.files:
            yield from _check_latex(entry.key, (out / f"{entry.key}.tex").read_text("utf-8"))
            yield from _typeset(entry.key, out / f"{entry.key}.tex")
        if item.printed and item.measures is None:
            yield from _check_form(paper, entry.key, item, out)


def _has_picture(entry: ExportedItem) -> bool:
    return any(name.endswith((".svg", ".png")) for name in entry.files)


_COMMANDS = {
    "usepackage", "begin", "end", "centering", "caption", "label", "toprule", "midrule", "cmidrule",
    "bottomrule", "multicolumn", "textit", "textbf", "underline", "textbackslash",
    "textasciitilde", "textasciicircum", "textless", "textgreater", "textbar", "times", "uparrow",
    "downarrow", "Delta", "geq", "rho", "small", "footnotesize", "scriptsize", "setlength",
    "tabcolsep",
}  # fmt: skip
"""What LaTeX and booktabs know of the commands that a table may use."""


def _check_latex(key: str, text: str) -> Iterator[str]:
    """Yield what LaTeX with booktabs would refuse: commands, open braces, rows of another width."""
    plain = re.sub(r"\\[\\{}$&#_%]", "", text.replace("\\\\\n", "\n"))
    if others := set(re.findall(r"\\([A-Za-z]+)", plain)) - _COMMANDS:
        yield f"{key}.tex: has the commands {sorted(others)}"
    if plain.count("{") != plain.count("}"):
        yield f"{key}.tex: its braces are not closed"
    columns = len(re.search(r"begin\{tabular\}\{([lr]+)\}", plain)[1])  # type: ignore[index]
    for line in plain.splitlines():
        if "&" in line or line.startswith(r"\multicolumn"):
            spans = [int(n) - 1 for n in re.findall(r"multicolumn\{(\d+)\}", line)]
            if line.count("&") + 1 + sum(spans) != columns:
                yield f"{key}.tex: a row has not {columns} cells: {line[:60]}"


def _typeset(key: str, file: Path) -> Iterator[str]:
    """Yield what pdfLaTeX says of a table on a page of two columns, where one is installed.

    The numbers of a figure, whose form is its picture, may be wider than the page.
    """
    if which("pdflatex") is None:
        return
    text = file.read_text("utf-8")
    head = r"\documentclass[twocolumn]{article}\usepackage{booktabs}\begin{document}"
    with TemporaryDirectory() as folder:
        (Path(folder) / "page.tex").write_text(rf"{head}{text}\end{{document}}", "utf-8")
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"]
        run = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False, timeout=60
        )
    wide = re.search(r"Overfull \\hbox \(([\d.]+)pt too wide\)", run.stdout)
    if run.returncode:
        yield f"{key}.tex: {next((x for x in run.stdout.splitlines() if x[:1] == '!'), 'fails')}"
    elif wide and key.startswith("table"):
        yield f"{key}.tex: is {wide[1]} pt wider than the page"


def _check_form(paper: str, key: str, item: PaperItem, out: Path) -> Iterator[str]:
    made, printed = _read(out / f"{key}.csv"), _read(out / f"{key}_printed.csv")
    numbers = [c for c in printed[0] if any(_is_number(row[c]) for row in printed)]
    expected = [_name(paper, key, column) for column in numbers]
    left = [c for c in made[0] if not c.endswith(" change") and c not in UNPRINTED]
    found = [c for c in left if c in expected or any(_is_number(row[c]) for row in made)]
    first = expected[0].partition(" ")[0] + " "
    if len(expected) > 1 and all(
        head.startswith(first) for head in expected
    ):  # a head over all columns
        expected = [head.removeprefix(first) for head in expected]
        found = [c for c in left if c in expected]
    if found != expected:
        yield f"{key}: has the columns {found}, printed are {expected}"
    values = [float(row[c]) for row in made for c in expected if _is_number(row.get(c, ""))]
    if item.table and item.table.percent and max(values, default=0) <= 1:
        yield f"{key}: is not in per cent"
    if "model" in printed[0] and "model" in made[0]:
        yield from _check_rows(key, item, made, printed)
    if "group" in printed[0] and "group" not in made[0]:
        yield f"{key}: has no groups"


def _name_models(printed: Sequence[Any]) -> Iterator[str]:
    """The models of printed rows; `+ DATA` is the model above it, tuned."""
    base = ""
    for row in printed:
        if row["model"].startswith("+"):
            yield f"{base} {row['model']}"
        else:
            base = row["model"]
            yield base


def _check_rows(
    key: str, item: PaperItem, made: Sequence[Any], printed: Sequence[Any]
) -> Iterator[str]:
    ours = list(dict.fromkeys(row["model"] for row in made))
    theirs = list(dict.fromkeys(_name_models(printed)))
    matched = match_models(theirs, {name: name for name in ours})
    lacking = [name for name in theirs if matched[name] is None]
    if lacking:
        yield f"{key}: lacks the rows {lacking}"
    others = set(ours) - set(matched.values())
    if others:
        yield f"{key}: has rows that are not printed: {sorted(others)}"
    order = [matched[name] for name in theirs]
    if not (lacking or others or (item.table and item.table.sort)) and order != ours:
        yield f"{key}: has the order {ours}, printed is {order}"


def _name(paper: str, key: str, column: str) -> str:
    text = column.replace("emma_mini", "mini")
    subject = OVERALL.get(key, "") if paper == "emma" else ""
    if subject and text.rpartition("_")[2] == subject:
        text = text.removesuffix(subject) + "overall"
    start, _, rest = text.partition("_")
    if paper == "emma" and rest in HEADS:
        return f"{WORDS[paper][start]} {HEADS[rest]}"
    return " ".join(filter(None, (WORDS[paper].get(word, word) for word in text.split("_"))))


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _is_number(text: str | None) -> bool:
    try:
        float(text or "")
    except ValueError:
        return False
    return True
