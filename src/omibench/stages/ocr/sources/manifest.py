"""The manifest of sources: which paper goes with which key and which worked solutions."""

from __future__ import annotations

import logging
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from itertools import count
from pathlib import Path, PurePath
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import (
    BaseModel,
    ConfigDict,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from omibench.errors import FileFormatError
from omibench.files.yaml_file import locate_key, read_yaml
from omibench.schemas.attributes import StatedAttributes, Value, keep_stated
from omibench.schemas.problem import Subject
from omibench.schemas.validation import explain
from omibench.stages.ocr.sources.check import SUFFIXES, has_suffix
from omibench.stages.ocr.sources.photographs import Photographs
from omibench.stages.ocr.sources.slugs import slug

_TABLES = (".csv", ".jsonl", ".json", ".parquet")
log = logging.getLogger(__name__)
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-fA-F]{64}$")]


class Source(BaseModel):
    """One exam: its paper, key and solutions, and what is known of it.

    Paths are relative to the folder of the manifest. `sha256` maps a path to the hash of its file,
    `url` to where it can be downloaded; a single text is that of the paper.
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
    language: str | None = None
    """ISO 639-1; read off the paper's words where it is not given."""
    licence: str | None = None
    redistribute: bool | None = None
    """Whether a release may give its texts and pictures on, or only says how to extract them; it
    must be said before `omibench release build`, and nothing else reads it."""
    attributes: StatedAttributes = {}
    """What else is known of all its problems, to slice results by: exam, level, ..."""
    sha256: dict[str, Sha256] = {}
    url: dict[str, str] = {}
    """Where files that are not there can be had; each needs its `sha256`."""

    @field_validator("sha256", "url", mode="before")
    @classmethod
    def _of_the_paper(cls, value: Any, info: ValidationInfo) -> Any:
        return {info.data.get("paper", ""): value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _downloads_are_checked(self) -> Self:
        for path, url in self.url.items():
            if path not in self.files:
                raise ValueError(f"url: {path!r} is no file of this source")
            if urlsplit(url).scheme not in ("http", "https"):
                raise ValueError(f"url: {path}: {url!r} does not begin with http:// or https://")
            if path not in self.sha256:
                raise ValueError(f"url: {path} has no sha256: what is downloaded must be checked")
            if not has_suffix(PurePath(path)):
                raise ValueError(f"url: {path}: its name ends with none of {', '.join(SUFFIXES)}")
        return self

    @property
    def slug(self) -> str:
        """The name as a part of a path and of problem ids."""
        return slug(self.name)

    @property
    def stated_attributes(self) -> dict[str, Value]:
        """The attributes of its problems, the country among them."""
        return keep_stated({"country": self.country}) | self.attributes

    @property
    def files(self) -> list[str]:
        """Every file of the exam, the paper first."""
        return [path for path in (self.paper, self.key, self.solutions) if path]


Format = Literal[
    "folder", "omibench", "emma", "mathreal", "usnco-v", "olympiadbench", "mv-math", "mmmu-pro",
    "mmmu-pro-4", "mmmu-pro-vision", "mathvista", "frozen",
]  # fmt: skip


class Rows(BaseModel):
    """An existing benchmark, whose problems enter beside those of papers without being read."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    name: str
    folder: str
    """Its table and its pictures; relative to the folder of the manifest."""
    format: Format = "folder"
    """Which adapter reads it: `folder` is a table of one's own (docs/benchmarks.md)."""
    competition: str | None = None
    year: int | None = None
    subject: Subject | None = None
    """Of rows that do not tell theirs."""
    language: str | None = None
    """Of rows that do not tell theirs."""
    licence: str | None = None
    """Of rows that do not tell theirs."""
    redistribute: bool | None = None
    """Whether a release may give its texts and pictures on, or only says how to get them."""
    attributes: StatedAttributes = {}
    """Of rows that do not tell theirs: exam, level, ..."""

    @property
    def slug(self) -> str:
        """The name as a part of a path and of problem ids."""
        return slug(self.name)

    @property
    def tables(self) -> list[str]:
        """The files that hold its rows."""
        folder = Path(self.folder)
        places = [*folder.glob("*"), *folder.glob("data/*")]
        files = {path for path in places if path.suffix in _TABLES}
        return [str(path) for path in sorted({*files, *folder.glob("*/*.parquet")})]


class Manifest(BaseModel):
    """`sources.yaml`: papers to be read, photographs, and benchmarks taken as they are."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sources: list[Source] = []
    photographs: list[Photographs] = []
    benchmarks: list[Rows] = []

    @property
    def entries(self) -> list[Source | Photographs | Rows]:
        """Everything that it lists; each has a name of its own."""
        return [*self.sources, *self.photographs, *self.benchmarks]


def load_manifest(path: Path) -> list[Source]:
    """The papers of a manifest, as `read_manifest` gives them."""
    return read_manifest(path).sources


def read_manifest(path: Path) -> Manifest:
    """A manifest, paths made absolute.

    Raises MissingInputError when it is not there, FileFormatError with the first thing wrong.
    """
    values = read_yaml(path)
    try:
        manifest = Manifest.model_validate({} if values is None else values)
    except ValidationError as error:
        wrong = explain(error, Manifest)
        raise FileFormatError(f"{locate_key(wrong, [path]) or path}: {wrong}") from None
    reject_twins(manifest.entries, path)
    _contain_downloads(manifest, path)
    if not manifest.entries:
        raise FileFormatError(f"{path}: lists neither sources, nor photographs, nor benchmarks")
    return Manifest(
        sources=[_absolute(source, path.parent) for source in manifest.sources],
        photographs=[photographs.resolve(path.parent) for photographs in manifest.photographs],
        benchmarks=[
            rows.model_copy(update={"folder": str(path.parent / rows.folder)})
            for rows in manifest.benchmarks
        ],
    )


def _contain_downloads(manifest: Manifest, path: Path) -> None:
    """A manifest of others names any file to be read, but writes into its own folder alone."""
    for k, source in enumerate(manifest.sources):
        for name in source.url:
            pure = PurePath(name)
            if pure.is_absolute() or ".." in pure.parts:
                place = locate_key(f"sources.{k}.url.{name}", [path]) or path
                raise FileFormatError(
                    f"{place}: sources.{k}.url: {name!r} is outside of the manifest's folder: "
                    "what is downloaded is kept in it"
                )


def list_inputs(manifest: Path) -> list[str]:
    """The manifest and every file that a change of makes `ocr` run again.

    What can be downloaded is left out: it is there when it is needed, and the manifest's SHA-256
    says what it is. Of a benchmark its tables are named, its pictures are not.

    Raises what `load_manifest` raises, and MissingInputError for a folder without photographs.
    """
    read = read_manifest(manifest)
    files = [file for source in read.sources for file in source.files if file not in source.url]
    pictures = [str(file) for photographs in read.photographs for file in photographs.list_files()]
    tables = [table for rows in read.benchmarks for table in rows.tables]
    return [str(manifest), *files, *pictures, *tables]


def select_sources(files: Sequence[Path], manifest: Path | None) -> list[Source]:
    """What to read: the given files, with what the manifest knows of them, or all it lists.

    A file that the manifest does not name is a source of its own, called by its file name; a
    warning says so.
    """
    listed = load_manifest(manifest) if manifest else []
    if not files:
        return listed
    listed_by_paper = {Path(source.paper).resolve(): source for source in listed}
    strange = [file for file in files if file.resolve() not in listed_by_paper]
    for file in strange if manifest else []:
        log.warning("%s: is in no source of %s; read on its own, without a key", file, manifest)
    sources = [
        listed_by_paper.get(file.resolve()) or Source(name=file.name, paper=str(file))
        for file in files
    ]
    return _distinct(sources)


def _distinct(sources: list[Source]) -> list[Source]:
    """Sources with `-2`, `-3`, ... after the names of those whose place is taken."""
    names_in_use: set[str] = set()
    distinct = []
    for source in sources:
        names = (source.name if k == 1 else f"{source.name}-{k}" for k in count(1))
        free = next(name for name in names if _place(slug(name)) not in names_in_use)
        names_in_use.add(_place(slug(free)))
        distinct.append(source.model_copy(update={"name": free}))
    return distinct


def reject_twins(sources: Sequence[Source | Photographs | Rows], path: Path) -> None:
    """Raise FileFormatError where two entries of a manifest would share one folder."""
    places: defaultdict[str, list[str]] = defaultdict(list)
    for source in sources:
        places[_place(source.slug)].append(source.name)
    for name, *other_names in places.values():
        if name in other_names:
            raise FileFormatError(f"{path}: sources: the name {name!r} is given twice")
        if other_names:
            raise FileFormatError(
                f"{path}: sources: the names {name!r} and {other_names[0]!r} would share one "
                "folder; rename one"
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
            "url": {str(folder / path): value for path, value in source.url.items()},
        }
    )
