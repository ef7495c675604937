"""Words that identify formulas: function names, units, ordinals, chemical elements."""

from __future__ import annotations

import re

_FUNCTIONS = (
    "sin cos tan cot sec csc sen tg ctg arcsin arccos arctan arctg sinh cosh tanh coth log ln lg "
    "exp lim max min sup inf det dim ker deg arg gcd lcm mod grad div rot curl tr sgn Re Im Pr"
)
_UNITS = (
    "m s g A K N J W V C F H T L l h d u b kg mg km cm mm dm nm pm fm ms ns min mol cd Hz kHz MHz "
    "GHz Pa kPa MPa hPa bar atm kJ MJ GJ mJ kW MW GW mW kV mV MV kN mN MN mA kA mC nC pC nF pF mF "
    "mH mT eV keV MeV GeV rad sr ml mL cal kcal Wb Bq Sv Gy ly pc kpc Mpc AU ua UA yr ano sec rpm "
    "lm lx Ω kΩ MΩ \u2126 k\u2126 M\u2126 Å μm μs μC μF μA μV μg µm µs µC µF µA µV µg µT µL μL"
)
_ORDINALS = "st nd rd th o a os as er e ere re eme ème º ª ᵒ to ta do da"
_ELEMENTS = (
    "He|Li|Be|Ne|Na|Mg|Al|Si|Cl|Ar|Ca|Sc|Ti|Cr|Mn|Fe|Co|Ni|Cu|Zn|Ga|Ge|As|Se|Br|Kr|Rb|Sr|Zr|Nb|"
    "Mo|Tc|Ru|Rh|Pd|Ag|Cd|In|Sn|Sb|Te|Xe|Cs|Ba|La|Ce|Pr|Nd|Pm|Sm|Eu|Gd|Tb|Dy|Ho|Er|Tm|Yb|Lu|Hf|"
    "Ta|Re|Os|Ir|Pt|Au|Hg|Tl|Pb|Bi|Po|At|Rn|Fr|Ra|Ac|Th|Pa|Np|Pu|Am|Cm|HA|H|B|C|N|O|F|P|S|K|V|Y|I|"
    "W|U"
)
FUNCTIONS = frozenset(_FUNCTIONS.split())
UNITS = frozenset(_UNITS.split())
ORDINALS = frozenset(_ORDINALS.split())
NAMES = frozenset(("const", "pH", "pOH"))
"""Words that represent a quantity next to a relation."""
STATES = frozenset(("s", "l", "g", "aq"))
"""States of matter after a chemical formula."""
_CHEMICAL = re.compile(rf"[(\[]?(?:(?:{_ELEMENTS})\d{{0,2}}|[()\[\]]\d{{0,2}}|e)+")


def is_chemical(text: str) -> bool:
    """Return whether a text, scripts written as plain digits, consists of element symbols."""
    return _CHEMICAL.fullmatch(text) is not None
