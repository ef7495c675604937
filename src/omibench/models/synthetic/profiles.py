"""Integer shares of a number: proportional to sizes, or as equal as the sizes allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, TypeVar, get_args

from omibench.errors import ParamsError
from omibench.schemas.problem import AnswerType, Subject
from omibench.schemas.validation import suggest_name

K = TypeVar("K")


def proportional(sizes: Mapping[K, int], total: int) -> dict[K, int]:
    """Split `total` in proportion to `sizes`, by largest remainders; ties go to the first."""
    size_sum = sum(sizes.values())
    exact = {name: total * size / size_sum for name, size in sizes.items()}
    shares = {name: int(share) for name, share in exact.items()}
    by_remainder = sorted(sizes, key=lambda name: shares[name] - exact[name])
    for name in by_remainder[: total - sum(shares.values())]:
        shares[name] += 1
    return shares


def equal(sizes: Mapping[str, int], total: int) -> dict[str, int]:
    """Split `total` into shares as equal as possible, none exceeding its size.

    If the sizes sum to `total` or less, each share is its size.
    """
    shares = dict.fromkeys(sizes, 0)
    remaining = total
    for place, name in enumerate(sorted(sizes, key=lambda name: sizes[name])):
        shares[name] = min(sizes[name], remaining // (len(sizes) - place))
        remaining -= shares[name]
    return shares


# Shapes of the published studies: numbers of problems by kind, and numbers of pictures.
#
# `omibench` counts the released test split, which differs from the printed statistics in the
# pictures of physics (docs/reference/benchmarks.md). `emma` follows EMMA, tables 1 and B.1,
# `usnco-v` USNCO-V, table 3, `mathreal` and `mathreal-testmini` MathReal, table 1 and the counts of
# the released testmini. If only the two margins of a table are printed, the table is their product.

Like = Literal["omibench", "emma", "emma-mini", "usnco-v", "mathreal", "mathreal-testmini"]
LIKES: tuple[Like, ...] = get_args(Like)
Counts = Mapping[int, int]


class Kind(NamedTuple):
    """Problems of one kind: `images`, `choices` and `parts` map a number to its count of problems.

    `pictures` of those with choices have picture choices; `attributes` are the same for all.
    """

    subject: Subject
    answer_type: AnswerType
    images: Counts
    choices: Counts = {}
    parts: Counts = {}
    pictures: int = 0
    attributes: Mapping[str, str] = {}

    @property
    def total(self) -> int:
        """Number of problems of this kind."""
        return sum(self.images.values())


class Profile(NamedTuple):
    """A study's problems by kind, and the sizes of groups that share a stem, by subject."""

    kinds: Sequence[Kind]
    groups: Mapping[Subject, Counts] = {}

    @property
    def total(self) -> int:
        """Number of problems."""
        return sum(kind.total for kind in self.kinds)


_OMIBENCH = Profile(
    kinds=(
        Kind("biology", "mcq", {2: 93, 3: 24, 4: 42, 5: 11, 6: 2, 7: 5, 8: 3},
             {2: 15, 3: 14, 4: 107, 5: 38, 6: 5, 7: 1}, pictures=26),
        Kind("biology", "open", {2: 39, 3: 9, 4: 11, 5: 5, 6: 6, 8: 1}, parts={2: 3}),
        Kind("chemistry", "mcq", {2: 2, 4: 2, 5: 105, 6: 1, 7: 1}, {2: 2, 4: 2, 5: 107},
             pictures=105),
        Kind("chemistry", "open", {2: 53, 3: 34, 4: 7, 5: 3, 6: 4, 7: 2, 8: 1, 9: 1, 10: 1},
             parts={2: 26}),
        Kind("mathematics", "mcq", {2: 120, 3: 28, 4: 22, 5: 1, 6: 1}, {3: 1, 4: 171},
             pictures=12),
        Kind("mathematics", "open", {2: 195, 3: 55, 4: 7, 5: 1}, parts={2: 62}),
        Kind("physics", "mcq", {2: 97, 3: 6, 4: 8}, {4: 111}),
        Kind("physics", "open", {2: 199, 3: 47, 4: 31, 5: 8, 7: 3, 8: 15, 11: 10},
             parts={2: 6}),
    ),
    groups={
        "biology": {1: 97, 2: 16, 3: 18, 4: 3, 5: 6, 6: 2, 7: 2},
        "chemistry": {1: 147, 2: 7, 3: 2, 4: 2, 5: 1, 6: 1, 7: 1, 10: 1, 14: 1},
        "physics": {1: 217, 2: 11, 3: 6, 4: 7, 5: 4, 6: 3, 7: 1, 9: 2, 10: 1, 11: 1, 13: 2,
                    14: 1, 15: 1},
    },
)  # fmt: skip

_EMMA_MATH = {
    "2D Transformation": 266, "3D Spatial Simulation": 275, "Path Tracing": 127,
    "Multi-hop Visual Object Counting": 124, "Pattern Inference": 100,
}  # fmt: skip
_EMMA_MCQ: dict[Subject, dict[str, int]] = {
    "physics": {
        "3D Field Simulation": 37, "Graph Reasoning": 26, "Multi-hop Visual Reasoning": 33,
        "Path Tracing": 13, "Visual Decomposition Simulation": 47,
    },
    "chemistry": {
        "Graph Reasoning": 9, "Structure Recognition": 474, "Reaction Simulation": 132,
        "Reaction Simulation Pro": 105,
    },
    "coding": {
        "Vis Choose Code": 188, "Code Choose Vis": 188, "Modify Without Image": 94,
        "Modify With Image": 94,
    },
}  # fmt: skip
_KNOWLEDGE_COUNTING, _MATH_OPEN, _MATH_PICTURE_CHOICES = 456, 330, 90
_EMMA_IMAGES = {
    ("chemistry", "Reaction Simulation Pro"): 5, ("coding", "Modify With Image"): 2,
    ("chemistry", "Graph Reasoning"): 2,
}  # fmt: skip


def _emma() -> Profile:
    """All 2,788: 298 with several pictures and 195 with picture choices, as far as printed."""
    open_ = proportional(_EMMA_MATH, _MATH_OPEN)
    kinds = [
        Kind("chemistry", "open", {1: _KNOWLEDGE_COUNTING},
             attributes={"category": "Knowledge-based counting"})
    ]  # fmt: skip
    for name, count in _EMMA_MATH.items():
        attributes = {"category": name}
        mcq, pictured = count - open_[name], 0
        if name == "2D Transformation":
            pictured = _MATH_PICTURE_CHOICES
        images = {count: n for count, n in ((5, pictured), (1, mcq - pictured)) if n}
        kinds.append(Kind("mathematics", "mcq", images, {4: mcq}, {}, pictured, attributes))
        kinds.append(Kind("mathematics", "open", {1: open_[name]}, attributes=attributes))
    for subject, categories in _EMMA_MCQ.items():
        for name, count in categories.items():
            image_count = _EMMA_IMAGES.get((subject, name), 1)
            pictured = count if name == "Reaction Simulation Pro" else 0
            attributes = {"category": name}
            kinds.append(
                Kind(subject, "mcq", {image_count: count}, {4: count}, {}, pictured, attributes)
            )
    return Profile(kinds)


def _usnco_v() -> Profile:
    categories = dict.fromkeys(("table", "chart", "molecular structure", "apparatus", "other"), 1)
    return Profile(
        [
            Kind("chemistry", "mcq", {1: n}, {4: n}, attributes={"exam": exam, "category": name})
            for exam, count in (("local", 204), ("national", 269))
            for name, n in proportional(categories, count).items()
        ]
    )


_MATHREAL = {
    "Plane Geometry": 247, "Solid Geometry": 111, "Logical Reasoning": 46, "Function Graphs": 43,
    "Statistical Charts": 33,
}  # fmt: skip


def _mathreal(count: int, types: Mapping[str, int], several_parts: int) -> Profile:
    kinds = []
    by_category = proportional(_MATHREAL, count)
    for category, size in by_category.items():
        for name, n in proportional(types, size).items():
            attributes = {"category": category, "type": name}
            parts = {2: round(n * several_parts / count)}
            kinds.append(Kind("mathematics", "open", {1: n}, parts=parts, attributes=attributes))
    return Profile(kinds)


def profile(like: Like) -> Profile:
    """Return the shape of one study; `emma-mini` takes 100 per subject from that of `emma`."""
    match like:
        case "omibench":
            return _OMIBENCH
        case "emma":
            return _emma()
        case "emma-mini":
            return _mini(_emma())
        case "usnco-v":
            return _usnco_v()
        case "mathreal":
            types = {"MultipleChoice": 104, "FillInTheBlank": 475, "ConstructedResponse": 1421}
            return _mathreal(2000, types, 1171)
        case "mathreal-testmini":
            types = {"MultipleChoice": 26, "FillInTheBlank": 113, "ConstructedResponse": 341}
            return _mathreal(480, types, 281)


def _mini(full: Profile, per_subject: int = 100) -> Profile:
    """Draw equally many of each subject, as evenly as possible over its categories (EMMA, 4.1)."""
    kinds = []
    for subject in dict.fromkeys(kind.subject for kind in full.kinds):
        subject_kinds = [kind for kind in full.kinds if kind.subject == subject]
        sizes: dict[str, int] = {}
        for kind in subject_kinds:
            name = kind.attributes["category"]
            sizes[name] = sizes.get(name, 0) + kind.total
        for name, share in equal(sizes, per_subject).items():
            inside = [kind for kind in subject_kinds if kind.attributes["category"] == name]
            counts = proportional({i: kind.total for i, kind in enumerate(inside)}, share)
            kinds += [_shrink(kind, counts[i]) for i, kind in enumerate(inside)]
    return Profile([kind for kind in kinds if kind.total])


def _shrink(kind: Kind, count: int) -> Kind:
    def scale(counts: Counts) -> Counts:
        return {key: n for key, n in proportional(counts, count).items() if n}

    return kind._replace(
        images=scale(kind.images),
        choices=scale(kind.choices) if kind.choices else {},
        pictures=round(kind.pictures * count / kind.total),
    )


# Addresses of synthetic problems and `oracle` files: `synthetic:<study>[:<seed>]`.

SCHEME = "synthetic"


class Made(NamedTuple):
    """Synthetic problems: the study whose shape they have, and the seed."""

    like: Like
    seed: int = 0

    def __str__(self) -> str:
        return ":".join((SCHEME, self.like, *([str(self.seed)] if self.seed else [])))


def is_made_up(source: str) -> bool:
    """Return whether `source` is the address of synthetic problems."""
    return source.startswith(f"{SCHEME}:")


def parse_address(address: str) -> Made | None:
    """Parse an address; None for anything else, such as the path of a file.

    Raises ParamsError for an unknown study, or a seed that is not a number.
    """
    scheme, *parts = address.split(":")
    if scheme != SCHEME or not parts:
        return None
    if parts[0] not in LIKES:
        hint = suggest_name(parts[0], list(LIKES))
        raise ParamsError(f"{address!r}: there are no synthetic problems like {parts[0]!r}{hint}")
    seed = parts[1] if len(parts) == 2 else "0"
    if len(parts) > 2 or not seed.isdecimal():
        raise ParamsError(
            f"{address!r}: needs the form {SCHEME}:{parts[0]}:SEED with a whole number"
        )
    return Made(parts[0], int(seed))
