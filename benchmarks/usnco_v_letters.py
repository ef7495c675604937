"""Count how often two readings of USNCO-V's option letter differ, and which is right.

    python benchmarks/usnco_v_letters.py --data FOLDER

`FOLDER/emma` holds published responses of EMMA-mini with their published verdicts
(`dev/*.parquet`) and a manual audit (`audit_dev.jsonl`). Counted are responses to multiple choice,
apart for problems that have no options but A to D, as those of USNCO-V: with how many the letters
of `usnco-v` and `usnco-v-last-letter` differ, and how many verdicts of each agree with the
published one, after a manual audit. `--show` prints the end of each response on which they differ.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from omibench.answers.scorers.registry import score_item
from omibench.schemas.problem import Choice
from omibench.schemas.verdict import ScoredItem

DECLARED, LAST = "usnco-v", "usnco-v-last-letter"
LABELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
TAIL_CHARS = 200


class Reply(NamedTuple):
    """A published response to a multiple-choice problem, and whether it is right."""

    file: str
    item: ScoredItem
    is_right: bool


def read_replies(folder: Path) -> Iterator[Reply]:
    """The responses of all files; those whose verdict the audit leaves open are left out."""
    import polars as pl

    lines = (folder / "audit_dev.jsonl").read_text("utf-8").splitlines()
    audit = {(row["file"], row["pid"]): row["hand_verdict"] for row in map(json.loads, lines)}
    for path in sorted((folder / "dev").glob("*.parquet")):
        for row in pl.read_parquet(path).iter_rows(named=True):
            right = audit.get((path.stem, row["pid"]), row["published_true_false"])
            if right is None or row["type"].casefold() != "multiple choice":
                continue
            choices = [
                Choice(label=a, text=t) for a, t in zip(LABELS, row["options"], strict=False)
            ]
            item = ScoredItem(
                id=row["pid"], prediction=row["response"] or "", gold=[row["answer"].upper()],
                answer_type="mcq", choices=choices,
            )  # fmt: skip
            yield Reply(path.stem, item, right)


def count_replies(replies: list[Reply], show: bool) -> Counter[str]:
    """How many letters differ, and how many verdicts of each reading are right."""
    counts: Counter[str] = Counter(responses=len(replies))
    for reply in replies:
        declared, last = (score_item(reply.item, rules) for rules in (DECLARED, LAST))
        counts["letters differ"] += declared.extracted != last.extracted
        counts["verdicts differ"] += declared.verdict != last.verdict
        counts[f"{DECLARED} right"] += (declared.verdict == 1) == reply.is_right
        counts[f"{LAST} right"] += (last.verdict == 1) == reply.is_right
        counts[f"only {DECLARED} right"] += (
            declared.verdict != last.verdict and (declared.verdict == 1) == reply.is_right
        )
        if show and declared.extracted != last.extracted:
            letters = f"{declared.extracted} by {declared.method}, last {last.extracted}"
            tail = reply.item.prediction[-TAIL_CHARS:]
            print(f"{reply.file} {reply.item.id}: {letters}: {tail!r}")
    return counts


def format_table(columns: dict[str, Counter[str]]) -> str:
    """The counts as a Markdown table, a column a group of responses."""
    names = list(next(iter(columns.values())))
    head = [f"| | {' | '.join(columns)} |", f"|---|{'---|' * len(columns)}"]
    cells = {name: " | ".join(f"{c[name]:,}" for c in columns.values()) for name in names}
    rows = [f"| {name} | {numbers} |" for name, numbers in cells.items()]
    return "\n".join([*head, *rows])


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder that holds emma/")
    parser.add_argument("--show", action="store_true", help="print where the letters differ")
    options = parser.parse_args()
    folder: Path = options.data / "emma"
    if not folder.is_dir():
        parser.error(f"--data: {folder} is no folder; give the one that holds emma/")
    replies = list(read_replies(folder))
    four = [reply for reply in replies if len(reply.item.choices or []) <= 4]
    columns = {
        "options A to D": count_replies(four, options.show),
        "all multiple choice": count_replies(replies, show=False),
    }
    print(format_table(columns))


if __name__ == "__main__":
    main()
