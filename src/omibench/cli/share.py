"""`omibench store push` and `pull`: share a store between several users through DVC."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Annotated

import typer

from omibench.cli.options import Store, find_store
from omibench.errors import MissingInputError, SomeFailedError, StoreError
from omibench.extras import require_extra
from omibench.files.isolated import isolate_env, python_module
from omibench.text.terminal import say

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
