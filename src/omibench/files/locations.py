"""Folders that contain untrusted data or its derivatives: no code is loaded from them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, chdir, contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from omibench.errors import MissingInputError, reason_of

MARKS: Final = {
    "questions.jsonl": "a frozen dataset",
    "provenance.json": "results",
    "ledger.sqlite3": "a store of responses",
}
"""Marker files of generated or downloaded folders."""


def describe_data_folder(path: Path, root: Path, folders: Mapping[str, str]) -> str | None:
    """Return the data folder that a file or folder is in, or is.

    Args:
        path: File or folder; need not exist. Links are followed.
        root: Working folder of commands. Markers are not searched above it, unless the path is
            elsewhere.
        folders: Data folders relative to `root` and their descriptions: `results` -> "results".

    Returns:
        For example `results, the folder of results`; None if it is in no such folder.
    """
    real, real_root = Path(os.path.realpath(path)), Path(os.path.realpath(root))
    for folder, noun in folders.items():
        if real.is_relative_to(os.path.realpath(real_root / folder)):
            return f"{folder}, the folder of {noun}"
    for place in (real, *real.parents):
        for mark, noun in MARKS.items():
            if (place / mark).exists():
                return f"{place.name}, which contains {noun} ({mark})"
        if place == real_root:
            break
    return None


# Files shipped with omibench in addition to its code: rules, profiles, studies, printed tables.

_PACKAGE: Final = Path(__file__).parents[1]
_INSTALLED: Final = _PACKAGE / "shipped"
"""Their location in a wheel; see `[tool.hatch.build.targets.wheel]` in pyproject.toml."""
_CHECKOUT: Final = _PACKAGE.parents[1]


def find_shipped(name: str) -> Path:
    """Return the path of a file or folder shipped with omibench, in a checkout or installed.

    Snakefiles written by `omibench init` import this function by name.

    Args:
        name: Path in the repository, e.g. `"rules/common.smk"` or `"studies"`.

    Returns:
        An absolute path; its existence is not checked.
    """
    return (_INSTALLED if _INSTALLED.is_dir() else _CHECKOUT) / name


def find_own_checkout() -> Path | None:
    """Return the checkout whose code this is; None if omibench is installed from a wheel."""
    return None if _INSTALLED.is_dir() else _CHECKOUT


def find_local_or_shipped(name: str) -> Path:
    """Return a file of the current folder, or otherwise the shipped file of the same path.

    Args:
        name: Relative path, e.g. `"published/emma_main.csv"`.
    """
    path = Path(name)
    return path if path.exists() else find_shipped(name)


# The folder in which a study runs: the only code that determines it.
#
# Relative paths of a study (results, store, data, prompts, plug-ins, board) start in its folder,
# and Snakemake runs there. It is the folder of `params.yaml`, wherever a command was started. A
# parameter file with another name, such as `studies/emma.yaml`, belongs to the nearest folder with
# a Snakefile, its own or one above; without any to its own.

SNAKEFILE: Final = "Snakefile"
PARAMS: Final = "params.yaml"


class StudyPlace(NamedTuple):
    """The folder of a study, and its parameters as they are named there.

    Attributes:
        folder: An absolute path.
        params: Path of the parameter file relative to `folder`, or the parameters as JSON text.
    """

    folder: Path
    params: str


def find_study(params: str) -> StudyPlace:
    """Return the folder of a study and its parameter file there.

    Args:
        params: Path of the parameter file, which need not exist; or JSON text that begins with a
            brace, whose study runs in the current folder.
    """
    if params.lstrip().startswith("{"):
        return StudyPlace(Path.cwd(), params)
    file = Path(params).parent.resolve() / Path(params).name  # a link belongs to its own folder
    folders = file.parents[:1] if file.name == PARAMS else file.parents
    folder = next((f for f in folders if (f / SNAKEFILE).is_file()), file.parent)
    return StudyPlace(folder, str(file.relative_to(folder)))


EXPERIMENTS: Final = (".dvc", "tmp", "exps")
"""Folder of DVC's copies of a project for queued experiments."""


def find_project(folder: Path) -> Path:
    """Return a folder's absolute path; for a copy by which DVC runs an experiment, its project."""
    parts = folder.resolve().parts
    for end in range(len(parts) - len(EXPERIMENTS)):
        if parts[end : end + len(EXPERIMENTS)] == EXPERIMENTS:
            return Path(*parts[:end])
    return Path(*parts)


@contextmanager
def in_study_folder(params: str, tell: Callable[[str], object]) -> Iterator[str]:
    """Work in the folder of a study, and return to the current one at the end.

    Args:
        params: Parameter file or JSON text, as for `find_study`.
        tell: Receives one line if the study's folder is not the current one.

    Yields:
        The parameters as they are named in the study's folder.

    Raises:
        MissingInputError: The folder does not exist.
    """
    place = find_study(params)
    if place.folder != Path.cwd():
        tell(f"{params}: runs in the folder of its study, {place.folder}")
    with ExitStack() as stack:
        try:
            stack.enter_context(chdir(place.folder))
        except OSError as error:
            raise MissingInputError(
                f"{params}: the folder {place.folder} cannot be entered: {reason_of(error)}"
            ) from None
        yield place.params
