"""Plain text tables and numbers for quick reading."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import Final

from omibench.models.cost import EXPECTED_SHARE, FIRST_TOKEN_S, TOKENS_PER_S, usd_text
from omibench.results.statistics.paired import ALPHA, POWER
from omibench.stages.infer.stage import retry_command
from omibench.study.plan.plan import (
    Plan,
    PlanRow,
    Power,
    ReadingCounts,
    Spent,
    sum_dollars,
    sum_hours,
)
from omibench.text.lists import list_first
from omibench.text.terminal import align_numbers, count_noun, measure_width

NARROW: Final = 80
WIDE: Final = 110
"""Characters of a line, by default and of the whole plan."""


def table(
    head: Sequence[str], rows: Sequence[Sequence[str]], total: Sequence[str], names: int = 2
) -> list[str]:
    """Return the lines of a table with totals last; the first `names` columns are left-aligned.

    A row of one text is a line of its own across the columns.
    """
    lines = align_numbers([head, *rows, total], names)
    rule = "-" * max(map(len, lines))
    return [rule, lines[0], rule, *lines[1:-1], rule, lines[-1], rule]


def fit_table(
    head: Sequence[str], rows: Sequence[Sequence[str]], total: Sequence[str], width: int = NARROW
) -> list[str]:
    """Return `table` of rows that begin with model and setting, within `width` if numbers allow.

    Where names are too long to be columns, a model is a line above its settings, and so is a
    setting above its numbers.
    """
    lines = table(head, rows, total)
    if max(map(len, lines)) <= width:
        return lines
    columns = zip(*(row[2:] for row in (head, *rows, total)), strict=True)
    numbers = [max(map(len, column)) for column in columns]
    room = width - sum(numbers) - 2 * len(numbers)
    stacked: list[Sequence[str]] = []
    above = ""
    for model, setting, *values in rows:
        if model != above:
            stacked.append([model])
        above, name = model, f"  {setting}"
        if len(name) > room:
            stacked.append([name])
            name = ""
        stacked.append([name, *values])
    return table(head[1:], stacked, [total[0], *total[2:]], names=1)


def count(tokens: float) -> str:
    """Tokens: 950, 12.3k, 4.56M."""
    if tokens < 1000:
        return f"{tokens:.0f}"
    if tokens < 1_000_000:
        return f"{tokens / 1000:.1f}k"
    return f"{tokens / 1_000_000:,.2f}M"


def duration(hours: float | None) -> str:
    """Format hours as 40 s, 12 min or 3.4 h; unknown for None."""
    if hours is None:
        return "unknown"
    if hours * 3600 < 90:
        return f"{hours * 3600:.0f} s"
    return f"{hours * 60:.0f} min" if hours < 1.5 else f"{hours:.1f} h"


# Notes about the readers of pages and formulas whose requests no row of a plan counts.

_MOST_NAMED: Final = 5


def list_reading_notes(counts: ReadingCounts) -> Iterator[str]:
    """Yield a line for each kind of request that is not counted in dollars.

    Args:
        counts: Counts of a plan.
    """
    if counts.unopened:
        papers = [f"{name} ({fault})" for name, fault in counts.unopened.items()]
        yield f"Not counted: pages of {list_first(papers, _MOST_NAMED)}."
    if counts.scanned_pages:
        lines = (
            "unknown before `omibench ocr`"
            if counts.scanned_lines is None
            else f"at most {counts.scanned_lines:,} as last read"
        )
        yield (
            f"Not counted: doubtful lines of {count_noun(counts.scanned_pages, 'scanned page')}, "
            f"which a local engine reads before the formula reader: {lines}."
        )
    if counts.mathpix_pages or counts.mathpix_formulas:
        yield (
            f"Mathpix is sent {count_noun(counts.mathpix_pages, 'page')} and "
            f"{count_noun(counts.mathpix_formulas, 'formula')}, at the price of your account; "
            "they are not in the dollars."
        )


# A plan as plain text: a table, its totals, and notes to read before spending.

CHOOSE = ("marker", "referee")
"""Judges that choose among samples, listed separately from judges of responses."""
HEAD = (
    "model", "setting", "requests", "stored", "to buy", "images", "text", "image", "output",
    "expected", "at most", "time",
)  # fmt: skip
_NARROW_COLUMNS: Final = (0, 1, 2, 3, 4, 9, 10, 11)


def render(plan: Plan, *, wide: bool = True) -> str:
    """Render the plan as lines of text.

    Args:
        plan: Plan.
        wide: Whether the table has all columns, instead of those that fit 80 characters.
    """
    grouped: dict[tuple[int, str, str], list[PlanRow]] = {}
    for row in plan.rows:
        grouped.setdefault(_name_row(row), []).append(row)
    names = sorted(grouped, key=lambda name: name[0])
    rows = [(*name[1:], *_numbers(grouped[name])) for name in names]
    total: tuple[str, ...] = ("all", "", *_numbers(plan.rows))
    units = "tokens of text, images and output" if wide else "requests (--wide: tokens)"
    title = f"Plan of the study {plan.study!r}: {units}; US dollars"
    if plan.partial:
        title = f"[PARTIAL RUN, {plan.partial}] {title}"
    width = max(WIDE if wide else 0, measure_width())
    if wide:
        lines = table(HEAD, rows, total)
    else:
        head, total, *rows = (
            tuple(row[column] for column in _NARROW_COLUMNS) for row in (HEAD, total, *rows)
        )
        lines = fit_table(head, rows, total, width)

    def wrap(text: str) -> str:
        return fill(text, width, subsequent_indent="  ")

    notes = [*_money(plan), *_looks(plan), *_time(plan), *_power(plan.power), *_notes(plan)]
    above = [title, plan.over] if plan.over else [title]
    return "\n".join([*map(wrap, above), *lines, *map(wrap, notes), *_retry(plan)])


def _name_row(row: PlanRow) -> tuple[int, str, str]:
    """Return the group of a row in the table, and its first two columns there."""
    if row.stage:
        return 0, f"{row.stage}: {row.model}", row.role.replace("_", " ")
    if row.role == "respondent":
        return 1, row.model, row.setting
    if not row.cell_model:
        return 2, f"{row.role}: {row.model}", "all"
    if row.role == "scorer":
        return 3, f"options: {row.model}", row.setting
    title = row.instrument if row.instrument in CHOOSE else "judge"
    return 4, f"{title}: {row.model}", "all, at most"


def _numbers(rows: Sequence[PlanRow]) -> tuple[str, ...]:
    counts = (sum(getattr(r, c) for r in rows) for c in ("requests", "stored", "to_buy", "shown"))
    tokens = (sum(getattr(r.estimate, t) for r in rows) for t in ("text", "images", "output"))
    hours = sum_hours(rows)
    slowest = None if None in hours.values() else max((h or 0.0 for h in hours.values()), default=0)
    return (
        *(f"{n:,}" for n in counts),
        *(count(n) for n in tokens),
        *_dollar_cells(rows),
        "batch" if rows and all(r.batch for r in rows) else duration(slowest),
    )


def _dollar_cells(rows: Sequence[PlanRow]) -> tuple[str, str]:
    if all(row.money == "none" for row in rows):
        return "none", "none"
    usd, usd_most, unknown = sum_dollars(rows)
    if all(row.money == "unknown" for row in rows if row.money != "none") and unknown:
        return "unknown", "unknown"
    suffix = " + ?" if unknown else ""
    return usd_text(usd) + suffix, usd_text(usd_most) + suffix


def _money(plan: Plan) -> list[str]:
    usd, usd_most, unknown = sum_dollars(plan.rows)
    if any(row.money != "none" for row in plan.rows):
        lines = [f"To spend: {usd_text(usd)} expected, {usd_text(usd_most)} at most"]
        if unknown:
            models = count_noun(len(unknown), "model")
            lines[0] += f", and unknown for {models} without a price: {', '.join(unknown)}"
    else:
        lines = ["To spend: none; simulated, recorded and local models cost no dollars"]
    return lines + (_budget(plan.budget, usd, usd_most) if plan.budget else [])


def _looks(plan: Plan) -> list[str]:
    looks, rows = plan.looks, plan.list_rows("respondent")
    if looks is None:
        return []
    shares = {row.model: 1.0 if row.model in looks.keep else looks.share for row in rows}
    requests = sum(shares[row.model] * row.requests for row in rows)
    usd = sum(shares[row.model] * (row.estimate.usd or 0.0) for row in rows)
    whole = sum(row.estimate.usd or 0.0 for row in rows)
    money = f", {usd_text(usd)} instead of {usd_text(whole)}" if whole else ""
    return [
        f"infer.adaptive: about {requests:,.0f} of the {sum(row.requests for row in rows):,} "
        f"requests of the cells{money}: {looks.share:.0%} of those that can stop ({looks.low:.0%} "
        f"to {looks.high:.0%} in 80 % of {looks.draws} simulations of models whose accuracies vary "
        "as in OMIBench's table 2; all if they are equal). The best models are asked most: if they "
        "cost most, fewer dollars are saved. The table counts all requests"
    ]


def _budget(budget: Spent, usd: float, usd_most: float) -> list[str]:
    spending = f"{usd_text(budget.spent_usd)} spent"
    if budget.unknown_usd:
        spending += f", {usd_text(budget.unknown_usd)} possibly billed"
    if budget.reserved_usd:
        spending += f", {usd_text(budget.reserved_usd)} reserved"
    left_usd = budget.left_usd
    if usd_most <= left_usd:
        verdict = "it covers the worst case"
    elif usd <= left_usd:
        verdict = "it covers the expected cost, but not the worst case"
    else:
        short = usd_text(usd - left_usd)
        verdict = f"requests will stop early: {short} more are expected"
    return [f"Budget: {usd_text(budget.cap_usd)}, {spending}, {usd_text(left_usd)} left; {verdict}"]


def _time(plan: Plan) -> list[str]:
    hours = sum_hours(plan.rows)
    known_hours = [h for h in hours.values() if h]
    unknown = ", ".join(model for model, h in hours.items() if h is None)
    parts = []
    if known_hours:
        parts.append(f"{duration(max(known_hours))} with all models at once")
        parts.append(f"{duration(sum(known_hours))} one after another")
    parts += [f"unknown for {unknown}"] if unknown else []
    parts += ["batches within a day"] if any(r.batch and r.to_buy for r in plan.rows) else []
    return [f"Time at the given limits: {', '.join(parts)}"] if parts else []


_CORRELATIONS: Final = {
    "assumed": "assumed; see analyze.stem_correlation",
    "set": "as set",
    "estimated": "estimated from the verdicts of an earlier run",
}


def _power(power: Power | None) -> list[str]:
    if power is None:
        return []
    size = f"{power.problems:,} problems"
    if power.effective < power.problems - 0.5:
        size += (
            f" (worth {power.effective:,.0f} independent ones, since some share a stem, with a "
            f"correlation of {power.correlation:.2g}, {_CORRELATIONS[power.correlation_from]})"
        )
    test = f"paired, two-sided alpha {ALPHA:g}, power {POWER:.0%}"
    lines = [
        f"Smallest accuracy difference detectable with {size} ({test}), by the share of problems "
        f"on which two models differ: {_format_differences(power.difference)} for one comparison"
    ]
    if power.comparisons > 1:
        family = _format_differences(power.family_difference)
        settings = " or ".join(power.family_settings)
        compared = f"models under {settings}" if settings else "cells"
        lines[0] += (
            f"; {family} among all {power.comparisons:,} pairs of {compared}, which the report "
            "compares (Holm)"
        )
    return lines


def _format_differences(differences: Mapping[float, float | None]) -> str:
    return ", ".join(
        f"{share:.0%}: {f'{100 * d:.1f} points' if d is not None else 'none'}"
        for share, d in differences.items()
    )


def _notes(plan: Plan) -> list[str]:
    buying = [row for row in plan.rows if row.to_buy]
    notes = []
    if not plan.rows and plan.frozen:
        notes.append("No requests: set models and settings under `infer:`.")
    if any(not row.learned_from for row in buying):
        notes.append(
            f"Without stored responses, an answer counts as {EXPECTED_SHARE:.0%} of max_tokens "
            f"and {FIRST_TOKEN_S:g} s + {TOKENS_PER_S:g} tokens/s; docs/reference/budget.md "
            "describes how text tokens are counted."
        )
    shared = sum(row.requests - row.stored - row.to_buy for row in plan.rows)
    if shared:
        notes.append(f"{shared:,} requests are equal to others of the plan and are sent only once.")
    guessed = sum(row.estimated for row in plan.rows)
    if guessed:
        notes.append(
            f"{guessed:,} requests follow missing answers, so they are estimates: answers have "
            "the expected length, tool loops a quarter of their turns, and judges the most "
            "possible requests."
        )
    if refused := [row for row in plan.rows if row.too_many]:
        cells = ", ".join(f"{row.model} x {row.setting or row.role}" for row in refused)
        notes.append(
            f"{sum(row.too_many for row in refused):,} requests show more images than their model "
            f"accepts (`can.images`) and will be refused, although they are counted here: {cells}."
        )
    notes += _image_notes([row for row in buying if not row.images_known and row.shown])
    unmeasured = sum(row.estimate.unmeasured for row in buying if row.role != "judge")
    if unmeasured:
        notes.append(f"{unmeasured:,} images could not be measured and count as 4096 x 4096.")
    if plan.building:
        stage_models = "; ".join(
            f"{stage}: {', '.join(models)}" for stage, models in plan.building.items()
        )
        notes.append(
            f"Not counted: requests of the building stages ({stage_models}) whose input does not "
            "exist yet."
        )
    if plan.reading:
        notes += list_reading_notes(plan.reading)
    if not plan.frozen:
        notes.append(
            "The dataset is not frozen yet: cells are planned once problems are read "
            "(`omibench run -- freeze_all`), or with --synthetic if `benchmark.like` is set."
        )
    if any(row.simulated for row in plan.rows):
        notes.append("SIMULATED models cost nothing.")
    return notes


def _image_notes(unknown: Sequence[PlanRow]) -> list[str]:
    """Describe how images of unknown models are counted; asks for `image_tokens` if needed."""
    notes = []
    if undeclared := _names(row for row in unknown if not row.image_tokens):
        notes.append(
            f"Images of {undeclared} are counted at the largest published numbers; set "
            "`image_tokens`."
        )
    for name in dict.fromkeys(row.image_tokens for row in unknown if row.image_tokens):
        served = _names(row for row in unknown if row.image_tokens == name)
        notes.append(
            f"Images of {served} are counted at the largest numbers of the formula {name}, "
            "because the served id is not in our table."
        )
    return notes


def _retry(plan: Plan) -> list[str]:
    if not plan.incomplete:
        return []
    lacking, cells = sum(plan.incomplete.values()), list(map(Path, plan.incomplete))
    line = f"{lacking:,} requests of {len(cells)} written cells have no answer. To retry them:"
    return [line, f"  {retry_command(cells)}"]


def _names(rows: Iterable[PlanRow]) -> str:
    return ", ".join(dict.fromkeys(row.model for row in rows))
