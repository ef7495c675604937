"""Supported picture formats, by the first bytes of a file."""

from __future__ import annotations

import io
import re
import struct
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from omibench.errors import FileFormatError, reason_of
from omibench.files.reading import read_bytes, size_text

_MAGIC = {b"\x89PNG\r\n\x1a\n": "png", b"\xff\xd8\xff": "jpeg", b"GIF8": "gif", b"BM": "bmp"}
HEAD_BYTES = 12
"""Number of bytes that identify a format."""


def detect_form(head: bytes) -> str | None:
    """Return `png`, `jpeg`, `gif`, `webp` or `bmp` by a file's first 12 bytes; None otherwise."""
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "webp"
    return next((form for magic, form in _MAGIC.items() if head.startswith(magic)), None)


# Removal of metadata from pictures: places, devices, names, previews.
#
# Pixels are never changed: segments with metadata are removed, all others are kept. A picture
# without metadata keeps its bytes, so that requests with it keep their keys. Colour profiles and
# resolution remain. An orientation other than upright keeps one tag, so that the picture is
# displayed as before.

_PNG_HEAD: Final = b"\x89PNG\r\n\x1a\n"
_PNG_KEPT: Final = frozenset(
    (
        b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"cHRM", b"gAMA", b"iCCP", b"sBIT", b"sRGB",
        b"cICP", b"mDCV", b"mDCv", b"cLLI", b"cLLi", b"bKGD", b"hIST", b"pHYs", b"sPLT", b"oFFs",
        b"acTL", b"fcTL", b"fdAT",
    )
)  # fmt: skip
_WEBP_KEPT: Final = frozenset((b"VP8 ", b"VP8L", b"VP8X", b"ALPH", b"ANIM", b"ANMF", b"ICCP"))
_WEBP_NOTES: Final = 0b1100
"""Bits of VP8X for EXIF (8) and XMP (4) data."""
_GIF_KEPT: Final = (b"NETSCAPE2.0", b"ANIMEXTS1.0", b"ICCRGBG1012")
_EXIF: Final = b"Exif\0\0"
_MARKER = re.compile(rb"\xff+([^\x00\xd0-\xd7\xff])", re.DOTALL)
"""A marker within coded data that is neither a stuffed byte nor a restart."""
_SOS, _EOI = 0xDA, 0xD9


def strip_metadata(data: bytes, form: str) -> bytes:
    """Return the picture without EXIF, XMP, IPTC, comments, previews and trailing data.

    The bytes are unchanged if there is no metadata; a BMP has none. Raises FileFormatError for
    bytes that do not match `form`, because their content is unknown.
    """
    strip = _STRIPPERS.get(form)
    if strip is None:
        return data
    try:
        return strip(data)
    except (struct.error, IndexError, ValueError):
        raise FileFormatError(f"is a damaged {form.upper()}; save the picture again") from None


def read_orientation(exif: bytes) -> int:
    """Return the orientation in a TIFF block (EXIF without its `Exif` mark), 1 to 8."""
    order = {b"II": "<", b"MM": ">"}.get(exif[:2])
    if order is None or len(exif) < 8:
        return 1
    try:
        (start,) = struct.unpack_from(f"{order}I", exif, 4)
        (count,) = struct.unpack_from(f"{order}H", exif, start)
        for i in range(count):
            tag, kind, _, value = struct.unpack_from(f"{order}HHIH", exif, start + 2 + 12 * i)
            if tag == 0x0112 and kind == 3:
                return value if 1 <= value <= 8 else 1
    except struct.error:
        pass
    return 1


def _build_orientation_block(orientation: int) -> bytes:
    """Return a TIFF block that contains only the orientation."""
    return struct.pack(">2sHIHHHIHHI", b"MM", 42, 8, 1, 0x0112, 3, 1, orientation, 0, 0)


def _strip_jpeg(data: bytes) -> bytes:
    parts, orientation, dropped = [data[:2]], 1, False
    place = 2
    while True:
        if data[place] != 0xFF or data[place + 1] in (0x00, 0xFF):
            # Bytes between segments, which decoders skip, can contain anything.
            fill = _MARKER.search(data, place)
            if fill is None:
                raise ValueError("cut off")
            dropped |= data[place : fill.start(1) - 1].strip(b"\xff") != b""
            place = fill.start(1) - 1
        marker = data[place + 1]
        if marker == _EOI:
            parts.append(b"\xff\xd9")
            dropped |= len(data) > place + 2
            break
        end = place + 2 + struct.unpack_from(">H", data, place + 2)[0]
        if end > len(data):
            raise ValueError("cut off")
        if marker == _SOS:
            next_marker = _MARKER.search(data, end)
            if next_marker is None:  # truncated after its last scan, as decoders allow
                parts.append(data[place:])
                break
            end = next_marker.start()
        if _is_note(marker, data[place + 4 : place + 20]):
            dropped = True
            if marker == 0xE1 and data[place + 4 :].startswith(_EXIF) and orientation == 1:
                orientation = read_orientation(data[place + 10 : end])
        else:
            parts.append(data[place:end])
        place = end
    if not dropped:
        return data
    if orientation != 1:
        block = _EXIF + _build_orientation_block(orientation)
        # After JFIF's own segment, which must be first.
        at = 2 if len(parts) > 1 and parts[1][:2] == b"\xff\xe0" else 1
        parts.insert(at, b"\xff\xe1" + struct.pack(">H", len(block) + 2) + block)
    return b"".join(parts)


def _is_note(marker: int, begins: bytes) -> bool:
    """Return whether a JPEG segment is metadata; JFIF, colour profiles and Adobe's mark are not."""
    if marker == 0xE0:
        return not begins.startswith(b"JFIF\0")
    if marker == 0xE2:
        return not begins.startswith(b"ICC_PROFILE\0")
    if marker == 0xEE:
        return not begins.startswith(b"Adobe")
    return marker == 0xFE or 0xE0 < marker <= 0xEF


def _strip_png(data: bytes) -> bytes:
    chunks, orientation, place = [_PNG_HEAD], 1, len(_PNG_HEAD)
    dropped = False
    if not data.startswith(_PNG_HEAD):
        raise ValueError("no PNG")
    while place < len(data):
        (length,) = struct.unpack_from(">I", data, place)
        kind, end = data[place + 4 : place + 8], place + 12 + length
        if end > len(data):
            raise ValueError("cut off")
        critical = not kind[0] & 0x20
        if critical or kind in _PNG_KEPT:
            chunks.append(data[place:end])
        else:
            dropped = True
            if kind == b"eXIf":
                orientation = read_orientation(data[place + 8 : end - 4])
        place = end
        if kind == b"IEND":
            break
    if not dropped and place == len(data):
        return data
    if orientation != 1:
        chunks.insert(2, _png_chunk(b"eXIf", _build_orientation_block(orientation)))  # behind IHDR
    return b"".join(chunks)


def _png_chunk(kind: bytes, content: bytes) -> bytes:
    from zlib import crc32

    body = kind + content
    return struct.pack(">I", len(content)) + body + struct.pack(">I", crc32(body))


def _strip_webp(data: bytes) -> bytes:
    (size,) = struct.unpack_from("<I", data, 4)
    stop = min(len(data), 8 + size)
    chunks, orientation, dropped, place = [], 1, False, 12
    while place + 8 <= stop:
        kind = data[place : place + 4]
        (length,) = struct.unpack_from("<I", data, place + 4)
        end = place + 8 + length + (length & 1)
        if place + 8 + length > stop:
            raise ValueError("cut off")
        if kind in _WEBP_KEPT:
            chunks.append(data[place:end])
        else:
            dropped = True
            if kind == b"EXIF":
                block = data[place + 8 : place + 8 + length]
                orientation = read_orientation(block.removeprefix(_EXIF))
        place = end
    if not dropped and len(data) <= 8 + size + (size & 1):
        return data
    flag = 0
    if orientation != 1:
        block = _build_orientation_block(orientation)
        chunks.append(b"EXIF" + struct.pack("<I", len(block)) + block)
        flag = 8
    chunks = [_set_flag(chunk, flag) if chunk[:4] == b"VP8X" else chunk for chunk in chunks]
    content = b"WEBP" + b"".join(chunks)
    return b"RIFF" + struct.pack("<I", len(content)) + content


def _set_flag(chunk: bytes, flag: int) -> bytes:
    return chunk[:8] + bytes([chunk[8] & ~_WEBP_NOTES | flag]) + chunk[9:]


def _strip_gif(data: bytes) -> bytes:
    parts, dropped = [], False
    for part, is_note in _gif_parts(data):
        dropped |= is_note
        if not is_note:
            parts.append(part)
    return b"".join(parts) if dropped else data


def _gif_parts(data: bytes) -> Iterator[tuple[bytes, bool]]:
    """Yield the blocks of a GIF, and whether each is metadata or trailing data."""
    place = 13 + _table(data[10])
    yield data[:place], False
    while data[place] != 0x3B:
        start = place
        if data[place] == 0x2C:
            place = _behind(data, place + 11 + _table(data[place + 9]))
            yield data[start:place], False
        elif data[place] == 0x21:
            label = data[place + 1]
            place = _behind(data, place + 2)
            named = data[start + 3 : start + 14]
            yield data[start:place], label == 0xFE or (label == 0xFF and named not in _GIF_KEPT)
        else:
            raise ValueError("no block")
    yield data[place : place + 1], False
    if len(data) > place + 1:
        yield data[place + 1 :], True


def _table(flags: int) -> int:
    """Return the bytes of the colour table given by a GIF's flags."""
    return 3 * 2 ** ((flags & 7) + 1) if flags & 0x80 else 0


def _behind(data: bytes, place: int) -> int:
    """Return the end of the sub-blocks that begin at `place`."""
    while data[place]:
        place += 1 + data[place]
    return place + 1


_STRIPPERS: Final[dict[str, Callable[[bytes], bytes]]] = {
    "jpeg": _strip_jpeg,
    "png": _strip_png,
    "webp": _strip_webp,
    "gif": _strip_gif,
}


# Untrusted pictures: checked for format, completeness and size.

PICTURE_BYTES: Final = 100 * 2**20
PIXELS: Final = 178_956_970
"""Maximum pixels of a picture, as in Pillow. A WebP, which Pillow decodes into four copies, has at
most a quarter."""
SUFFIXES: Final = {"png": "png", "jpeg": "jpg", "gif": "gif", "webp": "webp", "bmp": "bmp"}
READERS: Final = ("PNG", "JPEG", "GIF", "WEBP", "BMP")
"""Pillow's names of the formats; some of its other readers run programs."""
_COARSE: Final = 8
_SCAN: Final = re.compile(rb"\xff\xda\0(?:\x08\x01|\x0a\x02|\x0c\x03|\x0e\x04)")
_SCANS: Final = 100
"""Maximum scans of a JPEG. Each passes over all pixels; programs write at most about 20."""


class EncodedPicture(NamedTuple):
    """A checked picture: its unchanged bytes, its format by content, and its size."""

    data: bytes
    form: str
    """`png`, `jpeg`, `gif`, `webp` or `bmp`."""
    width: int
    """Size in pixels as stored; an orientation tag can rotate it."""
    height: int

    @property
    def suffix(self) -> str:
        """File extension without the dot."""
        return SUFFIXES[self.form]


def read_picture(
    source: str | Path | bytes, place: str = "", limit: int = PICTURE_BYTES, decode: bool = True
) -> EncodedPicture:
    """Read a picture from a file or bytes; `place` identifies the latter in errors.

    The file name is ignored. With `decode` False, only the header is checked. Raises as
    `read_bytes` does, and FileFormatError if the content is not PNG, JPEG, GIF, WebP or BMP,
    cannot be decoded, is truncated, or has more than 179 million pixels or `limit` bytes.
    """
    data = source if isinstance(source, bytes) else read_bytes(source, limit)
    place = place or ("a picture" if isinstance(source, bytes) else str(source))
    if len(data) > limit:
        raise FileFormatError(
            f"{place}: has {size_text(len(data))}; the limit for a picture is {size_text(limit)}"
        )
    form = detect_form(data[:HEAD_BYTES])
    if form is None:
        raise FileFormatError(
            f"{place}: is not a picture by its first bytes; give a PNG, JPEG, GIF, WebP or BMP"
        )
    if form == "jpeg" and len(_SCAN.findall(data)) > _SCANS:
        raise FileFormatError(f"{place}: has more than {_SCANS} scans; save the picture again")
    width, height = _look(data, form, place, decode)
    return EncodedPicture(data, form, width, height)


def _look(data: bytes, form: str, place: str, decode: bool) -> tuple[int, int]:
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # Pillow's warning about large pictures: our own limit follows
            image = Image.open(io.BytesIO(data), formats=[form.upper()])
        size = image.size
        most = PIXELS // 4 if form == "webp" else PIXELS
        if size[0] * size[1] <= most and decode:
            if form == "jpeg":
                # An eighth of its width: every block is read, few are transformed.
                image.draft(None, (max(1, size[0] // _COARSE), max(1, size[1] // _COARSE)))
            image.load()
    except Image.DecompressionBombError:
        raise FileFormatError(_too_many(place, PIXELS)) from None
    except Exception as error:  # Pillow raises many types of errors for damaged files
        cause = reason_of(error).partition(" <_io.")[0]
        raise FileFormatError(f"{place}: is a damaged picture: {cause}") from None
    if size[0] * size[1] > most:
        raise FileFormatError(_too_many(place, most))
    return size


def _too_many(place: str, most: int) -> str:
    return f"{place}: has more than {most:,} pixels; make the picture smaller"
