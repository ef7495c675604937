"""Atomic writing of a new study's files, never over an existing file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from omibench.errors import OutputError, reason_of
from omibench.study.init.contents import StudyFiles


def write_study(folder: Path, files: StudyFiles) -> None:
    """Write a new study's files into a folder, which is created if needed.

    Args:
        folder: Study folder; can contain other files, such as papers.
        files: Files to write.

    Raises:
        OutputError: If a file or folder already exists or cannot be written. Nothing is left
            behind in that case.
    """
    names = sorted({Path(name).parts[0] for name in files.texts})
    existing = [name for name in names if _is_there(folder / name)]
    if existing:
        raise OutputError(
            f"{folder}: {', '.join(existing)} already "
            f"{'exists' if len(existing) == 1 else 'exist'} and nothing is overwritten; give a "
            "new folder"
        )
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    moved: list[Path] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".omibench-init-", dir=folder) as staging:
            _write_all(Path(staging), files.texts)
            for name in names:
                (Path(staging) / name).rename(folder / name)
                moved.append(folder / name)
    except OSError as error:
        _remove(moved, missing)
        raise OutputError(f"{folder}: cannot be written: {reason_of(error)}") from None
    except BaseException:
        _remove(moved, missing)
        raise


def _write_all(folder: Path, texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _is_there(path: Path) -> bool:
    return path.exists() or path.is_symlink()


def _remove(paths: list[Path], folders: list[Path]) -> None:
    """Remove the written files and the folders created for them, the innermost first."""
    import shutil
    from contextlib import suppress

    for path in paths:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    for folder in folders:
        with suppress(OSError):
            folder.rmdir()
