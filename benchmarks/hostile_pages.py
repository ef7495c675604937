"""Measure the CPU seconds that pages made to be slow take.

`python benchmarks/hostile_pages.py [KIND ...]` makes a page of each kind and reads its formulas.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from random import Random
from typing import Final

import pymupdf

from glyphtex.pages import search_page

Letters = tuple[float, float, str, str, float]
"""Origin, text, font and type size, in points."""
Rule = tuple[float, float, float]
"""Both ends and the height of a rule, in points."""
SIGNS: Final = "abcxyz+-=()|[]{}<>/123,."
ROMAN, ITALIC, SYMBOLS = "tiro", "tiit", "symb"
KINDS: Final[dict[str, Callable[[pymupdf.Page], None]]] = {}


def add_kind(name: str) -> Callable[[Callable[[pymupdf.Page], None]], None]:
    """Register a function that fills a page."""

    def add(fill: Callable[[pymupdf.Page], None]) -> None:
        KINDS[name] = fill

    return add


def write(page: pymupdf.Page, letters: Iterable[Letters]) -> None:
    """Write letters on a page."""
    writer = pymupdf.TextWriter(page.rect)
    for x, y, text, font, size in letters:
        writer.append((x, y), text, load_font(font), size)
    writer.write_text(page)


@cache
def load_font(name: str) -> pymupdf.Font:
    """Return one of the fonts that PDF viewers have."""
    return pymupdf.Font(name)


def rule(page: pymupdf.Page, rules: Iterable[Rule]) -> None:
    """Draw rules on a page."""
    shape = page.new_shape()
    for x0, x1, y in rules:
        shape.draw_line((x0, y), (x1, y))
        shape.finish(width=0.4, closePath=False)
    shape.commit()


def make_random() -> Random:
    """Return random numbers, the same each time."""
    return Random(1)  # noqa: S311 (places of letters)


def scatter(count: int, text: str, fonts: str, sizes: str) -> Iterator[Letters]:
    """Yield letters at random places; fonts and sizes are separated by spaces."""
    random = make_random()
    for _ in range(count):
        place = random.uniform(20, 570), random.uniform(20, 820)
        font, size = random.choice(fonts.split()), float(random.choice(sizes.split()))
        yield *place, random.choice(text), font, size


@add_kind("9,000 scattered letters")
def _(page: pymupdf.Page) -> None:
    write(page, scatter(9_000, "abcxyz", ITALIC, "10"))


@add_kind("2,400 scattered letters")
def _(page: pymupdf.Page) -> None:
    write(page, scatter(2_400, "abcxyz", ITALIC, "10"))


@add_kind("2,400 scattered signs, 290 rules")
def _(page: pymupdf.Page) -> None:
    random = make_random()
    write(page, scatter(2_400, SIGNS, f"{ITALIC} {ROMAN} cour", "5 7 10 14"))
    places = ((random.uniform(20, 400), random.uniform(20, 820)) for _ in range(290))
    rule(page, ((x, x + random.uniform(5, 200), y) for x, y in places))


@add_kind("9,000 signs of mixed fonts in lines")
def _(page: pymupdf.Page) -> None:
    mixed = scatter(9_000, SIGNS, f"{ITALIC} {ROMAN} cour helv", "6 8 10")
    write(page, ((20 + 5.5 * (k % 100), 20 + 9 * (k // 100), *m[2:]) for k, m in enumerate(mixed)))


@add_kind("12,000 letters of mixed sizes and heights in lines")
def _(page: pymupdf.Page) -> None:
    random = make_random()
    mixed = scatter(12_000, "abcxyz", ITALIC, "3 5 7 10")
    write(
        page,
        (
            (20 + 2.5 * (k % 220), 30 + 12 * (k // 220) + random.choice((-3, 0, 2)), *letter[2:])
            for k, letter in enumerate(mixed)
        ),
    )


@add_kind("300 nested rules, 1,800 letters")
def _(page: pymupdf.Page) -> None:
    steps = [(0.6 * k, 60 + 2.5 * k) for k in range(300)]
    rule(page, ((50 + x, 50 + x + max(2, 390 - 2 * x), y) for x, y in steps))
    write(page, ((60 + x + 10 * j, y - 0.3, "x", ITALIC, 3) for x, y in steps for j in range(6)))


@add_kind("300 rules at one place, 1,800 letters")
def _(page: pymupdf.Page) -> None:
    random = make_random()
    rule(page, ((50, 350, 200 + 0.01 * k) for k in range(300)))
    letters = scatter(1_800, "abcxyz+-=", ITALIC, "3 5 8")
    write(page, ((random.uniform(50, 350), random.uniform(90, 310), *m[2:]) for m in letters))


@add_kind("300 rules under 50 rows of 300 letters")
def _(page: pymupdf.Page) -> None:
    rule(page, ((40, 276, 235 + 0.01 * k) for k in range(300)))
    places = ((30 + 1.6 * j, 100 + 2.7 * i, j) for i in range(50) for j in range(300))
    write(page, ((x, y, "abcxyz"[j % 6], ITALIC, 3.4) for x, y, j in places))


@add_kind("500 roots with bars")
def _(page: pymupdf.Page) -> None:
    places = [(30 + 50 * (k % 11), 40 + 17 * (k // 11)) for k in range(500)]
    write(page, ((x, y, "√", SYMBOLS, 10) for x, y in places))
    write(page, ((x + 6, y, "ab", ITALIC, 8) for x, y in places))
    rule(page, ((x + 5.5, x + 18, y - 8) for x, y in places))


@add_kind("500 nested roots")
def _(page: pymupdf.Page) -> None:
    write(page, ((20 + 1.1 * k, 400, "√", SYMBOLS, 10) for k in range(500)))
    write(page, ((26 + 1.1 * k, 400, "a", ITALIC, 2) for k in range(500)))
    rule(page, ((25.5 + 1.1 * k, 580, 392 - 0.1 * k) for k in range(500)))


def draw_roots(page: pymupdf.Page, places: Iterable[tuple[float, float]]) -> None:
    """Draw root signs on a page."""
    shape = page.new_shape()
    for x, y in places:
        shape.draw_polyline([(x, y + 7), (x + 3, y + 6), (x + 5, y + 12), (x + 8, y)])
        shape.finish(width=0.4, closePath=False)
    shape.commit()


@add_kind("3,900 drawn roots, 2,300 letters")
def _(page: pymupdf.Page) -> None:
    random = make_random()
    draw_roots(page, ((random.uniform(20, 560), random.uniform(20, 800)) for _ in range(3_900)))
    write(page, scatter(2_300, "x", ITALIC, "8"))


@add_kind("3,900 drawn roots at one place, 250 letters")
def _(page: pymupdf.Page) -> None:
    draw_roots(page, ((100 + 0.001 * k, 110) for k in range(3_900)))
    write(page, ((20 + 3 * k % 500, 112, "x", ITALIC, 8) for k in range(250)))


@add_kind("2,000 brackets in pairs")
def _(page: pymupdf.Page) -> None:
    text = "(" * 50 + "x+1" + ")" * 50
    write(page, ((20, 40 + 30 * row, text, ITALIC, 8) for row in range(20)))


@add_kind("12,000 brackets in deep pairs")
def _(page: pymupdf.Page) -> None:
    text = "(" * 1_000 + "a+b" + ")" * 1_000
    write(page, ((5, 100 + 20 * row, text, ITALIC, 0.5) for row in range(6)))


@add_kind("3,000 letters at one origin")
def _(page: pymupdf.Page) -> None:
    random = make_random()
    write(page, ((100, 100, random.choice("abcxyz"), ITALIC, 10) for _ in range(3_000)))


@add_kind("9,000 letters at 31 origins")
def _(page: pymupdf.Page) -> None:
    places = ((30 + 100 * (k // 290 % 5), 100 + 60 * (k // 1_450), k) for k in range(9_000))
    write(page, ((x, y, "abcxyz"[k % 6], ITALIC, (5, 7, 10)[k % 3]) for x, y, k in places))


@add_kind("matrix of 50 by 45")
def _(page: pymupdf.Page) -> None:
    cells = [(40 + 11 * j, 40 + 14 * i, i * j % 10) for i in range(50) for j in range(45)]
    write(page, ((x, y, str(digit), ROMAN, 9) for x, y, digit in cells))
    for x, piece in ((30, "\u239c"), (540, "\u239f")):
        write(page, ((x, 40 + 9 * k, piece, SYMBOLS, 10) for k in range(78)))


@add_kind("2,400 formulas in 15 columns")
def _(page: pymupdf.Page) -> None:
    places = ((15 + 38 * j, 20 + 5 * i) for i in range(160) for j in range(15))
    write(page, ((x, y, "x=y+1", ITALIC, 4.5) for x, y in places))


@add_kind("8,000 letters and arrows")
def _(page: pymupdf.Page) -> None:
    signs = (("→", SYMBOLS) if k % 19 == 0 else ("x", ITALIC) for k in range(8_000))
    places = ((20 + 5 * (k % 100), 40 + 10 * (k // 100)) for k in range(8_000))
    write(page, ((*place, *sign, 8) for place, sign in zip(places, signs, strict=True)))


def main() -> None:
    """Print the table."""
    pymupdf.TOOLS.mupdf_display_errors(False)
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("kinds", nargs="*", choices=[[], *KINDS], help="kinds; by default all")
    print("| page | CPU s | formulas | `formulas_unread` |\n|---|---|---|---|")
    for kind in parser.parse_args().kinds or KINDS:
        made = pymupdf.open()
        KINDS[kind](made.new_page(width=595, height=842))
        page = pymupdf.open("pdf", made.tobytes())[0]
        start = time.process_time()
        reading = search_page(page)
        seconds = time.process_time() - start
        partial = "yes" if reading.is_partial else ""
        print(f"| {kind} | {seconds:.1f} | {len(reading.formulas)} | {partial} |", flush=True)


if __name__ == "__main__":
    main()
