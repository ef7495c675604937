"""`omibench store`: look into the store of responses, check it, pack it, and move it about."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from omibench.cli.help import make_group
from omibench.cli.share import pull, push
from omibench.errors import SomeFailedError
from omibench.text.terminal import say, say_lines

if TYPE_CHECKING:
    from omibench.store.contents import PartitionSummary
    from omibench.store.verify import Fault

store_app = make_group(
    "store", "The store of responses: look into it, check, pack, export, and merge others into it."
)
NAMED = 20
"""Faults that are printed; `--json` prints all of them."""
_CONTROL = re.compile("[\x7f-\x9f]")

store_app.command()(push)
store_app.command()(pull)

StoreFolder = Annotated[Path, typer.Option("--store", metavar="DIR", help="The store's folder.")]
OneModel = Annotated[
    str | None, typer.Option("--model", help="Only this model: its id, or its folder's name.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
DEFAULT = Path("store")


@store_app.command()
def inspect(
    key: Annotated[
        str | None, typer.Argument(help="First digits of a key: print that response whole.")
    ] = None,
    store: StoreFolder = DEFAULT,
    model: OneModel = None,
    as_json: AsJson = False,
) -> None:
    """Count what the store holds, or show one response with everything that was asked.

    Responses by model and outcome, tokens, dollars, files, pictures, and every damaged line.

    \b
    Example:
      omibench store inspect
      omibench store inspect 3fa9c2 --store results/store
    """
    from omibench.store.contents import choose, count_images, find_key, open_folder, summarise
    from omibench.store.export import as_object

    if key is not None:
        folder, response, body = find_key(store, key, model)
        say_lines(_printable(as_object(open_folder(folder).identity, response, body)))
        return
    summaries = [summarise(folder) for folder in choose(store, model)]
    images = count_images(store)
    if as_json:
        partitions = [_plain(summary) for summary in summaries]
        say_lines(_printable({"partitions": partitions, "images": asdict(images)}))
        return
    say_lines(_table(summaries))
    say(f"{images.images:,} images, {images.bytes / 1e6:,.1f} MB")
    _print_faults(_damage(summaries))


@store_app.command()
def verify(
    store: StoreFolder = DEFAULT,
    model: OneModel = None,
    images: Annotated[bool, typer.Option(help="Also hash every picture.")] = True,
    as_json: AsJson = False,
) -> None:
    """Check every line, its checksum and key, and every picture. Exits with 3 when one is wrong.

    \b
    Example:
      omibench store verify --store results/store
    """
    from omibench.store.contents import choose
    from omibench.store.verify import verify_store

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
            f", {verification.without_key:,} without a key to compare"
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
            f"{store}: {len(verification.faults)} things are wrong; what is sound can be used, and "
            "what is damaged is asked again when it is needed"
        )


@store_app.command()
def compact(store: StoreFolder = DEFAULT, model: OneModel = None) -> None:
    """Pack the finished segments of each model into Parquet, also while others are writing.

    What may still be written is left alone. A kill at any moment loses nothing.

    \b
    Example:
      omibench store compact
    """
    from omibench.store.contents import choose
    from omibench.store.partition.compact import compact_partition

    for folder in choose(store, model):
        result = compact_partition(folder)
        aside = f", {result.set_aside} damaged lines set aside" if result.set_aside else ""
        remaining = (
            f", {result.still_written} segments still written" if result.still_written else ""
        )
        twice = f", {result.duplicates:,} duplicates left out" if result.duplicates else ""
        say(
            f"{result.partition}: {result.responses:,} responses of {result.segments} segments and "
            f"{result.packs} packs, {result.bytes_before / 1e6:,.1f} MB to "
            f"{result.bytes_after / 1e6:,.1f} MB{twice}{aside}{remaining}"
            if result.segments
            else f"{result.partition}: nothing to pack{remaining}"
        )


@store_app.command(name="export")
def export_(
    out: Annotated[Path, typer.Option(help="A .jsonl or .parquet file.")],
    store: StoreFolder = DEFAULT,
    model: OneModel = None,
) -> None:
    """Write responses with what was asked to one file, for one model or for all.

    \b
    Example:
      omibench store export --model gpt-5 --out gpt-5.parquet
    """
    from omibench.files.outputs import spare_store
    from omibench.store.contents import choose
    from omibench.store.export import export

    spare_store(out, store)
    rows = export(choose(store, model), out)
    say(f"{rows:,} responses written to {out}", err=True)


@store_app.command()
def merge(
    sources: Annotated[list[Path], typer.Argument(metavar="SRC...", help="Other stores.")],
    store: StoreFolder = DEFAULT,
) -> None:
    """Copy from other stores what this one lacks; of two answers to one request ours is kept.

    Nothing damaged is copied. Exits with 3 when something was damaged.

    \b
    Example:
      omibench store merge ../colleague/store --store store
    """
    from omibench.store.merge import merge_store

    faults: list[Fault] = []
    for source in sources:
        merged = merge_store(source, store)
        say(
            f"{merged.source}: {merged.copied:,} responses and {merged.images:,} images copied, "
            f"{merged.present:,} were there, {merged.conflicts:,} differ and ours were kept"
        )
        if merged.restored or merged.restored_images or merged.replaced:
            say(
                f"{store}: {merged.restored:,} responses and {merged.restored_images:,} images "
                f"were damaged here and are restored, {len(merged.replaced):,} packs rewritten; "
                f"the damaged files are in {store / 'damaged'}"
            )
        faults += merged.faults
    _print_faults(faults)
    if faults:
        raise SomeFailedError(f"{store}: {len(faults)} damaged things were not copied; see above")


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
        # A sum over responses of which some name no cost is only a lower bound.
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
    """JSON to look at: no character of a model's answer can steer the terminal."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    return _CONTROL.sub(lambda match: f"\\u{ord(match.group()):04x}", text)
