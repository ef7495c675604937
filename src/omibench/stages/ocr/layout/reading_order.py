"""Reading order of a page: columns, rows and paragraphs, without running heads and feet."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median

from glyphtex.marks import Box
from omibench.schemas.problem import IMAGE_MARK
from omibench.stages.ocr.layout.figures import CAPTION
from omibench.stages.ocr.layout.layout import PERSON, Item, Line, Picture, get_lines
from omibench.stages.ocr.structure.numbering import read_number, subject_word

# Reading order: one or two columns, and the rows of a column.

_CROSSING = 0.12


def gutter(boxes: Sequence[Box], width: float) -> float | None:
    """Return the x of the gap between two columns of text, or None for one column.

    Two columns: few lines cross the middle and both sides have several long ones.
    """
    best = None
    for step in range(-6, 7):
        x = width / 2 + step * width * 0.01
        crossing = [b for b in boxes if b.x0 < x - 1 and b.x1 > x + 1]
        left = [b for b in boxes if b.x1 <= x + 1]
        right = [b for b in boxes if b.x0 >= x - 1]
        if len(crossing) > _CROSSING * len(boxes) or not _is_column(left) or not _is_column(right):
            continue
        room = min(b.x0 for b in right) - max(b.x1 for b in left)
        if room > 0 and (best is None or (len(crossing), -room) < best[0]):
            middle = (min(b.x0 for b in right) + max(b.x1 for b in left)) / 2
            best = ((len(crossing), -room), middle)
    return best[1] if best else None


def _is_column(boxes: list[Box]) -> bool:
    if len(boxes) < 4:
        return False
    width = max(b.x1 for b in boxes) - min(b.x0 for b in boxes)
    return sum(b.width > 0.6 * width for b in boxes) >= 4


def in_reading_order(items: Sequence[Item], middle: float | None) -> list[Item]:
    """Items of one page as they are read; lines get their `indent` and `starts`.

    With two columns, an item that crosses the gutter closes the columns above it.
    """
    if middle is None:
        return _column(items)
    ordered: list[Item] = []
    wide = sorted((i for i in items if _crosses(i, middle)), key=lambda i: i.box.y0)
    narrow = [i for i in items if not _crosses(i, middle)]
    for bar in [*wide, None]:
        end = bar.box.y0 if bar else float("inf")
        band = [i for i in narrow if i.box.centre[1] < end]
        narrow = [i for i in narrow if i.box.centre[1] >= end]
        ordered += _column([i for i in band if i.box.centre[0] < middle])
        ordered += _column([i for i in band if i.box.centre[0] >= middle])
        ordered += _column([bar]) if bar else []
    return ordered


def _crosses(item: Item, middle: float) -> bool:
    return item.box.x0 < middle - 4 and item.box.x1 > middle + 4


def _column(items: Sequence[Item]) -> list[Item]:
    lines = get_lines(items)
    left = min((line.box.x0 for line in lines if line.upright), default=0.0)
    stacked = _find_stacked_lines(lines)
    ordered: list[Item] = []
    for row in rows(items):
        first = min((line.box.x0 for line in get_lines(row)), default=0.0)
        ordered += [
            replace(
                i,
                indent=i.box.x0 - left,
                starts=i.box.x0 <= first + 0.5,
                stacked=id(i) in stacked,
            )
            if isinstance(i, Line)
            else i
            for i in row
        ]
    return ordered


def rows(items: Sequence[Item]) -> list[list[Item]]:
    """Group items into rows, each from left to right.

    Pieces of a fraction are up to 0.8 of the type size above or below their line; they join the row
    of the nearest earlier-begun line that they do not overlap.
    """
    row_list: list[list[Item]] = []
    anchors: list[Item] = []
    for item in sorted(items, key=lambda i: (i.box.x0, i.box.y0)):
        near = [
            (abs(_level(item) - _level(anchor)), index)
            for index, anchor in enumerate(anchors)
            if _same_row(anchor, item)
        ]
        if near:
            row_list[min(near)[1]].append(item)
        else:
            anchors.append(item)
            row_list.append([item])
    order = sorted(range(len(row_list)), key=lambda k: (_level(anchors[k]), anchors[k].box.x0))
    return [sorted(row_list[k], key=lambda i: (i.box.x0, i.box.y0)) for k in order]


def _level(item: Item) -> float:
    return item.baseline if isinstance(item, Line) and item.upright else item.box.y0


def _same_row(anchor: Item, item: Item) -> bool:
    if isinstance(anchor, Picture) or isinstance(item, Picture):
        if isinstance(anchor, Picture) and isinstance(item, Picture):
            shared = -anchor.box.gap_y(item.box)
            return shared > 0.5 * min(anchor.box.height, item.box.height)
        return False
    reach = 0.8 * max(anchor.size, item.size)
    return abs(_level(anchor) - _level(item)) <= reach and anchor.box.gap_x(item.box) > -1.0


def _find_stacked_lines(lines: Sequence[Line]) -> set[int]:
    """Return the ids of lines closer to another line than a line's height.

    Lines of text are at least their type size apart; closer ones are part of a fraction, a root or
    a sum. Corrected lines are exempt.
    """
    stacked: set[int] = set()
    level = sorted(
        (line for line in lines if line.upright and line.engine != PERSON),
        key=lambda line: line.baseline,
    )
    for k, a in enumerate(level):
        for b in level[k + 1 :]:
            size = min(a.size, b.size)
            rise = b.baseline - a.baseline
            if rise > 0.85 * size:
                break
            if rise > 0.3 * size and a.box.gap_x(b.box) < 1.5 * size:
                stacked |= {id(a), id(b)}
    return stacked


# Join lines to paragraphs.

_LIST = re.compile(r"[(（](?:\d{1,2}|[a-z]|[ivx]{1,4})[)）]|[•·▪–-]\s|\d{1,2}[.)]\s")
_CLOSES = re.compile(r"[.,;:!?)\]](?!\w)")
"""Punctuation after a formula that was broken over two lines."""
_CJK = re.compile(r"[\u3000-\u303f\u3400-\u9fff\uff00-\uffef]")


def paragraphs(lines: Sequence[Line], words: Collection[str] = ()) -> str:
    """Return the text of lines: one space within a paragraph, a blank line between paragraphs.

    A word divided at a line's end is joined; if the hyphen may belong to the word, the forms
    elsewhere in the paper (`words`) decide.
    """
    text = ""
    last: Line | None = None
    for line in lines:
        if last is None or not text:
            text += line.text
        elif _breaks(last, line):
            text += "\n\n" + line.text
        else:
            text = _join_texts(text, line.text, words)
        last = line
    return re.sub(r" ?\u00ad ?", "", text).strip()


def without_marks(text: str) -> str:
    """Escape a printed `[IMAGE0]`, so that it is not taken for the mark of a figure."""
    return IMAGE_MARK.sub(r"[IMAGE \1]", text)


def collect_words(lines: Sequence[Line]) -> frozenset[str]:
    """Return every word of a paper in lower case, with hyphens."""
    return frozenset(w.lower() for line in lines for w in re.findall(r"\w[\w-]*\w", line.text))


def _breaks(above: Line, line: Line) -> bool:
    if line.page != above.page or line.box.y0 < above.box.y0 - line.size:
        return re.search(r"[.!?。！？:：]$", above.text) is not None
    level = _find_last_baseline(above)
    if abs(line.baseline - level) <= 0.8 * line.size:
        return False
    if line.starts and _LIST.match(line.text):
        return True
    return line.baseline - level > 1.75 * max(line.size, above.size)


def _find_last_baseline(line: Line) -> float:
    """Return the baseline of a line, or of the line in which its broken formula ends."""
    parts = [part for formula in line.formulas[-1:] for part in formula.region.following]
    return line.baseline - (parts[-1].dy if parts else 0.0)


def _join_texts(text: str, continuation: str, words: Collection[str]) -> str:
    if text.endswith("\u00ad"):
        return text[:-1] + continuation
    head = re.search(r"(\w+)-$", text)
    tail = re.match(r"[a-zà-ÿ]+", continuation)
    if head and tail and not head[1].isdigit():
        joined_word, hyphened = (head[1] + tail[0]).lower(), f"{head[1]}-{tail[0]}".lower()
        keep = hyphened in words and joined_word not in words
        return text + continuation if keep else text[:-1] + continuation
    if text and continuation and _CJK.match(text[-1]) and _CJK.match(continuation[0]):
        return text + continuation
    if text.endswith("$") and _CLOSES.match(continuation):
        return text + continuation
    return f"{text} {continuation}"


# Detect points and time of an exam in running heads, in many languages.

HEAD = 0.18
"""The share of the page, from its top, in which a running head of several lines can be."""
_ALONE = 0.12
_LONGEST = 100
_AMOUNT = r"(?:\d{1,4}(?:[.,:]\d{1,2})?|_{2,}|\.{3,}|…+)"
_POINTS = (
    r"points?|pts?\.?|marks?|score|puntos?|puntaje|pontos?|pontuaç[ãa]o|punkte?n?|punti|bar[èe]me|"
    r"pkt\.?|punkt(?:y|ów)|bod[yůu]?|балл(?:а|ов|ы)?|очк(?:а|ов)"
)
_TIME = (
    r"time(?: allowed| limit)?|duration|tiempo|tempo|duraci[óo]n|duraç[ãa]o|dur[ée]e|durata|"
    r"(?:arbeits|bearbeitungs)?zeit|czas|čas|время"
)
_UNIT = (
    r"min(?:\.|ut(?:e[sn]?|os?|i|y)?)?|h(?:\.|rs?|ours?)?|stunden?|horas?|heures?|ore|godzin\w*|"
    r"hodin\w*|minut\w*|минут\w*|час(?:а|ов)?"
)
_SAYS_POINTS = re.compile(
    rf"(?<!\w)(?:{_AMOUNT}\s*(?:/\s*\d+\s*)?(?:{_POINTS})(?!\w)|"
    rf"(?:{_POINTS})\s*(?:\([^()]{{0,20}}\)\s*)?[:：=]\s*{_AMOUNT}|"
    rf"(?:total|max(?:imum)?|m[áa]ximo)[^\w\d]{{0,3}}\s*{_AMOUNT}\s*(?:{_POINTS})(?!\w))|"
    rf"(?:满分|滿分|満点|配点|总分)\s*[:：]?\s*\d+|\d+\s*点満点|\d+\s*分(?!钟|鐘|间|間|之)",
    re.I,
)
_SAYS_TIME = re.compile(
    rf"(?<!\w)(?:{_TIME})\s*[:：=]\s*{_AMOUNT}|"
    rf"(?<!\w)(?:{_TIME})\s*[:：=]?\s*{_AMOUNT}\s*(?:{_UNIT})(?!\w)|"
    rf"[(,;]\s*{_AMOUNT}\s*(?:{_UNIT})\s*[),;]|"
    rf"(?:考试|考試|試験|制限)?(?:时间|時間)\s*[:：]?\s*\d+\s*(?:分|小时|小時|時間)",
    re.I,
)
_SECTION = re.compile(
    r"(?:section|part|paper|teil|secci|parte|se[çc]|раздел|часть|część|část)", re.I
)


def says_points(text: str) -> bool:
    """Return whether a line gives the number of points: `60 points`, `Points: __`, `满分100`."""
    return len(text) <= _LONGEST and _SAYS_POINTS.search(text) is not None


def says_time(text: str) -> bool:
    """Return whether a line gives the duration of an exam: `Time: 90 minutes`, `(20 min)`."""
    return len(text) <= _LONGEST and _SAYS_TIME.search(text) is not None


def exam_heads(
    pages: Sequence[Sequence[Line]], heights: Sequence[float], enough: float
) -> set[int]:
    """Return id(line) of the lines of running heads with points or time.

    These are lines near the top that are equal, except for digits, at one position of `enough`
    pages, from the first to the last with either; and the first line of a page that has both and is
    not a title. They need not be set apart from the text.
    """
    places: defaultdict[tuple[str, int], set[int]] = defaultdict(set)
    for number, (lines, height) in enumerate(zip(pages, heights, strict=True)):
        for line in lines:
            if line.baseline < HEAD * height:
                places[_mask_digits(line.text), round(line.baseline / 3)].add(number)
    heads: set[int] = set()
    for lines, height in zip(pages, heights, strict=True):
        top = [line for line in lines if line.baseline < HEAD * height and not _is_numbered(line)]
        repeated = [
            line
            for line in top
            if _count_pages(places, _mask_digits(line.text), round(line.baseline / 3)) >= enough
        ]
        exam_lines = [line for line in repeated if says_points(line.text) or says_time(line.text)]
        if exam_lines:
            lowest = max(line.baseline for line in exam_lines) + 2
            heads |= {id(line) for line in repeated if line.baseline <= lowest}
        first = min(lines, key=lambda line: line.baseline, default=None)
        if first and first.baseline < _ALONE * height and _tells_both(first.text):
            heads.add(id(first))
    return heads


def _count_pages(places: dict[tuple[str, int], set[int]], text: str, place: int) -> int:
    """Return the number of pages with a text at about one place."""
    return len(set().union(*(places.get((text, place + k), set()) for k in (-1, 0, 1))))


def _tells_both(text: str) -> bool:
    return (
        says_points(text)
        and says_time(text)
        and read_number(text) is None
        and not _SECTION.match(text)
        and subject_word(text) is None
    )


def _is_numbered(line: Line) -> bool:
    return read_number(line.text) is not None


def _mask_digits(text: str) -> str:
    return re.sub(r"\d+", "#", text).strip().lower()


# Detect running heads, feet and page numbers by repetition and position.

_MARGIN = 0.10
_REPEATED = 0.4
_FOOT = 60
_SENTENCE = 20
_APART = 1.25
"""The distance, in line pitches, above which a block is set apart."""
_OPENS = re.compile(r"[(（]?(?:[A-Ha-h]|\d{1,2}|[ivx]{1,4})[)）]\s*\S|[A-H][.．、:：]\s*\S")
_PAGE_NUMBER = re.compile(
    r"[\W_]*(?:(?:page|página|pág\.?|seite|p\.)\s*)?\d{1,3}(?:\s*(?:/|of|de|von)\s*\d{1,3})?[\W_]*"
    r"|第\s*\d+\s*页.*|共\s*\d+\s*页",
    re.I,
)


def without_furniture(
    pages: Sequence[Sequence[Line]], heights: Sequence[float], drawn: Sequence[Sequence[Box]]
) -> list[list[Line]]:
    """Return the lines of each page without running heads, feet and page numbers.

    Furniture is text that is equal, except for digits, at one position near the top or bottom of 40
    % of the pages, in a block set apart from the text; also small type or page numbers there, apart
    from text and drawings (`drawn`). The start of a problem, part or choice is furniture only if it
    is equal on all those pages, including digits. A running head with points or time need not be
    set apart.
    """
    literal: Counter[str] = Counter()
    for lines, height in zip(pages, heights, strict=True):
        literal.update({line.text for line in lines if _is_at_edge(line, height)})
    repeated = _find_repeated_lines(pages, heights, drawn, literal)
    heads = exam_heads(pages, heights, _enough(pages))
    body = body_size([line for lines in pages for line in lines])
    return [
        [
            line
            for line in lines
            if id(line) not in heads
            and (
                not _is_at_edge(line, height)
                or CAPTION.fullmatch(line.text)
                or (literal[line.text] == 1 and _names_problem(line.text))
                or _numbers_text(line, lines, literal)
                or not (id(line) in repeated or _stands_apart(line, lines, height, boxes, body))
            )
        ]
        for lines, height, boxes in zip(pages, heights, drawn, strict=True)
    ]


def _find_repeated_lines(
    pages: Sequence[Sequence[Line]],
    heights: Sequence[float],
    drawn: Sequence[Sequence[Box]],
    literal: Counter[str],
) -> set[int]:
    """Return id(line) of lines that repeat, except for digits, at the edge of enough pages."""
    enough, step = _enough(pages), _usual_step(pages)
    pages_by_text: defaultdict[tuple[str, int], set[int]] = defaultdict(set)
    places: list[tuple[Line, str, int]] = []
    for number, (lines, height, boxes) in enumerate(zip(pages, heights, drawn, strict=True)):
        for line in lines:
            if _is_at_edge(line, height) and _ends_at_edge(line, lines, height, boxes, step):
                below = line.baseline > height / 2
                place = (line.baseline - height if below else line.baseline) / _slack(line)
                text = _mask_digits(line.text)
                pages_by_text[text, round(place)].add(number)
                places.append((line, text, round(place)))
    return {
        id(line)
        for line, text, place in places
        if _count_pages(pages_by_text, text, place) >= enough
        and (literal[line.text] >= enough or not _opens(line.text))
    }


def _enough(pages: Sequence[Sequence[Line]]) -> float:
    """Return the minimum number of pages of a running head."""
    return max(2, _REPEATED * len(pages))


def body_size(lines: Sequence[Line]) -> float:
    """Return the type size of most characters, in points; 10 without lines."""
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[round(line.size, 1)] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 10.0


def _slack(line: Line) -> float:
    """Return the tolerance in points for the position of a running head, since scans are skewed."""
    return 3.0 if line.engine == "textlayer" else line.size


def _opens(text: str) -> bool:
    """Return whether a line starts a problem, a part of one or a choice."""
    number = read_number(text)
    return (number is not None and number.end < len(text)) or _OPENS.match(text) is not None


def _usual_step(pages: Sequence[Sequence[Line]]) -> float:
    """Return the usual distance from one baseline to the next, in points."""
    steps = [
        after.baseline - before.baseline for lines in pages for before, after in pairwise(lines)
    ]
    return median([step for step in steps if 5 < step < 40] or [12.0])


def _ends_at_edge(
    line: Line, lines: Sequence[Line], height: float, boxes: Sequence[Box], step: float
) -> bool:
    """Return whether the block of a line ends before the text of the page begins."""
    down = line.baseline < height / 2
    spans = [(page_line.baseline - 0.7 * page_line.size, page_line.baseline) for page_line in lines]
    spans += [(box.y0, box.y1) for box in boxes]
    if not down:
        spans = [(height - end, height - begin) for begin, end in spans]
    reach = line.baseline if down else height - line.baseline + 0.7 * line.size
    for begin, end in sorted(span for span in spans if span[1] > reach):
        if begin > reach + _APART * step - 0.7 * line.size:
            break
        reach = max(reach, end)
    return reach < _MARGIN * height + line.size


def _names_problem(text: str) -> bool:
    number = read_number(text)
    return number is not None and number.style not in ("plain", "heading")


def _numbers_text(line: Line, lines: Sequence[Line], literal: Counter[str]) -> bool:
    """Return whether a number in the margin has running text next to it, like that of a problem."""
    if not re.fullmatch(r"\d{1,3}[.)]?", line.text):
        return False
    return any(
        abs(neighbour.baseline - line.baseline) < 2
        and 0 <= neighbour.box.x0 - line.box.x1 < 4 * line.size
        and len(neighbour.text) >= _SENTENCE
        and literal[neighbour.text] <= 1
        and not neighbour.text.isupper()
        for neighbour in lines
    )


def _is_at_edge(line: Line, height: float) -> bool:
    middle = line.box.centre[1]
    return middle < _MARGIN * height or middle > (1 - _MARGIN) * height


def _stands_apart(
    line: Line, lines: Sequence[Line], height: float, boxes: Sequence[Box], body: float
) -> bool:
    inner_boxes = [page_line.box for page_line in lines if not _is_at_edge(page_line, height)]
    gap = min((max(0.0, box.gap_y(line.box)) for box in [*inner_boxes, *boxes]), default=99.0)
    if _PAGE_NUMBER.fullmatch(line.text):
        return gap > 0.5 * line.size
    if line.engine != "textlayer" and line.box.centre[1] > height / 2:
        # Sizes are those of boxes here: small capitals look like text.
        return gap > 2.5 * line.size and len(line.text) < _FOOT
    return gap > 1.2 * line.size and line.size < 0.92 * body
