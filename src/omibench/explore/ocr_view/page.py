"""Data for the template of an inspection page: sheets with shapes, problems in pieces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Final, NamedTuple

from omibench.explore.ocr_view.doubts import (
    Doubt,
    Shown,
    draft_choice,
    draft_figure,
    draft_line,
    draft_problem,
    list_doubts,
)
from omibench.explore.ocr_view.files import VERSION
from omibench.files.outputs import made_folder
from omibench.files.reading import read_bytes
from omibench.schemas.pages import FileReport, PageLine, PageText
from omibench.schemas.problem import (
    CORRECTED,
    BBox,
    Choice,
    Figure,
    Problem,
    ProblemWarning,
    pair_with_pictures,
)
from omibench.schemas.tables import read_jsonl, read_typed_json, write_text
from omibench.stages.ocr.codes import CODES
from omibench.stages.ocr.layout.places import Layout, Place, Sheet
from omibench.stages.ocr.sources.manifest import Source
from omibench.web.formulas import FORMULAS_POLICY, join_modules, write_formula_files
from omibench.web.pictures import embed_picture, find_picture
from omibench.web.templates import render_page

SURE = 0.8
"""Lines below this confidence are marked."""
PARTS = {
    "statement": "problem",
    "stem": "shared stem",
    "choice": "choice",
    "figure": "figure",
    "solution": "solution",
    "answers": "section of answers",
    "other": "text outside problems",
    "drawing": "drawing outside problems",
}
LINES = {
    "line": "line of text",
    "unsure": f"line read with a confidence below {SURE}",
    "math": "formula that may have lost its form",
    "doubtful": "formula whose reading is doubtful",
    "ink": "ink that was not read",
    "furniture": "ignored line",
}


class Shape(NamedTuple):
    """A box on a page: its kind, location, text, and problem."""

    kind: str
    bbox: BBox
    says: str
    tag: str = ""
    anchor: str = ""
    href: str = ""
    entry: str = ""
    """The correction of it, as JSON; empty if it cannot be corrected."""

    @property
    def width(self) -> float:
        return max(1.0, self.bbox[2] - self.bbox[0])

    @property
    def height(self) -> float:
        return max(1.0, self.bbox[3] - self.bbox[1])

    @property
    def tag_at(self) -> tuple[float, float]:
        """The position of the tag: above the box, or left of a choice, whose letter is printed."""
        if self.kind == "choice":
            return self.bbox[0] - 9, self.bbox[1] + 8
        return self.bbox[0] + 1, self.bbox[1] - 2


class FigureCrop(NamedTuple):
    """A figure as a part of the page image."""

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
    """A run of text, and the figure after it."""

    text: str
    figure: FigureCrop | None


class CardOption(NamedTuple):
    """A choice: its letter, text and picture, and whether the key marks it as right."""

    label: str
    pieces: list[Piece]
    figure: FigureCrop | None
    right: bool
    entry: str
    """The correction of its text, as JSON."""


class Card(NamedTuple):
    """A problem on the page."""

    anchor: str
    problem: Problem
    pieces: list[Piece]
    options: list[CardOption]
    unshown: list[FigureCrop]
    """Figures without a mark: no model would see them."""
    boxes: list[tuple[int, str]]
    """Page and anchor of each of its locations."""
    entries: list[tuple[str, str]]
    """Corrections of the whole problem: button texts, and templates as JSON."""
    doubts: list[ProblemWarning]
    """The reader's doubts."""
    corrected: list[ProblemWarning]
    """Corrections by people."""


class Leaf(NamedTuple):
    """A page of the paper, its shapes, and the problems that begin on it."""

    sheet: Sheet
    text: PageText | None
    lines: list[Shape]
    shapes: list[Shape]
    cards: list[Card]
    going_on: list[tuple[str, str]]
    """Number and anchor of each problem that continues here."""
    doubts: list[Doubt]
    """Formulas and unread ink on it to check."""


def build_leaves(
    source: str, layout: Layout, pages: Sequence[PageText], problems: Sequence[Problem]
) -> list[Leaf]:
    """Return every page with its findings; problems are on the page on which they begin.

    Args:
        source: The name of the paper, as used in corrections.
        layout: Its pages, and the locations of their contents.
        pages: Their texts.
        problems: The problems read from them.
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
        lines += _list_doubtful_shapes(page_doubts)
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


def _list_doubtful_shapes(doubts: Sequence[Doubt]) -> Iterator[Shape]:
    """Yield doubtful formulas, then unread ink, which is drawn above them."""
    for doubt in doubts:
        if doubt.problem and not doubt.ink:
            says = f"{LINES['doubtful']}: {doubt.text} ({'; '.join(doubt.reasons)})"
            yield Shape("doubtful", doubt.bbox, says, "?", entry=doubt.entry)
    for doubt in doubts:
        for ink in doubt.ink:
            yield Shape("ink", ink.bbox, f"{LINES['ink']}: {ink.what}", "!", entry=doubt.entry)


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
    """Return the first location of a part of a problem, or None."""
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


# One HTML page per paper that opens from disk and loads only adjacent files.

SCRIPT: Final = "corrections.js"
POLICY: Final = f"{FORMULAS_POLICY}; connect-src 'self'"
"""Policy of the pages: a served one sends corrections to its server."""


def make_look_writer(folder: Path) -> Callable[[FileReport, Source, Path], None]:
    """Return a function that writes the inspection page of each source as `<source>.html`.

    The subfolder `formulas` contains the scripts for formulas and corrections.

    Raises:
        OutputError: The folder cannot be created.
    """
    folder = made_folder(folder, "--look")
    write_scripts(folder / "formulas")

    def look(report: FileReport, source: Source, reading_folder: Path) -> None:
        write_look(folder / f"{source.slug}.html", report, reading_folder)

    return look


def write_scripts(folder: Path) -> None:
    """Write the scripts of inspection pages into a folder."""
    write_formula_files(folder)
    script = join_modules("corrections", files("omibench.explore.ocr_view") / "static")
    (folder / SCRIPT).write_text(script, "utf-8")


def write_look(path: Path, report: FileReport, folder: Path) -> None:
    """Write the inspection page of one paper from the reader's files in `folder`.

    These are `problems.jsonl`, `pages.jsonl`, and, in `look/`, a layout and page images. A paper
    that could not be read gets a page with the reason.
    """
    layout = Layout(sheets=[], places=[])
    problems: Sequence[Problem] = []
    pages: Sequence[PageText] = []
    if (folder / "look/layout.json").is_file():
        layout = read_typed_json(folder / "look/layout.json", Layout)
        problems = read_jsonl(folder / "problems.jsonl", Problem)
        pages = read_jsonl(folder / "pages.jsonl", PageText)
    page_leaves = build_leaves(report.source, layout, pages, problems)
    cards = {card.problem.number: card for leaf in page_leaves for card in leaf.cards}
    present = {shape.kind for leaf in page_leaves for shape in (*leaf.lines, *leaf.shapes)}
    text = render_page(
        "omibench.explore.ocr_view",
        "look.html.j2",
        csp=POLICY,
        version=VERSION,
        report=report,
        codes=[(code, CODES[code]) for code in report.codes if code in CODES],
        problems=problems,
        warnings=Counter(w.code for card in cards.values() for w in card.doubts),
        doubts={number: "; ".join(map(str, card.doubts)) for number, card in cards.items()},
        leaves=page_leaves,
        anchors={number: card.anchor for number, card in cards.items()},
        pictures={s.page: _embed(folder / "look", s.picture) for s in layout.sheets if s.picture},
        doubt_crops={
            doubt.anchor: _embed(folder, doubt.file, "image/png")
            for leaf in page_leaves
            for doubt in leaf.doubts
            if doubt.file
        },
        layers=[(kind, word) for kind, word in (PARTS | LINES).items() if kind in present],
        engines=sorted({page.engine for page in pages}),
    )
    write_text(path, text)


def _embed(folder: Path, name: str, media_type: str = "image/jpeg") -> str:
    picture = find_picture(folder, name)
    is_there = picture is not None and picture.is_file()
    return embed_picture(read_bytes(picture), media_type) if picture and is_there else ""
