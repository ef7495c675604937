"""Synthetic problems and their pictures, made from a seed in the shape of a published study."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from io import BytesIO
from math import gcd
from random import Random
from typing import NamedTuple

from omibench.models.synthetic.profiles import Counts, Kind, Like, profile
from omibench.schemas.problem import AnswerType, Subject, Value

COLUMNS, ROWS, CELL, RADIUS = 8, 6, 20, 5
SIZE = (COLUMNS * CELL, (ROWS + 1) * CELL)
"""Width and height in pixels: a field of cells above a row that identifies the picture."""


def picture(drawing: Drawing) -> bytes:
    """Draw a PNG with the given number of dots, above bars determined by its key."""
    from PIL import Image, ImageDraw

    code = hashlib.blake2b(drawing.key.encode(), digest_size=32).digest()
    image = Image.new("1", SIZE, 1)
    draw = ImageDraw.Draw(image)
    start, step = code[0] % (COLUMNS * ROWS), (5, 7, 11, 13)[code[1] % 4]  # prime to 48 cells
    for n in range(drawing.dots):
        row, column = divmod((start + n * step) % (COLUMNS * ROWS), COLUMNS)
        x, y = column * CELL + CELL // 2, row * CELL + CELL // 2
        draw.ellipse((x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS), fill=0)
    for place, byte in enumerate(code[2:]):
        left = place * SIZE[0] // 30
        draw.line((left, SIZE[1] - 1, left, SIZE[1] - 1 - byte % CELL), fill=0)
    out = BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


# Attributes of synthetic problems besides their category, for the study's tables.
#
# They depend on the problem's id alone, so its texts, numbers and pictures are the same with and
# without them.

_YEARS = range(1999, 2026)
"""USNCO-V, introduction: exams of 1999 to 2025."""
_STAGES = {"Primary": 187, "Middle": 212, "High": 81}
_DIFFICULTIES = {"Easy": 133, "Medium": 215, "Hard": 132}
_NOISE = {
    "blur": 0.84, "underexposure/overexposure": 0.48, "shadow coverage": 0.38, "glare": 0.18,
    "rotation": 0.30, "in-plane tilt": 0.59, "non-planar capture": 0.25,
    "background distortion": 0.41, "handwritten questions": 0.03, "reverse side content": 0.55,
    "question marking": 0.20, "figure marking": 0.39,
    "handwritten answer for multiple-choice questions": 0.16,
    "handwritten process for constructed-response questions": 0.47,
}  # fmt: skip
"""Share of the released testmini's photographs with each condition."""


def describe_item(item: Item, like: Like, seed: int) -> dict[str, Value]:
    """Draw the attributes of a synthetic problem.

    Args:
        item: The problem.
        like: Study whose shape it has.
        seed: Seed of the problems.

    Returns:
        The attributes it was made with, and those that slice the study's tables.
    """
    rng = make_random("attributes", like, seed, item.id)
    stated: dict[str, Value] = dict(item.attributes)
    if like == "usnco-v":
        stated |= {"image_type": item.attributes["category"], "year": str(rng.choice(_YEARS))}
    elif like in ("mathreal", "mathreal-testmini"):
        noise = [name for name, share in _NOISE.items() if rng.random() < share]
        stated |= {"stage": _draw(rng, _STAGES), "difficulty": _draw(rng, _DIFFICULTIES)}
        stated |= {"noise": noise} if noise else {}
        if has_clean_picture(item.id, like, seed):
            is_clean = all(drawing.key.endswith(CLEAN) for drawing in item.drawings)
            stated |= {"pair": "clean" if is_clean else "real"}
    elif item.subject == "coding":
        stated |= {"task": item.attributes["category"]}
    return stated


def _draw(rng: Random, counts: dict[str, int]) -> str:
    return rng.choices([*counts], weights=[*counts.values()])[0]


# Probability of a correct answer, and the ability for a given mean probability.
#
# The three-parameter logistic model with a lower asymptote for guessing: Birnbaum, in Lord and
# Novick, Statistical Theories of Mental Test Scores (1968), ch. 17.

STEEPEST = 700.0
"""Above it `exp` overflows."""
WIDEST = 12.0


def chance(logit: float, guess: float) -> float:
    """Return P(correct) for an answer that is guessed right with probability `guess`."""
    return guess + (1 - guess) / (1 + math.exp(-max(-STEEPEST, min(STEEPEST, logit))))


def solve_ability(accuracy: float, items: Sequence[tuple[float, float]]) -> float:
    """Return the ability at which the mean probability over `items` is `accuracy`, in [-12, 12].

    An item is its difficulty (in logits, including other terms that lower the logit) and its
    guessing probability. An accuracy below guessing gives the lowest ability.
    """
    low, high = -WIDEST, WIDEST
    for _ in range(24):
        middle = (low + high) / 2
        mean = sum(chance(middle - difficulty, guess) for difficulty, guess in items) / len(items)
        low, high = (middle, high) if mean < accuracy else (low, middle)
    return round((low + high) / 2, 4)


# Synthetic problems: counting dots over several pictures. Equal arguments give equal problems.
#
# They have true answers that a model could find, so all later stages run as for a real benchmark.
# The difficulty of each is stored for simulated models.

MOST_DOTS = 40


class Drawing(NamedTuple):
    """One picture: its number of dots, with a layout determined by its key."""

    key: str
    dots: int

    @property
    def caption(self) -> str:
        """Its content as text."""
        return f"A field with {self.dots} dots."


class ItemOption(NamedTuple):
    """One choice: a text, or the index of a drawing."""

    label: str
    text: str | None
    drawing: int | None


class Item(NamedTuple):
    """One synthetic problem with its answer; `difficulty` is on the ability's (logit) scale."""

    id: str
    subject: Subject
    answer_type: AnswerType
    question: str
    drawings: list[Drawing]
    options: list[ItemOption]
    answer: list[str]
    solution: str
    group: str
    difficulty: float
    attributes: Mapping[str, str]


class _Form(NamedTuple):
    """Fixed properties of a problem, before its text and numbers."""

    kind: Kind
    images: int
    choices: int
    parts: int
    pictures: bool


@lru_cache(maxsize=4)
def items(like: Like, seed: int = 0) -> tuple[Item, ...]:
    """Generate every problem of the profile `like`, subject by subject."""
    forms = [form for kind in profile(like).kinds for form in _forms(kind, like, seed)]
    groups = _groups(forms, like, seed)
    places: dict[Subject, int] = {}
    problems = []
    for form, group in zip(forms, groups, strict=True):
        subject = form.kind.subject
        places[subject] = places.get(subject, 0) + 1
        problems.append(_item(f"synthetic-{subject}-{places[subject]}", form, group, like, seed))
    return tuple(problems)


CLEAN, EASIER = "-clean", 0.4
"""The end of the id of a problem with its clean picture, and how much easier that is (logits)."""
_CLEAN_SHARES: Mapping[Like, float] = {"mathreal": 1255 / 2000, "mathreal-testmini": 175 / 480}
"""MathReal, tables 1 and 8: the share of problems with a clean picture."""


@lru_cache(maxsize=4)
def clean_items(like: Like, seed: int = 0) -> tuple[Item, ...]:
    """Generate the problems of MathReal that have a clean picture, with that; none of others.

    They are those of `items` with other pictures of the same content, an id that ends in `-clean`
    and the group of both.
    """
    return tuple(
        item._replace(
            id=item.id + CLEAN,
            drawings=[d._replace(key=d.key + CLEAN) for d in item.drawings],
            group=item.id,
            difficulty=round(item.difficulty - EASIER, 4),
        )
        for item in items(like, seed)
        if has_clean_picture(item.id, like, seed)
    )


def has_clean_picture(name: str, like: Like, seed: int) -> bool:
    """Return whether a problem, given by its id, has a clean picture besides the photograph."""
    problem = name.removesuffix(CLEAN)
    return make_random("pair", like, seed, problem).random() < _CLEAN_SHARES.get(like, 0.0)


def make_random(*parts: object) -> Random:
    """Return a random generator that depends only on `parts`."""
    text = "\0".join(map(str, parts))
    return Random(hashlib.blake2b(text.encode(), digest_size=8).digest())  # noqa: S311


def _forms(kind: Kind, like: Like, seed: int) -> Iterator[_Form]:
    rng = make_random(like, seed, kind.subject, kind.answer_type, sorted(kind.attributes.items()))
    n = kind.total
    images, choices, parts = (
        _deal(counts, n, fill, rng)
        for counts, fill in ((kind.images, 1), (kind.choices, 0), (kind.parts, 1))
    )
    fitting = [i for i in range(n) if 0 < choices[i] <= images[i]]
    pictured = set(fitting[: kind.pictures])
    for i in range(n):
        yield _Form(kind, images[i], choices[i], parts[i], i in pictured)


def _deal(counts: Counts, n: int, fill: int, rng: Random) -> list[int]:
    """Return n shuffled numbers: each of `counts` as often as given, `fill` for the rest."""
    values = [value for value, count in counts.items() for _ in range(count)]
    values = (values + [fill] * n)[:n]
    rng.shuffle(values)
    return values


def _groups(forms: Sequence[_Form], like: Like, seed: int) -> list[str]:
    """Return the group of each problem, shared as in the profile, or empty."""
    groups = [""] * len(forms)
    for subject, sizes in profile(like).groups.items():
        indices = [i for i, form in enumerate(forms) if form.kind.subject == subject]
        rng = make_random(like, seed, "groups", subject)
        rng.shuffle(indices)
        shared = [size for size, count in sizes.items() if size > 1 for _ in range(count)]
        for number, size in enumerate(shared, 1):
            for i in indices[:size]:
                groups[i] = f"synthetic-{subject}-stem-{number}"
            indices = indices[size:]
    return groups


def _item(name: str, form: _Form, group: str, like: Like, seed: int) -> Item:
    rng = make_random(like, seed, name)
    stem = form.images - (form.choices if form.pictures else 0)
    drawings = [
        _drawing(f"{group or name}/{i}" if i == 0 else f"{name}/{i}", like, seed)
        for i in range(stem)
    ]
    dots = [drawing.dots for drawing in drawings]
    options: list[ItemOption] = []
    if form.pictures:
        options, drawn, answer, task = _picture_choices(form, name, stem, rng)
        drawings += drawn
    elif form.choices:
        options, answer, task = _text_choices(form.choices, sum(dots), rng)
    else:
        answer, task = _open(dots, form.parts, rng)
    picture_lines = "\n".join(f"Picture {i + 1}: [IMAGE{i}]" for i in range(stem))
    text = f"{picture_lines}\n\n{task}".strip()
    dot_counts = ", ".join(str(drawing.dots) for drawing in drawings)
    return Item(
        id=name,
        subject=form.kind.subject,
        answer_type=form.kind.answer_type,
        question=text,
        drawings=drawings,
        options=options,
        answer=answer,
        solution=f"The pictures show {dot_counts} dots. The answer is {', '.join(answer)}.",
        group=group,
        difficulty=round(rng.gauss(0.0, 1.0), 4),
        attributes=form.kind.attributes,
    )


def _drawing(key: str, like: Like, seed: int) -> Drawing:
    return Drawing(f"{like}/{seed}/{key}", 1 + make_random(like, seed, key).randrange(MOST_DOTS))


def _picture_choices(
    form: _Form, name: str, stem: int, rng: Random
) -> tuple[list[ItemOption], list[Drawing], list[str], str]:
    counts = rng.sample(range(1, MOST_DOTS + 1), form.choices)
    drawn = [Drawing(f"{name}/choice/{i}/{n}", n) for i, n in enumerate(counts)]
    right = rng.randrange(form.choices)
    options = [ItemOption(_letter(i), None, stem + i) for i in range(form.choices)]
    task = f"Which of the choices shows exactly {counts[right]} dots?"
    return options, drawn, [_letter(right)], task


def _text_choices(count: int, total: int, rng: Random) -> tuple[list[ItemOption], list[str], str]:
    distractors = [n for n in range(max(0, total - 2 * count), total + 2 * count + 1) if n != total]
    texts = rng.sample(distractors, count - 1)
    right = rng.randrange(count)
    texts.insert(right, total)
    options = [ItemOption(_letter(i), str(n), None) for i, n in enumerate(texts)]
    return options, [_letter(right)], "How many dots do the pictures show together?"


def _open(dots: Sequence[int], parts: int, rng: Random) -> tuple[list[str], str]:
    if parts > 1:
        task = (
            "Give (1) the number of dots in all pictures together and (2) the number of dots of "
            "the fullest picture."
        )
        return [str(sum(dots)), str(max(dots))], task
    variant = rng.randrange(3) if len(dots) > 1 else 0
    if variant == 0:
        return [str(sum(dots))], "How many dots do the pictures show together?"
    if variant == 1:
        return [_fraction(dots[0], sum(dots))], (
            "Which part of all dots stands in picture 1? Give a fraction in lowest terms."
        )
    return [_polynomial(dots)], (
        "The numbers of dots are the coefficients of a polynomial in $x$, that of the highest "
        "power first. Write the polynomial."
    )


def _fraction(part: int, total: int) -> str:
    common = gcd(part, total)
    return f"$\\frac{{{part // common}}}{{{total // common}}}$"


def _polynomial(coefficients: Iterable[int]) -> str:
    numbers = list(coefficients)
    powers = ("", "x", *(f"x^{{{n}}}" for n in range(2, len(numbers))))
    terms = [
        f"{'' if number == 1 and power else number}{power}"
        for number, power in zip(numbers, reversed(powers[: len(numbers)]), strict=True)
    ]
    return f"${'+'.join(terms)}$"


def _letter(index: int) -> str:
    return chr(ord("A") + index)
