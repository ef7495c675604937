"""The columns of a release's Parquet files, for Arrow and for `datasets`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from omibench.datasets.release.rows import ReleaseItem, build_row, withhold_texts
from omibench.datasets.release_contents import PREFIX
from omibench.errors import FileFormatError
from omibench.files.pictures import PICTURE_BYTES, EncodedPicture, read_picture, strip_metadata
from omibench.files.reading import Container, read_bytes
from omibench.schemas.problem import Figure

if TYPE_CHECKING:
    import pyarrow as pa


CANARY: Final = "canary"
_STRING: Final = "string"
_TEXTS: Final = ["string"]
_CHOICES: Final = [{"label": "string", "text": "string", "image": "int32"}]
_COLUMNS: Final[Mapping[str, tuple[Any, str]]] = {
    "id": (_STRING, "Stable identifier of the item."),
    "question": (
        _STRING,
        "Markdown with LaTeX; [IMAGE0], [IMAGE1], ... mark the positions of `images`. Null for "
        "metadata-only items.",
    ),
    "images": (["image"], "The original bytes of the pictures, never re-encoded."),
    "choices": (_CHOICES, "Options of a multiple-choice item: a text, or the index of a picture."),
    "answer": (
        _TEXTS,
        "Gold answer: letters of a multiple-choice key, or the parts of an open answer.",
    ),
    "answer_type": (_STRING, "`mcq` or `open`."),
    "rationale": (_STRING, "Reference solution, step by step."),
    "rationale_simulated": ("bool", "Whether a simulated model wrote the rationale."),
    "subject": (_STRING, "Domain of the item."),
    "topic": (_STRING, "Topic within the subject."),
    "language": (_STRING, "ISO 639-1 code of the question."),
    "group": (_STRING, "Items that share a stem share a group."),
    "subset": (_STRING, "Part of the benchmark that the item belongs to."),
    "source": (_STRING, "Name of the paper or benchmark that it was taken from."),
    "licence": (_STRING, "Licence of the item."),
    "access": (_STRING, "`full`, or `metadata` if texts and pictures cannot be redistributed."),
    "pages": (["int32"], "Pages of the paper, from 1."),
    "figures": (
        [{"sha256": "string", "page": "int32", "bbox": ["float64"], "caption": "string"}],
        "SHA-256, page, box (PDF points from the top left corner) and caption of each picture.",
    ),
    "original_language": (_STRING, "Language of the text before its translation."),
    "original_question": (_STRING, "The question before its translation."),
    "original_choices": (_CHOICES, "The options before their translation."),
    "translator": (_STRING, "The translator."),
    CANARY: (_STRING, "A text to search training data for."),
}
"""Name -> type and meaning; a list of one type is a list column, a mapping a struct column."""


def describe_columns(several: Mapping[str, bool]) -> dict[str, dict[str, Any]]:
    """Return the columns of a release: name -> type and meaning, as in schema.json.

    Args:
        several: Names of the attributes, and whether an attribute is a list of labels.
    """
    attributes = {
        PREFIX + name: {
            "type": _TEXTS if is_list else _STRING,
            "meaning": f"The attribute `{name}` of the item.",
        }
        for name, is_list in several.items()
    }
    columns = {name: {"type": kind, "meaning": text} for name, (kind, text) in _COLUMNS.items()}
    return columns | attributes


def arrow_schema(several: Mapping[str, bool]) -> pa.Schema:
    """Return the schema of the files, with the `datasets` features in its metadata.

    Args:
        several: Names of the attributes, and whether an attribute is a list of labels.
    """
    import pyarrow as pa

    types = {name: column["type"] for name, column in describe_columns(several).items()}
    features = {name: _feature(kind) for name, kind in types.items()}
    note = json.dumps({"info": {"features": features}}, sort_keys=True)
    fields = [pa.field(name, _arrow_type(kind)) for name, kind in types.items()]
    return pa.schema(fields, metadata={"huggingface": note})


def _feature(kind: Any) -> Any:
    if isinstance(kind, list):
        return {"feature": _feature(kind[0]), "_type": "List"}
    if isinstance(kind, Mapping):
        return {name: _feature(inner) for name, inner in kind.items()}
    return {"_type": "Image"} if kind == "image" else {"dtype": kind, "_type": "Value"}


def _arrow_type(kind: Any) -> pa.DataType:
    import pyarrow as pa

    if isinstance(kind, list):
        return pa.list_(_arrow_type(kind[0]))
    if isinstance(kind, Mapping):
        return pa.struct([(name, _arrow_type(inner)) for name, inner in kind.items()])
    if kind == "image":
        return pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    return pa.type_for_alias(kind)


# Parquet files of a release: rows with the original bytes of their pictures.

SHARD_BYTES: Final = 256 * 2**20
"""The maximum bytes of pictures in one file, unless a single item has more."""
ROW_GROUP: Final = 16
"""Rows in memory at once, for writers and readers."""


class PictureReader:
    """Reads frozen pictures and counts those with metadata of cameras or programs."""

    def __init__(self, folder: Path) -> None:
        self._container = Container(folder)
        self._looked_at: set[str] = set()
        self.with_notes: set[str] = set()
        """SHA-256 of the pictures that contain EXIF, XMP, IPTC or comments."""
        self.sizes: dict[str, tuple[int, int]] = {}
        """SHA-256 -> width and height in pixels, as stored."""

    def measure(self, figure: Figure) -> int:
        """Return the bytes of a figure's file; raise MissingInputError if it does not exist."""
        from omibench.files.reading import open_regular

        with open_regular(self._container.path(figure.file), PICTURE_BYTES) as file:
            return file.seek(0, 2)

    def read(self, figure: Figure) -> bytes:
        """Return the bytes of a figure.

        Raises:
            MissingInputError: Its file does not exist.
            FileFormatError: Its bytes do not match its SHA-256, or are not a complete picture.
        """
        content, path = self._load(figure)
        picture = self._note_size(figure, content, path)
        if figure.sha256 not in self._looked_at:
            self._looked_at.add(figure.sha256)
            if strip_metadata(content, picture.form) != content:
                self.with_notes.add(figure.sha256)
        return content

    def note_size(self, figure: Figure) -> None:
        """Read the size of a figure; raise as `read`."""
        if figure.sha256 not in self.sizes:
            self._note_size(figure, *self._load(figure))

    def _load(self, figure: Figure) -> tuple[bytes, Path]:
        path = self._container.path(figure.file)
        content = read_bytes(path, PICTURE_BYTES)
        if hashlib.sha256(content).hexdigest() != figure.sha256:
            raise FileFormatError(f"{path}: its content does not match its SHA-256; freeze again")
        return content, path

    def _note_size(self, figure: Figure, content: bytes, path: Path) -> EncodedPicture:
        picture = read_picture(content, str(path), decode=False)
        self.sizes[figure.sha256] = (picture.width, picture.height)
        return picture


def plan_shards(items: Sequence[ReleaseItem], reader: PictureReader) -> list[list[ReleaseItem]]:
    """Distribute the items of a split to files, in order, by the bytes of their pictures."""
    shards: list[list[ReleaseItem]] = [[]]
    filled = 0
    for item in items:
        is_full = item.access == "full"
        size = sum(map(reader.measure, item.figures)) if is_full else 0
        if shards[-1] and filled + size > SHARD_BYTES:
            shards.append([])
            filled = 0
        shards[-1].append(item)
        filled += size
    return shards


def write_table(
    path: Path,
    items: Sequence[ReleaseItem],
    reader: PictureReader,
    several: Mapping[str, bool],
    canary: str,
) -> None:
    """Write one Parquet file; the same rows and packages give the same bytes.

    Args:
        path: The file.
        items: Its rows, in order.
        reader: The reader of their pictures.
        several: Names of the attributes, and whether an attribute is a list of labels.
        canary: The value of the canary column.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = arrow_schema(several)
    path.parent.mkdir(parents=True, exist_ok=True)
    with pq.ParquetWriter(path, schema, compression="zstd", use_dictionary=False) as writer:
        for group in _list_groups(items):
            rows = [_fill_row(item, reader, several, canary) for item in group]
            columns = [pa.array([row[field.name] for row in rows], field.type) for field in schema]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))


def _list_groups(items: Sequence[ReleaseItem]) -> Iterator[Sequence[ReleaseItem]]:
    for start in range(0, len(items), ROW_GROUP):
        yield items[start : start + ROW_GROUP]


def _fill_row(
    item: ReleaseItem, reader: PictureReader, several: Mapping[str, bool], canary: str
) -> dict[str, Any]:
    row = build_row(item, several)
    if item.access == "metadata":
        return {**withhold_texts(row), "images": [], CANARY: canary}
    images = [
        {"bytes": reader.read(figure), "path": Path(figure.file).name} for figure in item.figures
    ]
    return {**row, "images": images, CANARY: canary}
