"""Answers of the mixed Spanish booklet, computed from the data of its figures."""

from __future__ import annotations

from checks.page import Page
from checks.reading import curve, height, places, slope
from checks.values import Quantity, Value, letter

GRAVITY = 10.0  # m/s², problem 4
PROBLEM_2_BASE = 0.100  # mol/L
PROBLEM_2_SAMPLE = 20.0  # mL
PROBLEM_2_PROTONS = 2
PROBLEM_4_FIRST, PROBLEM_4_SECOND = 1.0, 9.0  # s after the start
PROBLEM_6_FROM, PROBLEM_6_TO = 10.0, 30.0  # min


def problem_1(page: Page) -> list[Value]:
    """The bands of affected persons are the allele of the disease; each band is half of a
    genotype."""
    tree, gel = page.figures
    bands = {lane["name"]: lane["bands"] for lane in gel["lanes"]}
    affected = [bands[p["name"]] for p in tree["people"] if p["affected"]]
    (allele,) = set.intersection(*map(set, affected))
    (parents,) = (c["parents"] for c in tree["couples"] if "" in c["children"])
    risk = 1.0
    for parent in parents:
        risk *= bands[parent].count(allele) / len(bands[parent])
    return [letter(risk, page.choices)]


def problem_2(page: Page) -> list[Value]:
    start, end = (figure["reading"] for figure in page.figures)
    acid = (end - start) * PROBLEM_2_BASE / PROBLEM_2_PROTONS / PROBLEM_2_SAMPLE
    return [Quantity(acid, "mol/L", asked=True)]


def problem_3(page: Page) -> list[Value]:
    outer, inner = map(curve, page.figures)
    count = sum(len(places(inner, zero)) for zero in places(outer, 0))
    return [Quantity(count, "soluciones", asked=True)]


def _acceleration(velocity: list[list[float]], time: float) -> float:
    """Return the slope of the straight piece around `time`."""
    step = 0.01
    return (height(velocity, time + step) - height(velocity, time - step)) / (2 * step)


def problem_4(page: Page) -> list[Value]:
    lift, dial = page.figures
    mass = dial["reading"] / (GRAVITY + _acceleration(curve(lift), PROBLEM_4_FIRST))
    force = mass * (GRAVITY + _acceleration(curve(lift), PROBLEM_4_SECOND))
    return [Quantity(force, "N", asked=True)]


def problem_5(page: Page) -> list[Value]:
    light, alga = map(curve, page.figures)
    (compensation,) = places(alga, 0)
    (depth,) = places(light, compensation)
    return [Quantity(depth, "m")]


def problem_6(page: Page) -> list[Value]:
    calibration, signal = map(curve, page.figures)
    fall = height(signal, PROBLEM_6_FROM) - height(signal, PROBLEM_6_TO)
    return [letter(fall / slope(calibration) / (PROBLEM_6_TO - PROBLEM_6_FROM), page.choices)]
