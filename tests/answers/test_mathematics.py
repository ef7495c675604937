"""Laws of answers: what changes an answer and what does not. Labelled ones: tests/stages/score."""

from __future__ import annotations

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
