"""Formulas as trees, and trees that differ from them in one place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

Tree = tuple["str | Tree", ...]

TWINS = (
    "+-", "1237", "0869", "45", ("x", "X", r"\chi"), ("a", r"\alpha", "A"), ("v", r"\nu", "V"),
    ("w", r"\omega", "W"), ("p", r"\rho", "P"), ("n", "m", r"\eta"), ("k", r"\kappa", "K"),
    (r"\phi", r"\varphi"), (r"\Delta", r"\delta"), (r"\Sigma", r"\sigma"),
    (r"\cdot", r"\times", "/"), ("=", r"\neq", r"\equiv", r"\approx"), ("<", r"\leq", r"\ll"),
    (">", r"\geq", r"\gg"), (r"\pm", r"\mp"), (r"\in", r"\notin", r"\subset"),
    (r"\to", r"\Rightarrow", r"\leftrightarrow"), (r"\sum", r"\prod", r"\int"),
    (r"\mathbb{R}", r"\mathcal{R}", r"R", r"\mathrm{R}"), (r"\sin", r"\cos", r"\sinh"),
    ("(", "["), (")", "]"), (r"\hat", r"\vec", r"\dot", r"\ddot", r"\bar", r"\tilde"),
)  # fmt: skip
"""Signs that a reader may take for one another, a group each."""
KINDS = ("sub", "sup")
LEAVES = [sign for group in TWINS for sign in group]
NAMES = [sign for sign in LEAVES if sign.isalnum() or sign[1:] in {"alpha", "nu", "omega", "rho"}]


def grow_tree(random: Random, depth: int = 3) -> Tree:
    """A row of three to five parts."""
    parts: list[str | Tree] = [_grow_part(random, depth)]
    for _ in range(random.randint(1, 2)):
        operator = random.choice(["+", "-", "=", "<", r"\cdot", r"\pm", r"\in", r"\to"])
        parts += [operator, _grow_part(random, depth)]
    return ("row", *parts)


def _grow_part(random: Random, depth: int) -> Tree:
    name: Tree = ("row", random.choice(NAMES))
    if depth == 0:
        return name
    random_sign = ("row", random.choice("xavw"))
    shapes: dict[str, Callable[[], Tree]] = {
        "name": lambda: name,
        "sub": lambda: ("sub", name, grow_tree(random, 0)),
        "sup": lambda: ("sup", name, random.choice([name, grow_tree(random, 0)])),
        "frac": lambda: ("frac", grow_tree(random, depth - 1), grow_tree(random, depth - 1)),
        "sqrt": lambda: ("sqrt", grow_tree(random, depth - 1)),
        "root": lambda: ("root", ("row", random.choice("345")), grow_tree(random, depth - 1)),
        "accent": lambda: ("accent", ("row", random.choice(TWINS[-1])), random_sign),
        "sum": lambda: ("sum", ("row", r"\sum"), grow_tree(random, 0), name, random_sign),
        "fence": lambda: ("row", "(", grow_tree(random, depth - 1), ")"),
    }
    return random.choice(list(shapes.values()))()


def write_tree(tree: str | Tree) -> str:
    """The LaTeX of a tree, every argument in braces."""
    if isinstance(tree, str):
        return tree
    kind, *parts = tree
    texts = [write_tree(part) for part in parts]
    forms = {
        "sub": "{}_{{{}}}", "sup": "{}^{{{}}}", "accent": "{}{{{}}}", "root": r"\sqrt[{}]{{{}}}",
        "sum": "{}_{{{}}}^{{{}}} {}", "frac": r"\frac{{{}}}{{{}}}", "sqrt": r"\sqrt{{{}}}",
    }  # fmt: skip
    return forms[kind].format(*texts) if kind in forms else " ".join(texts)


def change_tree(tree: str | Tree) -> Iterator[str | Tree]:
    """Every tree that differs in one sign, in one script's place, or in one nesting."""
    if isinstance(tree, str):
        for group in TWINS:
            if tree in group:
                yield from (sign for sign in group if sign != tree)
        return
    kind, *parts = tree
    if kind in KINDS:
        yield (KINDS[kind == "sub"], *parts)
        yield ("row", *parts)  # the script comes down
    if kind in {"sqrt", "root"}:
        yield parts[-1]  # the root is lost
    if kind == "frac":
        yield ("frac", parts[1], parts[0])
        yield ("row", *parts)  # the rule is lost
    for place, part in enumerate(parts):
        for changed in change_tree(part):
            yield (kind, *parts[:place], changed, *parts[place + 1 :])
