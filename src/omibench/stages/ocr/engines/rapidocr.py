"""RapidOCR: PP-OCR in onnxruntime, on pictures that are turned upright and evenly lit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any

from omibench.errors import MissingInputError, reason_of
from omibench.extras import has_extra, require_extra
from omibench.stages.ocr.engines.engine import Pixels, Point, Reading, quarter_turned
from omibench.stages.ocr.engines.registry import engine

_SIDE = 800
"""The longer side of the downscaled picture, in pixels."""
_TILE = 80
_INK = 60.0
"""Levels of grey: darker ink is capped, so that thick rules do not outweigh letters."""
_MIN_RATIO = 1.3


def lies_on_side(picture: Pixels) -> bool:
    """Guess whether text runs in columns: more inked tiles vary along columns than along rows.

    Rows of letters with white between them make the mean ink of a tile's pixel rows vary more than
    that of its pixel columns. Figures and tables have columns too.
    """
    import cv2
    import numpy as np

    grey = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)
    factor = min(1.0, _SIDE / max(grey.shape))
    height, width = (max(1, round(side * factor) // _TILE) for side in grey.shape)
    small = cv2.resize(grey, (width * _TILE, height * _TILE), interpolation=cv2.INTER_AREA)
    paper = cv2.morphologyEx(small, cv2.MORPH_CLOSE, np.ones((15, 15), np.uint8))
    ink = np.minimum(cv2.subtract(paper, small), _INK).astype(np.float32)
    tiles = ink.reshape(height, _TILE, width, _TILE)
    rows, columns = tiles.mean(axis=3).var(axis=1), tiles.mean(axis=1).var(axis=2)
    amount = tiles.mean(axis=(1, 3))
    inked = amount >= np.median(amount)
    return bool(
        np.count_nonzero(inked & (columns > _MIN_RATIO * rows))
        > np.count_nonzero(inked & (rows > _MIN_RATIO * columns))
    )


# Remove shadows, lamps and yellow paper from a picture, so that only ink is dark.

_SPOT = 12
"""The share of the shorter side of the spots that estimate the paper's brightness."""
_PAPER = 235.0
_COARSE = 4
"""The downscaling factor for smoothing the paper's brightness."""


def evenly_lit(picture: Pixels) -> Pixels:
    """Return the picture in grey (three equal channels), with uniform paper brightness.

    The brightest value around a point is taken as the paper there; ink keeps its contrast to it.
    """
    import cv2
    import numpy as np

    grey = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)
    height, width = grey.shape
    side = max(3, min(height, width) // _SPOT | 1)
    closed = cv2.morphologyEx(grey, cv2.MORPH_CLOSE, np.ones((side, side), np.uint8))
    size = (max(1, width // _COARSE), max(1, height // _COARSE))
    coarse = cv2.resize(closed, size, interpolation=cv2.INTER_AREA).astype(np.float32)
    smooth = cv2.GaussianBlur(coarse, (0, 0), side / 2 / _COARSE)
    paper = cv2.resize(smooth, (width, height), interpolation=cv2.INTER_LINEAR)
    even = np.clip(grey / np.maximum(paper, 1) * np.float32(_PAPER), 0, 255).astype(np.uint8)
    return np.repeat(even[:, :, None], 3, axis=2)


# RapidOCR: PP-OCR detection and recognition in onnxruntime, with models included in the package.
#
# Lines are detected in an evenly lit picture of a million pixels and recognised at full size, which
# keeps the process below 600 MB on any page. It uses one session and one thread.

NAME = "rapidocr"
_AREA = 1_000_000
"""The number of pixels for line detection, limited by memory."""
_CERTAIN, _FAINT = 0.5, 0.35
"""Scores of a detected line: usual minimum, and minimum of a long line."""
_LONG = 8.0
"""The minimum ratio of a long line's width to its height."""
_MAX_TURN_RATIO = 4.0
_NO_LIMIT = 100_000
_TALL = 1.5
_LEFT_TURN = 270
"""The turn for lines that run upwards, as on upright photographs of phones."""
_VOTERS = 9
_MINORITY = 0.2
_SAMPLE = 5
_HALF = 0.5
_CLEARLY = 0.15
_CLASSIFIED, _GLANCE, _WHOLE_LINE = 4.0, 6.6, 1000.0
"""The aspect ratio of the part of a line sent to the classifier and recogniser for direction."""


def is_installed() -> bool:
    """Return whether the package and its dependencies are installed, without loading them."""
    return has_extra("ocr")


@engine(NAME, is_installed)
class RapidOcr:
    """The engine; its session is opened once per process."""

    name = NAME

    def __init__(self) -> None:
        require_extra("ocr", "ocr.engine: rapidocr")
        try:
            import cv2

            with _libyaml():
                from rapidocr import RapidOCR
        except ImportError as error:  # a library of the system that it links to is not there
            raise MissingInputError(
                f"ocr.engine: rapidocr cannot be imported ({reason_of(error)})"
            ) from error
        cv2.setNumThreads(1)
        _flush_denormals()
        _keep_faint_lines()
        self._last: tuple[Pixels, list[Any]] | None = None
        threads = "EngineConfig.onnxruntime"
        # Flush denormal numbers to zero only on the thread that opens the networks.
        self._thread = ThreadPoolExecutor(1)
        self._ocr = self._call(
            RapidOCR,
            params={
                "Global.log_level": "critical",
                "Global.use_cls": False,
                "Global.max_side_len": _NO_LIMIT,
                "Det.limit_type": "max",
                "Det.limit_side_len": _NO_LIMIT,
                "Det.box_thresh": _FAINT,
                "Rec.rec_batch_num": 1,
                f"{threads}.intra_op_num_threads": 1,
                f"{threads}.inter_op_num_threads": 1,
            },
        )

    def _call(self, network: Callable[..., Any], *values: Any, **options: Any) -> Any:
        """Run a network on its own thread."""
        return self._thread.submit(network, *values, **options).result()

    def upright(self, picture: Pixels) -> tuple[Pixels, int]:
        """Turn the picture by quarters so that its longest lines are upright.

        Lines in tall boxes are turned first. The classifier of direction decides whether lines are
        upside down; doubtful cases, and cases that would turn a picture of level lines, are settled
        by reading both ways.
        """
        picture, lying = self._lay_down(picture)
        turn = _LEFT_TURN if lying else 0
        if self._on_head(picture, lying=lying):
            turn, picture = (turn + 180) % 360, self._stood_up(picture)
        return picture, turn

    def read(self, picture: Pixels) -> list[Reading]:
        """Return every detected line that can be recognised."""
        return self._recognise(picture, self._find_lines(picture))

    def _lay_down(self, picture: Pixels) -> tuple[Pixels, bool]:
        """Return the picture with its longest lines level, and whether it was on its side.

        Detection is slow: if the ink runs up and down, the turned picture is tried first.
        """
        turned = quarter_turned(picture, _LEFT_TURN)
        if lies_on_side(picture) and self._tall_share(turned) <= _HALF:
            return turned, True
        lying = _HALF < self._tall_share(picture) <= 1
        return (turned, True) if lying else (picture, False)

    def _tall_share(self, picture: Pixels) -> float:
        """Return the share of tall boxes among the longest; infinite without lines."""
        longest = self._longest(picture, _SAMPLE)
        return sum(map(_is_tall, longest)) / len(longest) if longest else math.inf

    def _longest(self, picture: Pixels, count: int) -> list[Any]:
        return sorted(self._find_lines(picture), key=_reach, reverse=True)[:count]

    def _on_head(self, picture: Pixels, *, lying: bool) -> bool:
        """Return whether level lines are upside down; for pictures on their side, both are as
        likely."""
        quads = self._longest(picture, _VOTERS)
        share = self._turned_share(picture, quads)
        decided = share <= _MINORITY or share >= 1 - _MINORITY
        if share <= _MINORITY or (lying and decided):
            return share > _MINORITY
        # The classifier suffices if it is certain; in doubt, whole lines are read.
        longest, aspect = quads[:_SAMPLE], _GLANCE if decided else _WHOLE_LINE
        margin = 0.0 if lying else _CLEARLY
        upside_down = self._sure(picture, longest, 2, aspect)
        return upside_down > self._sure(picture, longest, 0, aspect) + margin

    def _turned_share(self, picture: Pixels, quads: list[Any]) -> float:
        """Return the share, by length, of lines that the classifier calls upside down."""
        if not quads:
            return 0.0
        heads = [_head(_cut(picture, quad), _CLASSIFIED)[:, :, ::-1] for quad in quads]
        results = self._call(self._ocr.cls_and_rotate, heads)[1].cls_res or []
        turned = sum(
            _reach(quad) for quad, (label, _) in zip(quads, results, strict=True) if label == "180"
        )
        return turned / sum(map(_reach, quads))

    def _stood_up(self, picture: Pixels) -> Pixels:
        """Return the picture turned by 180 degrees, with the positions of its lines."""
        height, width = picture.shape[:2]
        quads = [
            _order_corners([width - 1, height - 1] - quad) for quad in self._find_lines(picture)
        ]
        self._last = (quarter_turned(picture, 180), quads)
        return self._last[0]

    def _sure(self, picture: Pixels, quads: list[Any], turns: int, aspect: float) -> float:
        """Return the mean confidence, weighted by length, of the first parts of lines after a
        turn."""
        import numpy as np

        heads = [_head(_cut(picture, quad), aspect)[:, :, ::-1] for quad in quads]
        read = self._call(self._ocr.recognize_txt, [np.rot90(head, turns) for head in heads])
        pairs = list(zip(read.scores or (), read.txts or (), strict=True))
        total = sum(len(text) for _, text in pairs)
        return float(sum(score * len(text) for score, text in pairs) / max(1, total))

    def _find_lines(self, picture: Pixels) -> list[Any]:
        """Return the corners of every line; those of the last picture are cached."""
        if self._last is None or self._last[0] is not picture:
            small, factor = _scale_to_area(picture)
            steps = {"use_det": True, "use_cls": False, "use_rec": False}
            result = self._call(self._ocr, evenly_lit(small), **steps)
            boxes = getattr(result, "boxes", None)
            self._last = (
                picture,
                [] if boxes is None else [_order_corners(box / factor) for box in boxes],
            )
            _give_back()
        return self._last[1]

    def _recognise(self, picture: Pixels, quads: list[Any]) -> list[Reading]:
        if not quads:
            return []
        crops = [_cut(picture, quad)[:, :, ::-1] for quad in quads]
        read = self._call(self._ocr.recognize_txt, crops)
        _give_back()
        return [
            Reading(text.strip(), _points(quad), float(score))
            for text, score, quad in zip(read.txts or (), read.scores or (), quads, strict=True)
            if text.strip()
        ]


@contextmanager
def _libyaml() -> Iterator[None]:
    """Make YAML parse in C: the package parses its long lists of models on import, twice."""
    import yaml

    slow = yaml.SafeLoader
    yaml.SafeLoader = getattr(yaml, "CSafeLoader", slow)  # type: ignore[misc]
    try:
        yield
    finally:
        yaml.SafeLoader = slow  # type: ignore[misc]


def _flush_denormals() -> None:
    """Make the package's networks flush denormal numbers to zero.

    Processors compute with them many times slower; no letter changes.
    """
    from rapidocr.inference_engine.onnxruntime.main import OrtInferSession

    build: Callable[[Any], Any] = OrtInferSession._init_sess_opts
    if getattr(build, "flushes_denormals", False):
        return

    def build_options(config: Any) -> Any:
        options = build(config)
        options.add_session_config_entry("session.set_denormal_as_zero", "1")
        return options

    build_options.flushes_denormals = True  # type: ignore[attr-defined]
    OrtInferSession._init_sess_opts = staticmethod(build_options)  # type: ignore[assignment]


def _keep_faint_lines() -> None:
    """Make the package's detector keep faint boxes only if they are long.

    A fraction in a line makes the whole line faint. The scores are known at this step alone: the
    package sorts the boxes without them.
    """
    from rapidocr.ch_ppocr_det.utils import DBPostProcess

    finish: Callable[..., Any] = DBPostProcess.filter_det_res
    if getattr(finish, "keeps_faint_lines", False):
        return

    def filter_boxes(step: Any, boxes: Any, scores: Any, height: int, width: int) -> Any:
        kept = [
            place
            for place, (box, score) in enumerate(zip(boxes, scores, strict=True))
            if score >= _CERTAIN or _far(box[0], box[1]) >= _LONG * _far(box[0], box[3])
        ]
        return finish(step, boxes[kept], [scores[place] for place in kept], height, width)

    filter_boxes.keeps_faint_lines = True  # type: ignore[attr-defined]
    DBPostProcess.filter_det_res = filter_boxes  # type: ignore[assignment,method-assign]


def _scale_to_area(picture: Pixels) -> tuple[Pixels, float]:
    """Return the picture scaled to a million pixels, at most fourfold, and the factor."""
    import cv2

    height, width = picture.shape[:2]
    factor = min(_MAX_TURN_RATIO, math.sqrt(_AREA / (width * height)))
    size = (max(1, round(width * factor)), max(1, round(height * factor)))
    interpolation = cv2.INTER_AREA if factor < 1 else cv2.INTER_CUBIC
    small: Pixels = cv2.resize(picture, size, interpolation=interpolation)  # type: ignore[assignment]
    return small, factor


def _give_back() -> None:
    """Return freed memory to the system, which keeps a long paper within its limit."""
    with suppress(OSError, AttributeError):
        import ctypes

        ctypes.CDLL("libc.so.6").malloc_trim(0)


def _order_corners(quad: Any) -> Any:
    """Return the corners clockwise from the one nearest the picture's top left, for any slant."""
    import numpy as np

    return np.roll(quad, -int(np.argmin(quad.sum(axis=1))), axis=0)


def _is_tall(quad: Any) -> bool:
    """Return whether a line is on its side and has to be turned before recognition."""
    return _far(quad[0], quad[3]) >= _TALL * _far(quad[0], quad[1])


def _reach(quad: Any) -> float:
    return max(_far(quad[0], quad[1]), _far(quad[0], quad[3]))


def _points(quad: Any) -> tuple[Point, Point, Point, Point]:
    a, b, c, d = ((float(x), float(y)) for x, y in quad)
    return a, b, c, d


def _cut(picture: Pixels, quad: Any) -> Any:
    """Return the pixels of one line, levelled; a line taller than wide is turned on its side."""
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


def _head(crop: Any, aspect: float) -> Any:
    """Return the first part of a line, limited in aspect ratio."""
    return crop[:, : max(1, round(aspect * crop.shape[0]))]


def _far(a: Any, b: Any) -> float:
    return math.dist((float(a[0]), float(a[1])), (float(b[0]), float(b[1])))
