"""`omibench store push` and `pull`: share a store between several users through DVC."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from omibench.cli.options import AsJson, Store, find_store, make_group
from omibench.errors import MissingInputError, SomeFailedError, StoreError
from omibench.extras import require_extra
from omibench.files.programs import isolate_env, python_module
from omibench.text.terminal import align_numbers, say, say_lines

if TYPE_CHECKING:
    from omibench.store.contents import PartitionSummary
    from omibench.store.verify import Fault


Archive = Annotated[
    Path, typer.Option(metavar="DIR", help="Folder of shared responses, tracked by DVC.")
]
UP_TO_DATE = "up to date"
"""Part of DVC's message if there was nothing to push."""
Remote = Annotated[str | None, typer.Option(help="DVC remote.  [its default]")]


def push(
    store: Store = None,
    archive: Archive = Path("archive"),
    remote: Remote = None,
) -> None:
    """Share new responses of the store: archive them and push the archive with DVC.

    Each push adds one packed folder to the archive. The store itself is not changed and not tracked
    by DVC. Commit the new .dvc file afterwards.

    \b
    Example:
      omibench store push && git add archive && git commit -m "Responses of gpt-5"
    """
    from omibench.files.outputs import spare_store
    from omibench.store.share import increments, pointers, write_increment

    store = find_store(store)
    spare_store(archive, store, "--archive")
    lacking = [p for p in archive.glob("*.dvc") if not p.with_suffix("").is_dir()]
    if lacking:
        raise MissingInputError(
            f"{archive}: {lacking[0].stem}, shared by others, is missing here; run `omibench store "
            "pull` first, so that nothing is shared twice"
        )
    new = write_increment(store, archive)
    if new:
        say(f"{new.folder}: {new.responses:,} responses and {new.images:,} images")
    for folder in increments(archive):
        if not folder.with_name(f"{folder.name}.dvc").is_file():
            _dvc("add", str(folder))
    pointer_files = pointers(archive) if new or increments(archive) else []
    if not pointer_files:
        say("nothing to share")
        return
    output = _dvc("push", *_to(remote), *pointer_files)
    files = sum(p.is_file() for folder in increments(archive) for p in folder.rglob("*"))
    say(describe_push(output, files, archive))


def pull(
    store: Store = None,
    archive: Archive = Path("archive"),
    remote: Remote = None,
) -> None:
    """Merge responses shared by others into the store: pull the archive with DVC and merge it.

    If both have a response to the same request, yours is kept. Nothing is removed from the store.
    Run it after `git pull`. Exits with 3 if files are damaged.

    \b
    Example:
      git pull && omibench store pull
    """
    from omibench.store.share import absorb, pointers

    # Archived files never change, so local edits are reverted.
    _dvc("pull", "--force", *_to(remote), *pointers(archive))
    store = find_store(store)
    merged = absorb(archive, store)
    for merge in merged:
        say(
            f"{merge.source}: {merge.copied:,} responses and {merge.images:,} images copied, "
            f"{merge.present:,} already present, {merge.conflicts:,} different and ours kept"
        )
    faults = [fault for merge in merged for fault in merge.faults]
    for fault in faults:
        say(f"{fault.file}, {fault.where}: {fault.why}", err=True)
    if faults:
        raise SomeFailedError(f"{store}: {len(faults)} damaged entries were not copied; see above")
    if not merged:
        say("nothing new")


def describe_push(output: str, files: int, archive: Path) -> str:
    """Describe a push, from DVC's message and the number of files in the archive."""
    if UP_TO_DATE in output:
        return f"everything was pushed already ({files} files)"
    sent = next((word for word in output.split() if word.isdigit()), str(files))
    return f"{sent} files pushed; now `git add {archive}`, commit it, and push with git"


def _to(remote: str | None) -> list[str]:
    return ["--remote", remote] if remote else []


def _dvc(*words: str) -> str:
    """Run DVC and return its output. Raises StoreError if it fails or is not installed."""
    require_extra("workflow", f"dvc {words[0]}", "dvc")
    result = subprocess.run(
        python_module("dvc", *words), env=isolate_env(os.environ),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if result.returncode:
        _, marked, error = result.stderr.partition("ERROR: ")
        message = " ".join((error if marked else result.stderr[-200:]).split())
        raise StoreError(f"dvc {words[0]}: {message}")
    return result.stdout


# `omibench store`: inspect, verify, compact, export and merge the store of responses.

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
    from omibench.store.share import as_object

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
    from omibench.store.compaction import compact_partition
    from omibench.store.contents import choose

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
    from omibench.store.share import export

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
    lines = align_numbers([head, *rows])
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
