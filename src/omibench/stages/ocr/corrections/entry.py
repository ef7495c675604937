"""Corrections of readings by people: the model of an entry, and the file `corrections.yaml`."""

from __future__ import annotations

import hashlib
import logging
import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Annotated, Any, Final, Literal, NamedTuple, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from glyphtex.marks import Box
from omibench.errors import FileFormatError, MissingInputError
from omibench.files.reading import read_text, resolve_within
from omibench.files.yaml_file import YAML_BYTES, list_item_lines, locate_key, read_yaml
from omibench.params.stages.ocr import OcrParams
from omibench.schemas.problem import BBox, Choice, Figure, ProblemWarning
from omibench.schemas.validation import explain, suggest_name
from omibench.stages.ocr.sources.manifest import Source, read_manifest

ON_PAGE: Final = ("formula", "text")
"""The corrections at a box of a page."""
OF_PROBLEM: Final = (
    "text", "choice", "choices", "answer", "solution", "figure", "split", "merge", "drop",
)  # fmt: skip
"""The corrections of a problem."""
KINDS: Final = ("formula", *OF_PROBLEM)
"""The keys that a correction can set; each sets exactly one."""
_FAR: Final = 1e6


def _refuse_number(value: Any) -> Any:
    """YAML reads `problem: 010` as 8 and `answer: 1.50` as 1.5; in quotes they stay as written."""
    if isinstance(value, int | float):
        raise ValueError("write it in quotes, since YAML changes some numbers")
    return value


def _join_parts(value: Any) -> Any:
    """Return the parts of an answer, written as in `answer: [A, C]`, as one reading."""
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return "; ".join(value)
    return value


def _refuse_dollars(latex: str) -> str:
    if "$" in latex.replace("\\$", ""):
        raise ValueError("write the LaTeX alone, without dollar signs")
    if not _is_balanced(latex):
        raise ValueError("a brace is not closed, or closed twice")
    return latex


def _is_balanced(latex: str) -> bool:
    depth, is_escaped = 0, False
    for sign in latex:
        if not is_escaped and sign in "{}":
            depth += 1 if sign == "{" else -1
        if depth < 0:
            return False
        is_escaped = sign == "\\" and not is_escaped
    return depth == 0


_Word = Annotated[
    str, StringConstraints(min_length=1, max_length=200), BeforeValidator(_refuse_number)
]
_Text = Annotated[str, StringConstraints(max_length=100_000), BeforeValidator(_refuse_number)]
_Reading = Annotated[_Text, BeforeValidator(_join_parts)]
_Latex = Annotated[
    str,
    StringConstraints(min_length=1, max_length=10_000, strip_whitespace=True),
    BeforeValidator(_refuse_number),
    AfterValidator(_refuse_dollars),
]
_Page = Annotated[int, Field(ge=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class ChoiceText(_Strict):
    """One choice of a problem, with its correct text."""

    label: _Word
    text: _Text


class FigureChange(_Strict):
    """One figure of a problem: cut from another box, taken from a file, or removed."""

    image: Annotated[int, Field(ge=0)]
    """Its number, as in `[IMAGE0]`; the first unused one adds a figure at the statement's end."""
    page: _Page | None = None
    """The page of `box`; by default the page of the figure as read."""
    box: BBox | None = None
    file: _Word | None = None
    """A picture, relative to the folder of `corrections.yaml`."""
    remove: Literal[True] | None = None

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        if sum(value is not None for value in (self.box, self.file, self.remove)) != 1:
            raise ValueError("give one of box, file, remove")
        if self.page is not None and self.box is None:
            raise ValueError("`page` needs `box`: give the box")
        if self.box is not None:
            check_box(self.box)
        return self


class Split(_Strict):
    """A problem to split in two: the second begins at a text of its statement or of a choice."""

    at: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000),
        BeforeValidator(_refuse_number),
    ]
    """The first words of the second problem, which must be unique in the first."""
    number: _Word
    """The number of the second problem."""


class Correction(_Strict):
    """One error of a reading: its place and the correct value."""

    paper: _Word
    """The source: its name in the manifest, or one of its files."""
    page: _Page | None = None
    box: BBox | None = None
    """(x0, y0, x1, y1) in points from the top left of the upright page."""
    problem: _Word | None = None
    """The number of a problem, as read."""
    formula: _Latex | None = None
    """LaTeX without dollar signs."""
    text: _Text | None = None
    """The text of all lines whose centre is in the box, or the statement of the problem."""
    choice: ChoiceText | None = None
    choices: list[ChoiceText] | None = None
    """All choices of a problem, in order."""
    answer: list[_Word] | None = None
    """The letters of a multiple-choice key, or the parts of an open answer; `[]` for none."""
    solution: _Text | None = None
    figure: FigureChange | None = None
    split: Split | None = None
    merge: _Word | None = None
    """The number of the problem whose text belongs at the end of this one."""
    drop: Literal[True] | None = None
    was: _Reading | None = None
    """The original reading, or its digest (`sha256:...`). If the reading has changed, the
    correction no longer fits. A list, as of an answer's parts, is joined by `; `."""
    by: Annotated[str, StringConstraints(min_length=1, max_length=100, strip_whitespace=True)]
    note: Annotated[str, StringConstraints(max_length=2_000)] = ""

    @property
    def kind(self) -> str:
        """The key it sets, one of `KINDS`."""
        return next(kind for kind in KINDS if getattr(self, kind) is not None)

    @property
    def place(self) -> str:
        """Its place for messages: `page 3, box (72, 140, 210, 171)` or `problem 12`."""
        if self.page is not None and self.box is not None:
            return describe_box(self.page, self.box)
        return f"problem {self.problem}"

    @property
    def part(self) -> tuple[str, str]:
        """The part of its problem that it sets: its kind, with the choice or figure."""
        if self.choice is not None:
            return self.kind, self.choice.label
        return self.kind, str(self.figure.image) if self.figure is not None else ""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        kinds = [kind for kind in KINDS if getattr(self, kind) is not None]
        if len(kinds) != 1:
            listing = ", ".join(kinds) or "nothing"
            raise ValueError(f"sets {listing}: set one of {', '.join(KINDS)}")
        on_page = self.page is not None and self.box is not None
        if on_page == (self.problem is not None) or (self.page is None) != (self.box is None):
            raise ValueError("give the place: page and box, or problem")
        if kinds[0] not in (ON_PAGE if on_page else OF_PROBLEM):
            raise ValueError(f"{kinds[0]} is corrected at {_PLACES[on_page]}")
        if self.box is not None:
            check_box(self.box)
        if self.merge is not None and self.merge == self.problem:
            raise ValueError("merge: a problem cannot be merged with itself")
        labels = [choice.label for choice in self.choices or []]
        twin = next((label for label in labels if labels.count(label) > 1), None)
        if twin is not None:
            raise ValueError(f"choices: {twin} occurs twice")
        return self


_PLACES: Final = {True: "a problem: give `problem`", False: "a place: give `page` and `box`"}


def check_box(box: Sequence[float]) -> None:
    """Raise ValueError if the corners of a box are in the wrong order or not numbers."""
    x0, y0, x1, y1 = box
    if not (-_FAR < x0 < x1 < _FAR and -_FAR < y0 < y1 < _FAR):
        raise ValueError("a box is (x0, y0, x1, y1) with x0 < x1 and y0 < y1")


def describe_box(page: int, box: Sequence[float]) -> str:
    """Return a place as in warnings and corrections: `page 3, box (72, 140, 210, 171)`."""
    return f"page {page}, box ({', '.join(f'{edge:.0f}' for edge in box)})"


def covers(one: Box, other: Box, share: float = 0.5) -> bool:
    """Return whether two boxes share more than a part of the smaller one's area."""
    width = min(one.x1, other.x1) - max(one.x0, other.x0)
    height = min(one.y1, other.y1) - max(one.y0, other.y0)
    smaller = min(one.width * one.height, other.width * other.height)
    return width > 0 and height > 0 and width * height > share * smaller


class CorrectionEntry(BaseModel):
    """A correction with its place in the file, and the file of its source that it is for."""

    model_config = ConfigDict(frozen=True)

    number: int
    """Its index among the entries, from 0."""
    line: int
    correction: Correction
    file: str = ""
    """The path of the paper, key or solutions in `paper`."""

    @property
    def box(self) -> Box:
        """The box on the page, if any."""
        assert self.correction.box is not None
        return Box(*self.correction.box)

    @property
    def places(self) -> list[tuple[str, object]]:
        """The page with its file, or the problems that it changes or removes."""
        correction = self.correction
        if correction.page is not None:
            return [(self.file, correction.page)]
        return [("", number) for number in (correction.problem, correction.merge) if number]


# The original reading at the place of a correction: a text, or its digest.

PREFIX: Final = "sha256:"
_DIGITS: Final = 16


def compute_digest(text: str) -> str:
    """Return the digest of a text without spacing: `sha256:` and 16 hexadecimal digits."""
    return PREFIX + hashlib.sha256(_normalise(text).encode()).hexdigest()[:_DIGITS]


def is_same_reading(was: str | None, text: str) -> bool:
    """Return whether a text equals the original reading of a correction.

    Args:
        was: Original text in the correction, its digest, or None.
        text: Current reading. Spacing is ignored.
    """
    return was is None or _normalise(was) == _normalise(text) or was == compute_digest(text)


def join_lines(texts: Sequence[str]) -> str:
    """Return the text of several lines, for `was` of a correction at a box."""
    return "\n".join(texts)


def describe_choices(choices: Sequence[Choice] | None) -> str:
    """Return the text of all choices, for `was`: one line each."""
    return "\n".join(f"({choice.label}) {choice.text or ''}" for choice in choices or [])


def describe_answer(answer: Sequence[str] | None) -> str:
    """Return the answer of a key, for `was`; empty without an answer."""
    return "; ".join(answer or [])


def describe_figure(figure: Figure) -> str:
    """Return the box of a figure, for `was`; its hash if it has no position on a page."""
    if figure.page is None or figure.bbox is None:
        return PREFIX + figure.sha256[:_DIGITS]
    return describe_box(figure.page, figure.bbox)


def quote_reading(text: str, most: int = 80) -> str:
    """Return a reading on one line for a message."""
    line = _normalise(text)
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _normalise(text: str) -> str:
    return " ".join(text.split())


DOUBTFUL: Final = "formula_doubtful"
"""The code of the warning that the reading of a formula is uncertain."""
DIFFERS: Final = "formula_differs"
"""The code of the warning that two readers read a formula differently."""
INK_UNREAD: Final = "ink_unread"
"""The code of the warning that ink is in no text, formula or figure."""
_WARNED_PLACE: Final = re.compile(r"page (\d+), box \((-?\d+), (-?\d+), (-?\d+), (-?\d+)\)")
"""The start of such a warning: `describe_box`."""


def read_place(warning: ProblemWarning) -> tuple[int, BBox] | None:
    """Return page and box of the formula or the ink in a warning; None for other warnings."""
    is_placed = warning.code in (DOUBTFUL, DIFFERS, INK_UNREAD)
    place = _WARNED_PLACE.match(warning.detail) if is_placed else None
    if place is None:
        return None
    page, x0, y0, x1, y1 = map(int, place.groups())
    return page, (x0, y0, x1, y1)


# The file `corrections.yaml`, and the entries of each source.

NAME: Final = "corrections.yaml"
"""The default name of the file, next to the manifest or the paper."""
log = logging.getLogger("omibench.stages.ocr")


class CorrectionsFile(BaseModel):
    """The model of `corrections.yaml`; a key `corrections:` without entries is read too."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    corrections: Annotated[
        list[Correction],
        BeforeValidator(lambda rows: [] if rows is None else rows),
        Field(max_length=20_000),
    ] = []


def find_corrections(
    stated: str | None, manifest: Path | None, papers: Sequence[Path] = ()
) -> Path | None:
    """Return the file of corrections of a run.

    Args:
        stated: Parameter `ocr.corrections`.
        manifest: Manifest of the sources, if any.
        papers: Papers read without a manifest.

    Returns:
        The given file, otherwise the one next to the manifest, or next to the papers if they share
        a folder; None if absent.

    Raises:
        MissingInputError: The given file is missing.
    """
    if stated is not None:
        if not Path(stated).is_file():
            raise MissingInputError(f"ocr.corrections: {stated}: file not found")
        return Path(stated)
    folders = {manifest.parent} if manifest else {paper.parent for paper in papers}
    path = next(iter(folders)) / NAME if len(folders) == 1 else None
    return path if path is not None and path.is_file() else None


def read_corrections(path: Path) -> list[CorrectionEntry]:
    """Return the entries of a file of corrections, each with its line.

    Raises:
        FileFormatError: An entry is invalid or its picture is missing; the message gives the line.
    """
    values = read_yaml(path)
    try:
        file = CorrectionsFile.model_validate({} if values is None else values)
    except ValidationError as error:
        wrong = explain(error, CorrectionsFile)
        raise FileFormatError(f"{locate_key(wrong, [path]) or path}: {wrong}") from None
    lines = list_item_lines(read_text(path, YAML_BYTES), "corrections")
    entries = []
    for k, (line, correction) in enumerate(zip(lines, file.corrections, strict=True)):
        entries.append(CorrectionEntry(number=k, line=line, correction=correction))
        picture = correction.figure.file if correction.figure else None
        place = f"{path}, line {line}: figure.file"
        try:
            is_missing = picture and not resolve_within(path.parent, picture).is_file()
        except FileFormatError as error:
            raise FileFormatError(f"{place}: {error}") from None
        if is_missing:
            raise FileFormatError(f"{place}: {picture!r} is not in {path.parent}")
    return entries


def format_corrections(corrections: Sequence[Correction]) -> str:
    """Return corrections as YAML text."""
    import yaml

    rows = [c.model_dump(mode="json", exclude_defaults=True) for c in corrections]
    return yaml.safe_dump({"corrections": rows}, sort_keys=False, allow_unicode=True, width=100)


def list_correction_inputs(params: OcrParams) -> list[str]:
    """Return the file of corrections and its pictures; `ocr` runs again when they change.

    Args:
        params: Parameters with the manifest, and the file if it is elsewhere.

    Raises:
        MissingInputError: The given file is missing.
        FileFormatError: An entry is invalid.
    """
    path = find_corrections(params.corrections, Path(params.sources) if params.sources else None)
    if path is None:
        return []
    figures = (entry.correction.figure for entry in read_corrections(path))
    pictures = {str(path.parent / figure.file) for figure in figures if figure and figure.file}
    return [str(path), *sorted(pictures)]


class SamePlaceError(FileFormatError):
    """Raised for entries of one place; `entries` are their first lines."""

    def __init__(self, message: str, lines: Sequence[int]) -> None:
        super().__init__(message)
        self.entries = tuple(lines)


class RunCorrections(NamedTuple):
    """The corrections by source, in file order, and the folder of their pictures."""

    by_source: dict[str, list[CorrectionEntry]]
    folder: Path


def collect_corrections(
    stated: str | None, manifest: Path | None, papers: Sequence[Path], sources: Sequence[Source]
) -> RunCorrections:
    """Read the corrections of a run, each with its file of a source.

    Papers are given by the name of their source, or by a file: its name, or its path relative to
    the folder of the corrections. Entries for papers of the manifest that this run does not read
    are left out, and without a manifest, with a warning, those for any other paper.

    Args:
        stated: Parameter `ocr.corrections`.
        manifest: Manifest of the sources, if any.
        papers: Files to read; empty for all of the manifest.
        sources: Sources to read.

    Raises:
        MissingInputError: The given file is missing.
        FileFormatError: An entry is invalid, matches no paper or several, corrects a problem of a
            key or of a benchmark, or conflicts with another entry.
    """
    path = find_corrections(stated, manifest, papers)
    if path is None:
        return RunCorrections({}, Path())
    whole = read_manifest(manifest) if manifest else None
    names = _list_names(sources, path.parent)
    known = _list_names(whole.sources, path.parent).keys() if whole else names.keys()
    unread = [*whole.benchmarks, *whole.generators] if whole else []
    unread_names = {entry.name for entry in unread} - known
    by_source: defaultdict[str, list[CorrectionEntry]] = defaultdict(list)
    for entry in read_corrections(path):
        name, place = entry.correction.paper, f"{path}, line {entry.line}"
        named = names.get(name, {})
        if name in unread_names:
            raise FileFormatError(
                f"{place}: {name} is a benchmark or generator and has no reading: correct its "
                "problems in the file `review.decisions`"
            )
        if len(named) > 1:
            listing = " and ".join(sorted(source for source, _ in named))
            raise FileFormatError(
                f"{place}: paper {name!r} is a file of {listing}: give the name of the source, or "
                "the path of the file"
            )
        if whole and not named and name not in known:
            hint = suggest_name(name, sorted({*names, *known}))
            raise FileFormatError(f"{place}: paper {name!r} is not a source of the manifest{hint}")
        if not whole and not named:
            log.warning("%s: paper %r is not read", place, name)
        for (source, file), is_paper in named.items():
            if entry.correction.problem is not None and not is_paper:
                raise FileFormatError(
                    f"{place}: {name} is the key or the solutions of {source}: correct a problem "
                    "under the name of its paper, or a place by page and box"
                )
            by_source[source].append(entry.model_copy(update={"file": file}))
    for source, entries in by_source.items():
        if twins := find_conflict(entries):
            first, second = twins
            raise SamePlaceError(
                f"{path}, line {second.line}: corrects the same place as line {first.line} "
                f"({source}, {first.correction.place}): keep one of the two",
                (first.line, second.line),
            )
    return RunCorrections(dict(by_source), path.parent)


def _list_names(sources: Sequence[Source], folder: Path) -> dict[str, dict[tuple[str, str], bool]]:
    """Return source and path of each file by its names, and whether it is the paper."""
    names: defaultdict[str, dict[tuple[str, str], bool]] = defaultdict(dict)
    for source in sources:
        for file in source.files:
            path = PurePath(file)
            relative = path.relative_to(folder) if path.is_relative_to(folder) else path
            for name in {file, path.name, relative.as_posix()}:
                names[name].setdefault((source.name, file), file == source.paper)
    for source in sources:  # the name of a source counts before that of a file
        names[source.name] = {(source.name, source.paper): True}
    return names


def find_conflict(
    entries: Sequence[CorrectionEntry],
) -> tuple[CorrectionEntry, CorrectionEntry] | None:
    """Return the first two conflicting entries of one source, in file order, if any.

    Boxes of one page conflict if they share more than half of the smaller one. Entries of one
    problem conflict if they set the same part; a dropped or merged problem allows no other
    correction.
    """
    by_place: defaultdict[tuple[str, object], list[CorrectionEntry]] = defaultdict(list)
    for entry in entries:
        twins = [
            other
            for place in entry.places
            for other in by_place[place]
            if _conflict(other, entry, place[1])
        ]
        if twins:
            return min(twins, key=lambda twin: twin.number), entry
        for place in entry.places:
            by_place[place].append(entry)
    return None


def _conflict(first: CorrectionEntry, second: CorrectionEntry, number: object) -> bool:
    """Return whether two entries of one page, or of the problem `number`, conflict."""
    one, other = first.correction, second.correction
    if one.page is not None:
        return covers(first.box, second.box)
    if one.drop or other.drop or number in (one.merge, other.merge):
        return True
    # All choices at once are against each single one.
    return {one.kind, other.kind} == {"choice", "choices"} or one.part == other.part
