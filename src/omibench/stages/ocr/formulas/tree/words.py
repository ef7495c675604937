"""Upright letters of a row: function names, units and text."""

from __future__ import annotations

from collections.abc import Sequence

from omibench.stages.ocr.formulas.tree.nodes import Sign, Words
from omibench.stages.ocr.formulas.tree.parts import PlacedPart, join

_FUNCTIONS_LIST = (
    "arccos arcsin arctan arg argmax argmin cos cosh cot coth csc deg det dim exp gcd hom inf "
    "ker lg lim liminf limsup ln log max min Pr sec sin sinh sup tan tanh arcctg arctg ctg tg "
    "sgn sign cosec rank tr Tr lcm mod erf arsinh arcosh artanh div grad rot curl"
)
FUNCTIONS = frozenset(_FUNCTIONS_LIST.split(" "))
_OPERATORS_LIST = (
    "arccos arcsin arctan arg cos cosh cot coth csc deg det dim exp gcd hom inf ker lg lim "
    "liminf limsup ln log max min Pr sec sin sinh sup tan tanh arctg ctg tg"
)
OPERATORS = frozenset(_OPERATORS_LIST.split(" "))
"""Functions with a LaTeX and KaTeX command."""
_WORD_GAP = 0.16
"""Maximum gap between two letters of one word, in ems."""
_UNITS_LIST = (
    "m s g A K N J W V C F H T L h u Pa Hz kg km cm mm nm pm fm mol cd rad sr lm lx Wb eV keV "
    "MeV GeV kPa MPa GPa bar atm mL dm min kJ MJ GJ kW MW GW mW mA kV mV kHz MHz GHz kN mN ms "
    "ns ps yr pc kpc Mpc AU ly Ci Bq Gy Sv kcal cal ppm mmol au day Da kDa dB mg ml Torr mmHg "
    "ft lb gal mT nT nF pF mH"
)
_UNITS = frozenset(_UNITS_LIST.split(" "))


def join_words(parts: Sequence[PlacedPart]) -> list[PlacedPart]:
    """Combine neighbouring upright letters of one baseline into words, from left to right."""
    joined: list[PlacedPart] = []
    run: list[PlacedPart] = []
    for part in parts:
        if run and not _goes_on(run[-1], part):
            joined += _word(run)
            run = []
        if is_upright(part):
            run.append(part)
        else:
            joined.append(part)
    return [*joined, *(_word(run) if run else [])]


def is_upright(part: PlacedPart) -> bool:
    """Return whether a part is one roman letter."""
    node = part.node
    return isinstance(node, Sign) and node.upright and not node.bold and part.kind == "letter"


def _goes_on(last: PlacedPart, part: PlacedPart) -> bool:
    gap = part.box.x0 - last.box.x1
    return (
        is_upright(part)
        and gap < _WORD_GAP * part.size
        and abs(last.y - part.y) < 0.05 * part.size
        and abs(last.size - part.size) < 0.1 * part.size
    )


def _word(run: list[PlacedPart]) -> list[PlacedPart]:
    """Return a run of letters as words; touching names, as in `sin cos`, become separate words."""
    text = "".join(part.latex for part in run)
    plain = _plain(text)
    if plain in FUNCTIONS:
        return [join(run, Words(plain, "operator"), run[0], kind="letter")]
    for name in sorted(FUNCTIONS, key=len, reverse=True):
        rest = plain[len(name) :]
        if len(name) > 2 and plain.startswith(name) and len(plain) == len(run) and len(rest) <= 2:
            head = join(run[: len(name)], Words(name, "operator"), run[0], kind="letter")
            return [head, *_word(run[len(name) :])]
    is_unit = plain in _UNITS or len(plain) <= 2
    command = "\\mathrm" if is_unit else "\\text"
    return [join(run, Words(plain, command), run[0], kind="letter")]  # type: ignore[arg-type]


def _plain(text: str) -> str:
    """Return the letters without the `\\text{}` around those of other alphabets."""
    return text.replace("\\text{", "").replace("}", "")
