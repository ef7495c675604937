"""`omibench store push` and `pull`: a store that several people fill, over DVC."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Annotated

import typer

from omibench.errors import MissingInputError, SomeFailedError, StoreError
from omibench.extras import require_extra
from omibench.files.isolated import isolate_env, python_module
from omibench.text.terminal import say

StoreFolder = Annotated[Path, typer.Option("--store", metavar="DIR", help="The store's folder.")]
Archive = Annotated[
    Path, typer.Option(metavar="DIR", help="Folder of what is shared; DVC tracks what is in it.")
]
UP_TO_DATE = "up to date"
"""Of what DVC says where there was nothing to send."""
Remote = Annotated[str | None, typer.Option(help="A remote of DVC other than its default.")]


def push(
    store: StoreFolder = Path("store"),
    archive: Archive = Path("archive"),
    remote: Remote = None,
) -> None:
    """Share what is new in the store: archive it, and push the archive to DVC's remote.

    Each push adds one packed folder to the archive. The store itself stays as it is, and DVC never
    sees it. Afterwards commit the new .dvc file.

    \b
    Example:
      omibench store push && git add archive && git commit -m "Responses of gpt-5"
    """
    from omibench.files.outputs import spare_store
    from omibench.store.share import increments, pointers, write_increment

    spare_store(archive, store, "--archive")
    lacking = [p for p in archive.glob("*.dvc") if not p.with_suffix("").is_dir()]
    if lacking:
        raise MissingInputError(
            f"{archive}: {lacking[0].stem} of others is not here yet; run `omibench store pull` "
            "first, so that nothing is shared twice"
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
    store: StoreFolder = Path("store"),
    archive: Archive = Path("archive"),
    remote: Remote = None,
) -> None:
    """Bring what others have shared into the store: pull the archive, and merge what is new.

    Of two answers to one request yours is kept. Nothing is ever removed from the store. Run it
    after `git pull`. Exits with 3 when something was damaged.

    \b
    Example:
      git pull && omibench store pull
    """
    from omibench.store.share import absorb, pointers

    # What is archived never changes: whatever was done to it here is undone.
    _dvc("pull", "--force", *_to(remote), *pointers(archive))
    merged = absorb(archive, store)
    for merge in merged:
        say(
            f"{merge.source}: {merge.copied:,} responses and {merge.images:,} images copied, "
            f"{merge.present:,} were there, {merge.conflicts:,} differ and ours were kept"
        )
    faults = [fault for merge in merged for fault in merge.faults]
    for fault in faults:
        say(f"{fault.file}, {fault.where}: {fault.why}", err=True)
    if faults:
        raise SomeFailedError(f"{store}: {len(faults)} damaged things were not copied; see above")
    if not merged:
        say("nothing new")


def describe_push(output: str, files: int, archive: Path) -> str:
    """What a push did, from what DVC says of it and the number of files in the archive."""
    if UP_TO_DATE in output:
        return f"everything was already there ({files} files)"
    sent = next((word for word in output.split() if word.isdigit()), str(files))
    return f"{sent} files pushed; now `git add {archive}`, commit it, and push with git"


def _to(remote: str | None) -> list[str]:
    return ["--remote", remote] if remote else []


def _dvc(*words: str) -> str:
    """What DVC says. Raises StoreError with its error where it fails or is not there."""
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
