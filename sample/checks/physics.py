"""Answers of the physics booklet, computed from the data of its figures."""

from __future__ import annotations

from itertools import pairwise
from math import radians, sin

import numpy as np
import sympy

from checks.page import Data, Page
from checks.reading import area, curve, height, root, slope
from checks.values import Quantity, Value, letter, number

GRAVITY = 10.0  # m/s², printed in problem 1


def problem_1(page: Page) -> list[Value]:
    spring, block = page.figures
    pull = block["mass_kg"] * GRAVITY * sin(radians(block["angle_deg"]))
    return [letter(pull / slope(curve(spring)), page.choices)]


def _operating_point(page: Page) -> tuple[float, float]:
    """Return voltage and current of the single lamp, where its curve meets the load line."""
    circuit, characteristic = page.figures
    emf, resistance, lamp = circuit["emf_v"], circuit["resistance_ohm"], curve(characteristic)
    volt = root(lambda v: v + resistance * height(lamp, v) - emf, lamp[0][0], lamp[-1][0])
    return volt, height(lamp, volt)


def problem_2(page: Page) -> list[Value]:
    return [Quantity(_operating_point(page)[1], "A")]


def problem_3(page: Page) -> list[Value]:
    circuit, _ = page.figures
    volt, ampere = _operating_point(page)
    return [Quantity((circuit["emf_v"] - volt) / (2 * ampere), "Ω")]


def problem_5(page: Page) -> list[Value]:
    (beam,) = page.figures
    (unknown,) = (load for load in beam["loads"] if load["label"] == "X")
    known = (load for load in beam["loads"] if load is not unknown)
    moment = sum(load["at"] * number(load["label"]) for load in known)
    return [Quantity(-moment / unknown["at"], "kg")]


def _greatest_product(start: list[float], end: list[float]) -> float:
    """Return the greatest x·y on the straight segment between two points."""
    x, y = (np.polynomial.Polynomial([a, b - a]) for a, b in zip(start, end, strict=True))
    turning = [float(t.real) for t in (x * y).deriv().roots() if t.imag == 0]
    return max(float((x * y)(t)) for t in [0.0, 1.0, *turning] if 0 <= t <= 1)


def problem_6(page: Page) -> list[Value]:
    """Return the work (area of the polygon, positive clockwise) and the temperature (greatest p·V
    relative to state A)."""
    cycle, bench = page.figures
    corners = [point["at"] for point in cycle["points"]]
    sides = list(pairwise([*corners, corners[0]]))
    enclosed = sum(y0 * x1 - x0 * y1 for (x0, y0), (x1, y1) in sides) / 2
    joules = enclosed * bench["pressure_kpa"] * bench["volume_l"]
    hottest = max(_greatest_product(a, b) for a, b in sides) / (corners[0][0] * corners[0][1])
    kelvin = hottest * bench["temperature_k"]
    return [Quantity(joules, "J", asked=True), Quantity(kelvin, "K", asked=True)]


def problem_7(page: Page) -> list[Value]:
    ray, lens = page.figures
    index = ray["incident_x"] / ray["refracted_x"]
    power = (index - 1) * (1 / lens["left_radius_cm"] + 1 / lens["right_radius_cm"])
    return [Quantity(1 / power, "cm")]


def problem_8(page: Page) -> list[Value]:
    first, second = map(curve, page.figures)
    meeting = root(lambda t: area(second, t) - area(first, t), 1.0, first[-1][0])
    return [Quantity(meeting, "s")]


def _echo_s(screen: Data) -> float:
    emission, echo = (pulse["at_div"] for pulse in screen["pulses"])
    return float((echo - emission) * screen["microseconds_per_div"] * 1e-6)


def problem_9(page: Page) -> list[Value]:
    screen, speeds, thermometer = page.figures
    speed = height(curve(speeds), thermometer["reading"])
    depth_cm = 100 * speed * _echo_s(screen) / 2
    return [letter(depth_cm, page.choices)]


def problem_10(page: Page) -> list[Value]:
    blocks, plot = page.figures
    masses = (number(blocks[name]) for name in ("table_mass", "hanging_mass"))
    table, hanging = map(sympy.Rational, masses)
    friction = sympy.Rational(slope(curve(plot)))
    return [(hanging - friction * table) / (hanging + table) * sympy.Symbol("g")]
