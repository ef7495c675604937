"""What moved on the board: ranks and scores before and after, as a changelog that people read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from omibench.cost.dollars import usd_text
from omibench.errors import FileFormatError
from omibench.files.intake import read_json, read_text
from omibench.reevaluate.budget import Priced
from omibench.schemas.tables import write_text

HEAD = "# What moved on the board\n\nNewest first. Ranks are by accuracy under one setting.\n"


class Standing(NamedTuple):
    """A model under a setting: rank among the models of that setting, and accuracy with interval.

    Equal accuracies share a rank and the next one is left out (1, 2, 2, 4). Shares are in [0, 1].
    """

    rank: int
    acc: float
    lo: float
    hi: float
    simulated: bool


Standings = Mapping[tuple[str, str], Standing]
"""(setting, model) -> standing."""


class Move(NamedTuple):
    """A standing that changed; `before` is None for a model that was not there."""

    setting: str
    model: str
    before: Standing | None
    after: Standing


def read_standings(metrics: Path) -> Standings:
    """The standings in a `metrics.json` of analyze; none when the file does not exist.

    Raises FileFormatError when it holds something else.
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
        raise FileFormatError(f"{metrics}: holds no metrics of a study: {reason}") from None


def find_moves(before: Standings, after: Standings) -> list[Move]:
    """Every standing that is new or changed its rank or accuracy, by setting and rank."""
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
    """One entry of the changelog: what was evaluated at `day`, what it cost, and what moved.

    `remarks` are lines about what is not as it should be.
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
        lines += ["- SIMULATED models are among them: their scores are made up"]
    if not moved:
        return "\n".join([*lines, "", "Nothing moved.", ""])
    lines += ["", "| setting | model | rank | accuracy | change |", "|---|---|---|---|---|"]
    return "\n".join([*lines, *map(_row, moved), ""])


def add_entry(changelog: Path, text: str) -> None:
    """Put an entry on top of a changelog, which is made if it is not there."""
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
