"""Parquet files of a release: rows with the original bytes of their pictures."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from omibench.errors import FileFormatError
from omibench.files.intake import read_bytes, read_picture, strip_metadata
from omibench.files.intake.containment import Container
from omibench.files.intake.picture import PICTURE_BYTES, EncodedPicture
from omibench.release.columns import CANARY, arrow_schema
from omibench.release.rows import ReleaseItem, build_row, withhold_texts
from omibench.schemas.problem import Figure

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
        from omibench.files.intake import open_regular

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
    for release_item in items:
        is_full = release_item.access == "full"
        size = sum(map(reader.measure, release_item.figures)) if is_full else 0
        if shards[-1] and filled + size > SHARD_BYTES:
            shards.append([])
            filled = 0
        shards[-1].append(release_item)
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
            rows = [_fill_row(release_item, reader, several, canary) for release_item in group]
            columns = [pa.array([row[field.name] for row in rows], field.type) for field in schema]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))


def _list_groups(items: Sequence[ReleaseItem]) -> Iterator[Sequence[ReleaseItem]]:
    for start in range(0, len(items), ROW_GROUP):
        yield items[start : start + ROW_GROUP]


def _fill_row(
    release_item: ReleaseItem, reader: PictureReader, several: Mapping[str, bool], canary: str
) -> dict[str, Any]:
    row = build_row(release_item, several)
    if release_item.access == "metadata":
        return {**withhold_texts(row), "images": [], CANARY: canary}
    images = [
        {"bytes": reader.read(figure), "path": Path(figure.file).name}
        for figure in release_item.figures
    ]
    return {**row, "images": images, CANARY: canary}
