"""Laws of answers: what changes an answer and what does not. Labelled ones: tests/stages/score."""

from __future__ import annotations

import math
import random
from itertools import permutations

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from omibench.answers.formulas.symbolic import item_time
from omibench.answers.match import match_answer

NUMBERS = st.integers(-9, 9)
COEFFICIENTS = NUMBERS.filter(bool)


def equal(gold: str, answer: str) -> bool:
    with item_time():
        return match_answer([gold], answer) is not None


@given(a=COEFFICIENTS, b=COEFFICIENTS, c=COEFFICIENTS, factor=COEFFICIENTS)
@settings(max_examples=40, deadline=None)
def test_an_equation_equals_its_multiples_and_not_its_right_side(
    a: int, b: int, c: int, factor: int
) -> None:
    def write(a: int, b: int, c: int) -> str:
        return f"{a}x + {b}y = {c}".replace("+ -", "- ")

    gold = write(a, b, c)
    assert equal(gold, write(factor * a, factor * b, factor * c))
    assert not equal(gold, write(a, b, c + 1 or 1))
    assert not equal(gold, str(c))


@given(a=COEFFICIENTS, b=NUMBERS, closed=st.booleans())
@settings(max_examples=40, deadline=None)
def test_an_inequality_turns_with_a_negative_factor(a: int, b: int, closed: bool) -> None:
    signs = {True: r"\leq", False: "<"}
    turned = {True: r"\geq", False: ">"}
    end = rf"\frac{{{b}}}{{{a}}}"
    sign = (turned if a < 0 else signs)[closed]
    assert equal(f"t {sign} {end}", f"{a}t {signs[closed]} {b}")
    assert not equal(f"t {sign} {end}", f"{a}t {turned[closed]} {b}")
    assert not equal(f"t {sign} {end}", f"{a}t {signs[not closed]} {b}")


@given(
    st.lists(st.integers(-20, 20), min_size=2, max_size=6, unique=True).map(sorted),
    st.lists(st.booleans(), min_size=6, max_size=6),
    st.integers(0, 5),
)
@settings(max_examples=40, deadline=None)
def test_unions_of_intervals_are_inequalities(
    ends: list[int], closed: list[bool], change: int
) -> None:
    pairs = list(zip(ends[::2], ends[1::2], strict=False))

    def as_intervals(closed: list[bool]) -> str:
        return r" \cup ".join(
            f"{'(['[closed[2 * i]]}{low}, {high}{')]'[closed[2 * i + 1]]}"
            for i, (low, high) in enumerate(pairs)
        )

    signs = ("<", r"\leq")
    inequalities = [
        f"{low} {signs[closed[2 * i]]} x {signs[closed[2 * i + 1]]} {high}"
        for i, (low, high) in enumerate(pairs)
    ]
    gold = as_intervals(closed)
    assert equal(gold, " or ".join(reversed(inequalities)))
    assume(change < 2 * len(pairs))
    other = [is_closed != (i == change) for i, is_closed in enumerate(closed)]
    assert not equal(as_intervals(other), " or ".join(inequalities))


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=2, max_size=4, unique=True), st.randoms())
@settings(max_examples=40, deadline=None)
def test_points_that_solve_a_system_have_no_order(
    points: list[tuple[int, int]], random: object
) -> None:
    gold = ", ".join(map(str, points))
    assert equal(gold, "; ".join(map(str, reversed(points))))
    assert not equal(gold, ", ".join(map(str, points[1:])))
    swapped = [(y, x) for x, y in points]
    assume(set(swapped) != set(points))
    assert not equal(gold, ", ".join(map(str, swapped)))


@given(st.lists(NUMBERS, min_size=2, max_size=4, unique=True))
@settings(max_examples=40, deadline=None)
def test_roots_have_no_order_and_a_sequence_has(roots: list[int]) -> None:
    listed, turned = ", ".join(map(str, roots)), ", ".join(map(str, reversed(roots)))
    assert equal(f"x = {listed}", f"x = {turned}")
    assert equal(f"x = {listed}", rf"\{{{turned}\}}")
    assert equal(f"x = {listed}", " or ".join(f"x = {root}" for root in roots))
    assert not equal(listed, turned)


@given(st.lists(NUMBERS, min_size=2, max_size=3), COEFFICIENTS)
@settings(max_examples=40, deadline=None)
def test_a_product_equals_its_expansion(roots: list[int], scale: int) -> None:
    coefficients = [scale]
    for root in roots:
        shifted = [*coefficients, 0]
        coefficients = [s - root * c for s, c in zip(shifted, [0, *coefficients], strict=True)]
    product = f"{scale}" + "".join(f"(x {-root:+})" for root in roots)
    degree = len(roots)
    terms = "".join(f"{c:+}x^{{{degree - i}}}" for i, c in enumerate(coefficients))
    expansion = terms.removeprefix("+")
    assert equal(product, expansion)
    assert not equal(product, f"{expansion} + 1")


@given(st.lists(st.lists(NUMBERS, min_size=2, max_size=2), min_size=2, max_size=3))
@settings(max_examples=40, deadline=None)
def test_a_matrix_has_rows_and_columns(rows: list[list[int]]) -> None:
    def write(environment: str, rows: list[list[int]]) -> str:
        body = r" \\ ".join(" & ".join(map(str, row)) for row in rows)
        return rf"\begin{{{environment}}} {body} \end{{{environment}}}"

    assert equal(write("pmatrix", rows), write("bmatrix", rows))
    transposed = [list(column) for column in zip(*rows, strict=True)]
    assume(transposed != rows)
    assert not equal(write("pmatrix", rows), write("pmatrix", transposed))


def test_only_an_integer_makes_a_family_and_every_solution_counts() -> None:
    assert equal(r"x = k\pi, k \in \mathbb{Z}", r"x = n\pi, n \text{ is an integer}")
    assert not equal("3n, n", "3n + 3, n")
    numbers = list(range(40))
    gold, other = (", ".join(map(str, n)) for n in (numbers, [*numbers[:-1], 99]))
    assert not equal("\\{" + gold + "\\}", "\\{" + other + "\\}")


def test_only_antiderivatives_may_differ_by_a_constant() -> None:
    assert equal(r"\frac{1}{2}\sin^2 x + C", r"-\frac{1}{4}\cos 2x + c")
    assert not equal("mx + c", "mx + 5 + c")
    assert not equal("2x + k", "2x + c")
    assert not equal("x^2 + C", "x^2")


@given(a=st.integers(-6, 6), step=st.integers(1, 6), turns=st.integers(-3, 3), closed=st.booleans())
@settings(max_examples=40, deadline=None)
def test_a_family_of_intervals_can_start_anywhere(
    a: int, step: int, turns: int, closed: bool
) -> None:
    def write(start: int, step: int, letter: str) -> str:
        low, high = f"{step}{letter}\\pi + {start}", f"{step}{letter}\\pi + {start} + 2"
        return rf"{'[('[not closed]}{low}, {high}{'])'[not closed]}, {letter} \in \mathbb{{Z}}"

    gold = write(a, step, "k").replace("+ -", "- ")
    moved = rf"{step}n\pi + {a} + {turns * step}\pi".replace("+ -", "- ")
    sign = (r"\leq", "<")[not closed]
    answer = rf"{moved} {sign} x {sign} {moved} + 2, n \text{{ is an integer}}"
    assert equal(gold, answer)
    assert not equal(gold, write(a, step + 1, "k").replace("+ -", "- "))
    assert not equal(gold, answer.replace(sign, ("<", r"\leq")[not closed]))
    assert not equal(gold, write(a + 1, step, "k").replace("+ -", "- "))


def test_sets_of_integers_are_their_members() -> None:
    assert equal(r"\text{all odd integers } n > 1", r"\{2k + 1 : k \in \mathbb{N}\}")
    assert equal(r"n \equiv 1 \pmod{4}", r"4k + 1, k \in \mathbb{Z}")
    assert equal(r"\{n \in \mathbb{N} : n \geq 3\}", r"\text{all integers } n \geq 3")
    assert not equal(r"n \equiv 1 \pmod{4}", r"4k + 3, k \in \mathbb{Z}")
    assert not equal(r"\text{all odd integers } n > 1", r"\text{all odd integers}")
    assert not equal(r"\text{all positive multiples of } 3", r"3k, k \in \mathbb{Z}")


def test_a_constant_has_any_name_and_a_parameter_only_its_own() -> None:
    assert equal(r"f(x) = cx \text{ for some constant } c", "f(x) = kx")
    assert equal("f(x) = cx", "f(x) = kx")
    assert equal(r"y = C_1 \cos 3x + C_2 \sin 3x", r"y = A\sin 3x + B\cos 3x")
    assert equal(r"(k, 2k), k \in \mathbb{Z}", r"(n, 2n) \text{ for integers } n")
    assert not equal(r"f(x) = cx \text{ for some constant } c", "f(x) = x")
    assert not equal("f(x) = cx", "f(x) = kx^2")
    assert not equal("F = kx", "F = mx")
    assert not equal("$C_2 H_5$: 3", "$C_7 H_5$: 3")
    assert not equal("E_0 + n_1 k h", "E_0 + n_0 k h")
    assert not equal("f = k_1 x", "f = k_0 x")
    assert not equal(r"\frac{1}{2} C_1 U^2", r"\frac{1}{2} C_0 U^2")
    assert not equal(r"(k, 2k), k \in \mathbb{Z}", r"(2n, n), n \in \mathbb{Z}")


def test_a_piecewise_function_is_its_values_under_their_conditions() -> None:
    gold = r"f(x) = \begin{cases} x^2 & x \ge 0 \\ -2x & x < 0 \end{cases}"
    assert equal(gold, r"f(x)=\left\{\begin{array}{ll}-2x,& x<0\\ x^2,& x\geq 0\end{array}\right.")
    assert equal(gold, r"x^2 \text{ if } x \geq 0, -2x \text{ otherwise}")
    assert not equal(gold, r"\begin{cases} x^2 & x > 0 \\ -2x & x \le 0 \end{cases}")
    assert not equal(gold, r"\begin{cases} x^2 & x < 0 \\ -2x & x \ge 0 \end{cases}")
    assert not equal(gold, gold.replace("f(x)", "g(x)"))
    parity = r"\begin{cases} 1 & n \text{ odd} \\ 2 & n \text{ even} \end{cases}"
    assert equal(parity, r"2 \text{ if } n \text{ is even, } 1 \text{ if } n \text{ is odd}")


def test_names_of_lines_and_angles_count() -> None:
    assert equal(r"\angle ABC = 60^\circ", r"\angle CBA = 60^\circ")
    assert equal("AB = 5", "BA = 5")
    assert equal("AB = 5", "5")
    assert not equal(r"\angle ABC = 60^\circ", r"\angle ACB = 60^\circ")
    assert not equal("AB = 5", "CD = 5")


def test_and_is_not_or_in_inequalities() -> None:
    assert equal(r"x < -1 \text{ or } x > 3", r"|x - 1| > 2")
    assert not equal(r"x < -1 \text{ or } x > 3", r"x < -1 \text{ and } x > 3")
    assert equal("x > 0, y > 0", r"y > 0 \text{ and } x > 0")
    assert not equal("M < O, Q < N", "Q < N, M < O")  # asked in this order
    assert equal("-2 < x - 3 < 2", "1 < x < 5")


def test_moduli_of_complex_numbers_and_operations_on_sets_count() -> None:
    assert equal("|z - i| = 2", "|i - z| = 2")
    assert not equal("|z - i| = 2", "|z + i| = 2")
    assert not equal(r"A \cap B = \{2\}", r"A \cup B = \{2\}")
    assert equal(r"\text{all real numbers greater than } 2", r"(2, \infty)")
    assert not equal(r"\text{all real numbers greater than } 2", r"[2, \infty)")
    assert equal(r"3\mathbf{i} - 4\mathbf{k}", "(3, 0, -4)")
    assert not equal(r"3\mathbf{i} - 4\mathbf{k}", "(3, -4, 0)")


def test_times_currencies_and_arcs() -> None:
    assert equal(r"5:30 \text{ p.m.}", "17:30")
    assert not equal(r"5:30 \text{ p.m.}", "5:30 AM")
    assert not equal("€50", r"\$50")
    assert equal(r"\$50", "50 USD")
    assert equal("45'", "45 arcminutes")
    assert equal(r"\frac{3\pi}{4}", r"\frac{3}{4}\pi \text{ radians}")
    assert equal("72 km/h", "72 kilometers per hour")
    assert equal("25%", "25 per cent")
    assert not equal("0.05", "5 cent")


def test_counts_and_recurring_decimals() -> None:
    assert equal(r"\frac{5!}{2!3!}", "10")
    assert not equal(r"\frac{5!}{2!3!}", r"\frac{120}{23!}")
    assert equal(r"\binom{10}{3}", r"{10 \choose 3}")
    assert equal(r"\binom{2n}{n}", r"{2n \choose n}")
    assert equal("(2n-1)!!", r"\frac{(2n)!}{2^n n!}")
    assert not equal("(2n-1)!!", "(2n-1)!")
    assert equal(r"0.\overline{27}", r"0.\dot{2}\dot{7}")
    assert equal(r"\frac{3}{11}", r"0.272727\ldots")
    assert not equal(r"\frac{3}{11}", r"0.27\ldots")
    assert equal(r"K = \frac{[NH_3]^2}{[N_2][H_2]^3}", "K = [NH3]^2/([N2][H2]^3)")


FUNCTIONS = {
    "arsinh": math.asinh, "arcosh": math.acosh, "artanh": math.atanh, "arcsin": math.asin,
    "arccos": math.acos, "arctan": math.atan, "sinh": math.sinh, "cosh": math.cosh,
    "tanh": math.tanh,
}  # fmt: skip
SPELLINGS = {
    "arsinh": ("arcsinh", "argsinh", "arsh"), "arcosh": ("arccosh", "argcosh", "arch"),
    "artanh": ("arctanh", "argtanh", "arth"), "arctan": ("arctg", "atan"), "sinh": ("sh",),
    "arcsin": ("asin",), "arccos": ("acos",), "cosh": ("ch",), "tanh": ("th",),
}  # fmt: skip


@given(st.sampled_from(sorted(FUNCTIONS)), st.sampled_from(sorted(FUNCTIONS)), st.integers(2, 3))
@settings(max_examples=60, deadline=None)
def test_a_function_has_many_names_and_each_only_its_value(name: str, other: str, n: int) -> None:
    argument = n if name in ("arcosh", "sinh", "cosh") else 1 / n
    value = f"{FUNCTIONS[name](argument):.12f}"
    written = str(n) if argument == n else rf"\frac{{1}}{{{n}}}"
    for spelling in (name, *SPELLINGS[name]):
        assert equal(rf"\operatorname{{{spelling}}}({written})", value)
    assert equal(rf"\operatorname{{{other}}}({written})", value) == (other == name)


@given(NUMBERS, st.sampled_from(["<", ">", r"\leq", r"\geq"]), NUMBERS, st.booleans())
@settings(max_examples=60, deadline=None)
def test_a_set_with_a_condition_is_an_interval(end: int, sign: str, at: int, named: bool) -> None:
    closed = sign in (r"\leq", r"\geq")
    below = sign in ("<", r"\leq")
    interval = (
        rf"(-\infty, {end}{']' if closed else ')'}"
        if below
        else rf"{'[' if closed else '('}{end}, \infty)"
    )
    member = r"x \in \mathbb{R}" if named else "x"
    for bar in (":", r"\mid", r"\,\middle|\,", r"\text{ such that }"):
        assert equal(rf"\{{{member} {bar} x {sign} {end}\}}", interval)
    assert equal(f"x {sign} {end}", rf"\{{{member} : x {sign} {at}\}}") == (at == end)
    assert not equal(rf"\{{x \in \mathbb{{Z}} : x {sign} {end}\}}", interval)


@given(st.integers(2, 7), st.integers(-3, 3))
@settings(max_examples=30, deadline=None)
def test_integer_parts_of_integers(step: int, shift: int) -> None:
    ceiling = rf"\lceil \frac{{n}}{{{step}}} \rceil"
    assert equal(ceiling, rf"\lfloor \frac{{n + {step - 1}}}{{{step}}} \rfloor")
    assert equal(ceiling, rf"\lceil \frac{{n}}{{{step}}} \rceil + {shift}") == (shift == 0)
    assert not equal(ceiling, rf"\frac{{n}}{{{step}}}")
    assert not equal(
        ceiling.replace("n", "x"), rf"\lfloor \frac{{x + {step - 1}}}{{{step}}} \rfloor"
    )


@given(st.lists(NUMBERS, min_size=2, max_size=3), st.randoms())
@settings(max_examples=30, deadline=None)
def test_permutations_are_all_orders(values: list[int], random: random.Random) -> None:
    orders = [f"({', '.join(map(str, order))})" for order in {*permutations(values)}]
    random.shuffle(orders)
    gold = f"({', '.join(map(str, values))}) and its permutations"
    assert equal(gold, f"all permutations of {orders[0]}")
    assume(len(orders) > 1)
    assert equal(gold, ", ".join(orders))
    assert not equal(gold, ", ".join(orders[1:]))


def test_a_list_of_values_is_not_the_empty_set_that_they_have_in_common() -> None:
    for answer in ("x = 1, x = 2", "(1, 2) and (3, 4)", "f(x) = 0, f(x) = x"):
        assert not equal(r"\emptyset", answer)
    assert equal(r"\emptyset", "x < 1 and x > 2")
    assert not equal("(x, y, z) = (1, 2, 3)", r"\{3, 2, 1\}")


def test_integers_are_not_one_integer() -> None:
    members = r"\{x \in \mathbb{Z} : -1 \le x \le 2\}"
    for other in ("x", r"\mathbb{Z}", r"\emptyset", "f(x) = x"):
        assert not equal(members, other)
        assert not equal(other, members)
