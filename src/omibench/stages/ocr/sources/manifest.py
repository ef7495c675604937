"""The manifest of sources: papers with keys and solutions, photographs, benchmarks, generators."""

from __future__ import annotations

import logging
import re
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
    Field,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from omibench.datasets.generators.registry import EASIEST, GENERATORS, HARDEST
from omibench.errors import FileFormatError, MissingInputError
from omibench.files.pictures import SUFFIXES
from omibench.files.yaml_file import locate_key, read_yaml
from omibench.plugins.registry import runs_files
from omibench.schemas.problem import StatedAttributes, Subject, Value, keep_stated
from omibench.schemas.validation import explain_all, suggest_name
from omibench.stages.ocr.sources.files import PAPER_SUFFIXES, has_suffix


def slug(name: str) -> str:
    """Return the letters, digits, dots and dashes of a name, in any script; `paper` if none
    remain."""
    return re.sub(r"[^\w.\-]+", "_", name).strip("._") or "paper"


# Photographs as a source: a folder of pictures with one problem each (MathReal, C).

CLEAN = "clean"
"""The folder next to the photographs with clean pictures of the same problems."""
_SUFFIXES = frozenset({*SUFFIXES.values(), "jpeg"})


class ManifestEntry(BaseModel):
    """What every entry of a manifest states."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    name: str
    competition: str | None = None
    year: int | None = None
    subject: Subject | None = None
    """The subject of all problems; section headings and tags in a paper, and rows with one, take
    precedence. Without it, photographs have the answer of `filter.photographs`."""
    language: str | None = None
    """The ISO 639-1 code; detected from the words of a paper or photograph if omitted."""
    licence: str | None = None
    redistribute: bool | None = None
    """Whether a release may include its texts and pictures, or only describes how to get them.
    Required by `omibench release build`; not used otherwise."""
    attributes: StatedAttributes = {}
    """Further attributes of all its problems, to slice results by: exam, level, ..."""

    @property
    def slug(self) -> str:
        """The name for paths and problem ids."""
        return slug(self.name)


class Photographs(ManifestEntry):
    """A folder of photographs: each picture is one problem, named by its file.

    Paths are relative to the folder of the manifest. Parent folders and subfolders are not read.
    """

    folder: str
    """Its photographs: PNG, JPEG, GIF, WebP or BMP, detected by content."""
    clean: str | None = None
    """The folder of clean pictures with the same names; by default `clean` in `folder`, if it
    exists."""
    pictures: Literal["real", "both"] = "real"
    """`both` adds a second item for each problem with a clean picture, in one group with the first
    (MathReal, table 8)."""

    def resolve(self, folder: Path) -> Photographs:
        """Return the same with absolute paths."""
        clean = str(folder / self.clean) if self.clean else None
        return self.model_copy(update={"folder": str(folder / self.folder), "clean": clean})

    def list_pairs(self) -> list[tuple[Path, Path | None]]:
        """Return each photograph by name, with its clean picture if any.

        Raises:
            MissingInputError: As `list_photographs` does, also for a `clean` folder that is named
                and not there.
        """
        if self.clean and not Path(self.clean).is_dir():
            raise MissingInputError(f"{self.clean}: the folder of clean pictures does not exist")
        clean = list_by_stem(Path(self.clean) if self.clean else Path(self.folder) / CLEAN)
        return [(path, clean.get(path.stem)) for path in list_photographs(Path(self.folder))]

    def list_files(self) -> list[Path]:
        """Return every picture of it, the clean ones among them."""
        return [path for pair in self.list_pairs() for path in pair if path]


def list_photographs(folder: Path) -> list[Path]:
    """Return the pictures of a folder by name, those of folders in it left out.

    Raises:
        MissingInputError: It is not a folder, contains no picture, or two pictures that differ in
            their suffix alone.
    """
    if not folder.is_dir():
        raise MissingInputError(f"{folder}: is not a folder of photographs")
    files = _list_pictures(folder)
    if not files:
        raise MissingInputError(f"{folder}: has no pictures ({', '.join(sorted(_SUFFIXES))})")
    stems: dict[str, Path] = {}
    for path in files:
        if path.stem in stems:
            raise MissingInputError(
                f"{folder}: {stems[path.stem].name} and {path.name} would be one problem: "
                "rename one"
            )
        stems[path.stem] = path
    return files


def list_by_stem(folder: Path) -> dict[str, Path]:
    """Return the pictures of a folder by name without suffix; none if there is no folder."""
    return {path.stem: path for path in _list_pictures(folder)} if folder.is_dir() else {}


def _list_pictures(folder: Path) -> list[Path]:
    return sorted(
        path
        for path in folder.iterdir()
        if path.is_file() and path.suffix.lstrip(".").lower() in _SUFFIXES
    )


# The manifest of sources: papers with their keys and worked solutions.

_TABLES = (".csv", ".jsonl", ".json", ".parquet")
log = logging.getLogger(__name__)
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-fA-F]{64}$")]


class Source(ManifestEntry):
    """One exam: its paper, key, solutions and metadata.

    Paths are relative to the folder of the manifest. `sha256` maps a path to the hash of its file,
    `url` maps it to a download address; a single text applies to the paper.
    """

    paper: str
    key: str | None = None
    solutions: str | None = None
    country: str | None = None
    sha256: dict[str, Sha256] = {}
    url: dict[str, str] = {}
    """Download addresses of missing files; each needs its `sha256`."""

    @field_validator("sha256", "url", mode="before")
    @classmethod
    def _of_the_paper(cls, value: Any, info: ValidationInfo) -> Any:
        return {info.data.get("paper", ""): value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _downloads_are_checked(self) -> Self:
        for path, url in self.url.items():
            if path not in self.files:
                raise ValueError(f"url: {path!r} is not a file of this source")
            if urlsplit(url).scheme not in ("http", "https"):
                raise ValueError(f"url: {path}: {url!r} does not begin with http:// or https://")
            if path not in self.sha256:
                raise ValueError(f"url: {path} has no sha256: downloads must be checked")
            if not has_suffix(PurePath(path)):
                raise ValueError(f"url: {path}: the suffix is none of {', '.join(PAPER_SUFFIXES)}")
        return self

    @property
    def stated_attributes(self) -> dict[str, Value]:
        """The attributes of its problems, including the country."""
        return keep_stated({"country": self.country}) | self.attributes

    @property
    def files(self) -> list[str]:
        """All files of the exam, the paper first."""
        return [path for path in (self.paper, self.key, self.solutions) if path]


GUESSED = 10**19
"""Seeds below it can be found by trying."""
Format = Literal[
    "folder", "omibench", "emma", "mathreal", "usnco-v", "olympiadbench", "mv-math", "mmmu-pro",
    "mmmu-pro-4", "mmmu-pro-vision", "mathvista", "mmmu", "math-vision", "math-vision-mini",
    "exams-v", "physics-big", "raven", "smicrm", "frozen",
]  # fmt: skip


class Rows(ManifestEntry):
    """An existing benchmark, whose problems are imported without OCR."""

    folder: str
    """Its table and pictures; relative to the folder of the manifest."""
    format: Format = "folder"
    """The adapter that reads it; `folder` is a custom table (docs/benchmarks.md)."""

    @property
    def tables(self) -> list[str]:
        """The files with its rows."""
        folder = Path(self.folder)
        places = [*folder.glob("*"), *folder.glob("data/*")]
        files = {path for path in places if path.suffix in _TABLES}
        files |= {*folder.glob("*/*.parquet"), *folder.glob("*/*_test.npz")}
        return [str(path) for path in sorted(files)]


class Generated(ManifestEntry):
    """Problems that a generator makes from a seed."""

    generator: str
    seed: Annotated[int, Field(ge=0, lt=2**256)]
    """Another seed gives other problems, equally hard."""
    counts: Annotated[dict[str, Annotated[int, Field(ge=1, le=100_000)]], Field(min_length=1)]
    """Number of problems of each template."""
    difficulty: Annotated[int, Field(ge=EASIEST, le=HARDEST)] = 3
    fresh: bool = True
    """Whether no model can have seen them. Write `false` once they are public."""
    keys: Literal["released", "withheld"] = "released"
    """Whether a release contains their answers and solutions."""

    @model_validator(mode="after")
    def _can_be_made(self) -> Self:
        if self.generator in GENERATORS:
            templates = GENERATORS.get(self.generator).templates
            for name in self.counts:
                if name not in templates:
                    raise ValueError(
                        f"counts: {self.generator} has no template {name!r}; give "
                        f"{', '.join(templates)}"
                    )
        elif runs_files():
            hint = suggest_name(self.generator, GENERATORS.names)
            raise ValueError(f"generator: {self.generator!r} does not exist{hint}")
        if self.keys == "withheld" and self.seed < GUESSED:
            raise ValueError(
                "seed: the keys are withheld, and anyone can make the problems again from a seed "
                "that can be guessed; give a random one of at least 20 digits"
            )
        return self


Entry = Source | Photographs | Rows | Generated


class Manifest(BaseModel):
    """`sources.yaml`: papers and photographs, benchmarks to import, generators to run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sources: list[Source] = []
    photographs: list[Photographs] = []
    benchmarks: list[Rows] = []
    generators: list[Generated] = []

    @property
    def entries(self) -> list[Entry]:
        """All listed entries; names are unique."""
        return [*self.sources, *self.photographs, *self.benchmarks, *self.generators]


def load_manifest(path: Path) -> list[Source]:
    """Return the papers of a manifest, as returned by `read_manifest`."""
    return read_manifest(path).sources


def read_manifest(path: Path) -> Manifest:
    """Return a manifest with absolute paths.

    Raises MissingInputError if it is missing, and FileFormatError with the first error.
    """
    values = read_yaml(path)
    try:
        manifest = Manifest.model_validate({} if values is None else values)
    except ValidationError as error:
        wrong = explain_all(error, Manifest)
        lines = [f"{locate_key(line, [path]) or path}: {line}" for line in wrong]
        raise FileFormatError(*lines) from None
    reject_twins(manifest.entries, path)
    _contain_downloads(manifest, path)
    if not manifest.entries:
        raise FileFormatError(f"{path}: lists no sources, photographs, benchmarks or generators")
    return Manifest(
        sources=[_absolute(source, path.parent) for source in manifest.sources],
        photographs=[photographs.resolve(path.parent) for photographs in manifest.photographs],
        benchmarks=[
            rows.model_copy(update={"folder": str(path.parent / rows.folder)})
            for rows in manifest.benchmarks
        ],
        generators=manifest.generators,
    )


def _contain_downloads(manifest: Manifest, path: Path) -> None:
    """Return a manifest whose inputs can be anywhere, but whose downloads stay in its folder."""
    for k, source in enumerate(manifest.sources):
        for name in source.url:
            pure = PurePath(name)
            if pure.is_absolute() or ".." in pure.parts:
                place = locate_key(f"sources.{k}.url.{name}", [path]) or path
                raise FileFormatError(
                    f"{place}: sources.{k}.url: {name!r} is outside of the manifest's folder: "
                    "downloads must stay inside"
                )


def list_inputs(manifest: Path) -> list[str]:
    """Return the manifest and all files whose changes make `ocr` run again.

    Downloadable files are left out, since the manifest's SHA-256 identifies them. For a benchmark,
    its tables are included but not its pictures.

    Raises the errors of `load_manifest`, and MissingInputError for a folder without photographs.
    """
    read = read_manifest(manifest)
    files = [file for source in read.sources for file in source.files if file not in source.url]
    pictures = [str(file) for photographs in read.photographs for file in photographs.list_files()]
    tables = [table for rows in read.benchmarks for table in rows.tables]
    return [str(manifest), *files, *pictures, *tables]


def select_sources(files: Sequence[Path], manifest: Path | None) -> list[Source]:
    """Select the sources to read: the given files with their metadata in the manifest, or all
    sources.

    A file that is not in the manifest becomes a separate source named after it, with a warning.
    """
    listed = load_manifest(manifest) if manifest else []
    if not files:
        return listed
    listed_by_paper = {Path(source.paper).resolve(): source for source in listed}
    strange = [file for file in files if file.resolve() not in listed_by_paper]
    for file in strange if manifest else []:
        log.warning("%s: is not in a source of %s; read alone, without a key", file, manifest)
    sources = [
        listed_by_paper.get(file.resolve()) or Source(name=file.name, paper=str(file))
        for file in files
    ]
    return _distinct(sources)


def _distinct(sources: list[Source]) -> list[Source]:
    """Add `-2`, `-3`, ... to repeated names of sources."""
    names_in_use: set[str] = set()
    distinct = []
    for source in sources:
        names = (source.name if k == 1 else f"{source.name}-{k}" for k in count(1))
        free = next(name for name in names if _place(slug(name)) not in names_in_use)
        names_in_use.add(_place(slug(free)))
        distinct.append(source.model_copy(update={"name": free}))
    return distinct


def reject_twins(sources: Sequence[ManifestEntry], path: Path) -> None:
    """Raise FileFormatError if two entries of a manifest would share one folder."""
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
    """Return a slug without case and accents, as on file systems that ignore them."""
    return unicodedata.normalize("NFC", slug).casefold()


def _absolute(source: Source, folder: Path) -> Source:
    paths = {name: getattr(source, name) for name in ("paper", "key", "solutions")}
    maps = {"sha256": source.sha256, "url": source.url}
    return source.model_copy(
        update={name: str(folder / path) for name, path in paths.items() if path}
        | {
            name: {str(folder / path): value for path, value in values.items()}
            for name, values in maps.items()
        }
    )
