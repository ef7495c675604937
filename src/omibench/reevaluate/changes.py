"""Changes on the board: ranks and scores before and after, as a readable changelog."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from omibench.cost.dollars import usd_text
from omibench.errors import FileFormatError
from omibench.files.intake import read_json, read_text
from omibench.reevaluate.budget import Priced
from omibench.schemas.tables import write_text

HEAD = "# What changed on the board\n\nNewest first. Ranks are by accuracy under one setting.\n"


class Standing(NamedTuple):
    """A model under a setting: rank among the models of that setting, and accuracy with interval.

    Equal accuracies share a rank, and the following ranks are skipped (1, 2, 2, 4). Shares are in
    [0, 1].
    """

    rank: int
    acc: float
    lo: float
    hi: float
    simulated: bool


Standings = Mapping[tuple[str, str], Standing]
"""(setting, model) -> standing."""


class Move(NamedTuple):
    """A changed standing; `before` is None for a new model."""

    setting: str
    model: str
    before: Standing | None
    after: Standing


def read_standings(metrics: Path) -> Standings:
    """Return the standings in a `metrics.json` of analyze; empty if the file does not exist.

    Raises:
        FileFormatError: The file has another format.
    """
    try:
        cells = read_json(metrics) if metrics.exists() else {}
        scores = [
            (setting, model, entry)
            for model, settings in cells.items()
            for setting, entry in settings.items()
            if "acc" in entry
        ]
        return {
            (setting, model): _standing(entry, setting, scores) for setting, model, entry in scores
        }
    except (FileFormatError, ValueError, AttributeError, TypeError, KeyError) as error:
        reason = str(error).removeprefix(f"{metrics}: ")
        raise FileFormatError(f"{metrics}: not the metrics of a study: {reason}") from None


def find_moves(before: Standings, after: Standings) -> list[Move]:
    """Return every standing that is new or has another rank or accuracy, by setting and rank."""
    changed = [
        Move(setting, model, before.get((setting, model)), now)
        for (setting, model), now in after.items()
        if _place(before.get((setting, model))) != _place(now)
    ]
    return sorted(changed, key=lambda move: (move.setting, move.after.rank, move.model))


def format_entry(
    day: str,
    added: Sequence[Priced],
    spent_usd: float,
    moved: Sequence[Move],
    remarks: Sequence[str] = (),
) -> str:
    """Return a changelog entry: the evaluation of `day`, its cost, and the changes.

    `remarks` are lines about problems.
    """
    names = ", ".join(f"`{p.candidate.name}`" for p in added)
    lines = [f"## {day}: {names}", ""]
    lines += [
        f"- `{p.candidate.name}` is `{p.candidate.id}`, found by the watch "
        f"`{p.candidate.watch}`; {p.to_buy:,} requests were to buy"
        for p in added
    ]
    lines += [f"- Spent: {usd_text(spent_usd)}", *(f"- {remark}" for remark in remarks)]
    if any(move.after.simulated for move in moved):
        lines += ["- Some models are SIMULATED: their scores are invented"]
    if not moved:
        return "\n".join([*lines, "", "Nothing moved.", ""])
    lines += ["", "| setting | model | rank | accuracy | change |", "|---|---|---|---|---|"]
    return "\n".join([*lines, *map(_row, moved), ""])


def add_entry(changelog: Path, text: str) -> None:
    """Add an entry at the top of a changelog; create the file if missing."""
    old = read_text(changelog) if changelog.is_file() else HEAD
    head, _, entries = old.partition("\n## ")
    earlier = f"\n## {entries}" if entries else ""
    write_text(changelog, f"{head.rstrip()}\n\n{text.rstrip()}\n{earlier}")


def _standing(
    entry: Mapping[str, Any], setting: str, scores: Sequence[tuple[str, str, Mapping[str, Any]]]
) -> Standing:
    better = sum(scored["acc"] > entry["acc"] for s, _, scored in scores if s == setting)
    acc, lo, hi = (float(entry[key]) for key in ("acc", "lo", "hi"))
    return Standing(better + 1, acc, lo, hi, bool(entry.get("simulated")))


def _place(standing: Standing | None) -> tuple[int, float] | None:
    return (standing.rank, standing.acc) if standing else None


def _row(move: Move) -> str:
    before, after = move.before, move.after
    rank = f"{before.rank} → {after.rank}" if before else f"new → {after.rank}"
    change = f"{100 * (after.acc - before.acc):+.1f} points" if before else "new"
    score = f"{100 * after.acc:.1f} % [{100 * after.lo:.1f}, {100 * after.hi:.1f}]"
    mark = " SIMULATED" if after.simulated else ""
    return f"| {move.setting} | `{move.model}`{mark} | {rank} | {score} | {change} |"
