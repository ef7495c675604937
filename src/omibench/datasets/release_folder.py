"""Rows and documents of a release, for loading, citing and checking a dataset."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final, Literal, TypeVar

from pydantic import BaseModel, Field, StringConstraints, ValidationError

from omibench.errors import FileFormatError, MissingInputError
from omibench.files.reading import Container, parse_json, read_bytes, read_json_lines, read_text
from omibench.schemas.problem import FrozenModel
from omibench.schemas.tables import FrozenManifest, Title
from omibench.schemas.validation import explain

Sha256Text = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Access = Literal["full", "metadata"]
"""Whether an item's texts and pictures are included, or only the data needed to extract them."""


class ReleaseRow(FrozenModel):
    """One line of `manifest.jsonl`: an item of a release by the hashes of its parts.

    Hashes of an item without texts are those of the omitted texts, so you can compare after
    extracting it from its paper.
    """

    id: Annotated[str, StringConstraints(min_length=1, max_length=500)]
    split: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,29}$")]
    access: Access
    source: str
    licence: str | None
    question_sha256: Sha256Text
    """Hash of question and choices."""
    answer_sha256: Sha256Text
    """Hash of the gold answer."""
    rationale_sha256: Sha256Text | None
    original_sha256: Sha256Text | None
    """Hash of the text before translation."""
    labels_sha256: Sha256Text
    """Hash of subject, topic, language and attributes."""
    image_sha256: Annotated[list[Sha256Text], Field(max_length=1000)]
    canary: str = ""


class ReleasedGenerator(FrozenModel):
    """How the problems of a generator are made again."""

    name: str
    """Name and version of the generator that made them."""
    seed: int | None
    """None if the keys are withheld, since it gives them."""
    counts: dict[str, int]
    difficulty: int
    keys: Literal["released", "withheld"]


class ReleasedSource(FrozenModel):
    """Source of items, and whether their texts and pictures can be redistributed."""

    name: str
    items: int
    licence: str | None
    redistribute: bool | None
    competition: str | None = None
    year: int | None = None
    files: dict[str, str] = {}
    """File name of the paper -> its SHA-256."""
    urls: dict[str, str] = {}
    """File name of the paper -> its download address."""
    generator: Annotated[ReleasedGenerator | None, Field(exclude_if=lambda made: made is None)] = (
        None
    )
    """Omitted unless a generator made the items."""

    @property
    def withholds_keys(self) -> bool:
        """Whether its items are released without answers and solutions."""
        return self.generator is not None and self.generator.keys == "withheld"


class DrawnSplit(FrozenModel):
    """Sampled part; the remaining items are the split `test`."""

    name: str
    items: int
    attributes: list[str]
    """Attributes whose proportions the sample keeps."""


class ReleaseProvenance(FrozenModel):
    """`provenance.json`: the inputs and software of a release. It contains no time stamps."""

    name: Title
    version: Title
    draft: bool
    findings: list[str]
    """Objections to a release; empty unless it is a draft."""
    commit: str | None
    """Commit of the working tree; `+changed` if files differ from it."""
    dvc_lock_sha256: str | None
    frozen: FrozenManifest
    """Metadata of the freeze: name, version, content, simulated parts."""
    review_sha256: str | None
    """Hash of the file of review decisions, if any."""
    review_head: Sha256Text | None = None
    """Head hash of the review log: at the freeze, otherwise at the release."""
    packages: dict[str, str]
    sources: list[ReleasedSource]
    canary: str
    seed: int
    split: DrawnSplit | None = None


# Files of a release, read as untrusted input: bounded, contained, never evaluated.

SUMS: Final = "SHA256SUMS"
MANIFEST: Final = "manifest.jsonl"
PROVENANCE: Final = "provenance.json"
DOCUMENT_BYTES: Final = 64 * 2**20
MOST_FILES: Final = 10_000
MOST_ROWS: Final = 1_000_000
Document = TypeVar("Document", bound=BaseModel)


def read_sums(folder: Path) -> dict[str, str]:
    """Read SHA-256 by path from SHA256SUMS of a release; no path leads out of the folder.

    Raises:
        MissingInputError: If the file is missing.
        FileFormatError: If a line is invalid, a path leads out, or occurs twice.
    """
    if not folder.is_dir():
        raise MissingInputError(f"{folder}: is not a folder")
    path = Container(folder).path(SUMS)
    sums: dict[str, str] = {}
    container = Container(folder)
    for number, line in enumerate(read_text(path, DOCUMENT_BYTES).splitlines(), 1):
        if line.startswith("#"):
            continue
        digest, separator, name = line.partition("  ")
        if not separator or len(digest) != 64 or set(digest) - set("0123456789abcdef"):
            raise FileFormatError(f"{path}, line {number}: is not a SHA-256, two spaces and a path")
        container.path(name)
        if name in sums:
            raise FileFormatError(f"{path}, line {number}: {name!r} occurs twice")
        if len(sums) >= MOST_FILES:
            raise FileFormatError(f"{path}: lists more than {MOST_FILES:,} files")
        sums[name] = digest
    return sums


def write_sums(folder: Path, digests: Mapping[str, str], canary: str) -> None:
    """Write SHA256SUMS, sorted by path, for `sha256sum -c`; its first line is a comment."""
    lines = [f"{digest}  {name}\n" for name, digest in sorted(digests.items())]
    (folder / SUMS).write_bytes("".join([f"# {canary}\n", *lines]).encode())


def read_manifest_rows(folder: Path) -> list[ReleaseRow]:
    """Read the lines of a release's manifest, each id once.

    Raises:
        MissingInputError: If the file is missing.
        FileFormatError: If a line is invalid or an id occurs twice; gives file and line.
    """
    path = Container(folder).path(MANIFEST)
    rows: dict[str, ReleaseRow] = {}
    for number, value in read_json_lines(path, 16 * DOCUMENT_BYTES):
        row = _validate(value, ReleaseRow, f"{path}, line {number}")
        if row.id in rows:
            raise FileFormatError(f"{path}, line {number}: the id {row.id!r} occurs twice")
        if len(rows) >= MOST_ROWS:
            raise FileFormatError(f"{path}: has more than {MOST_ROWS:,} lines")
        rows[row.id] = row
    return list(rows.values())


def read_release_provenance(folder: Path) -> ReleaseProvenance:
    """Read the provenance of a release. Raises as `read_manifest_rows` does."""
    path = Container(folder).path(PROVENANCE)
    value = parse_json(read_bytes(path, DOCUMENT_BYTES), str(path))
    return _validate(value, ReleaseProvenance, str(path))


def _validate(value: object, kind: type[Document], place: str) -> Document:
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        raise FileFormatError(f"{place}: {explain(error, kind)}") from None
