"""The status for people: text for a terminal, a page, a screen that is redrawn, a run's summary."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from textwrap import fill
from typing import NamedTuple

from omibench.errors import OmibenchError
from omibench.models.cost import usd_text
from omibench.params.study import Study
from omibench.schemas.tables import FrozenManifest, read_typed_json, write_text
from omibench.stages.filter.stage import read_summary
from omibench.study.plan.text import duration
from omibench.study.status.reader import Looker, look
from omibench.study.status.rows import CellStatus, FailedJob, StageStatus, StudyStatus, clean
from omibench.study.status.runs import State, read_runs
from omibench.text.lists import list_first
from omibench.text.terminal import (
    align_numbers,
    count_noun,
    measure_width,
    printable,
    raw_stream,
    say,
    say_lines,
)
from omibench.web.templates import PAGE_WITHOUT_PICTURES_POLICY, read_script, render_page

SHORTEST_BAR, LONGEST_BAR = 4, 30
NAMED = 3
"""Maximum stages without a measured time, or failed jobs with one cause, that are listed."""
DETAILED_FAILURES = 10
"""Causes of failures shown with the end of a log; the rest by name."""


def render(status: StudyStatus, width: int | None = None) -> str:
    """Render the status as lines of text, at most `width` wide if words allow it."""
    width = width or measure_width(default=100)
    blocks = [
        [fill(headline(status), width, subsequent_indent="  ")],
        [
            fill(f"{n:<10}{text}", width, subsequent_indent=" " * 10)
            for n, text in list_totals(status)
        ],
        [_stage_line(stage, width) for stage in status.stages],
        _grid(status.cells, width),
        _failure_lines(status.failures),
        _command_lines(status, width),
        [fill(f"Not read: {printable(note)}", width) for note in status.notes],
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def headline(status: StudyStatus) -> str:
    """Return the study and its progress on one line."""
    return f"{_title(status)}: {describe_progress(status)}"


def _title(status: StudyStatus) -> str:
    marks = " (SIMULATED)" if status.simulated else ""
    marks += f" (PARTIAL RUN: {status.partial})" if status.partial else ""
    return f"Study {status.study!r}{marks}"


def describe_progress(status: StudyStatus) -> str:
    """Describe the progress without the study's name."""
    run = status.run
    if run is None:
        return "complete" if status.complete else "no run yet"
    jobs = f"{run.done:,} of {run.planned:,} jobs"
    took = duration(run.seconds / 3600)
    ago = duration((status.now - run.began - run.seconds) / 3600)
    if run.state == "running":
        return f"running, {jobs} done in {took}, {time_left_text(status)}"
    if run.state == "stopped":
        return f"killed {ago} ago, {jobs} done"
    if run.state == "failed":
        return f"ended {ago} ago with {count_noun(run.failed, 'failed job')}, {jobs} done"
    complete = "complete; " if status.complete else ""
    return f"{complete}the last run ended {ago} ago after {took}"


def time_left_text(status: StudyStatus) -> str:
    """Return the remaining time of the run, as far as it is known."""
    remaining = status.left
    if remaining is None or remaining.seconds is None:
        return "time left unknown until a job has ended"
    left = f"about {duration(remaining.seconds / 3600)} left"
    untimed = remaining.unmeasured[:NAMED]
    if len(remaining.unmeasured) > NAMED:
        untimed.append(f"{len(remaining.unmeasured) - NAMED} more stages")
    if not untimed:
        return left
    names = " and ".join(part for part in (", ".join(untimed[:-1]), untimed[-1]) if part)
    if remaining.seconds < 1:
        return f"time left unknown, {names} not timed yet"
    return f"{left} without {names}, not timed yet"


def cell_word(cell: CellStatus) -> str:
    """Return the state of a cell as one short word, for the terminal and the page."""
    share = f"{100 * cell.answered // cell.requests} %" if cell.requests else ""  # rounded down
    if "failed" in cell.states:
        return "failed"
    if "stopped" in cell.states:
        return f"stopped {share}".strip()
    if cell.infer == "running":
        return share or "asking"
    if cell.infer == "incomplete":
        return f"{cell.answered}/{cell.requests}"
    if cell.infer == "waiting":
        return share if cell.answered else "-"
    words = {"waiting": "answered", "running": "scoring", "incomplete": "part judged"}
    return words.get(cell.score, "done")


def list_totals(status: StudyStatus) -> Iterator[tuple[str, str]]:
    """Yield the totals over all cells: pairs of a name and its value."""
    of = f" of {status.requests:,}" if status.requests is not None else ""
    yield "requests", f"{status.answered:,}{of} answered"
    if status.outcomes:
        words = [f"{n:,} {name.replace('_', ' ')}" for name, n in status.outcomes.items()]
        yield "outcomes", ", ".join(words)
    if judge_failed := sum(cell.judge_failed for cell in status.cells):
        yield "judge", f"{judge_failed:,} judgements failed"
    money = status.money
    dollars = f"{usd_text(money.usd)} for the stored answers" if money.usd else ""
    if money.to_come and status.answered:
        dollars += f", about {usd_text(money.to_come)} more at the same price per answer"
    if dollars:
        yield "dollars", dollars
    if b := money.budget:
        spent = f"{usd_text(b.left_usd)} left of {usd_text(b.cap_usd)}: {usd_text(b.spent_usd)}"
        in_flight = f", {usd_text(b.reserved_usd)} in flight" if b.reserved_usd else ""
        billed = f", {usd_text(b.unknown_usd)} possibly billed" if b.unknown_usd else ""
        yield "budget", f"{spent} spent{in_flight}{billed}"
    if status.run and status.run.running:
        yield "now", list_first([clean(name) for name in status.run.running], 4)


def _stage_line(stage: StageStatus, width: int) -> str:
    states = ("running", "failed", "stopped", "incomplete", "waiting")
    breakdown = ", ".join(f"{n:,} {name}" for name in states if (n := getattr(stage, name)))
    count = f"{stage.done:>5,} of {stage.jobs:,} done   {breakdown}".rstrip()
    room = max(SHORTEST_BAR, min(LONGEST_BAR, width - len(count) - 14))
    bar = "#" * (room * (stage.done + stage.incomplete) // stage.jobs)
    return fill(f"{stage.stage:<10} [{bar:.<{room}}] {count}", width, subsequent_indent=" " * 11)


def _grid(cells: Sequence[CellStatus], width: int) -> list[str]:
    """Return a grid of models and settings; with at most four letters a cell if it is too wide."""
    if not cells:
        return []
    settings = list(dict.fromkeys(cell.setting for cell in cells))
    rows: dict[str, dict[str, str]] = {}
    for cell in cells:
        rows.setdefault(cell.model, {})[cell.setting] = cell_word(cell)

    def align(heads: Sequence[str], gap: str, shorten: Callable[[str], str]) -> list[str]:
        lines = [["", *heads]]
        for model, words in rows.items():
            lines.append([model, *(shorten(words.get(setting, "")) for setting in settings)])
        return align_numbers(lines, gap=gap)

    named = align(settings, "  ", str)
    if max(map(len, named)) <= width:
        return named
    numbers = [str(n) for n in range(1, len(settings) + 1)]
    legend = ", ".join(f"{n} {s}" for n, s in zip(numbers, settings, strict=True))
    return [*align(numbers, " ", _shorten), fill(legend, width)]


def _shorten(word: str) -> str:
    """Return at most four letters: 'done', '41%', 'FAIL', 'part'."""
    if "/" in word:
        return "part"
    return "FAIL" if word == "failed" else word.replace(" %", "%")[:4]


def _failure_lines(failures: Sequence[FailedJob]) -> list[str]:
    """Describe every failed job, equal causes together: cause, logs, the end of the first log."""
    if not failures:
        return []
    lines = [f"{count_noun(len(failures), 'job')} failed:"]
    causes: dict[str, list[FailedJob]] = {}
    for failure in failures:
        causes.setdefault(failure.why, []).append(failure)
    for number, (why, failed) in enumerate(causes.items()):
        names = list_first([clean(failure.job) for failure in failed], NAMED)
        lines.append(f"  {names}: {why}")
        if number < DETAILED_FAILURES:
            logs = [failure.log for failure in failed[:NAMED] if failure.log]
            lines += [f"    {printable(log)}" for log in logs]
            lines += [f"    | {line}" for line in failed[0].lines if why not in line]
    return lines


def _command_lines(status: StudyStatus, width: int) -> list[str]:
    command = status.try_again or status.go_on
    if not command:
        return []
    purpose = f"{describe_command(status)}:"
    if status.try_again:
        lacking = sum(cell.lacking for cell in status.cells)
        cells = count_noun(len(status.lacking), "written cell")
        what = count_noun(lacking, "request") if lacking else "Judgements"
        purpose = f"{what} of {cells} {'has' if lacking == 1 else 'have'} no answer. {purpose}"
    return [fill(purpose, width), f"  {printable(command)}"]


def describe_command(status: StudyStatus) -> str:
    """Return what the one suggested command is for."""
    if status.try_again:
        unfinished = any(stage.done + stage.incomplete < stage.jobs for stage in status.stages)
        return "To retry them and continue" if unfinished else "To retry them"
    if status.run is None:
        return "To start"
    return "To retry failed jobs and continue" if status.failures else "To continue"


def describe_ending(study: Study, notes: Path, looker: Looker | None = None) -> str:
    """Return the summary of the run with these `notes`: its outputs, and what is missing."""
    status = looker.look() if looker else look(study)
    results = Path(study.study.results)
    run = next((run for run in read_runs(results) if run.path == notes), None)
    if run is None:
        return ""
    counts = Counter(job.state for job in run.jobs.values())
    took = duration((run.last_event - run.began) / 3600)
    line = f"{_title(status)}: {count_noun(counts['done'], 'job')} done in {took}"
    if counts["failed"] or run.end == "failed":
        line += f", {counts['failed']:,} failed, {counts['waiting']:,} not run"
    lines = ["", line]
    if status.cells and status.requests is not None:
        lines.append(f"{status.answered:,} of {status.requests:,} requests answered")
    stages = {job.stage for job in run.jobs.values() if job.state == "done"}
    if "filter" in stages and (summary := read_summary(results / "filter")):
        lines.append(f"{summary}: {results / 'filter/rejects.html'}")
    if "freeze" in stages:
        with suppress(OmibenchError):
            manifest = read_typed_json(results / "freeze/manifest.json", FrozenManifest)
            problems = count_noun(manifest.problems, "problem")
            pictures = count_noun(manifest.images, "picture")
            lines.append(f"Frozen: {problems}, {pictures}: {results / 'freeze/README.md'}")
    if "analyze" in stages:
        lines.append(f"Report: {results / 'analyze/report.html'}")
    if not status.failures:
        status = status.model_copy(update={"go_on": None})  # a stop on request is not a failure
    width = measure_width(default=100)
    return "\n".join([*lines, *_failure_lines(status.failures), *_command_lines(status, width)])


# The status as one page: opens from disk, without requests, and reloads itself during a run.

_MARKS = {
    "done": "\N{CHECK MARK}",
    "failed": "\N{MULTIPLICATION X}",
    "stopped": "\N{DOUBLE VERTICAL BAR}",
    "incomplete": "!",
}
_WORST: tuple[State, ...] = ("failed", "stopped", "running", "incomplete", "waiting", "done")
_PARTS = ("done", "running", "incomplete", "failed", "stopped")
_LEGEND = ("done", "running", "begun", "incomplete", "failed", "stopped", "waiting")


class CellBox(NamedTuple):
    """One cell on the page: a state, a mark, its progress, and a sentence."""

    state: str
    mark: str
    percent: float
    says: str


def write_page(path: Path, status: StudyStatus, reload_s: float | None) -> None:
    """Write the page; it reloads itself every `reload_s` seconds, until paused, or never."""
    rows: dict[str, dict[str, CellBox]] = {}
    for cell in status.cells:
        rows.setdefault(cell.model, {})[cell.setting] = _box(cell)
    present = {box.state for row in rows.values() for box in row.values()}
    bars = [
        (stage, [(s, 100 * n / stage.jobs) for s in _PARTS if (n := getattr(stage, s))])
        for stage in status.stages
    ]
    text = render_page(
        "omibench.study.status",
        "status.html.j2",
        csp=PAGE_WITHOUT_PICTURES_POLICY,
        scripts=[read_script(__file__, "reload.js")] if reload_s is not None else [],
        reload=None if reload_s is None else max(1, round(reload_s)),
        status=status,
        doing=describe_progress(status),
        clock=time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(status.now)),
        purpose=describe_command(status),
        totals=list(list_totals(status)),
        stages=bars,
        settings=list(dict.fromkeys(cell.setting for cell in status.cells)),
        rows=rows,
        legend=[state for state in _LEGEND if state in present],
        shown=DETAILED_FAILURES,
        percent=100 * status.answered / status.requests if status.requests else None,
    )
    write_text(path, text)


def _box(cell: CellStatus) -> CellBox:
    state: str = next(state for state in _WORST if state in cell.states)
    if state == "waiting" and (cell.infer == "done" or cell.answered):
        state = "begun"
    word = cell_word(cell)
    says = f"{cell.model} under {cell.setting}: infer {cell.infer}, score {cell.score}"
    says += f"; {cell.answered:,} of {cell.requests:,} answered" if cell.requests else ""
    says += f"; {cell.lacking:,} without an answer" if cell.lacking else ""
    percent = 100 * cell.answered / cell.requests if cell.requests else 0.0
    return CellBox(state, _MARKS.get(state, "" if word == "-" else word), percent, says)


# Repeated status: a terminal that is redrawn on its alternate screen, and a page. What the terminal
# showed before, and its scrollback, stay as they are.

GRACE_S = 20.0
"""Seconds after a run's end in which the next can begin: `dvc repro` starts one per stage."""
_ENTER = "\x1b[?1049h\x1b[?25l"
_LEAVE = "\x1b[?25h\x1b[?1049l"
_CLEAR = "\x1b[H\x1b[J"


def watch(looker: Looker, every_s: float, page: Path | None = None) -> StudyStatus:
    """Show the status every `every_s` seconds until the run ends; returns the last one.

    It waits for the first run, and ends when no other has begun. A terminal is redrawn on its
    alternate screen, and the last status stays on the normal one; otherwise a line is written each
    time.
    """
    with _alternate_screen() as show:
        last_live: float | None = None
        while True:
            status = looker.look()
            has_ended = not status.live and status.complete
            if status.live:
                last_live = time.monotonic()
            elif last_live is not None:
                is_over = time.monotonic() - last_live > GRACE_S
                has_ended = has_ended or is_over or bool(status.failures)
            if page is not None:
                write_page(page, status, every_s if status.live else None)
            show(status)
            if has_ended:
                return status
            time.sleep(every_s)


@contextmanager
def _alternate_screen() -> Iterator[Callable[[StudyStatus], None]]:
    """Use the alternate screen of a terminal, without a cursor, during a block.

    However the block ends, the terminal is as before; then the last text is printed there once.

    Yields:
        A function that shows a status in place of the one before.
    """
    if not sys.stdout.isatty() or os.environ.get("TERM") == "dumb":
        yield lambda status: say(headline(status))
        return
    last: list[str] = []

    def show(status: StudyStatus) -> None:
        last[:] = [render(status)]
        _write(_CLEAR)
        say_lines(_crop(last[0]))

    try:
        _write(_ENTER)
        yield show
    finally:
        with suppress(OSError):  # the terminal was closed
            _write(_LEAVE)
            for text in last:
                say_lines(text)


def _crop(text: str) -> str:
    """Return the first lines of a text that fit, and how many do not."""
    columns, rows = shutil.get_terminal_size()
    lines = text.splitlines()
    heights = [1 + max(0, len(line) - 1) // max(1, columns) for line in lines]
    if sum(heights) < rows:
        return text
    count, used = 0, 2  # the line about the rest, and the one of the cursor
    while count < len(lines) and used + heights[count] <= rows:
        used += heights[count]
        count += 1
    return "\n".join([*lines[:count], f"... {len(lines) - count} more lines: `omibench status`"])


def _write(codes: str) -> None:
    stream = raw_stream(sys.stdout)
    stream.write(codes)
    stream.flush()
