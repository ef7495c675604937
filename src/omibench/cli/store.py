"""`omibench store`: inspect, verify, compact, export and merge the store of responses."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from omibench.cli.help import make_group
from omibench.cli.options import Store, find_store
from omibench.cli.share import pull, push
from omibench.errors import SomeFailedError
from omibench.text.terminal import say, say_lines

if TYPE_CHECKING:
    from omibench.store.contents import PartitionSummary
    from omibench.store.verify import Fault

store_app = make_group(
    "store", "Inspect, verify, compact, share, export and merge the store of responses."
)
NAMED = 20
"""The number of faults printed; `--json` prints all."""
_CONTROL = re.compile("[\x7f-\x9f]")

store_app.command()(push)
store_app.command()(pull)

OneModel = Annotated[
    str | None, typer.Option("--model", help="Only this model: its id or the name of its folder.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@store_app.command()
def inspect(
    key: Annotated[
        str | None,
        typer.Argument(metavar="KEY", help="First digits of a key: print this response in full."),
    ] = None,
    store: Store = None,
    model: OneModel = None,
    as_json: AsJson = False,
) -> None:
    """Summarise the store, or print one response with its whole request.

    The summary counts responses by model and outcome, tokens, dollars, files and pictures, and
    lists every damaged line; it exits with 3 if there are any.

    \b
    Example:
      omibench store inspect
      omibench store inspect 3fa9c2 --store results/store
    """
    from omibench.store.contents import choose, count_images, find_key, open_folder, summarise
    from omibench.store.export import as_object

    store = find_store(store)
    if key is not None:
        folder, response, body = find_key(store, key, model)
        say_lines(_printable(as_object(open_folder(folder).identity, response, body)))
        return
    summaries = [summarise(folder) for folder in choose(store, model)]
    images = count_images(store)
    faults = _damage(summaries)
    if as_json:
        partitions = [_plain(summary) for summary in summaries]
        say_lines(_printable({"partitions": partitions, "images": asdict(images)}))
    else:
        say_lines(_table(summaries))
        say(f"{images.images:,} images, {images.bytes / 1e6:,.1f} MB")
        _print_faults(faults)
    if faults:
        raise SomeFailedError(
            f"{store}: {len(faults)} faults; `omibench store merge` restores damaged responses "
            "from another copy"
        )


@store_app.command()
def verify(
    store: Store = None,
    model: OneModel = None,
    images: Annotated[bool, typer.Option(help="Also hash every picture.")] = True,
    as_json: AsJson = False,
) -> None:
    """Verify the checksum and key of every response and every picture.

    Exits with 3 if one is damaged.

    \b
    Example:
      omibench store verify --store results/store
    """
    from omibench.store.contents import choose
    from omibench.store.verify import verify_store

    store = find_store(store)
    verification = verify_store(store, choose(store, model), images)
    if as_json:
        faults = [fault._asdict() for fault in verification.faults]
        counts = {"responses": verification.responses, "images": verification.images}
        findings = {
            "without_key": verification.without_key,
            "tightened": verification.tightened,
            "faults": faults,
        }
        say_lines(_printable({**counts, **findings}))
    else:
        _print_faults(verification.faults)
        unkeyed = (
            f", {verification.without_key:,} without a key to verify"
            if verification.without_key
            else ""
        )
        say(
            f"{verification.responses:,} responses{unkeyed} and {verification.images:,} images "
            "checked"
        )
        if verification.tightened:
            say(f"{verification.tightened:,} files and folders closed to other users")
    if verification.faults:
        raise SomeFailedError(
            f"{store}: {len(verification.faults)} faults; intact responses stay usable, damaged "
            "ones are requested again when needed"
        )


@store_app.command()
def compact(store: Store = None, model: OneModel = None) -> None:
    """Pack the finished segments of each model into Parquet files.

    Safe while other processes write: their open segments are skipped. Killing it loses nothing.
    Exits with 3 if a segment had damaged lines.

    \b
    Example:
      omibench store compact
    """
    from omibench.store.contents import choose
    from omibench.store.partition.compact import compact_partition

    store = find_store(store)
    moved_out = 0
    for folder in choose(store, model):
        result = compact_partition(folder)
        moved_out += result.set_aside
        aside = f", {result.set_aside} damaged lines moved out" if result.set_aside else ""
        remaining = (
            f", {result.still_written} segments still in use" if result.still_written else ""
        )
        twice = f", {result.duplicates:,} duplicates left out" if result.duplicates else ""
        say(
            f"{result.partition}: {result.responses:,} responses of {result.segments} segments and "
            f"{result.packs} packs, {result.bytes_before / 1e6:,.1f} MB to "
            f"{result.bytes_after / 1e6:,.1f} MB{twice}{aside}{remaining}"
            if result.segments
            else f"{result.partition}: nothing to pack{remaining}"
        )
    if moved_out:
        raise SomeFailedError(
            f"{store}: {moved_out} damaged lines were moved out of the packed segments, to files "
            "that end in .damaged; their responses are requested again when needed"
        )


@store_app.command(name="export")
def export_(
    out: Annotated[Path, typer.Option(help="A .jsonl or .parquet file.")],
    store: Store = None,
    model: OneModel = None,
) -> None:
    """Write responses with their requests to one file, for one model or all.

    Exits with 3 if damaged responses are missing in it.

    \b
    Example:
      omibench store export --model gpt-5 --out gpt-5.parquet
    """
    from omibench.files.outputs import spare_store
    from omibench.store.contents import choose
    from omibench.store.export import export

    store = find_store(store)
    spare_store(out, store)
    exported = export(choose(store, model), out)
    say(f"{exported.rows:,} responses written to {out}", err=True)
    _print_faults(exported.faults)
    if exported.faults:
        raise SomeFailedError(
            f"{out}: lacks the damaged responses of {store} that are listed above; `omibench store "
            "merge` restores them from another copy"
        )


@store_app.command()
def merge(
    sources: Annotated[list[Path], typer.Argument(metavar="SRC", help="Other stores.")],
    store: Store = None,
) -> None:
    """Copy missing responses from other stores.

    If both stores have a response to the same request, that of --store is kept. Damaged responses
    are not copied, and the exit code is 3.

    \b
    Example:
      omibench store merge ../colleague/store --store store
    """
    from omibench.store.merge import merge_store

    store = find_store(store)
    faults: list[Fault] = []
    for source in sources:
        merged = merge_store(source, store)
        say(
            f"{merged.source}: {merged.copied:,} responses and {merged.images:,} images copied, "
            f"{merged.present:,} already present, {merged.conflicts:,} different and ours kept"
        )
        if merged.restored or merged.restored_images or merged.replaced:
            say(
                f"{store}: {merged.restored:,} responses and {merged.restored_images:,} images "
                f"that were damaged here are restored, {len(merged.replaced):,} packs rewritten; "
                f"the damaged files are in {store / 'damaged'}"
            )
        faults += merged.faults
    _print_faults(faults)
    if faults:
        raise SomeFailedError(f"{store}: {len(faults)} damaged entries were not copied; see above")


def _table(summaries: Sequence[PartitionSummary]) -> str:
    outcomes = sorted(set().union(*(summary.counts.outcomes for summary in summaries)))
    head = ["model", "responses", *outcomes, "tokens in", "tokens out", "US$", "files", "MB",
            "twice", "damaged"]  # fmt: skip
    rows = [_row(summary, outcomes) for summary in summaries]
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    lines = [
        "  ".join(
            [row[0].ljust(widths[0])]
            + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        ).rstrip()
        for row in (head, *rows)
    ]
    total = sum(summary.counts.responses for summary in summaries)
    return "\n".join([*lines, f"{len(summaries)} models, {total:,} responses"])


def _row(summary: PartitionSummary, outcomes: Sequence[str]) -> list[str]:
    damaged = sum(damage.lines for damage in summary.damaged)
    simulated = " (simulated)" if summary.counts.simulated else ""
    cost = f"{summary.counts.cost_usd:,.2f}"
    if summary.counts.without_cost:
        # If some responses have no cost, the sum is only a lower bound.
        cost = f">= {cost}" if summary.counts.without_cost < summary.counts.responses else "unknown"
    return [
        summary.name + simulated,
        f"{summary.counts.responses:,}",
        *(f"{summary.counts.outcomes[outcome]:,}" for outcome in outcomes),
        f"{summary.counts.tokens['input_tokens']:,}",
        f"{summary.counts.tokens['output_tokens']:,}",
        cost,
        f"{summary.segments}+{summary.packs}",
        f"{summary.bytes / 1e6:,.1f}",
        f"{summary.duplicates:,}",
        f"{damaged:,}" + (f"+{summary.set_aside}" if summary.set_aside else ""),
    ]


def _damage(summaries: Sequence[PartitionSummary]) -> list[Fault]:
    from omibench.store.verify import name_damage

    return [fault for s in summaries for fault in name_damage(s.name, s.damaged)]


def _plain(summary: PartitionSummary) -> dict[str, Any]:
    damaged = [damage._asdict() for damage in summary.damaged]
    fields = {**vars(summary), **vars(summary.counts), "damaged": damaged}
    del fields["counts"]
    return fields


def _print_faults(faults: Sequence[Fault]) -> None:
    for fault in faults[:NAMED]:
        say(f"{fault.file}, {fault.where}: {fault.why}", err=True)
    if len(faults) > NAMED:
        say(f"... and {len(faults) - NAMED:,} more", err=True)


def _printable(value: Any) -> str:
    """Format JSON for a terminal, with control characters of a response escaped."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    return _CONTROL.sub(lambda match: f"\\u{ord(match.group()):04x}", text)
