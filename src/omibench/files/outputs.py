"""Where a command may write: not over its inputs, and not into the store of responses."""

from __future__ import annotations

from pathlib import Path

from omibench.errors import OutputError, reason_of


def output_folder(path: str | Path, store: str | Path, option: str = "--out") -> Path:
    """The folder to write into, made if it is not there. Raises OutputError when it cannot be.

    Also for a folder of the `store` of responses. `option` is the one that named it.
    """
    spare_store(path, store, option)
    return made_folder(path, option)


def made_folder(path: str | Path, option: str = "--out") -> Path:
    """A folder, made if it is not there. Raises OutputError when it cannot be."""
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{option} {folder}: cannot be a folder: {reason_of(error)}") from None
    return folder


def output_file(path: str | Path, store: str | Path, option: str = "--out") -> Path:
    """The file to write, its folder made. Raises OutputError for a folder, or where none can be.

    Also for a file of the `store` of responses. `option` is the one that named it.
    """
    target = spare_store(path, store, option)
    if target.is_dir():
        raise OutputError(f"{option} {target}: is a folder; name a file in it")
    made_folder(target.parent, option)
    return target


def output_parquet(path: str | Path, store: str | Path, *inputs: Path | None) -> Path:
    """The Parquet file to write. Raises OutputError for a folder or another kind of file.

    Also for one of the `inputs`, and for a file of the `store` of responses.
    """
    target = Path(path)
    if target.suffix != ".parquet":
        raise OutputError(f"--out {target}: is written as Parquet; name it *.parquet")
    return spare_inputs(output_file(target, store), *inputs)


def spare_inputs(target: Path, *inputs: Path | None) -> Path:
    """The file to write. Raises OutputError where it is one of the inputs, which would be lost."""
    for source in inputs:
        if source and target.exists() and source.exists() and target.samefile(source):
            raise OutputError(
                f"--out: would write {target}, which is an input and would be lost; name another"
            )
    return target


def spare_store(target: str | Path, store: str | Path, option: str = "--out") -> Path:
    """What to write. Raises OutputError where it lies in the store of responses.

    Its files hold what was bought, and whatever else lies beside them passes for such.
    """
    if Path(target).resolve().is_relative_to(Path(store).resolve()):
        raise OutputError(
            f"{option} {target}: lies in {store}, the store of responses, which only keeps what "
            "was bought; name a place outside of it"
        )
    return Path(target)
