from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omibench.answers.match import match_answer

WORDS = st.text(alphabet="abcxyzRr0123456789+-=/^_{}\\()[], ;.", min_size=1, max_size=40)


@given(st.lists(WORDS.filter(lambda t: t.strip(" .,;:")), min_size=1, max_size=3))
@settings(max_examples=200, deadline=None)
def test_every_gold_equals_itself(gold: list[str]) -> None:
    assert match_answer(gold, ", ".join(gold)) is not None


@pytest.mark.parametrize(
    ("gold", "pred", "tier"),
    [
        (["GCT"], "gct", "same text"),
        (["a) FALSE b) TRUE"], "(a) F; (b) T", "parts"),
        (["a) FALSE"], "False", "truth value"),
        (["A and C"], "C, A", "letter set"),
        (["20", "40", "30"], "20, 40, 30", "same text"),
        (["9", "13"], "9 and 13", "parts"),
        (["(1) 90", "(2) $\\alpha$"], "(1) 90 and (2) \\alpha", "parts"),
        (["Phloem - a d; Xylem - b c"], "Xylem: c, b; Phloem: d, a", "parts"),
        (["$(1,2)$"], "(1.0, 2.0)", "tuple"),
        (["$v=\\sqrt{gh}$"], "\\sqrt{g h}", "relation"),
        (["5"], "x = 5", "relation"),
        (["$a = b c = 13~V$"], "13 V", "relation"),
        (["$b>c>a$"], "a < c < b", "relation"),
        (["$MN=AM+BN$"], "MN - AM = BN", "relation"),
        (["nucleophilic substitution"], "a nucleophilic substitution", "words"),
        (["$\\frac{6 \\sqrt{10}}{5}$"], "\\frac{6\\sqrt{2}}{\\sqrt5}", "formula"),
        (["$(n-1) \\alpha$"], "n\\alpha-\\alpha", "formula"),
        (["$5\\sqrt{7}$"], "5\\sqrt{7}\\ \\text{cm}", "formula"),
        (["b - e - f - c"], "b -> e -> f -> c", "parts"),
    ],
)
def test_equal_answers(gold: list[str], pred: str, tier: str) -> None:
    assert match_answer(gold, pred) == tier


@pytest.mark.parametrize(
    ("gold", "pred"),
    [
        (["a) FALSE b) TRUE"], "a) TRUE b) TRUE"),
        (["20", "40", "30"], "20, 40"),
        (["20", "40", "30"], "20, 40, 30, 50"),
        (["24", "60"], "60, 24"),
        (["A and C"], "A"),
        (["(1,2)"], "(1,2]"),
        (["(1,2)"], "(2,1)"),
        (["trans-1-Chloro-4-methylcyclohexane"], "cis-1-chloro-2-methylcyclohexane"),
        (["a: REJECTED ; b: NOT REJECTED"], "a: NOT REJECTED ; b: NOT REJECTED"),
        (["2"], "\\pm 2"),
        (["101"], "101_2"),
        (["2.718281828"], "E"),
        (["0"], "\\frac{1}{0}"),
        (["\\infty"], "\\frac{1}{0}"),
        (["R"], "r"),
        (["$b>c>a$"], "b > a > c"),
        (["$\\alpha > 0$"], "\\alpha < 0"),
        (["$\\angle A+2\\angle P=180$"], "\\angle A-2\\angle P=180"),
        (["$T = 2\\pi\\sqrt{R/g} = 63.4~s$"], "$T = 4\\pi\\sqrt{R/g} = 63.4~s$"),
        (["(1) 90", "(2) 45"], "(2) 90, (1) 45"),
        (["ethanol"], "methanol"),
        (["b - e - f - c"], "b - f - e - c"),
        (["rises with depth"], "falls with depth"),
        (["the ring moves to the left"], "the ring moves to the right"),
    ],
)
def test_different_answers(gold: list[str], pred: str) -> None:
    assert match_answer(gold, pred) is None


@pytest.mark.parametrize(
    ("gold", "pred"),
    [
        (["T", "F", "T", "F"], "T, T, F, F"),
        (["T,F,T,F"], "T, T, F, F"),
        (["V", "F", "V", "F"], "V, V, F, F"),
        (["T", "F"], "F, T"),
        (["F T T F"], "T F F T"),
        (["FTTF"], "TFFT"),
        (["T F"], "F T"),
        (["True", "False"], "False and True"),
        (["A", "B", "C"], "(a) C, (b) B, (c) A"),
        (["A, B, C"], "(a) C, (b) B, (c) A"),
        (["A", "B", "B"], "B, A, B"),
        (["A", "C"], "A, A"),
    ],
)
def test_parts_in_another_order_are_another_answer(gold: list[str], pred: str) -> None:
    assert match_answer(gold, pred) is None


@pytest.mark.parametrize(
    ("gold", "pred"),
    [
        (["T", "F", "T"], "(a) True, (b) False, (c) True"),
        (["V", "F", "V"], "T, F, T"),
        (["V", "F", "V"], "verdadero; falso; verdadero"),
        (["T", "F", "T"], "TFT"),
        (["TRUE FALSE"], "T, F"),
        (["A", "B", "C"], "(a) A, (b) B, (c) C"),
        (["A", "C", "F"], "F, A and C"),
        (["a c d"], "D, C, A"),
    ],
)
def test_letters_of_options_are_sets_and_truth_values_lists(gold: list[str], pred: str) -> None:
    assert match_answer(gold, pred) is not None


@pytest.mark.parametrize(
    ("gold", "pred"),
    [
        ("5 mW", "5 MW"), ("5 mm", "5 Mm"), ("5 MeV", "5 meV"), ("5 mg", "5 Mg"), ("5 Pa", "5 pA"),
        ("mW", "MW"), ("CO", "Co"), ("HF", "Hf"), ("AaBb", "aabb"), ("AABB", "aabb"), ("Aa", "AA"),
        ("XaY", "XAY"), ("mgh", "Mgh"), ("the offspring are AaBb", "the offspring are aabb"),
        ("a wire of resistance R", "a wire of resistance r"),
    ],
)  # fmt: skip
def test_case_counts_in_units_formulas_genotypes_and_symbols(gold: str, pred: str) -> None:
    assert match_answer([gold], pred) is None


@pytest.mark.parametrize(
    ("gold", "pred"),
    [
        ("CAG", "GAC"), ("CAG", "(GAC)"), ("BCA", "ABC"), ("acb", "abc"), ("F T T F", "T F F T"),
        ("1-2-3", "1-3-2"), ("1-2-3", "-4"), ("-4", "1-2-3"), ("3-2", "1"), ("7.4-7.3", "0.1"),
        ("A-B-C", "A-C-B"), ("Gly-Ala-Ser", "Gly-Ser-Ala"), ("5'-CAG-3'", "5'-GAC-3'"),
        ("H2O", "O2H"), ("CO2", "2CO"), ("CH_3CH_2OH", "CH_2CH_3OH"),
        (r"\angle ABC", r"\angle BCA"),
    ],
)  # fmt: skip
def test_names_and_sequences_are_not_multiplied_out(gold: str, pred: str) -> None:
    assert match_answer([gold], pred) is None


@pytest.mark.parametrize(
    ("gold", "pred"),
    [
        ("mgh", r"m \cdot g \cdot h"), ("mgh", "m g h"), ("2ab", "2ba"), ("n-1", "-1+n"),
        (r"\alpha\beta", r"\beta\alpha"), ("C_1 V_2", "V_2 C_1"), ("A-C-B", "A -> C -> B"),
        ("2-1-3", "2, 1, 3"), (r"\angle ABC", r"\angle CBA"),
        (r"2\angle ABC", r"\angle CBA + \angle ABC"),
    ],
)  # fmt: skip
def test_products_and_sequences_in_another_dress(gold: str, pred: str) -> None:
    assert match_answer([gold], pred) is not None


@pytest.mark.parametrize(
    ("gold", "pred", "equal"),
    [
        ("3:1", "3", False), ("3", "3:1", False), ("3:1", "1:3", False), ("3:1", "3:1:1", False),
        ("0.75", "3:4", False), ("a:b", "b:a", False), ("1:2:1", "1:1:2", False),
        ("3:1", "6:2", True), ("3:1", "3/1", True), (r"1:\sqrt{2}", r"\sqrt{2} : 2", True),
        ("9:3:3:1", "9 : 3 : 3 : 1", True), ("m_1:m_2 = 3:1", "3:1", True),
        ("x(a+b):c", "(xa+xb):c", True),
    ],
)  # fmt: skip
def test_ratios_are_compared_as_ratios(gold: str, pred: str, equal: bool) -> None:
    assert (match_answer([gold], pred) is not None) is equal


@pytest.mark.parametrize(
    ("gold", "pred"),
    [
        ("Acetone", "ACETONE"), ("No.", "no"), ("5 Metres", "5 m"), ("2 Mol", "2 mol"),
        ("5 meV", "0.005 eV"), ("The Golgi body", "the golgi body"),
        ("DNA polymerase", "dna polymerase"), ("In vitro", "in vitro"),
    ],
)  # fmt: skip
def test_case_does_not_count_in_words(gold: str, pred: str) -> None:
    assert match_answer([gold], pred) is not None


@pytest.mark.parametrize(
    ("gold", "pred", "equal"),
    [
        (["1,5"], "1.5", True), (["1.5"], "1,5", True), (["a) 1,5"], "a) 1.5", True),
        (["a) 1,5"], "1.5", True), (["1,5"], "1 and 5", True),
        (["1", "5"], "1,5", True), (["1", "5"], "1.5", False), (["1.5"], "1 and 5", False),
        (["24,60"], "24,6", False), (["1.5", "2.5"], "1,5; 2,5", True), (["1,5"], "5,1", False),
        (["1.5", "2.5"], "2,5; 1,5", False),
    ],
)  # fmt: skip
def test_the_other_side_tells_a_decimal_comma_from_a_list(
    gold: list[str], pred: str, equal: bool
) -> None:
    assert (match_answer(gold, pred) is not None) is equal


@pytest.mark.parametrize(
    ("gold", "pred", "equal"),
    [
        (r"\theta_0 = 5x", r"\theta_1 = 5x", False),
        (r"\theta_0 = 5x", r"\varphi_0 = 5x", False),
        ("T_1 = 5 s", "T_2 = 5 s", False),
        ("R = 5", "r = 5", False),
        ("x' = 5", "x = 5", False),
        (r"\Delta K = 5", "K = 5", False),
        (r"\omega^2 = 5", r"\omega = 5", False),
        (r"\omega_0^2 = 5", r"\omega_1^2 = 5", False),
        (r"\omega_0^2 = 5", r"\omega^2 = 5", True),
        ("[I]_0 = 5 x", "[I]_8 = 5 x", False),
        (r"f(\frac{a}{b}) = 5x", r"f(\frac{b}{a}) = 5x", False),
        (r"N(0) = 3", r"N(1) = 3", False),
        (r"\theta_0 = 5x", "5x", True),
        (r"\theta_0 = 5x", r"\theta_0 = x \cdot 5", True),
        (r"\theta_0 = 5x", r"\theta = 5x", True),
        (r"T_\text{max} = 5 s", r"T_{\max} = 5 s", True),
        (r"T_{\text{max}} = 5 s", r"T_{\max} = 5 s", True),
        (r"T_\text{max} = 5 s", r"T_\text{min} = 5 s", False),
        ("W_{1}=(2.00 \\pm 0.02)~W.", "W_1 = 2.00 W", True),
        ("x(t) = 2t", "x = 2t", True),
        (r"f(\frac{a}{b}) = 5x", r"f(a/b) = 5x", True),
        ("v = 5 m/s", "the speed v = 5 m/s", True),
        ("E = mc^2", "mc^2 = E", True),
        ("x = y", "y = x", True),
    ],
)
def test_the_label_on_the_left_must_agree_where_both_have_one(
    gold: str, pred: str, equal: bool
) -> None:
    assert (match_answer([gold], pred) is not None) is equal


def test_named_entries_are_told_by_their_names() -> None:
    gold = ["$C_{1}=C$", r"$R_{1}=\frac{2}{C}$", r"$R_{2}=\frac{5}{C}$"]
    assert match_answer(gold, r"R_2 = \frac{5}{C}, C_1 = C, R_1 = \frac{2}{C}") is not None
    assert match_answer(gold, r"C_1 = C, R_1 = \frac{2}{C}, R_1 = \frac{5}{C}") is None
    assert match_answer(gold, r"C, \frac{2}{C}, \frac{5}{C}") is not None


def test_a_gold_with_a_derivation_is_reached_by_what_it_calls_its_answer() -> None:
    gold = ["From $ma = -kx$ the angular frequency follows. Finally, the answer is: $T=2\\pi$."]
    assert match_answer(gold, "T = 2\\pi") is not None
    assert match_answer(gold, "T = 3\\pi") is None
