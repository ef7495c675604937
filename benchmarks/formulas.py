"""Measure how many formulas of text layers are read exactly, and how many errors are flagged.

    python benchmarks/formulas.py                       # rates by tool and font, and by kind
    python benchmarks/formulas.py --list pdftex-cm      # errors in the shown papers
    python benchmarks/formulas.py --folder FOLDER       # other papers

The papers are those of `tests/glyphtex/typeset`; `--folder` takes those that
`python -m tests.glyphtex.typeset.make --seed N --out FOLDER` makes. For held-out papers
(in a folder named `held`) only rates are printed.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.formula_matching import find_exact, split_pieces

from glyphtex.latex import normalise
from glyphtex.marks import Box
from omibench.stages.ocr.layout.layout import Line

FOLDER: Final = Path(__file__).resolve().parents[1] / "tests/glyphtex/typeset"

_PLACE: Final = re.compile(r"box \((-?\d+), (-?\d+), (-?\d+), (-?\d+)\)")


@dataclass(frozen=True)
class Outcome:
    """Outcome of one formula."""

    id: str
    tool: str
    fonts: str
    kind: str
    is_held: bool
    is_exact: bool
    is_flagged: bool
    latex: str
    reading: str
    """Formulas that were read at its place."""
    doubts: tuple[str, ...] = ()


def main() -> None:
    """Read the papers and print the rates."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("paper", nargs="?", default="", help="part of the paper names")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="folder with papers, any depth")
    parser.add_argument("--list", action="store_true", help="print the errors in shown papers")
    parser.add_argument(
        "--doubts", action="store_true", help="count the wrong and exact formulas of each doubt"
    )
    parser.add_argument("--kind", default="", help="list errors of this kind only")
    options = parser.parse_args()
    outcomes: list[Outcome] = []
    lost: dict[str, list[str]] = {}
    papers = sorted(options.folder.rglob("*.pdf"))
    if not papers:
        parser.error(f"--folder {options.folder}: no PDF is in it; make papers first")
    for pdf in papers:
        if options.paper in pdf.stem:
            paper_outcomes, words = read_paper(pdf)
            outcomes += paper_outcomes
            if pdf.parent.name == "shown":
                lost[str(pdf.relative_to(options.folder))] = words
    if options.list:
        print_failures(outcomes, options.kind)
        print_lost_words(lost)
    if options.doubts:
        print_doubts(outcomes)
    print_rates("tool and fonts", outcomes, lambda outcome: f"{outcome.tool} {outcome.fonts}")
    print_rates("kind", outcomes, lambda outcome: outcome.kind)
    print_rates("all", outcomes, lambda _: "all")
    print(f"words of prose that are lost or between dollar signs: {sum(map(len, lost.values()))}")


def read_paper(pdf: Path) -> tuple[list[Outcome], list[str]]:
    """Read a paper.

    Args:
        pdf: PDF with its ground truth in a `.json` file of the same name.

    Returns:
        Outcome of each formula, and the words of prose that the reading lacks.
    """
    import pymupdf

    from omibench.stages.ocr.structure.document import read_document

    truth: dict[str, Any] = json.loads(pdf.with_suffix(".json").read_text("utf-8"))
    with pymupdf.open(pdf) as document:
        pages = read_document(document).pages
    text = "\n".join(page.text for page in pages)
    expected = "\n".join(truth["blocks"])
    exact, lost = find_exact(expected, text)
    lines = {page.number: page.lines for page in pages}
    outcomes = []
    for number, formula in enumerate(truth["formulas"]):
        boxes = [Box(*box) for box in formula.get("lines", [formula["box"]])]
        page = lines[formula["page"]]
        readings, doubts = find_readings(page, boxes)
        outcomes.append(
            Outcome(
                id=f"{formula['id']} {pdf.parents[1].name} p{formula['page']} {formula['box']}",
                tool=truth["tool"],
                fonts=truth["fonts"],
                kind=formula["kind"],
                is_held=pdf.parent.name == "held",
                is_exact=number in exact or is_among(formula["latex"], page, boxes[0]),
                is_flagged=bool(doubts),
                latex=formula["latex"],
                reading=" | ".join([*readings, *(f"[{doubt}]" for doubt in doubts)]),
                doubts=tuple(doubts),
            )
        )
    pieces = split_pieces(expected)
    return outcomes, ["".join(pieces[place].tokens) for place in sorted(lost)]


def find_readings(lines: Iterable[Line], boxes: Sequence[Box]) -> tuple[list[str], list[str]]:
    """Return the formulas that were read in the boxes of a formula's lines, and their doubts."""
    formulas = [
        formula
        for line in lines
        for formula in line.formulas
        if any(part.grow(-0.5, -0.5).touches(box) for part in formula.region.boxes for box in boxes)
    ]
    suspects = [
        f"suspect: {reason}"
        for line in lines
        if line.math_suspect and any(line.box.touches(box) for box in boxes)
        for reason in line.reasons or (line.text,)
        if any(_is_about(reason, box) for box in boxes)
    ]
    doubts = [doubt for formula in formulas for doubt in formula.doubts]
    return [formula.latex for formula in formulas], doubts + suspects


def _is_about(reason: str, box: Box) -> bool:
    """Return whether a reason gives a place in a box, or no place."""
    place = _PLACE.search(reason)
    return place is None or Box(*map(float, place.groups())).touches(box)


def is_among(latex: str, lines: Iterable[Line], box: Box) -> bool:
    """Return whether a line at a formula's place has it exactly, anywhere in the text."""
    texts = [line.text for line in lines if line.box.touches(box)]
    return any(find_exact(f"${latex}$", text)[0] for text in texts)


def print_failures(outcomes: Sequence[Outcome], kind: str) -> None:
    """Print the reading of each shown formula that is not exact, and false alarms."""
    for outcome in outcomes:
        wrong = not outcome.is_exact
        if outcome.is_held or not (wrong or outcome.is_flagged) or kind not in outcome.kind:
            continue
        mark = "wrong" if wrong and outcome.is_flagged else "SILENT" if wrong else "false alarm"
        print(f"{mark:12}{outcome.id} {outcome.kind}")
        print(f"    {normalise(outcome.latex)}\n    {outcome.reading}")


def print_doubts(outcomes: Sequence[Outcome]) -> None:
    """Print the number of wrong and exact formulas that each doubt flags, alone and in total."""
    counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for outcome in outcomes:
        kinds = {re.sub(r"(?<=^suspect: ).*|\bfont \S+", "...", doubt) for doubt in outcome.doubts}
        side = "held" if outcome.is_held else "shown"
        verdict = "exact" if outcome.is_exact else "wrong"
        for kind in kinds:
            counts[kind][f"{side} {verdict}"] += 1
            counts[kind][f"{side} {verdict} alone"] += len(kinds) == 1
    columns = [
        f"{side} {verdict}{alone}"
        for side in ("shown", "held")
        for verdict in ("wrong", "exact")
        for alone in ("", " alone")
    ]
    print(f"\n| doubt | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}")
    for kind, count in sorted(counts.items(), key=lambda item: -item[1]["shown wrong"]):
        print(f"| {kind} | {' | '.join(str(count[column]) for column in columns)} |")


def print_lost_words(lost: dict[str, list[str]]) -> None:
    """Print the words that a reading lacks, or has between dollar signs."""
    for name, words in lost.items():
        if words:
            print(f"{name}: {' '.join(word.replace('rm:', '') for word in words)}")


def print_rates(title: str, outcomes: Sequence[Outcome], group: Callable[[Outcome], str]) -> None:
    """Print exactness and flags of each group, shown and held-out papers separately."""
    groups: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        groups[group(outcome)].append(outcome)
    columns = "exact | flagged if wrong | if exact"
    print(f"\n| {title} | shown | {columns} | held | {columns} |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, members in sorted(groups.items()):
        cells = [
            cell
            for held in (False, True)
            for cell in count_rates([o for o in members if o.is_held == held])
        ]
        print(f"| {name} | {' | '.join(cells)} |")


def count_rates(outcomes: Sequence[Outcome]) -> list[str]:
    """Return count, share of exact ones, and shares of flagged ones among wrong and exact ones."""
    exact = [outcome for outcome in outcomes if outcome.is_exact]
    wrong = [outcome for outcome in outcomes if not outcome.is_exact]
    shares = [
        (len(exact), len(outcomes)),
        (sum(outcome.is_flagged for outcome in wrong), len(wrong)),
        (sum(outcome.is_flagged for outcome in exact), len(exact)),
    ]
    return [str(len(outcomes)), *(f"{100 * n / of:.1f} %" if of else "" for n, of in shares)]


if __name__ == "__main__":
    main()
