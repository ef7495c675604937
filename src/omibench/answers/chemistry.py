"""The symbols of the chemical elements."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from glyphtex import lazy_re as re

_SYMBOLS = """
H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br
Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy Ho Er
Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U Np Pu Am Cm Bk Cf Es Fm Md
No Lr Rf Db Sg Bh Hs Mt Ds Rg Cn Nh Fl Mc Lv Ts Og D
"""
ELEMENTS = frozenset(_SYMBOLS.split())
"""Includes D for deuterium."""
_NUMBERS = {symbol: number for number, symbol in enumerate(_SYMBOLS.split()[:-1], 1)}
_NAMES = """
hydrogen helium lithium beryllium boron carbon nitrogen oxygen fluorine neon sodium magnesium
aluminium silicon phosphorus sulfur chlorine argon potassium calcium scandium titanium vanadium
chromium manganese iron cobalt nickel copper zinc gallium germanium arsenic selenium bromine
krypton rubidium strontium yttrium zirconium niobium molybdenum technetium ruthenium rhodium
palladium silver cadmium indium tin antimony tellurium iodine xenon caesium barium lanthanum
cerium praseodymium neodymium promethium samarium europium gadolinium terbium dysprosium holmium
erbium thulium ytterbium lutetium hafnium tantalum tungsten rhenium osmium iridium platinum gold
mercury thallium lead bismuth polonium astatine radon francium radium actinium thorium
protactinium uranium neptunium plutonium americium curium berkelium californium
"""
_NAMED = dict(zip(_NAMES.split(), _SYMBOLS.split(), strict=False)) | {
    "aluminum": "Al", "sulphur": "S", "cesium": "Cs",
}  # fmt: skip


# Chemical formulas and reactions in any notation: H₂O, H_2O, \ce{H2O}; -> and \to.
#
# A species consists of its atoms in order, with counts, brackets, charge, mass number and water of
# crystallisation. State symbols are compared only if both species have one. A digit before a final
# sign can be a count or a charge (SO42-, Fe3+): the text has both readings and equals either.
# Structural isomers with a different order of atoms are different formulas.

MAX_CHARS = 400
_ARROW = re.compile(r"\\to(?![A-Za-z])|-+>|\\rightleftharpoons(?![A-Za-z])|<=>|<->")
_LETTER = re.compile("[A-Za-z]")
_EVIDENCE = re.compile(r"[\d+\[\]-]|\\to|->|rightleftharpoons|[A-Z][a-z]?[A-Z]|\([IVX]+\)|e\^")
_SHAPE = re.compile(r"(?:[A-Za-z0-9\s()\[\]{}^_+=.>×*/•\-<]|\\[A-Za-z]+|°|≈)*")
_STATE = re.compile(r"\s*\((s|l|g|aq|cr|solid|liquid|gas)\)$")
_SETTLES = re.compile(r"\\(?:down|up)arrow(?![A-Za-z])")
_COUNT = re.compile(
    r"\s*(?:\\frac\{(\d+)\}\{(\d+)\}|(\d+)\s*/\s*(\d+)|(\d+)(?!\s*[+-]))?\s*(?:×\s*)?"
)
_ISOTOPE = re.compile(
    r"(?:\^\{\s*(\d{1,3})\s*\}\s*(?:_\{\s*([+-]?\d{1,3})\s*\})?"
    r"|_\{\s*([+-]?\d{1,3})\s*\}\s*\^\{\s*(\d{1,3})\s*\})\s*"
)
_NAMED_ISOTOPE = re.compile(r"([A-Z][a-z]?|[A-Za-z]{3,})\s*-\s*(\d{1,3})")
_GROUP = re.compile(r"\{((?:[^{}]|\{[^{}]*\})*)\}(?=\s*\^)")
_EMPTY_GROUP = re.compile(r"\{\s*\}\s*(?=[\^_])")
_ROMAN = {"I": 1, "II": 2, "III": 3, "IV": 4, "V": 5, "VI": 6, "VII": 7, "VIII": 8}
_OXIDATION = re.compile(r"([A-Z][a-z]?|[A-Za-z]{3,})\s*\((VIII|VII|VI|IV|V|I{1,3})\)")
_CHARGE = re.compile(r"\s*\^\{\s*(?:(\d?)\s*([+-])|([+-])\s*(\d))\s*\}$")
_BARE_CHARGE = re.compile(r"(?<=[\w)\]}])\s*([+-])$")
_ATOM = re.compile(
    r"\s*(?:(?P<element>[A-Z][a-z]?)|(?P<opens>[(\[])|(?P<closes>[)\]])|•)"
    r"(?:\s*(?:_\{\s*(?P<low>\d{1,3}|[nmxy])\s*\}|(?P<plain>\d{1,3})))?"
)
_CONFIGURATION = re.compile(
    r"(?:\[\s*[A-Z][a-z]\s*\]\s*)?(?:\d\s*[spdf]\s*(?:\^\{\s*\d{1,2}\s*\}|1[0-4]|\d)\s*){1,20}"
)
_CORES = {
    "He": "1s2", "Ne": "[He]2s22p6", "Ar": "[Ne]3s23p6", "Kr": "[Ar]3d104s24p6",
    "Xe": "[Kr]4d105s25p6", "Rn": "[Xe]4f145d106s26p6",
}  # fmt: skip
_MOLECULAR = re.compile(r"C\d*H\d*(?:(?:N|O|S|P|F|Cl|Br|I|Na|K)\d*)*")
"""A formula that tells no isomers apart: carbon, hydrogen, then each other element."""
_COUNTED = re.compile(r"(?:([A-Z][a-z]?)|(\()|(\)))(\d*)")
_STRUCTURE = re.compile(r"(?=.*[A-Z].*[A-Z])(?:[A-Z][a-z]?\d*|[()]\d*|[-=≡](?=[A-Z(]))+")
_ETHYL = re.compile(r"C2H5(?=[A-Z(])")
_HYBRID = re.compile(r"(d\d?)?sp(\d)?(d\d?)?")
_PARTICLES = {
    "e": "e", r"\alpha": "He", r"\beta": "e", r"\gamma": "γ", r"\nu": "ν", "n": "n", "p": "H",
}  # fmt: skip
_PLUS = re.compile(r"\s\+(?:\s|(?=[\d^_]))")
_TIGHT_PLUS = re.compile(r"(?<=[\w)\]}+-])\+(?=\s*(?:\d|\\frac|[A-Z(\[]|e\b|e\^|[\^_]\{))(?!\s*$)")


class Species(NamedTuple):
    """One reading of a formula: mass number, atoms with counts as one text, charge, state."""

    mass: str
    atoms: str
    charge: int
    state: str


Side = dict[frozenset[Species], Fraction]
_ELECTRON, _ALPHA = Species("", "e", -1, ""), Species("4", "He", 0, "")
_ALONE = {
    "e": (_ELECTRON, _ELECTRON._replace(charge=0)), "electron": (_ELECTRON,),
    r"\beta": (_ELECTRON, _ELECTRON._replace(charge=0)), "beta particle": (_ELECTRON,),
    "positron": (_ELECTRON._replace(charge=1),), "neutron": (Species("", "n", 0, ""),),
    r"\alpha": (_ALPHA, _ALPHA._replace(mass="")), "alpha particle": (_ALPHA,),
}  # fmt: skip
"""Particles without mass number and charge, which are those of an electron or a helium nucleus."""
_NUMBER_OF_PARTICLE = {"n": (0,), "γ": (0,), "ν": (0,), "e": (-1, 1)}
_MASS_OF_PARTICLE = {"n": "1", "γ": "0", "ν": "0", "e": "0"}


def same_chemistry(gold: str, pred: str) -> bool | None:
    """Return whether two tidied texts are the same formula or reaction; None for other texts.

    A reaction can be multiplied by a factor and its species can be in any order. An equilibrium
    arrow equals a forward arrow. Different reactions give False. Different formulas give None,
    because they can still be names or products.
    """
    if "{ }" in gold + pred or "{}" in gold + pred:
        gold, pred = (_EMPTY_GROUP.sub("", text) for text in (gold, pred))
    arrows = _ARROW.search(gold) is not None
    if arrows or _ARROW.search(pred):
        g, p = reaction(gold), reaction(pred)
        if g is None or p is None:
            return None
        return _same_reaction(g, p)
    if not (_LETTER.search(gold) and (_LETTER.search(pred) or "^" in gold)) or not (
        _EVIDENCE.search(gold) or _EVIDENCE.search(pred)
    ):
        return None
    shells = [_CONFIGURATION.fullmatch(text) and _shells(text) for text in (gold, pred)]
    if all(shells) or (shells[0] and "^" in gold and pred.strip().isdigit()):
        return shells[0] == shells[1]
    if "sp" in gold and "sp" in pred:
        hybrids = [re.sub(r"[\s^{}]", "", text) for text in (gold, pred)]
        if all(_HYBRID.fullmatch(text) for text in hybrids):
            return hybrids[0] == hybrids[1]
    golds, preds = species(gold), species(pred)
    same = _same_structure(gold, pred) or _meet(golds, preds) or _has_composition(golds, preds)
    return True if same else None


@lru_cache(maxsize=4096)
def reaction(text: str) -> list[Side] | None:
    """Return the sides of a reaction as species with coefficients; None for other texts."""
    if len(text) > MAX_CHARS or not _SHAPE.fullmatch(text):
        return None
    pieces = _ARROW.split(text) if _ARROW.search(text) else text.split("=")
    sides = [_side(_SETTLES.sub("", piece).strip()) for piece in pieces]
    readable = [side for side in sides if side]
    return readable if len(readable) == len(sides) > 1 else None


def _side(text: str) -> Side | None:
    loose = _terms(_PLUS.split(f" {text} "))
    return loose if loose is not None else _terms(_TIGHT_PLUS.split(text))


def _terms(pieces: list[str]) -> Side | None:
    side: Side = {}
    for piece in pieces:
        count = _COUNT.match(piece)
        if count is None or not piece.strip():
            return None
        top, bottom, over, under, integer = count.groups()
        if "0" in (bottom, under):
            return None
        number = Fraction(int(top or over or integer or 1), int(bottom or under or 1))
        formula = species(piece[count.end() :])
        if not formula:
            return None
        side[formula] = side.get(formula, Fraction(0)) + number
    return side


def _same_reaction(gold: list[Side], pred: list[Side]) -> bool:
    if len(gold) != len(pred) or any(len(g) != len(p) for g, p in zip(gold, pred, strict=True)):
        return False
    ratios = set[Fraction]()
    for g, p in zip(gold, pred, strict=True):
        remaining = dict(p)
        for formula, number in g.items():
            hit = next((candidate for candidate in remaining if _meet(formula, candidate)), None)
            if hit is None or not number:
                return False
            ratios.add(remaining.pop(hit) / number)
    return len(ratios) == 1


def _shells(text: str) -> list[str]:
    """Return the orbitals of an electron configuration, its core's included, in one order."""
    plain = re.sub(r"[\s^{}]", "", text)
    while (core := re.match(r"\[(\w+)\]", plain)) and core[1] in _CORES:
        plain = _CORES[core[1]] + plain[core.end() :]
    return sorted(re.findall(r"\[\w+\]|\d[spdf](?:1[0-4]|\d)(?=\d[spdf]|$)", plain))


def _same_structure(gold: str, pred: str) -> bool:
    structure = _read_structure(gold)
    return structure is not None and structure == _read_structure(pred)


def _read_structure(text: str) -> str | None:
    """Return a structural formula without its single bonds: CH3-CH=CH2 is CH3CH=CH2."""
    plain = re.sub(r"[\s_{}]", "", text)
    elements = re.findall(r"[A-Z][a-z]?", plain)
    if not _STRUCTURE.fullmatch(plain) or not ELEMENTS.issuperset(elements):
        return None
    return plain.replace("-", "")


def _has_composition(gold: frozenset[Species], pred: frozenset[Species]) -> bool:
    """Return whether a condensed formula has the atoms of a molecular one: C2H6O, CH3CH2OH.

    Isomers count as equal only here, where the gold answer does not tell them apart.
    """
    return any(
        _MOLECULAR.fullmatch(g.atoms)
        and g.charge == p.charge
        and not (g.mass or p.mass)
        and _count_atoms(g.atoms) == _count_atoms(p.atoms)
        for g in gold
        for p in pred
    )


def _count_atoms(atoms: str) -> Counter[str] | None:
    """Return the number of atoms of each element; None with a variable number, such as n."""
    stack = [Counter[str]()]
    for name, opens, closes, number in _COUNTED.findall(atoms):
        if opens:
            stack.append(Counter())
        elif closes and len(stack) > 1:
            group = stack.pop()
            for element, count in group.items():
                stack[-1][element] += count * int(number or 1)
        elif name:
            stack[-1][name] += int(number or 1)
    return stack[0] if _COUNTED.sub("", atoms) == "" else None


def _meet(gold: frozenset[Species], pred: frozenset[Species]) -> bool:
    """Return whether two formulas share a reading; a state that only one has is ignored."""
    return any(
        g[:3] == p[:3] and (not g.state or not p.state or g.state == p.state)
        for g in gold
        for p in pred
    )


@lru_cache(maxsize=16_384)
def species(text: str) -> frozenset[Species]:
    """Return every reading of a formula; empty if the text is not a formula."""
    text = text.strip()
    if not 0 < len(text) <= 120 or not _SHAPE.fullmatch(text):
        return frozenset()
    state = _STATE.search(text)
    if state:
        text = text[: state.start()].strip()
    if text.startswith("{") and (group := _GROUP.match(text)):
        text = group[1] + text[group.end() :]
    if alone := _ALONE.get(text.casefold() if len(text) > 2 else text):
        return frozenset(alone)
    mass, number, text = _split_nuclide(text)
    phase = state.group(1) if state else ""
    readings = {(atoms, charge) for body, charge in _charges(text) if (atoms := _atoms(body))}
    nuclides = (_name_nuclide(mass, number, *reading) for reading in readings)
    return frozenset(Species(*nuclide, phase) for nuclide in nuclides if nuclide)


def _split_nuclide(text: str) -> tuple[str, int | None, str]:
    """Return the mass number, the atomic number and the symbol of a nuclide: 14, 6, C."""
    named = _NAMED_ISOTOPE.fullmatch(text)
    if named and (symbol := _find_symbol(named[1])):
        return named[2], None, symbol
    isotope = _ISOTOPE.match(text)
    if isotope:
        number = isotope[2] or isotope[3]
        return isotope[1] or isotope[4], int(number) if number else None, text[isotope.end() :]
    return "", None, text


def _find_symbol(name: str) -> str | None:
    return name if name in ELEMENTS else _NAMED.get(name.casefold())


def _name_nuclide(
    mass: str, number: int | None, atoms: str, charge: int
) -> tuple[str, str, int] | None:
    """Return mass, atoms and charge; None if the atomic number is not that of the element."""
    if number is not None and number not in _NUMBER_OF_PARTICLE.get(atoms, (_NUMBERS.get(atoms),)):
        return None
    if atoms == "e" and number is not None:
        charge = number
    return "" if mass == _MASS_OF_PARTICLE.get(atoms) else mass, atoms, charge


def _charges(text: str) -> list[tuple[str, int]]:
    """Split a formula into atoms and charge; several pairs if a digit is ambiguous."""
    oxidation = _OXIDATION.fullmatch(text)
    if oxidation:
        return [(_find_symbol(oxidation[1]) or oxidation[1], _ROMAN[oxidation[2]])]
    charge = _CHARGE.search(text)
    if charge:
        number, sign, first, second = charge.groups()
        size = int(number or second or 1)
        return [(text[: charge.start()], size if (sign or first) == "+" else -size)]
    bare = _BARE_CHARGE.search(text)
    if not bare:
        return [(text, 0)]
    unit, body = (1 if bare.group(1) == "+" else -1), text[: bare.start()]
    readings = [(body, unit)]
    if body[-1:].isdigit() and len(body) > 1:
        readings.append((body[:-1], unit * int(body[-1])))
    return readings


def _atoms(text: str) -> str | None:
    """Return the atoms of a formula in order and in one spelling; None for anything else."""
    text = text.strip()
    if text in _PARTICLES:
        return _PARTICLES[text]
    hydrate = re.split(r"\s*[×*]\s*|\.(?=\s*\d*\s*H)", text)
    return _hydrate(hydrate) if len(hydrate) > 1 else _scan_atoms(text)


def _scan_atoms(text: str) -> str | None:
    """Yield elements, brackets, radical dots and their counts from left to right."""
    out, end, depth = list[str](), 0, 0
    while end < len(text):
        token = _ATOM.match(text, end)
        if token is None or (token["element"] and token["element"] not in ELEMENTS):
            return None
        depth += bool(token["opens"]) - bool(token["closes"])
        if depth < 0:
            return None
        name = token["element"] or ("(" if token["opens"] else ")" if token["closes"] else "•")
        number = "" if token["opens"] else token["low"] or token["plain"] or ""
        end = token.end() if number or not token["opens"] else token.end("opens")
        out.append(name + ("" if number == "1" else number))
    atoms = "".join(out)
    if depth or not re.search("[A-Z]", atoms):
        return None
    atoms = _ETHYL.sub("CH3CH2", atoms)
    return atoms[1:-1] if _is_in_brackets(atoms) else atoms


def _is_in_brackets(atoms: str) -> bool:
    """Return whether one pair of brackets encloses the whole text: [Cu(NH3)4]."""
    depth = 0
    for at, char in enumerate(atoms):
        depth += (char == "(") - (char == ")")
        if depth == 0:
            return at == len(atoms) - 1 and atoms[0] == "("
    return False


def _hydrate(pieces: list[str]) -> str | None:
    """Split a hydrate into salt and water with their coefficients: CuSO4 and 5 H2O."""
    out = list[str]()
    for piece in pieces:
        count = re.match(r"\s*(\d{1,2}|[nx])?\s*(?=[A-Z(\[])", piece)
        atoms = _atoms(piece[count.end() :]) if count else None
        if count is None or atoms is None or "." in atoms:
            return None
        out.append((count.group(1) or "") + atoms)
    return "·".join([out[0], *sorted(out[1:])])
