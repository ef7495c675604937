"""The status as plain text, for a terminal."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable, Sequence
from textwrap import fill

from omibench.models.cost.estimate import usd_text
from omibench.study.plan.text import duration
from omibench.study.status.rows import CellStatus, FailedJob, StageStatus, StudyStatus, clean
from omibench.text.terminal import printable

BAR = 30
NAMED = 3
"""Maximum stages without a measured time that are listed."""
DETAILED_FAILURES = 10
"""Failures shown with the end of their log; the rest by name."""


def render(status: StudyStatus, width: int | None = None) -> str:
    """Render the status as lines of text, at most `width` wide if words allow it."""
    width = width or min(120, shutil.get_terminal_size((100, 24)).columns)
    blocks = [
        [headline(status)],
        _totals(status),
        _stages(status.stages),
        _grid(status.cells, width),
        failures_text(status.failures),
        commands_text(status),
        [fill(f"Not read: {printable(note)}", width) for note in status.notes],
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def headline(status: StudyStatus) -> str:
    """Return the study and its progress on one line."""
    name = f"Study {status.study!r}" + (" (SIMULATED)" if status.simulated else "")
    name += f" (PARTIAL RUN: {status.partial})" if status.partial else ""
    return f"{name}: {describe_progress(status)}"


def describe_progress(status: StudyStatus) -> str:
    """Describe the progress without the study's name."""
    run = status.run
    if run is None:
        return "complete" if status.complete else "no run yet"
    jobs = f"{run.done:,} of {run.planned:,} jobs"
    took = duration(run.seconds / 3600)
    ago = duration((status.now - run.began - run.seconds) / 3600)
    if run.state == "running":
        doing = f"{jobs} done in {took}"
        return f"running, {doing}, {time_left_text(status)}"
    if run.state == "stopped":
        return f"killed {ago} ago, {jobs} done"
    if run.state == "failed":
        return f"ended {ago} ago with {format_count(run.failed, 'failed job')}, {jobs} done"
    if status.complete:
        return f"complete; the last run ended {ago} ago after {took}"
    return f"the last run ended {ago} ago after {took}"


def time_left_text(status: StudyStatus) -> str:
    """Return the remaining time of the run, as far as it is known."""
    remaining = status.left
    if remaining is None or remaining.seconds is None:
        return "time left unknown until a job has ended"
    untimed = remaining.unmeasured[:NAMED]
    if len(remaining.unmeasured) > NAMED:
        untimed.append(f"{len(remaining.unmeasured) - NAMED} more stages")
    if not untimed:
        return f"about {duration(remaining.seconds / 3600)} left"
    names = " and ".join(part for part in (", ".join(untimed[:-1]), untimed[-1]) if part)
    if remaining.seconds < 1:
        return f"time left unknown, {names} not timed yet"
    return f"about {duration(remaining.seconds / 3600)} left without {names}, not timed yet"


def format_count(count: int, noun: str) -> str:
    """Return '1 failed job', '1,322 failed jobs'."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def cell_word(cell: CellStatus) -> str:
    """Return the state of a cell as one short word, for the terminal and the page."""
    part = share(cell)
    if "failed" in cell.states:
        return "failed"
    if "stopped" in cell.states:
        return f"stopped {part}".strip()
    if cell.infer != "done":
        begun = part if cell.answered else "-"
        counts = f"{cell.answered}/{cell.requests}"
        return {"running": part or "asking", "incomplete": counts}.get(cell.infer, begun)
    words = {"waiting": "answered", "running": "scoring", "incomplete": "part judged"}
    return words.get(cell.score, "done")


def share(cell: CellStatus) -> str:
    """Return the share of answered requests in whole per cent, rounded down."""
    if not cell.requests:
        return ""
    return f"{100 * cell.answered // cell.requests} %"


def totals(status: StudyStatus) -> list[tuple[str, str]]:
    """Return the totals over all cells: pairs of a name and its value."""
    return [(name, text) for name, text in _counts(status) if text]


def _counts(status: StudyStatus) -> Iterable[tuple[str, str]]:
    of = f" of {status.requests:,}" if status.requests is not None else ""
    yield "requests", f"{status.answered:,}{of} answered"
    words = [f"{n:,} {name.replace('_', ' ')}" for name, n in status.outcomes.items()]
    yield "outcomes", ", ".join(words)
    judge_failed = sum(cell.judge_failed for cell in status.cells)
    yield "judge", f"{judge_failed:,} judgements failed" if judge_failed else ""
    money = status.money
    dollars = f"{usd_text(money.usd)} for the stored answers" if money.usd else ""
    if money.to_come and status.answered:
        dollars += f", about {usd_text(money.to_come)} more at the same price per answer"
    yield "dollars", dollars
    if money.budget:
        b = money.budget
        text = (
            f"{usd_text(b.left_usd)} left of {usd_text(b.cap_usd)}: {usd_text(b.spent_usd)} spent"
        )
        text += f", {usd_text(b.reserved_usd)} in flight" if b.reserved_usd else ""
        text += f", {usd_text(b.unknown_usd)} possibly billed" if b.unknown_usd else ""
        yield "budget", text
    if status.run and status.run.running:
        running = [clean(name) for name in status.run.running]
        suffix = f" and {len(running) - 4} more" if len(running) > 4 else ""
        yield "now", ", ".join(running[:4]) + suffix


def _totals(status: StudyStatus) -> list[str]:
    return [f"{name:<10}{text}" for name, text in totals(status)]


def _stages(stages: Sequence[StageStatus]) -> list[str]:
    lines = []
    for stage in stages:
        counts = {
            name: getattr(stage, name)
            for name in ("running", "failed", "stopped", "incomplete", "waiting")
        }
        breakdown = ", ".join(f"{n:,} {name}" for name, n in counts.items() if n)
        filled = BAR * (stage.done + stage.incomplete) // stage.jobs
        bar = "#" * filled + "." * (BAR - filled)
        line = f"{stage.stage:<10}[{bar}] {stage.done:>5,} of {stage.jobs:,} done"
        lines.append(f"{line}   {breakdown}".rstrip())
    return lines


def _grid(cells: Sequence[CellStatus], width: int) -> list[str]:
    """Return a grid of models and settings; abbreviated if it is too wide."""
    if not cells:
        return []
    settings = list(dict.fromkeys(cell.setting for cell in cells))
    words = {(cell.model, cell.setting): cell_word(cell) for cell in cells}
    named = _columns(settings, settings, words, "  ")
    if max(map(len, named)) <= width:
        return named
    numbers = [str(n) for n in range(1, len(settings) + 1)]
    short = {key: _short(word) for key, word in words.items()}
    legend = ", ".join(f"{n} {s}" for n, s in zip(numbers, settings, strict=True))
    return [*_columns(settings, numbers, short, " "), fill(legend, width)]


def _columns(
    settings: Sequence[str], heads: Sequence[str], words: dict[tuple[str, str], str], gap: str
) -> list[str]:
    models = list(dict.fromkeys(model for model, _ in words))
    rows = [[words.get((model, setting), "") for setting in settings] for model in models]
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    first = max(map(len, models))
    return [
        gap.join([name.ljust(first), *map(str.rjust, row, widths)]).rstrip()
        for name, row in zip(["", *models], [list(heads), *rows], strict=True)
    ]


def _short(word: str) -> str:
    """Return at most four letters: 'done', '41%', 'FAIL', 'part'."""
    if "/" in word:
        return "part"
    return {"failed": "FAIL"}.get(word, word.replace(" %", "%")[:4])


def failures_text(failures: Sequence[FailedJob]) -> list[str]:
    """Describe every failed job: cause, path of its log, and the end of the log."""
    if not failures:
        return []
    lines = [f"{format_count(len(failures), 'job')} failed:"]
    for failure in failures[:DETAILED_FAILURES]:
        lines.append(f"  {clean(failure.job)}: {failure.why}")
        lines += [f"    {printable(failure.log)}"] if failure.log else []
        lines += [f"    | {line}" for line in failure.lines if failure.why not in line]
    lines += [f"  {clean(f.job)}: {f.why}" for f in failures[DETAILED_FAILURES:]]
    return lines


def commands_text(status: StudyStatus) -> list[str]:
    lines = []
    if status.try_again:
        lacking = sum(cell.lacking for cell in status.cells)
        cells = format_count(len(status.lacking), "written cell")
        what = format_count(lacking, "request") if lacking else "Judgements"
        verb = "has" if lacking == 1 else "have"
        lines += [f"{what} of {cells} {verb} no answer. To retry them:"]
        lines += [f"  {printable(status.try_again)}"]
    if status.go_on:
        what = "To retry failed jobs and continue:" if status.failures else "To continue:"
        lines += [what, f"  {printable(status.go_on)}"]
    return lines


def clock(moment: float) -> str:
    """Return a local time of day."""
    return time.strftime("%H:%M:%S", time.localtime(moment))
