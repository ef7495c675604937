"""How alike two texts or pictures are: normal forms, runs of words, and perceptual hashes."""

from __future__ import annotations

import io
import re
import unicodedata
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError
from PIL.Image import Image as Picture

from glyphtex.latex import normalise as normalise_formula
from glyphtex.latex import replace_formulas
from omibench.errors import FileFormatError, MissingInputError, reason_of
from omibench.files.pictures import PICTURE_BYTES, READERS
from omibench.files.reading import read_bytes
from omibench.text.figure_labels import FIGURE_NUMBERS

# Perceptual hashes: similar pictures have hashes that differ in few bits.


def difference_hash(picture: Path) -> int:
    """Return the 64-bit difference hash of a picture's inked area.

    White margins are cropped first, because crops of one figure differ in them. The rest is scaled
    to 9 x 4 and to 4 x 9 grey values: 32 bits state which values exceed their right neighbour, and
    32 which exceed the one below. (Curves on equal axes differ in both directions, so this
    separated more of them than 9 x 8 values compared only horizontally.)

    Raises:
        MissingInputError: The picture does not exist.
        FileFormatError: The picture cannot be read.
    """
    try:
        data = read_bytes(picture, PICTURE_BYTES)
    except MissingInputError:
        if picture.exists():
            raise
        raise MissingInputError(
            f"{picture}: picture not found; run `omibench ocr` again to write it"
        ) from None
    try:
        with Image.open(io.BytesIO(data), formats=READERS) as image:
            grey = _on_white(image)
    except (UnidentifiedImageError, OSError, Image.DecompressionBombError) as error:
        raise FileFormatError(
            f"{picture}: cannot be read as a picture: {reason_of(error)}; replace the file or "
            "run `omibench ocr` again"
        ) from None
    inked = ImageOps.invert(grey).point(lambda value: 255 if value > 25 else 0).getbbox()
    drawing = grey.crop(inked)
    across = _falls(np.asarray(drawing.resize((9, 4), Image.Resampling.BOX), dtype=np.int16))
    down = _falls(np.asarray(drawing.resize((4, 9), Image.Resampling.BOX), dtype=np.int16).T)
    return int("".join("1" if bit else "0" for bit in np.append(across, down)), 2)


def _falls(values: NDArray[np.int16]) -> NDArray[np.bool_]:
    # A margin of one grey level keeps the noise of compression out of blank areas.
    return (values[:, :-1] > values[:, 1:] + 1).ravel()


def hamming(a: int, b: int) -> int:
    """Return the number of bits in which two hashes differ, 0 to 64."""
    return (a ^ b).bit_count()


def _on_white(image: Picture) -> Picture:
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        layer = image.convert("RGBA")
        page = Image.new("RGBA", layer.size, "white")
        return Image.alpha_composite(page, layer).convert("L")
    return image.convert("L")


# Words of a text, and a form in which two printings are equal.

_CJK = "\u3400-\u9fff\uf900-\ufaff\u3040-\u30ff\uac00-\ud7af"
_WORD = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+")
# Keep signs that change the meaning of a formula; remove formatting.
_DRESS = re.compile(r"[^\w\s.+\-<>=≤≥≠/*^%°·×√π]|_")
_MINUS = str.maketrans({"−": "-", "–": "-", "—": "-", "‐": "-"})


def count_words(text: str) -> int:
    """Return the number of words; scripts without spaces count two characters as one word."""
    words = _WORD.findall(text)
    dense = sum(1 for word in words if re.match(f"[{_CJK}]", word))
    return len(words) - dense + (dense + 1) // 2


def normalise(text: str) -> str:
    """Return text in a form in which two printings of one problem are equal.

    Case, spacing, punctuation, typographic variants and figure numbers (which count through a
    paper) are ignored. Digits and the signs of formulas count, in normalized formulas. The function
    is idempotent.
    """
    text = replace_formulas(text, lambda span: f" {normalise_formula(span.latex)} ")
    simpler = _simplify(text)
    while simpler != text:
        text, simpler = simpler, _simplify(simpler)
    return simpler


def _simplify(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).translate(_MINUS).casefold()
    unnumbered = FIGURE_NUMBERS.sub(" figure ", folded)
    bare = _DRESS.sub(" ", unnumbered)
    return " ".join(re.sub(r"(?<!\d)\.|\.(?!\d)", " ", bare).split())


def shingles(text: str, size: int = 3) -> frozenset[tuple[str, ...]]:
    """Return every run of `size` words; a text with fewer words is one run."""
    words = _WORD.findall(text)
    runs = max(len(words) - size + 1, 1)
    return frozenset(tuple(words[i : i + size]) for i in range(runs))
