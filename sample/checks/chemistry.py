"""Answers of the chemistry booklet, computed from the data of its figures."""

from __future__ import annotations

from fractions import Fraction
from math import gcd, log

import sympy

from checks.page import Page
from checks.reading import curve, height, places, slope
from checks.values import Quantity, Value

GAS_CONSTANT = 8.314  # J/(mol K), problem 3
AVOGADRO = 6.022e23  # 1/mol, problem 5
MOLAR_MASS = {"Fe": 55.85, "N": 14.01}  # g/mol, problem 5
CARBONATE, WATER = 106.0, 18.0  # g/mol, problem 4
PROBLEM_7_TAKEN, PROBLEM_7_FILLED = 5.00, 50.0  # mL


def problem_2(page: Page) -> list[Value]:
    titration, burettes = page.figures
    start, stop = (reading["ml"] for reading in burettes["readings"])
    ((equivalence, _),) = curve(titration, "E")
    (ph,) = (series["points"] for series in titration["series"] if "name" not in series)
    added = stop - start
    return [Quantity(added / (equivalence - added)), Quantity(height(ph, added))]


def problem_3(page: Page) -> list[Value]:
    (cold, k_cold), (hot, k_hot) = (
        (figure["temperature_k"], -slope(curve(figure))) for figure in page.figures
    )
    joules = GAS_CONSTANT * log(k_hot / k_cold) / (1 / cold - 1 / hot)
    return [Quantity(joules / 1000, "kJ/mol", asked=True)]


def problem_4(page: Page) -> list[Value]:
    open_crucible, _ = page.figures
    crystals, *_, residue = (mass for _, mass in curve(open_crucible))
    water, carbonate = (crystals - residue) / WATER, residue / CARBONATE
    return [Quantity(round(water / carbonate))]


def _atoms(page: Page) -> dict[str, int]:
    """Return the atoms of each element in one cell; a face, edge or corner shares its atoms."""
    shares: dict[str, Fraction] = {}
    for layer in page.figures:
        for atom in layer["atoms"]:
            shared = sum(x in (0, 1) for x in atom["at"])
            # a layer at height 0 also counts for the top face: two halves make one
            element = atom["element"]
            shares[element] = shares.get(element, Fraction()) + Fraction(1, 2**shared)
    if any(share.denominator != 1 for share in shares.values()):
        raise ValueError(f"the cell holds parts of atoms: {shares}")
    return {element: int(share) for element, share in shares.items()}


def problem_5(page: Page) -> list[Value]:
    atoms = _atoms(page)
    common = gcd(*atoms.values())
    formula = "".join(f"{e}{n // common if n > common else ''}" for e, n in atoms.items())
    mass = sum(count * MOLAR_MASS[element] for element, count in atoms.items()) / AVOGADRO
    edge_cm = page.figures[0]["edge_pm"] * 1e-10
    return [formula, Quantity(mass / edge_cm**3, "g/cm³", asked=True)]


def _order(points: list[list[float]]) -> int:
    """Return the integer exponent of a power law through the points."""
    (x0, y0), *others = points
    found = {log(y / y0) / log(x / x0) for x, y in others}
    (order,) = {round(exponent) for exponent in found}
    if any(abs(exponent - order) > 1e-6 for exponent in found):
        raise ValueError(f"no whole order: {found}")
    return order


def problem_6(page: Page) -> list[Value]:
    by_a, by_b = page.figures
    m, n = _order(curve(by_a)), _order(curve(by_b))
    ((a, rate), *_), b = curve(by_a), by_a["fixed"]["b"]
    k = sympy.nsimplify(rate * by_a["rate_unit"] / (a**m * b**n), rational=True, tolerance=1e-9)
    return [k * sympy.Symbol("a") ** m * sympy.Symbol("b") ** n]


def problem_7(page: Page) -> list[Value]:
    known, tea, calibration = page.figures
    (time,) = (peak["at"] for peak in known["peaks"] if peak.get("name") == "caffeine")
    (signal,) = (peak["height"] for peak in tea["peaks"] if peak["at"] == time)
    (injected,) = places(curve(calibration), signal)
    in_tea = injected * PROBLEM_7_FILLED / PROBLEM_7_TAKEN
    return [Quantity(in_tea, "mg/L", asked=True)]
