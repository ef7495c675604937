from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.answers.formulas.latex import same_text, squash, tidy


@given(st.text(alphabet="\\{}$abxfrqt 0123456789^_.,+-()", max_size=60))
def test_tidying_any_text_returns(text: str) -> None:
    tidied = tidy(text)
    assert "$" not in tidied
    assert same_text(text, text)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (r"$\dfrac{1}{2}$", r"\frac{1}{2}"),
        (r"\left(1,2\right)", "(1, 2)"),
        ("4.73 × 10⁻¹²", r"4.73 \times 10^{-12}"),
        ("0{,}657", "0.657"),
        ("57{,}35", "57.35"),
        ("3{.}141", "3.141"),
        ("1{,}024", "1,024"),
        ("1{,}234{,}567", "1,234,567"),
        (r"60^\circ", "60°"),
        (r"\frac12", r"\frac{1}{2}"),
        (r"\frac km", r"\frac{k}{m}"),
        (r"\frac 1x", r"\frac{1}{x}"),
        ("2½", r"2\frac{1}{2}"),
        ("2 1/3", r"2 \frac{1}{3}"),
        ("10 000", "10000"),
        (r"\begin{bmatrix}1&2\\3&4\end{bmatrix}", r"\begin{pmatrix}1 & 2\\3 & 4\end{pmatrix}"),
        (r"T_\text{max}", r"T_{\mathrm{max}}"),
        (r"\sqrt3", r"\sqrt{3}"),
        ("H₂O", "H_2O"),
        (r"\text{ nucleophile }", "nucleophile"),
        ("A  and B.", "A and B"),
        ("GCT", "gct"),
        ("Acetone", "ACETONE"),
        ("NO", "No"),
        ("A decrease in pH", "a decrease in pH"),
        ("Increases by a factor of 2", "increases By a FACTOR of 2"),
        (r"-40^\circ<\varphi<40^\circ", r"$-40^\circ < \varphi < 40^\circ$"),
    ],
)
def test_one_answer_in_two_dresses(a: str, b: str) -> None:
    assert same_text(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("R", "r"), ("12", "1.2"), (r"\frac{1}{23}", r"\frac{12}{3}"), ("-5", "5"),
        ("5 mW", "5 MW"), ("5 mm", "5 Mm"), ("5 MeV", "5 meV"), ("mmol", "Mmol"), ("Pa", "pA"),
        ("CO", "Co"), ("HF", "Hf"), ("COS", "cos"), ("AaBb", "aabb"), ("AABB", "aabb"),
        ("Aa", "AA"), ("XaY", "XAY"), ("mgh", "Mgh"), ("A power of 5 mW", "A power of 5 MW"),
        ("x^{n-1}", "x^n-1"), ("x^{12}", "x^{1}2"), ("10^{-12}", "10-12"), ("", "x"),
        ("2 1/3", "21/3"), ("2 1", "21"), ("½", "12"), ("10 500/600", r"10\frac{500}{600}"),
        (r"\begin{vmatrix}1&2\\3&4\end{vmatrix}", r"\begin{pmatrix}1&2\\3&4\end{pmatrix}"),
    ],
)  # fmt: skip
def test_meaning_is_never_dropped(a: str, b: str) -> None:
    assert not same_text(a, b)


def test_spaces_do_not_count() -> None:
    assert squash(" a + b ") == "a+b"


COMMANDS = st.lists(
    st.sampled_from([
        r"\frac", "{1}{2}", "12", "1 1/2", "x", "X", "_", "^", "{2+}", "$", "\\", r"\text{ab }",
        "~", "2+", " ", "and", "%", "&=", r"\left(", "**", ".", r"\,", "{,}", "(3)", r"\sqrt", "'",
    ]),
    max_size=7,
).map("".join)  # fmt: skip


@given(COMMANDS, COMMANDS)
def test_texts_of_one_spelling_are_the_same_text(a: str, b: str) -> None:
    """The comparison of letters and digits before it rejects none of them."""
    for other in (b, f"$ {a} $", a.replace(" ", "  "), f"{a}.", a.replace("12", "1 2")):
        if squash(a) == squash(other) != "":
            assert same_text(a, other)
