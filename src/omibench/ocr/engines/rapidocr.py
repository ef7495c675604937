"""RapidOCR: PP-OCR detection and recognition in onnxruntime, its models part of the package.

Lines are found in a picture of at most 1,184 pixels and read at full size, so that the process
stays below 600 MB whatever the page; one session, one thread.
"""

from __future__ import annotations

from typing import Any

from omibench.errors import MissingInputError
from omibench.ocr.engines.engine import Pixels, Point, Reading

NAME = "rapidocr"
_SIDE = 1184
_TALL = 1.5
_SAMPLE = 8
_SURE = 0.8
_CLEARLY = 0.15


class RapidOcr:
    """The engine, its session opened once a process."""

    name = NAME

    def __init__(self) -> None:
        try:
            from rapidocr import RapidOCR
        except ImportError as error:
            raise MissingInputError(
                "engine rapidocr: the package is not installed: pip install 'omibench[ocr]'"
            ) from error
        threads = "EngineConfig.onnxruntime"
        self._ocr = RapidOCR(
            params={
                "Global.log_level": "critical",
                "Global.use_cls": False,
                "Global.max_side_len": _SIDE,
                "Rec.rec_batch_num": 1,
                f"{threads}.intra_op_num_threads": 1,
                f"{threads}.inter_op_num_threads": 1,
            }
        )

    def read(self, picture: Pixels) -> list[Reading]:
        """Every line that is found, those that cannot be recognised left out."""
        return self._recognised(picture, self._found(picture))

    def turned(self, picture: Pixels) -> int:
        """The turn under which the longest lines are read with most confidence; 0 when in doubt.

        Only a picture most of whose text stands in upright boxes is tried on its sides, and only
        one that reads badly as it is on its head.
        """
        quads = self._found(picture)
        longest = sorted(quads, key=_reach, reverse=True)[:_SAMPLE]
        if not longest:
            return 0
        on_side = sum(_is_tall(q) for q in longest) * 2 > len(longest)
        as_is, on_head = self._sure(picture, longest, 0), None
        if as_is >= _SURE and not on_side:
            return 0
        on_head = self._sure(picture, longest, 2)
        if on_side:
            # Lines on their side are laid down by turning them left, as a picture turned by 270 is.
            return 270 if as_is >= on_head else 90
        return 180 if on_head > as_is + _CLEARLY else 0

    def _sure(self, picture: Pixels, quads: list[Any], turns: int) -> float:
        """Mean confidence, weighed by length, with which lines are read, each turned by quarters."""
        import numpy as np

        crops = [np.rot90(_cut(picture, q)[:, :, ::-1], turns) for q in quads]
        read = self._ocr.recognize_txt(crops)
        pairs = list(zip(read.scores, read.txts, strict=True))
        return sum(score * len(text) for score, text in pairs) / max(
            1, sum(len(t) for _, t in pairs)
        )

    def _found(self, picture: Pixels) -> list[Any]:
        found = self._ocr(picture[:, :, ::-1], use_det=True, use_cls=False, use_rec=False)
        boxes = getattr(found, "boxes", None)
        return [] if boxes is None else list(boxes)

    def _recognised(self, picture: Pixels, quads: list[Any]) -> list[Reading]:
        if not quads:
            return []
        crops = [_cut(picture, quad)[:, :, ::-1] for quad in quads]
        read = self._ocr.recognize_txt(crops)
        return [
            Reading(text.strip(), _points(quad), float(score))
            for text, score, quad in zip(read.txts, read.scores, quads, strict=True)
            if text.strip()
        ]


def _is_tall(quad: Any) -> bool:
    """Whether a line stands on its side, and is laid down before it is read."""
    return _far(quad[0], quad[3]) >= _TALL * _far(quad[0], quad[1])


def _reach(quad: Any) -> float:
    return max(_far(quad[0], quad[1]), _far(quad[0], quad[3]))


def _points(quad: Any) -> tuple[Point, Point, Point, Point]:
    a, b, c, d = ((float(x), float(y)) for x, y in quad)
    return a, b, c, d


def _cut(picture: Pixels, quad: Any) -> Any:
    """The pixels of one line, levelled; one that is taller than wide is laid on its side."""
    import cv2
    import numpy as np

    corners = np.asarray(quad, np.float32)
    width = round(max(_far(corners[0], corners[1]), _far(corners[3], corners[2]), 1))
    height = round(max(_far(corners[0], corners[3]), _far(corners[1], corners[2]), 1))
    frame = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
    matrix = cv2.getPerspectiveTransform(corners, frame)
    crop = cv2.warpPerspective(
        picture, matrix, (width, height), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE
    )
    return np.rot90(crop) if height >= _TALL * width else crop


def _far(a: Any, b: Any) -> float:
    return float(((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2) ** 0.5)
