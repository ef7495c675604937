"""The manifest of sources: which paper goes with which key and which worked solutions."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from omibench.errors import FileFormatError, MissingInputError
from omibench.problem import Subject


class Source(BaseModel):
    """One exam: its paper, key and solutions, and what is known of it.

    Paths are relative to the folder of the manifest; `sha256` maps a path to the hash of its file.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    name: str
    paper: str
    key: str | None = None
    solutions: str | None = None
    competition: str | None = None
    year: int | None = None
    country: str | None = None
    subject: Subject | None = None
    """Of the whole paper; section headings and tags in the paper itself are more specific."""
    language: str = "en"
    licence: str | None = None
    sha256: dict[str, str] = {}

    @property
    def slug(self) -> str:
        """The name as a part of a path and of problem ids."""
        return slug(self.name)

    @property
    def files(self) -> list[str]:
        """Every file of the exam, the paper first."""
        return [path for path in (self.paper, self.key, self.solutions) if path]


class Manifest(BaseModel):
    """`sources.yaml`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sources: list[Source]


def slug(name: str) -> str:
    """Letters, digits, dots and dashes of a name, in any script; `paper` when none is left."""
    return re.sub(r"[^\w.\-]+", "_", name).strip("._") or "paper"


def load_manifest(path: Path) -> list[Source]:
    """The sources of a manifest, paths made absolute.

    Raises MissingInputError when it is not there, FileFormatError with the first thing wrong.
    """
    import yaml

    try:
        values: Any = yaml.safe_load(path.read_text("utf-8"))
    except OSError as error:
        raise MissingInputError(f"{path}: cannot be read: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise FileFormatError(f"{path}: is not YAML: {' '.join(str(error).split())}") from None
    try:
        sources = Manifest.model_validate(values).sources
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise FileFormatError(f"{path}: {where or 'top level'}: {first['msg']}") from None
    _reject_twins(sources, path)
    return [_absolute(source, path.parent) for source in sources]


def sources_of(files: Sequence[Path], manifest: Path | None) -> list[Source]:
    """What to read: the given files, with what the manifest knows of them, or all it lists.

    A file that the manifest does not name is a source of its own, called by its file name.
    """
    listed = load_manifest(manifest) if manifest else []
    if not files:
        return listed
    known = {Path(source.paper).resolve(): source for source in listed}
    sources = [
        known.get(file.resolve()) or Source(name=file.name, paper=str(file)) for file in files
    ]
    return _distinct(sources)


def _distinct(sources: list[Source]) -> list[Source]:
    """Sources with `-2`, `-3`, ... after the names of those whose place is taken."""
    taken: set[str] = set()
    distinct = []
    for source in sources:
        names = (source.name if k == 1 else f"{source.name}-{k}" for k in count(1))
        free = next(name for name in names if _place(slug(name)) not in taken)
        taken.add(_place(slug(free)))
        distinct.append(source.model_copy(update={"name": free}))
    return distinct


def _reject_twins(sources: list[Source], path: Path) -> None:
    places: defaultdict[str, list[str]] = defaultdict(list)
    for source in sources:
        places[_place(source.slug)].append(source.name)
    for name, *others in places.values():
        if name in others:
            raise FileFormatError(f"{path}: sources: the name {name!r} is given twice")
        if others:
            raise FileFormatError(
                f"{path}: sources: the names {name!r} and {others[0]!r} would share one folder; "
                "rename one"
            )


def _place(slug: str) -> str:
    """What a disk that knows no upper case and no forms of accents takes a slug for."""
    return unicodedata.normalize("NFC", slug).casefold()


def _absolute(source: Source, folder: Path) -> Source:
    def resolve(path: str | None) -> str | None:
        return str(folder / path) if path else None

    return source.model_copy(
        update={
            "paper": resolve(source.paper),
            "key": resolve(source.key),
            "solutions": resolve(source.solutions),
            "sha256": {str(folder / path): value for path, value in source.sha256.items()},
        }
    )
