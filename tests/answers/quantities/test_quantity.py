from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.answers.quantity import quantity, same_quantity
from omibench.answers.units import parse_unit


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("37.5", 37.5), ("1,000", 1000), ("6 675", 6675), ("9.42e-3", 9.42e-3), ("-7", -7),
        (r"9.42 \times 10^{-3}", 9.42e-3), ("4.73 × 10⁻¹²", 4.73e-12), ("10^{5}", 1e5),
        (r"\frac{3}{4}", 0.75), (r"1\frac{1}{2}", 1.5), ("3/4", 0.75), ("Three", 3),
        (r"(450\pm50) \ mm", 450), ("0{,}657", 0.657), ("105.", 105), (r"3{.}125~\text{km}", 3.125),
    ],
)  # fmt: skip
def test_numbers_are_read(text: str, value: float) -> None:
    found = quantity(text)
    assert found is not None
    assert math.isclose(found.value, value)


@pytest.mark.parametrize(
    "text",
    ["101_2", r"20\sqrt{3}", "2n", "infinity", "nan", "1e999", r"\frac{1}{0}", "None", "5 or 6", "",
     "1" * 5000, "x = 5", "9.9.9"],
)  # fmt: skip
def test_what_is_no_number_is_not_read(text: str) -> None:
    assert quantity(text) is None


@given(st.floats(allow_nan=False, allow_infinity=False, width=32))
def test_every_number_equals_itself(number: float) -> None:
    assert same_quantity(repr(number), repr(number)) is True


@given(st.text(max_size=60), st.text(alphabet="0123456789.e-+ ×^{}/%m", max_size=30))
def test_any_text_returns(a: str, b: str) -> None:
    assert same_quantity(a, b) in (True, False, None)
    assert same_quantity(b, b) in (True, None)


@pytest.mark.parametrize(
    ("gold", "pred"),
    [
        ("10", "10 cm"), ("0.5 m", "50 cm"), ("60", r"60^\circ"), ("96.5 %", "96.5"),
        ("0.5", r"50\%"), ("11~\\Omega", "11 ohms"), ("42", "42 cells"), ("70 cm", "70"),
        ("0.62~\\frac{W}{K}", "0.62 W/K"), ("160\\times 10^3~\\text{tons}", "1.6e5 t"),
        ("8.2\\times 10^3~{kg}/{m^3}", "8200 kg/m^3"), ("0.33333", "1/3"), ("96.5 %", "0.965"),
    ],
)  # fmt: skip
def test_equal_quantities(gold: str, pred: str) -> None:
    assert same_quantity(gold, pred) is True


@pytest.mark.parametrize(
    ("gold", "pred"),
    [
        ("70 cm", "70 m"), ("0.06115", "0.06116"), ("14.9", "15.0"), (r"9.42 \times 10^{-6}", "0"),
        ("3e-7", "7.5e-6"), ("5 apples", "5 people"), ("96.5 %", "9.65"), ("5 s", "5 m"),
        (r"(450\pm50)", r"(450\pm40)"), ("9.42e-3", "9.42e3"),
    ],
)  # fmt: skip
def test_different_quantities(gold: str, pred: str) -> None:
    assert same_quantity(gold, pred) is False


def test_units_multiply_divide_and_convert() -> None:
    newton, product = parse_unit("N"), parse_unit("kg × m/s^{2}")
    assert newton is not None
    assert product is not None
    assert newton.dimensions == product.dimensions
    assert math.isclose(newton.factor, product.factor)
    centimetre, metre = parse_unit("cm"), parse_unit("meters")
    assert centimetre is not None
    assert metre is not None
    assert math.isclose(metre.factor / centimetre.factor, 100)
    assert parse_unit(r"\sqrt{3}") is None
    assert parse_unit("R") is None


@pytest.mark.parametrize(
    ("gold", "pred", "told"),
    [
        ("1,5", "1.5", True), ("1.5", "1,5", True), ("1.5", "1,5 cm", True),
        ("-2,75", "-2.75", True),
        ("0.657", "0,657", True), ("0,657", "0.657", True), ("3.1416", "3,1416", True),
        (r"1,5 \times 10^{3}", "1500", True), ("1,5 m", "150 cm", True), ("1.5", "1,6", False),
        ("15", "1,5", False), ("1,500", "1.5", False), ("1500", "1,500", True),
        ("1,5", "1,50", None), ("1,5", "1 and 5", None), ("1.5", "1, 5", None),
        ("1.5", "1,5,2", None), ("1.5", "1,5.2", None), ("1.5", "1,234,5", None),
    ],
)  # fmt: skip
def test_a_decimal_comma_is_read_where_it_is_no_list(
    gold: str, pred: str, told: bool | None
) -> None:
    assert same_quantity(gold, pred) is told


@pytest.mark.parametrize(
    ("gold", "pred", "equal"),
    [
        ("25 °C", "298.15 K", True), ("25 °C", "25 K", False), ("1 h 20 min", "80 min", True),
        ("5 ft 3 in", "63 in", True), ("72 km/h", "20 m/s", True), ("4 kΩ", r"4000\,\Omega", True),
        (r"9.8 m/s^2", r"9.8\ \mathrm{m\,s^{-2}}", True), ("3 厘米", "30 mm", True),
        ("20 г", "0.02 kg", True), ("≈ 3.14", "about 3.14", True), ("2+", "+2", True),
        ("10 lb", "4.5359237 kg", True), ("45 mph", "45 km/h", False), ("5 eV", "5 MeV", False),
        ("Rs 500", "500", True), ("15 cm^2", "15 cm^3", False),
    ],
)  # fmt: skip
def test_units_of_many_kinds(gold: str, pred: str, equal: bool) -> None:
    assert same_quantity(gold, pred) is equal


@pytest.mark.parametrize(
    ("gold", "pred", "told"),
    [
        ("1.5 million", "1500000", True), ("1.5 million", r"1.5\times10^6", True),
        ("1.5 million", "1.5", False), ("1.5", "1.5 million", False), ("5 thousand", "5", False),
        ("5 thousand", "5,000", True), ("3 dozen eggs", "36 eggs", True), ("3 dozen", "3", False),
        ("2.5 hundred", "250", True), ("2.5 hundred", "2.5", False), ("3 万", "30000", True),
        ("3万吨", "30000 t", True), ("1.2亿", "1.2 \\times 10^8", True), ("3 万", "3", False),
        ("two million", "2000000", True), ("five hundred thousand", "5e5", True),
        (r"4.6 \text{ billion years}", "4.6e9 years", True), ("5 thousand km", "5000 km", True),
        ("5 millions of people", "5000000 people", True), ("2 dozen or more", "24", None),
        ("3 Millionen", "3 million", True), ("1.5 million", "1.5 billion", False),
    ],
)  # fmt: skip
def test_words_of_scale_multiply(gold: str, pred: str, told: bool | None) -> None:
    assert same_quantity(gold, pred) is told


@pytest.mark.parametrize(
    ("gold", "pred", "equal"),
    [("1000000", "1000001", False), ("1,000,000 m", "1000001 m", False), ("1000000", "10^6", True),
     ("1000000", "1,000,000", True), ("1000000 m", "1000 km", True), ("5", "5.0", True),
     ("1,234,567", r"1{,}234{,}567", True), ("1.024", "1{,}024", False)],
)  # fmt: skip
def test_integers_are_equal_or_not(gold: str, pred: str, equal: bool) -> None:
    assert same_quantity(gold, pred) is equal
