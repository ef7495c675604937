"""Output paths of commands: never over inputs, never inside the store of responses."""

from __future__ import annotations

from pathlib import Path

from omibench.errors import OutputError, reason_of


def output_folder(path: str | Path, store: str | Path, option: str = "--out") -> Path:
    """Create the folder to write into. Raises OutputError if it cannot be created.

    Also raises for a folder of the `store` of responses. `option` is the option with the path.
    """
    spare_store(path, store, option)
    return made_folder(path, option)


def made_folder(path: str | Path, option: str = "--out") -> Path:
    """Create a folder if missing. Raises OutputError on failure."""
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{option} {folder}: cannot be a folder: {reason_of(error)}") from None
    return folder


def output_file(path: str | Path, store: str | Path, option: str = "--out") -> Path:
    """Create the folder of a file. Raises OutputError if that fails or the file is a folder.

    Also raises for a file of the `store` of responses. `option` is the option with the path.
    """
    target = spare_store(path, store, option)
    if target.is_dir():
        raise OutputError(f"{option} {target}: is a folder; give a file in it")
    made_folder(target.parent, option)
    return target


def output_parquet(path: str | Path, store: str | Path, *inputs: Path | None) -> Path:
    """Prepare a Parquet file to write. Raises OutputError for a folder or another file type.

    Also raises for one of the `inputs`, and for a file of the `store` of responses.
    """
    target = Path(path)
    if target.suffix != ".parquet":
        raise OutputError(f"--out {target}: is written as Parquet; name it *.parquet")
    return spare_inputs(output_file(target, store), *inputs)


def spare_inputs(target: Path, *inputs: Path | None) -> Path:
    """Prepare a file to write. Raises OutputError if it is one of the inputs."""
    for source in inputs:
        if source and target.exists() and source.exists() and target.samefile(source):
            raise OutputError(
                f"--out: would overwrite {target}, which is an input; give another file"
            )
    return target


def spare_store(target: str | Path, store: str | Path, option: str = "--out") -> Path:
    """Raise OutputError if a path is in the store of responses.

    The store contains only responses; any other file there would be taken for one.
    """
    if Path(target).resolve().is_relative_to(Path(store).resolve()):
        raise OutputError(
            f"{option} {target}: is in {store}, the store of responses, which only keeps "
            "responses; give a path outside it"
        )
    return Path(target)
