"""What the template of a look shows: sheets with their shapes, problems in pieces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from omibench.ocr_view.doubts import Doubt, list_doubts
from omibench.ocr_view.entries import Shown, draft_choice, draft_figure, draft_line, draft_problem
from omibench.schemas.image_marks import pair_with_pictures
from omibench.schemas.pages import PageLine, PageText
from omibench.schemas.problem import BBox, Choice, Figure, Problem
from omibench.schemas.problem_warning import CORRECTED, ProblemWarning
from omibench.stages.ocr.layout.places import Layout, Place, Sheet

SURE = 0.8
"""Confidence below which a line is pointed out."""
PARTS = {
    "statement": "problem",
    "stem": "shared stem",
    "choice": "choice",
    "figure": "figure",
    "solution": "solution",
    "answers": "section of answers",
    "other": "text of no problem",
    "drawing": "drawing that is no figure of a problem",
}
LINES = {
    "line": "line of text",
    "unsure": f"line read with a confidence below {SURE}",
    "math": "formula that may have lost its form",
    "doubtful": "formula whose reading is doubtful",
    "furniture": "line left out",
}


class Shape(NamedTuple):
    """A box on a page: of which kind, where, what it says, and the problem that it leads to."""

    kind: str
    bbox: BBox
    says: str
    tag: str = ""
    anchor: str = ""
    href: str = ""
    entry: str = ""
    """The correction of it, as JSON; empty where it takes none."""

    @property
    def width(self) -> float:
        return max(1.0, self.bbox[2] - self.bbox[0])

    @property
    def height(self) -> float:
        return max(1.0, self.bbox[3] - self.bbox[1])

    @property
    def tag_at(self) -> tuple[float, float]:
        """Where the tag begins: above the box, or left of a choice, whose letter is printed."""
        if self.kind == "choice":
            return self.bbox[0] - 9, self.bbox[1] + 8
        return self.bbox[0] + 1, self.bbox[1] - 2


class FigureCrop(NamedTuple):
    """A figure as a part of the picture of its page."""

    name: str
    page: int
    bbox: BBox
    caption: str
    file: str
    sha256: str
    panels: str
    entry: str = ""
    """The correction of its box, as JSON."""

    @property
    def width(self) -> float:
        return self.bbox[2] - self.bbox[0]

    @property
    def height(self) -> float:
        return self.bbox[3] - self.bbox[1]


class Piece(NamedTuple):
    """A run of a text, and the figure that follows it."""

    text: str
    figure: FigureCrop | None


class CardOption(NamedTuple):
    """A choice: its letter, its text, its picture, and whether a key says that it is right."""

    label: str
    pieces: list[Piece]
    figure: FigureCrop | None
    right: bool
    entry: str
    """The correction of its text, as JSON."""


class Card(NamedTuple):
    """A problem as the page shows it."""

    anchor: str
    problem: Problem
    pieces: list[Piece]
    options: list[CardOption]
    unshown: list[FigureCrop]
    """Figures that no mark names: nothing would show them to a model."""
    boxes: list[tuple[int, str]]
    """Page and anchor of each place where it stands."""
    entries: list[tuple[str, str]]
    """What of it can be corrected as a whole: words for a button, and the correction as JSON."""
    doubts: list[ProblemWarning]
    """What the reader itself is not sure of."""
    corrected: list[ProblemWarning]
    """What people corrected."""


class Leaf(NamedTuple):
    """A page of the paper, its shapes, and the problems that begin on it."""

    sheet: Sheet
    text: PageText | None
    lines: list[Shape]
    shapes: list[Shape]
    cards: list[Card]
    going_on: list[tuple[str, str]]
    """Number and anchor of each problem that stands here and began before."""
    doubts: list[Doubt]
    """Formulas on it that a person should look at."""


def build_leaves(
    source: str, layout: Layout, pages: Sequence[PageText], problems: Sequence[Problem]
) -> list[Leaf]:
    """Every page with what was found on it; problems stand at the page on which they begin.

    Args:
        source: The name of the paper, by which corrections call it.
        layout: Its pages, and what stands where on them.
        pages: Their texts.
        problems: What was read from them.
    """
    doubts = list_doubts(source, pages, problems)
    anchors = {problem.number: f"q{k}" for k, problem in enumerate(problems, 1)}
    shapes = [(place.page, _shape(k, place, anchors)) for k, place in enumerate(layout.places, 1)]
    texts = {text.page: text for text in pages}
    cards = {p.number: _card(source, p, layout.places, anchors) for p in problems}
    first = layout.sheets[0].page if layout.sheets else 0
    page_numbers = {sheet.page for sheet in layout.sheets}
    page_leaves = []
    for sheet in layout.sheets:
        text = texts.get(sheet.page)
        begin = [
            cards[p.number]
            for p in problems
            if sheet.page == (p.pages[0] if p.pages[0] in page_numbers else first)
        ]
        lines = [_line(source, sheet.page, line) for line in text.lines] if text else []
        page_doubts = [doubt for doubt in doubts if doubt.page == sheet.page]
        lines += [_doubtful_shape(doubt) for doubt in page_doubts if doubt.problem]
        page_shapes = [shape for page, shape in shapes if page == sheet.page]
        before = [p.number for p in problems if sheet.page in p.pages[1:]]
        going_on = [(number, anchors[number]) for number in before]
        page_leaves.append(Leaf(sheet, text, lines, page_shapes, begin, going_on, page_doubts))
    return page_leaves


def _shape(k: int, place: Place, anchors: dict[str, str]) -> Shape:
    number, word = place.problem, PARTS[place.part]
    label = f" {place.label}" if place.label else ""
    of = f" of problem {number}" if number and place.part not in ("statement", "stem") else ""
    says = f"{word} {number}" if place.part == "statement" else f"{word}{label}{of}"
    tags = {"statement": number or "", "stem": place.label, "choice": place.label,
            "figure": place.label, "solution": f"solution {number}"}  # fmt: skip
    href = anchors.get(number or "", "")
    return Shape(place.part, place.bbox, says, tags.get(place.part, ""), f"b{k}", href)


def _doubtful_shape(doubt: Doubt) -> Shape:
    says = f"{LINES['doubtful']}: {doubt.text} ({'; '.join(doubt.reasons)})"
    return Shape("doubtful", doubt.bbox, says, "?", entry=doubt.entry)


def _line(source: str, page: int, line: PageLine) -> Shape:
    sure = "" if line.confidence is None else f", confidence {line.confidence:.2f}"
    kind = "line"
    if line.left_out:
        kind = "furniture"
    elif line.math_suspect:
        kind = "math"
    elif line.confidence is not None and line.confidence < SURE:
        kind = "unsure"
    note = f" ({line.left_out})" if line.left_out else ""
    says = f"{LINES[kind]}{note}, {line.engine}{sure}: {line.text}"
    return Shape(kind, line.bbox, says, entry=draft_line(source, page, line))


def _card(source: str, problem: Problem, places: Sequence[Place], anchors: dict[str, str]) -> Card:
    crops = [_crop(source, problem, k, figure) for k, figure in enumerate(problem.images)]
    return Card(
        anchors[problem.number],
        problem,
        _pieces(problem.question, crops),
        [
            _option(source, problem, c, crops, _find_place(places, problem, "choice", c.label))
            for c in problem.choices or []
        ],
        [c for k, c in enumerate(crops) if c and k not in problem.image_order()],
        [
            (place.page, f"b{k}")
            for k, place in enumerate(places, 1)
            if place.problem == problem.number and place.part in ("statement", "stem", "solution")
        ],
        draft_problem(source, problem, _find_place(places, problem, "statement")),
        [warning for warning in problem.warnings if warning.code != CORRECTED],
        [warning for warning in problem.warnings if warning.code == CORRECTED],
    )


def _option(
    source: str,
    problem: Problem,
    choice: Choice,
    crops: Sequence[FigureCrop | None],
    shown: Shown | None,
) -> CardOption:
    figure = crops[choice.image] if choice.image is not None else None
    text = choice.text or ""
    entry = draft_choice(source, problem, choice.label, text, shown)
    is_right = choice.label in (problem.answer or [])
    return CardOption(choice.label, _pieces(text, crops), figure, is_right, entry)


def _find_place(
    places: Sequence[Place], problem: Problem, part: str, label: str = ""
) -> Shown | None:
    """Where a part of a problem stands first; None where it stands nowhere."""
    wanted = (problem.number, part, label)
    return next(((p.page, p.bbox) for p in places if (p.problem, p.part, p.label) == wanted), None)


def _crop(source: str, problem: Problem, k: int, figure: Figure) -> FigureCrop | None:
    if figure.page is None or figure.bbox is None:
        return None
    letters = [panel.label for panel in figure.panels if panel.label]
    panels = f"{len(figure.panels)} panels" if figure.panels else ""
    panels += f": {', '.join(letters)}" if letters else ""
    return FigureCrop(
        f"IMAGE{k}", figure.page, figure.bbox, figure.caption or "", figure.file, figure.sha256,
        panels, draft_figure(source, problem, k, figure),
    )  # fmt: skip


def _pieces(text: str, crops: Sequence[FigureCrop | None]) -> list[Piece]:
    return [Piece(run.strip("\n"), crop) for run, crop in pair_with_pictures(text, crops)]
