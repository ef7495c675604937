"""Nodes of a formula's tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from omibench.stages.ocr.formulas.marks import Kind

GridKind = Literal[
    "matrix",
    "pmatrix",
    "bmatrix",
    "Bmatrix",
    "vmatrix",
    "Vmatrix",
    "cases",
    "aligned",
    "gathered",
    "binom",
]


@dataclass(frozen=True, slots=True)
class Sign:
    """One symbol."""

    latex: str
    kind: Kind
    upright: bool = False
    bold: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """Consecutive parts on a baseline; `gaps` are the spaces before each, in ems."""

    children: tuple[Node, ...]
    gaps: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Script:
    """Base with its superscripts, subscripts, left scripts and primes."""

    base: Node
    sub: Node | None = None
    sup: Node | None = None
    primes: int = 0
    left_sub: Node | None = None
    left_sup: Node | None = None


@dataclass(frozen=True, slots=True)
class Fraction:
    above: Node
    below: Node


@dataclass(frozen=True, slots=True)
class Root:
    body: Node
    index: Node | None = None


@dataclass(frozen=True, slots=True)
class LimitsNode:
    """Operator, arrow, relation or brace with the limits below and above it."""

    base: Node
    below: Node | None = None
    above: Node | None = None


@dataclass(frozen=True, slots=True)
class Fence:
    """Brackets that grow with their content; an empty side has no bracket."""

    left: str
    body: Node
    right: str


@dataclass(frozen=True, slots=True)
class Accent:
    """Command over or under its body: `\\hat`, `\\overline`, `\\underbrace`."""

    command: str
    body: Node


@dataclass(frozen=True, slots=True)
class Words:
    """Upright letters: a function name, a unit, or text inside the formula."""

    text: str
    command: Literal["operator", "\\mathrm", "\\text"]


@dataclass(frozen=True, slots=True)
class GridNode:
    """Rows and columns: a matrix, cases, or aligned rows."""

    rows: tuple[tuple[Node, ...], ...]
    kind: GridKind


@dataclass(frozen=True, slots=True)
class Chemistry:
    """Formula or reaction in the notation of mhchem, such as `2H2 + O2 -> 2H2O`."""

    text: str


Node = (
    Sign
    | Row
    | Script
    | Fraction
    | Root
    | LimitsNode
    | Fence
    | Accent
    | Words
    | GridNode
    | Chemistry
)
