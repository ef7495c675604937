# ruff: noqa: E501 (formulas and preambles stand on lines of their own)
"""Formulas of olympiad style that a grammar makes, kind by kind."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from typing import Final

LETTERS: Final = [*"abcdfghklmnpqrstuvwxyzABCDEFGHKLMNPQRSTVW"]
GREEK: Final = [
    r"\alpha",
    r"\beta",
    r"\gamma",
    r"\delta",
    r"\theta",
    r"\lambda",
    r"\mu",
    r"\nu",
    r"\xi",
    r"\pi",
    r"\rho",
    r"\sigma",
    r"\tau",
    r"\omega",
    r"\phi",
    r"\varphi",
    r"\varepsilon",
    r"\eta",
    r"\psi",
    r"\Delta",
    r"\Omega",
    r"\Phi",
    r"\Gamma",
    r"\Lambda",
    r"\kappa",
    r"\chi",
]
FUNCTIONS: Final = [
    r"\sin",
    r"\cos",
    r"\tan",
    r"\ln",
    r"\log",
    r"\exp",
    r"\arcsin",
    r"\arctan",
    r"\cosh",
]
RELATIONS: Final = [
    r"=",
    r"\leq",
    r"\geq",
    r"<",
    r">",
    r"\approx",
    r"\neq",
    r"\equiv",
    r"\ll",
    r"\gg",
    r"\propto",
    r"\sim",
    r"\simeq",
]
UNITS: Final = [
    r"m",
    r"s",
    r"kg",
    r"N",
    r"J",
    r"W",
    r"Pa",
    r"K",
    r"mol",
    r"V",
    r"A",
    r"Hz",
    r"T",
    r"C",
    r"eV",
    r"km",
    r"cm",
    r"mm",
    r"nm",
    r"pc",
    r"ly",
    r"L",
]

_COMMAND: Final = re.compile(r"\\[A-Za-z]+$")


class Grammar:
    """Draws formulas; the same seed draws the same ones."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self.kinds: dict[str, Callable[[], str]] = {
            "simple": self.simple, "scripts": self.scripts, "left_scripts": self.left_scripts,
            "primes": self.primes, "fraction": self.fraction, "nested_fraction": self.nested_fraction,
            "slashed": self.slashed, "root": self.root, "big_operator": self.big_operator,
            "brackets": self.brackets, "accent": self.accent, "lines": self.lines,
            "greek": self.greek, "alphabets": self.alphabets, "relations": self.relations,
            "arrows": self.arrows, "units": self.units, "scientific": self.scientific,
            "chemistry": self.chemistry, "matrix": self.matrix, "cases": self.cases,
            "aligned": self.aligned,
        }  # fmt: skip

    def draw(self, kind: str) -> str:
        """A formula of a kind, written as a person would."""
        latex = re.sub(r" +", " ", self.kinds[kind]())
        if kind == "chemistry":
            return latex
        return re.sub(r" (?=[_^{}),])", "", latex).strip()

    # -- parts --------------------------------------------------------------------------------

    def pick(self, *options: str) -> str:
        """One of the options; a command has a space behind it, so that letters may follow."""
        option = self._random.choice(options)
        return f"{option} " if _COMMAND.search(option) else option

    def chance(self, share: float) -> bool:
        return self._random.random() < share

    def letter(self) -> str:
        return self.pick(*LETTERS)

    def number(self, most: int = 99) -> str:
        return str(self._random.randint(2, most))

    def decimal(self) -> str:
        return f"{self._random.randint(0, 99)}.{self._random.randint(1, 99)}"

    def name(self) -> str:
        """A letter, often with an index."""
        base = self.pick(*GREEK) if self.chance(0.25) else self.letter()
        index = self.pick(
            "0",
            "1",
            "2",
            "n",
            "i",
            "k",
            "A",
            "B",
            "x",
            "y",
            r"\mathrm{max}",
            r"\mathrm{eff}",
            "12",
            "i+1",
        )
        return f"{base}_{{{index}}}" if self.chance(0.35) else base

    def power(self) -> str:
        exponent = self.pick("2", "3", "4", "n", "-1", "2n", "n+1", "k", "-2", "1/2", "10")
        return f"{self.name()}^{{{exponent}}}"

    def term(self, depth: int = 1) -> str:
        """A product of one or two factors."""
        shapes: dict[str, Callable[[], str]] = {
            "fraction": lambda: self.fraction_of(depth - 1),
            "root": lambda: rf"\sqrt{{{self.sum(depth - 1)}}}",
            "power": self.power,
            "multiple": lambda: f"{self.number()}{self.letter()}",
            "product": lambda: f"{self.letter()}{self.letter()}",
            "function": lambda: rf"{self.pick(*FUNCTIONS)} {self.pick(*GREEK, *LETTERS)}",
            "name": self.name,
        }
        deep = int(depth > 0)
        weights = [3 * deep, 2 * deep, 3, 4, 2, 2, 5]
        return shapes[self._random.choices(list(shapes), weights)[0]]()

    def sum(self, depth: int = 1) -> str:
        text = self.term(depth)
        for _ in range(self._random.choice([0, 1, 1, 2])):
            text += f" {self.pick('+', '-', '+', '-', chr(92) + 'pm', chr(92) + 'cdot')} {self.term(depth)}"
        return text

    def fraction_of(self, depth: int) -> str:
        return rf"\frac{{{self.sum(depth)}}}{{{self.pick(self.sum(depth), self.number(), self.name())}}}"

    def equation(self, right: str) -> str:
        return f"{self.name()} = {right}"

    # -- kinds --------------------------------------------------------------------------------

    def simple(self) -> str:
        return self.pick(
            self.name(),
            f"{self.name()} = {self.number()}",
            f"{self.letter()} + {self.letter()} = {self.number()}",
            f"{self.letter()} = {self.number()}{self.letter()} - {self.number()}",
            f"f({self.letter()}) = {self.number()}{self.letter()} + {self.number()}",
            f"{self.letter()}{self.letter()} < {self.number()}",
            f"({self.letter()}, {self.letter()})",
            f"{self.letter()}({self.letter()} - {self.letter()})",
            f"-{self.letter()} \\leq {self.letter()} \\leq {self.letter()}",
        )

    def scripts(self) -> str:
        return self.pick(
            f"{self.power()} + {self.power()} = {self.power()}",
            f"{self.letter()}^{{{self.letter()}^{{{self.number(9)}}}}} - {self.number()}",
            f"{self.letter()}_{{{self.letter()}_{{{self.number(9)}}}}}",
            f"e^{{-{self.letter()}^{{2}}/2{self.pick(*GREEK)}^{{2}}}}",
            f"{self.letter()}_{{{self.pick('i', 'n', 'k')}}}^{{{self.number(9)}}} + {self.letter()}_{{{self.pick('i+1', 'n-1', 'k+2')}}}^{{{self.number(9)}}}",
            f"{self.equation(self.power() + ' ' + self.power())}",
            rf"2^{{{self.number()}}} - 3^{{{self.letter()}+1}}",
            rf"e^{{i{self.pick(*GREEK)} t}}",
            rf"{self.letter()}_{{\mathrm{{{self.pick('in', 'out', 'total', 'kin', 'rms', 'air')}}}}} = {self.number()}{self.name()}^{{2}}",
            rf"10^{{-{self.number()}}}",
        )

    def left_scripts(self) -> str:
        mass, charge = self._random.choice(
            [(235, 92), (238, 92), (14, 6), (4, 2), (60, 27), (131, 53), (226, 88)]
        )
        element = {92: "U", 6: "C", 2: "He", 27: "Co", 53: "I", 88: "Ra"}[charge]
        nucleus = rf"{{}}_{{{charge}}}^{{{mass}}}\mathrm{{{element}}}"
        return self.pick(
            nucleus,
            rf"{{}}^{{{mass}}}\mathrm{{{element}}}",
            rf"{nucleus} \to {{}}_{{2}}^{{4}}\mathrm{{He}} + \mathrm{{X}}",
        )

    def primes(self) -> str:
        return self.pick(
            f"f'({self.letter()}) = {self.sum(0)}",
            f"{self.letter()}' = {self.letter()} + {self.number()}",
            f"y'' + {self.number()}y' + y = 0",
            f"{self.letter()}_{{1}}' = {self.letter()}_{{2}}'",
            f"A'B' = {self.number()}",
            "f''(x_{0}) < 0",
        )

    def fraction(self) -> str:
        return self.pick(
            rf"\frac{{{self.number()}}}{{{self.number()}}}",
            self.equation(self.fraction_of(0)),
            rf"\frac{{{self.letter()}}}{{{self.letter()}}} + \frac{{{self.letter()}}}{{{self.letter()}}}",
            rf"\frac{{{self.number(9)}}}{{{self.number(9)}}}{self.letter()}{self.letter()}^{{2}}",
            rf"\frac{{d{self.letter()}}}{{dt}} = -{self.name()}{self.letter()}",
            rf"\frac{{\partial {self.letter()}}}{{\partial {self.letter()}}}",
            self.equation(self.fraction_of(1)),
            rf"-\frac{{{self.name()}}}{{{self.power()}}}",
            rf"\frac{{{self.sum(0)}}}{{{self.sum(0)}}} {self.pick(*RELATIONS)} {self.fraction_of(0)}",
        )

    def nested_fraction(self) -> str:
        return self.pick(
            rf"\frac{{1}}{{\frac{{1}}{{{self.name()}}} + \frac{{1}}{{{self.name()}}}}}",
            rf"\frac{{\frac{{{self.letter()}}}{{{self.letter()}}} - {self.number()}}}{{{self.sum(0)}}}",
            rf"1 + \frac{{1}}{{{self.number()} + \frac{{{self.number()}}}{{{self.letter()}}}}}",
            rf"\frac{{{self.sum(0)}}}{{\sqrt{{{self.sum(0)}}}}}",
            rf"\frac{{1 - \frac{{{self.letter()}^{{2}}}}{{{self.letter()}^{{2}}}}}}{{{self.sum(0)}}}",
        )

    def slashed(self) -> str:
        return self.pick(
            f"{self.letter()}/{self.letter()}",
            f"{self.name()}/{self.number()}{self.letter()}",
            f"({self.sum(0)})/({self.sum(0)})",
            f"{self.number(9)}/{self.number()}",
            f"{self.letter()} = {self.letter()}{self.letter()}/{self.letter()}^{{2}}",
            f"{self.letter()}^{{{self.number(9)}/{self.number(9)}}}",
        )

    def root(self) -> str:
        return self.pick(
            rf"\sqrt{{{self.number()}}}",
            rf"\sqrt{{{self.sum(0)}}}",
            rf"{self.number()}\sqrt{{{self.number()}}}",
            rf"\sqrt[{self.pick('3', '4', '5', 'n')}]{{{self.sum(0)}}}",
            rf"2\pi\sqrt{{\frac{{{self.term(0)}}}{{{self.term(0)}}}}}",
            self.equation(rf"\sqrt{{{self.fraction_of(0)}}}"),
            rf"\sqrt{{{self.number()} + \sqrt{{{self.number()}}}}}",
            rf"\sqrt{{{self.power()} + {self.power()}}}",
            rf"\frac{{{self.number()} - \sqrt{{{self.number()}}}}}{{{self.number(9)}}}",
            rf"\frac{{\sqrt{{{self.number()}}}}}{{{self.number()}}}",
        )

    def big_operator(self) -> str:
        k = self.pick("k", "i", "n", "j")
        return self.pick(
            rf"\sum_{{{k}=1}}^{{{self.pick('n', 'N', '10', '2n')}}} {self.letter()}_{{{k}}}^{{2}}",
            rf"\sum_{{{k}=0}}^{{\infty}} \frac{{{self.letter()}^{{{k}}}}}{{{k}!}}",
            rf"\prod_{{{k}=1}}^{{{self.number()}}} ({k} + {self.number(9)})",
            rf"\int_{{0}}^{{{self.pick('1', 'L', 'R', chr(92) + 'infty', chr(92) + 'pi')}}} {self.sum(0)} \, d{self.letter()}",
            rf"\lim_{{{self.letter()} \to {self.pick('0', chr(92) + 'infty', '1')}}} {self.fraction_of(0)}",
            rf"\oint {self.letter()} \, d{self.letter()} = {self.name()}",
            rf"\int {self.fraction_of(0)} \, d{self.letter()}",
            rf"\sum_{{i<j}} {self.letter()}_{{ij}} = {self.number()}",
            rf"\max_{{{self.letter()} \in S}} {self.letter()}",
        )

    def brackets(self) -> str:
        return self.pick(
            rf"\left( {self.fraction_of(0)} \right)^{{{self.number(9)}}}",
            rf"{self.name()} \left( 1 - \frac{{{self.name()}}}{{{self.name()}}} \right)",
            rf"\left[ {self.fraction_of(0)} + {self.letter()} \right]",
            rf"\left| {self.fraction_of(0)} \right|",
            rf"|{self.sum(0)}| < {self.number()}",
            rf"\left\{{ {self.fraction_of(0)}, {self.number()} \right\}}",
            rf"\lfloor {self.letter()} \rfloor + \lceil {self.letter()} \rceil",
            rf"\left\lfloor \frac{{{self.letter()}}}{{{self.number()}}} \right\rfloor",
            rf"({self.sum(0)})({self.sum(0)})",
            rf"\binom{{{self.pick('n', '10', '2n')}}}{{{self.pick('k', '3', 'n')}}}",
            rf"\langle {self.letter()}, {self.letter()} \rangle = 0",
            rf"[{self.letter()}, {self.letter()}]",
        )

    def accent(self) -> str:
        return self.pick(
            rf"\vec{{{self.letter()}}} = {self.letter()}\vec{{{self.letter()}}}",
            rf"\hat{{{self.letter()}}}",
            rf"\bar{{{self.letter()}}} = {self.decimal()}",
            rf"\dot{{{self.pick('x', 'y', 'r', 'q')}}} = {self.sum(0)}",
            r"\ddot{x} + \omega^{2} x = 0",
            rf"\tilde{{{self.letter()}}}_{{{self.number(9)}}}",
            rf"\vec{{F}}_{{{self.number(9)}}} \cdot \vec{{{self.letter()}}}",
            rf"\vec{{{self.letter()}}} \times \vec{{{self.letter()}}}",
            rf"m\ddot{{{self.pick('x', 'y', 'z')}}} = -k{self.letter()}",
        )

    def lines(self) -> str:
        return self.pick(
            r"\overline{AB}",
            rf"\overline{{{self.letter()}{self.letter()}}} = {self.number()}",
            rf"\overline{{{self.letter()} + {self.letter()}}}",
            rf"\underline{{{self.letter()}}}",
            r"\overrightarrow{AB} + \overrightarrow{BC}",
            rf"\overline{{{self.letter()}^{{2}}}}",
            r"\overline{abc} = 100a + 10b + c",
        )

    def greek(self) -> str:
        return self.pick(
            f"{self.pick(*GREEK)} = {self.decimal()}",
            rf"{self.pick(*GREEK)} + {self.pick(*GREEK)} = {self.pick(*GREEK)}",
            rf"\sin {self.pick(*GREEK)} = \cos {self.pick(*GREEK)}",
            rf"{self.pick(*GREEK)}_{{{self.pick(*GREEK)}}}",
            rf"\Delta {self.letter()} = {self.decimal()}",
            rf"{self.pick(*GREEK)}^{{2}} - \pi {self.letter()}",
            rf"\angle ABC = {self.number()}^{{\circ}}",
            rf"\sin^{{2}} {self.pick(*GREEK)} + \cos^{{2}} {self.pick(*GREEK)} = 1",
            rf"\theta = {self.number()}^{{\circ}}",
            rf"\tan {self.number()}^{{\circ}}",
        )

    def alphabets(self) -> str:
        return self.pick(
            rf"{self.letter()} \in \mathbb{{{self.pick('R', 'N', 'Z', 'Q', 'C')}}}",
            rf"\mathcal{{{self.pick('L', 'E', 'P', 'H', 'R')}}} = {self.sum(0)}",
            rf"\mathbf{{{self.pick('F', 'B', 'E', 'v', 'r')}}} = {self.letter()}\mathbf{{{self.pick('a', 'g', 'u')}}}",
            r"f: \mathbb{R} \to \mathbb{R}",
            r"\mathbb{Z}^{+}",
            rf"\ell = {self.number()}{self.letter()}",
            r"E = \hbar \omega",
            rf"\nabla \cdot \mathbf{{{self.pick('E', 'B')}}} = 0",
            r"\mathbf{v} \times \mathbf{B}",
        )

    def relations(self) -> str:
        return self.pick(
            f"{self.sum(0)} {self.pick(*RELATIONS)} {self.sum(0)}",
            rf"{self.letter()} \in A \cap B",
            r"A \subset B \cup C",
            r"AB \perp CD",
            r"AB \parallel CD",
            r"\triangle ABC \sim \triangle DEF",
            rf"{self.letter()} \equiv {self.number(9)} \pmod{{{self.number()}}}",
            rf"{self.letter()} \notin A",
            rf"{self.letter()} = \pm {self.number()}",
            rf"{self.letter()} \mp {self.letter()}",
            rf"1, 2, \ldots, {self.letter()}",
            rf"{self.letter()}_{{1}} + {self.letter()}_{{2}} + \cdots + {self.letter()}_{{n}}",
            rf"{self.number()} \div {self.number()} \times {self.number()}",
            rf"{self.letter()} \to \infty",
            rf"{self.number()}!",
        )

    def arrows(self) -> str:
        return self.pick(
            rf"{self.letter()} \Rightarrow {self.letter()}",
            rf"{self.letter()} \Leftrightarrow {self.letter()}",
            rf"{self.letter()} \mapsto {self.letter()}^{{2}}",
            r"A \rightarrow B \rightarrow C",
            rf"{self.letter()} \leftarrow {self.letter()} + 1",
            rf"{self.letter()} \uparrow",
            rf"{self.sum(0)} \Rightarrow {self.letter()} = {self.number()}",
        )

    def units(self) -> str:
        unit = self.pick(*UNITS)
        return self.pick(
            rf"{self.letter()} = {self.decimal()}\,\mathrm{{{unit}}}",
            rf"{self.letter()} = {self.number()}\,\mathrm{{m/s^{{2}}}}",
            rf"{self.number()}\,\mathrm{{kg\,m^{{-3}}}}",
            rf"{self.decimal()}\,\mathrm{{J\,mol^{{-1}}\,K^{{-1}}}}",
            r"\mathrm{m\,s^{-1}}",
            rf"T = {self.number()}^{{\circ}}\mathrm{{C}}",
            rf"{self.number()}\,\Omega",
            rf"{self.number()}\,\mu\mathrm{{m}}",
            rf"{self.letter()} = {self.number()}\,\mathrm{{{unit}}}^{{2}}",
        )

    def scientific(self) -> str:
        power = rf"10^{{{self.pick('-', '')}{self.number(30)}}}"
        return self.pick(
            rf"{self.decimal()} \times {power}",
            rf"{self.letter()} = {self.decimal()} \times {power}\,\mathrm{{{self.pick(*UNITS)}}}",
            rf"({self.decimal()} \pm {self.decimal()}) \times {power}",
            rf"{self.number(9)} \cdot {power}\,\mathrm{{{self.pick(*UNITS)}}}",
            rf"{self.name()} = {self.decimal()} \times {power}\,\mathrm{{kg\,m^{{-3}}}}",
        )

    def chemistry(self) -> str:
        return rf"\ce{{{self._random.choice(REACTIONS)}}}"

    def matrix(self) -> str:
        def cell() -> str:
            signed = f"-{self.number(9)}"
            indexed = f"{self.letter()}_{{{self.number(9)}}}"
            return self.pick(self.number(9), self.letter(), "0", "1", signed, indexed)

        size, name = (
            self._random.choice([2, 2, 3]),
            self.pick("pmatrix", "bmatrix", "vmatrix", "pmatrix"),
        )
        rows = [" & ".join(cell() for _ in range(size)) for _ in range(size)]
        column = [cell() for _ in range(size)]
        matrix = rf"\begin{{{name}}} " + r" \\ ".join(rows) + rf" \end{{{name}}}"
        return self.pick(
            matrix,
            f"{self.letter()} = {matrix}",
            rf"{matrix} \begin{{pmatrix}} " + r" \\ ".join(column) + r" \end{pmatrix}",
        )

    def cases(self) -> str:
        first, second = (self.pick(self.sum(0), self.number()) for _ in range(2))
        x = self.pick("x", "n", "t")
        return self.pick(
            rf"f({x}) = \begin{{cases}} {first} & {x} > {self.number(9)} \\ {second} & {x} < 0 \end{{cases}}",
            rf"\begin{{cases}} {self.number(9)}x + y = {self.number()} \\ x - {self.number(9)}y = {self.number()} \end{{cases}}",
            rf"a_{{n}} = \begin{{cases}} {first} & \text{{if }} n \text{{ is even}} \\ {second} & \text{{otherwise}} \end{{cases}}",
        )

    def aligned(self) -> str:
        name = self.letter()
        return rf"\begin{{aligned}} {name} &= {self.sum(1)} \\ &= {self.sum(1)} \end{{aligned}}"


REACTIONS: Final = (
    "H2O", "CO2", "H2SO4", "SO4^2-", "NH4+", "Ca(OH)2", "Fe^3+", "CuSO4 * 5H2O", "C6H12O6", "NO3-",
    "[Cu(NH3)4]^2+", "Al2(SO4)3", "MnO4-", "Cr2O7^2-", "CH3COOH", "Na2CO3", "K4[Fe(CN)6]", "HCO3-",
    "2H2 + O2 -> 2H2O", "N2 + 3H2 <=> 2NH3", "CaCO3(s) -> CaO(s) + CO2(g)", "H+ + OH- -> H2O",
    "Zn + Cu^2+ -> Zn^2+ + Cu", "AgCl(s) <=> Ag+(aq) + Cl-(aq)", "2Na + Cl2 -> 2NaCl",
    "CH4 + 2O2 -> CO2 + 2H2O", "MnO4- + 8H+ + 5e- -> Mn^2+ + 4H2O", "^{14}_{6}C -> ^{14}_{7}N + e-",
    "PCl5 <=> PCl3 + Cl2", "2SO2(g) + O2(g) <=> 2SO3(g)", "Fe2O3 + 3CO -> 2Fe + 3CO2", "I3-",
    "HA(aq) + H2O(l) <=> H3O+(aq) + A-(aq)", "Ba^2+ + SO4^2- -> BaSO4", "C2H5OH", "^{235}_{92}U",
    "2KMnO4 + 5H2C2O4 + 3H2SO4 -> K2SO4 + 2MnSO4 + 10CO2 + 8H2O", "2H2O2 -> 2H2O + O2", "PO4^3-",
    "[Fe(CN)6]^4-", "S2O3^2-", "Cu + 4HNO3 -> Cu(NO3)2 + 2NO2 + 2H2O", "C8H18", "Mg(OH)2", "P4O10",
)  # fmt: skip
