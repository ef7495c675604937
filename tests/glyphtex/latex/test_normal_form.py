"""One spelling of a formula, and nothing of its meaning lost."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.glyphtex.latex.pairs import change_tree, grow_tree, write_tree

from glyphtex.latex import MAX_CHARS, MAX_DEPTH, normalise

SAME = [
    (r"\frac12", r"\dfrac{1}{2}", r"\frac 1 2", r"{1 \over 2}", r"\frac{{1}}{2}", r"\tfrac1{2}"),
    ("x^2", "x^{2}", "x ^ {2}", "{x}^2", "x²", r"x\,^{2}", r"{x^{2}}", "$x^2$", r"\(x^2\)"),
    ("x_1^2", "x^2_1", "x_{1}^{2}", "x₁²"),
    (r"a \le b", r"a\leq b", r"a \leqslant b", "a ≤ b", r"a\;\leq\;b"),
    (r"a \to b", r"a\rightarrow b", "a → b", r"a \longrightarrow b"),
    (r"\left(\frac ab\right)", r"(\frac{a}{b})", r"\bigl(\dfrac{a}{b}\bigr)"),
    ("f'", r"f^\prime", r"f^{\prime}", "f′"),
    ("f''(x)", r"f^{\prime\prime}(x)", "f″(x)"),
    ("f'^2", r"f^{\prime 2}"),
    (r"30^\circ", r"30^{\circ}", "30°", r"30{}^\circ", r"30\degree"),
    (r"\sin^2 x", r"\operatorname{sin}^{2}x", r"\mathrm{sin}^2 x"),
    (r"\text{if } x", r"\mathrm{if}\,x", r"\textrm{if}x"),
    (r"\mathrm{kg\,m^2}", r"\mathrm{kg}\,\mathrm{m}^{2}", r"{\rm kg\,m}^2"),
    (r"\sum_{i=1}^n i", r"\sum\limits^{n}_{i=1}i", r"\displaystyle\sum_{i=1}^{n} i",
     "∑_{i=1}^{n}i"),
    (r"\lim_{x\to0}f", r"\lim\limits_{x \to 0} f", r"\underset{x\to 0}{\lim} f"),
    (r"\hat x", r"\widehat{x}"),
    (r"\vec{AB}", r"\overrightarrow{AB}"),
    (r"\bar x", r"\overline{x}"),
    (r"\stackrel{a}{=}", r"\overset{a}{=}"),
    (r"A \xrightarrow{k} B", r"A\overset{k}{\longrightarrow}B"),
    (r"a \not= b", r"a\neq b", "a ≠ b", r"a \ne b"),
    (r"x\not\in A", r"x \notin A", "x ∉ A"),
    (r"\begin{pmatrix}a&b\\c&d\end{pmatrix}",
     r"\left(\begin{array}{cc} a & b \\[2pt] c & d \\ \end{array}\right)"),
    (r"\begin{cases}x&x>0\\-x&x<0\end{cases}",
     r"\left\{\begin{array}{ll}x & x>0\\ -x & x<0\end{array}\right."),
    (r"\begin{aligned}a&=b\\&=c\end{aligned}", r"a=b\\=c", r"\begin{split}a=b\\=c\end{split}"),
    (r"\mathbf{F}", r"\boldsymbol{F}", r"\bm F", "{\\bf F}"),
    (r"\mathbb R", "ℝ", r"\mathds{R}"),
    (r"\mathcal L", r"\mathscr{L}", "ℒ"),
    (r"\alpha+\beta", "α + β", "𝛼+𝛽"),
    ("{}^{235}_{92}U", r"^{235}_{92}U", r"\prescript{235}{92}{U}"),
    ("3{,}5", "3,5"),
    ("6.02 × 10^{23}", r"6.02\times 10^{23}", r"6.02 \times 10²³"),
    (r"\textcolor{red}{x}", "x"),
    (r"x \tag{1}", "x"),
    (r"\ce{SO4^2-}", r"\ce{SO_4^{2-}}", r"\ce{SO_{4}^{2-}}"),
    (r"\ce{2H2 + O2 -> 2H2O}", r"\ce{2 H_2 + O_2->2 H_{2}O}"),
    (r"\ce{NaCl (aq)}", r"\ce{NaCl(aq)}"),
    (r"\ce{Na+}", r"\ce{Na^+}", r"\ce{Na^{+}}"),
    (r"\ce{CuSO4 * 5H2O}", r"\ce{CuSO4.5H2O}"),
    (r"\ce{^{14}_{6}C}", r"\ce{^14_6C}", r"{}_{6}^{14}\mathrm{C}"),
    (r"\ce{2H2O <=> H3O+ + OH-}",
     r"2\mathrm{H}_2\mathrm{O} \rightleftharpoons \mathrm{H_3O^+ + OH^-}"),
    (r"\ce{C_nH_{2n}}", r"\mathrm{C}_n\mathrm{H}_{2\mathrm{n}}"),
    (r"\ce{A ->[heat] B}", r"\mathrm{A}\xrightarrow{\text{heat}}\mathrm{B}"),
]  # fmt: skip


@pytest.mark.parametrize("spellings", SAME, ids=lambda spellings: spellings[0])
def test_spellings_of_one_formula_are_equal(spellings: tuple[str, ...]) -> None:
    assert {normalise(spelling) for spelling in spellings} == {normalise(spellings[0])}
    assert normalise(spellings[0])


APART = [
    ("x^{2^3}", "{x^2}^3"), ("x^{23}", "x^{2^3}"), ("x_{1}", "x^{1}"), ("x_1", "x1"),
    (r"\frac{a+b}{c}", r"a+\frac{b}{c}"), (r"\frac{a}{b}", "a/b"), (r"\sqrt{ab}", r"\sqrt{a}b"),
    (r"\sqrt[3]{x}", r"\sqrt{x}"), (r"\sqrt[3]{x}", r"3\sqrt{x}"), ("3.5", "3,5"),
    (r"\mathbf{B}", "B"), (r"\mathrm{d}", "d"), (r"\ell", "l"), (r"\epsilon", r"\varepsilon"),
    (r"\hat{x}", r"\vec{x}"), (r"\hat{x}y", r"\hat{xy}"), (r"\sim", r"\approx"),
    (r"\Rightarrow", r"\to"), (r"\ldots", r"\cdots"), ("f'", "f"), ("f'", "f''"), ("0", "O"),
    (r"\begin{matrix}a&b\\c&d\end{matrix}", r"\begin{matrix}a&c\\b&d\end{matrix}"),
    (r"\begin{pmatrix}a\\b\end{pmatrix}", r"\begin{bmatrix}a\\b\end{bmatrix}"),
    (r"\binom{n}{k}", r"\frac{n}{k}"), (r"a\\b", "ab"), (r"\overline{AB}", r"\overline{A}B"),
    (r"\int_a^b", r"\int_{a^b}"), ("(a+b)c", "a+(b)c"), (r"\not\subset", r"\subset"),
    (r"\ce{Fe^2+}", r"\ce{Fe^3+}"), (r"\ce{Fe2+}", r"\ce{Fe^2+}"), (r"\ce{CO}", r"\ce{Co}"),
    (r"\ce{A -> B}", r"\ce{A <=> B}"), (r"\ce{2 H}", r"\ce{H2}"), (r"\ce{H+}", r"\ce{H-}"),
]  # fmt: skip


@pytest.mark.parametrize(("first", "second"), APART)
def test_formulas_of_other_meaning_stay_apart(first: str, second: str) -> None:
    assert normalise(first) != normalise(second)


@pytest.mark.slow
def test_three_thousand_pairs_with_one_difference_stay_apart() -> None:
    random = Random(17)
    pairs = 0
    while pairs < 3_000:
        tree = grow_tree(random)
        latex = write_tree(tree)
        for changed in change_tree(tree):
            other = write_tree(changed)
            if " ".join(latex.split()) == " ".join(other.split()):
                continue
            pairs += 1
            assert normalise(latex) != normalise(other), (latex, other)


@given(st.integers(min_value=0, max_value=10**9))
@settings(max_examples=150)
def test_a_normal_form_is_its_own(seed: int) -> None:
    form = normalise(write_tree(grow_tree(Random(seed))))
    assert normalise(form) == form


PIECES = [
    "x", "2", "'", "^", "_", "{", "}", "\\", "&", "$", " ", "°", "²", "₁", r"\frac", r"\sqrt", "[",
    "]", r"\begin{pmatrix}", r"\end{pmatrix}", r"\ce{", r"\left", r"\right", ".", "<", r"\over",
    r"\mathrm", r"\text", r"\sin", r"\\", r"\rm", r"\not", "=", "α", "𝐀", r"\hat", r"\xrightarrow",
    r"\begin{cases}", r"\end{cases}", r"\prescript", r"\operatorname", "*", "->", "+", r"\sum",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
@settings(max_examples=300)
def test_what_is_no_latex_gives_a_text_too(latex: str) -> None:
    assert isinstance(normalise(latex), str)


def test_a_formula_that_is_too_deep_or_too_long_keeps_all_but_its_spaces() -> None:
    deep = "{" * (MAX_DEPTH + 1) + "x  y" + "}" * (MAX_DEPTH + 1)
    assert normalise(deep) == deep.replace("  ", " ")
    assert normalise("x^2" * MAX_CHARS) == "x^2" * MAX_CHARS
