r"""Operators whose operands are ordered: p \to q, A \subset B, f \circ g, a \times b.

A parser of products would read an unknown command as a factor, and factors commute. So only the
commands in `SYMBOLS` are factors; for all others the sides are compared in order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from glyphtex import lazy_re as re
from glyphtex.latex.signs import list_words
from omibench.answers.formulas.latex import same_text
from omibench.answers.formulas.machine import ACCENTS, FUNCTIONS, OF_TWO

Equality = Callable[[str, str], bool]

_GREEK = """alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa varkappa
lambda mu nu xi pi varpi rho varrho sigma varsigma tau upsilon phi varphi chi psi omega Gamma Delta
Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega hbar hslash ell partial emptyset aleph imath jmath
"""
_COMMANDS = """frac sqrt times binom lfloor rfloor lceil rceil bmod sum prod int iint oint lim angle
triangle mathscr scalarproduct vectorproduct"""
GREEK_LETTERS = frozenset(f"\\{name}" for name in _GREEK.split())
SYMBOLS = frozenset(
    f"\\{name}" for name in (*(_GREEK + _COMMANDS).split(), *FUNCTIONS, *OF_TWO, *ACCENTS)
)
r"""Commands that denote a value, and commands known to the formula reader (`\frac`)."""
_RELATIONS = list_words(r"""\to \mapsto \longmapsto \leftarrow \longleftarrow \gets \Leftarrow \iff
\implies \impliedby \Longrightarrow \Longleftarrow \Leftrightarrow \Longleftrightarrow
\hookrightarrow \rightleftharpoons \leadsto \subset \subseteq \subsetneq \supset \supseteq
\supsetneq \in \notin \ni \vdash \dashv \models \prec \succ \preceq \succeq \ll \gg \lesssim
\gtrsim \cong \perp \parallel \nmid \leq \geq \neq \equiv \propto
← ⇐ ⇔ ↦ ∈ ∉ ∋ ⊂ ⊃ ⊆ ⊇ ⊢ ⊨ ≺ ≻ ≪ ≫ ≅ ⊥ ∥""")
JOINS = list_words(r"\cap \cup \land \lor \vee \wedge \oplus \setminus ∩ ∪ ∧ ∨ ⊕ ∖")
_COMMUTE = list_words(r"""\cap \cup \land \lor \vee \oplus \iff \Leftrightarrow \Longleftrightarrow
\cong \perp \parallel \neq \equiv ∩ ∪ ∨ ⊕ ⇔ ≅ ⊥ ∥""")
_TURNED = [
    (r"\to", r"\leftarrow"), (r"\to", r"\gets"), (r"\to", r"\Leftarrow"), (r"\subset", r"\supset"),
    (r"\implies", r"\impliedby"), (r"\subseteq", r"\supseteq"), (r"\in", r"\ni"),
    (r"\prec", r"\succ"), (r"\ll", r"\gg"),
]  # fmt: skip
_FLIP = frozenset(_TURNED) | frozenset((b, a) for a, b in _TURNED)
_SIGN = re.compile(
    r"\\[{}]|[{(\[]|[})\]]|\\[A-Za-z]+|[+-]|[←⇐⇔↦∈∉∋⊂⊃⊆⊇⊢⊨≺≻≪≫≅⊥∥∩∪∧∨⊕⊗∖∘¬]"
    r"|(?<=[A-Za-z)}'])\s*°(?=\s*[A-Za-z\\({])"
)
_INDEX = re.compile(r"_\s*\{[^{}]*\}")

_ATOM = (
    r"\\(?:nabla(?![A-Za-z])|(?:vec|overrightarrow|hat)\s*"
    r"(?:\{(?:[^{}]|\{[^{}]*\})*\}|\\[A-Za-z]+|[A-Za-z]))(?:\s*_\s*\{[^{}]*\})?"
)
_PRODUCT = re.compile(rf"({_ATOM})\s*([×⋅])\s*({_ATOM})")
_ANY_VECTOR = rf"(?:{_ATOM}|\\vectorproduct_\{{[^{{}}]*\}})"
_LEFT_OVER = re.compile(rf"⋅|(?:{_ANY_VECTOR}|\))\s*×\s*(?:{_ANY_VECTOR}|\()")


def name_products(text: str) -> str:
    r"""Replace each product of two vectors in a tidied formula by an ordered symbol."""

    def name_product(match: re.Match[str]) -> str:
        left, sign, right = (re.sub(r"[\s{}\\]", "", group) for group in match.groups())
        if sign == "⋅" and "nabla" not in (left, right):
            left, right = sorted((left, right))
        kind = "scalar" if sign == "⋅" else "vector"
        return rf" \{kind}product_{{{left},{right}}} "

    return _PRODUCT.sub(name_product, text) if "⋅" in text or "×" in text else text


def same_in_order(gold: str, pred: str, is_same: Equality) -> bool | None:
    """Return whether two formulas have equal sides around the same operators.

    None if neither has an operator. Relations bind last, then joins such as a union, then sums.
    An operator inside brackets, or a product of vectors without a name, makes them different.
    """
    if _has_unnamed_product(gold) or _has_unnamed_product(pred):
        return False
    if not any(map(_is_operator, _signs(gold) | _signs(pred))):
        return None
    for level in (_RELATIONS.__contains__, JOINS.__contains__, _is_sum, _is_operator):
        (g, gold_signs), (p, pred_signs) = split_sides(gold, level), split_sides(pred, level)
        if gold_signs or pred_signs:
            return _same_sides((g, gold_signs), (p, pred_signs), is_same)
    return False


def is_ordered(text: str) -> bool:
    """Return whether a formula has an operator or product whose sides do not commute."""
    return (
        "product_" in name_products(text)
        or _has_unnamed_product(text)
        or any(map(_is_operator, _signs(text)))
    )


def same_set(entries: Sequence[str], parts: Sequence[str], is_same: Equality) -> bool:
    """Return whether entries and parts match one to one, in any order."""
    remaining = list(parts)
    for entry in entries:
        hit = next((part for part in remaining if is_same(entry, part)), None)
        if hit is None:
            return False
        remaining.remove(hit)
    return not remaining


Sides = tuple[list[str], list[str]]


def _same_sides(gold: Sides, pred: Sides, is_same: Equality) -> bool:
    (g, gold_signs), (p, pred_signs) = gold, pred

    def equal(a: str, b: str) -> bool:
        if not a or not b or a.startswith("{"):  # the braces of an unknown command
            return a == b or same_text(a, b)
        mixed = gold_signs[0] in JOINS and (
            split_sides(a, _is_sum)[1] or split_sides(b, _is_sum)[1]
        )
        return same_text(a, b) if mixed else is_same(a, b)

    if len(g) == len(p) == 2 and (gold_signs[0], pred_signs[0]) in _FLIP:
        return equal(g[0], p[1]) and equal(g[1], p[0])
    if gold_signs != pred_signs:
        return False
    if len(set(gold_signs)) == 1 and gold_signs[0] in _COMMUTE:
        return same_set(g, p, equal)
    return all(map(equal, g, p))


def _is_operator(sign: str) -> bool:
    return sign not in SYMBOLS and sign not in "+-{}()[]\\{\\}"


def _is_sum(sign: str) -> bool:
    return sign in ("+", "-")


def _signs(text: str) -> set[str]:
    return {match.group().strip() for match in _SIGN.finditer(_INDEX.sub("", text))}


def split_sides(text: str, level: Callable[[str], bool]) -> Sides:
    """Split one level outside all brackets into operands and signs."""
    sides, signs, start, depth = list[str](), list[str](), 0, 0
    for match in _SIGN.finditer(text):
        sign = match.group().strip()
        if sign[-1] in "{([":
            depth += 1
        elif sign[-1] in "})]":
            depth -= 1
        elif depth == 0 and level(sign):
            sides.append(text[start : match.start()].strip())
            signs.append(sign)
            start = match.end()
    return [*sides, text[start:].strip()], signs


def _has_unnamed_product(text: str) -> bool:
    return ("⋅" in text or "×" in text) and _LEFT_OVER.search(name_products(text)) is not None
