"""What a translation must keep, and what it may change."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.stages.filter.backcheck import findings, readings
from omibench.text.pieces import negated_sentences

SPANISH = (
    "Se añaden 20,0 mL de ácido (Figura 3) a $x^{2} = 5$ y -4 °C. ¿Cuál no es correcta?\n[IMAGE0]"
)
ENGLISH = (
    "20.0 mL of acid (Figure 3) are added to $x^{2}=5$ and −4 °C. Which is not right?\n[IMAGE0]"
)


def test_a_faithful_translation_has_no_findings() -> None:
    assert findings(SPANISH, ENGLISH, "es") == []


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        (("20.0", "2.00"), r"numbers: lost '20,0'; new '2.00'"),
        (("20.0", "20"), r"numbers: lost '20,0'; new '20'"),
        (("−4", "4"), r"numbers: lost '-4'; new '4'"),
        (("Figure 3", "the figure"), r"numbers: lost '3'"),
        (("not right", "right"), r"negations: in 1 sentences of the original, in 0"),
        (("$x^{2}=5$", "$x^{2}=-5$"), r"formulas: lost 'x^{2}=5'; new 'x^{2}=-5'"),
        (("°C", "C"), r"signs: lost '°'"),
        (("[IMAGE0]", "[IMAGE1]"), r"marks of images: [IMAGE0] became [IMAGE1]"),
        (("[IMAGE0]", ""), r"marks of images: [IMAGE0] became none"),
    ],
)
def test_what_is_lost_or_new_is_named(change: tuple[str, str], finding: str) -> None:
    assert finding in "\n".join(findings(SPANISH, ENGLISH.replace(*change), "es"))


@pytest.mark.parametrize(
    ("language", "original", "translation"),
    [
        ("de", "Es liegen 1.500 g vor, aber kein Wasser.", "There are 1,500 g, but no water."),
        ("fr", "La masse n'est pas de 10 000 kg.", "The mass is not 10,000 kg."),
        ("pt", "Sem atrito, v = 3 m/s².", "Without friction, v = 3 m/s^2."),
        ("it", "La forza F non è nulla.", "The force F is not zero."),
        ("ru", "Тело не движется, t = 5 s.", "The body does not move, t = 5 s."),
        ("zh", "下列不正确的是? 质量m不变。", "Which is not correct? The mass m is constant."),
        ("zh", "图1与图2中不同的小球。", "The different balls of Figures 1 and 2."),
        ("es", "La función f(x) = 0 no tiene raíces.", "The function $f(x) = 0$ has no roots."),
        ("es", "No hay ni calor ni trabajo.", "There is neither heat nor work."),
        ("de", r"Dann ist $v=\frac{g}{2}t^{2}$.", r"Then $v = \tfrac g2 t^2$."),
        ("es", "Calcule λ y Ω para 5·10⁻³ mol.", "Calculate λ and Ω for 5·10^-3 mol."),
    ],
)  # fmt: skip
def test_faithful_translations_of_other_languages(
    language: str, original: str, translation: str
) -> None:
    assert findings(original, translation, language) == []


@pytest.mark.parametrize(
    ("language", "original", "translation", "finding"),
    [
        ("es", "La fuerza F es 3 N.", "The force P is 3 N.", "single letters: lost 'F'; new 'P'"),
        ("es", "x ≤ 3 en el eje", "x < 3 on the axis", "signs: lost '≤'; new '<'"),
        ("es", "Calcule λ.", "Calculate it.", "signs: lost 'λ'"),
        ("es", "Hay tres bolas.", "There are 3 balls.", "numbers: new '3'"),
        (
            "zh",
            "质量m不变。",
            "The mass m is not constant.",
            "in 0 sentences of the original, in 1",
        ),
        ("fr", "Sauf erreur, v = 2.", "v = 2.", "in 1 sentences of the original, in 0"),
        ("es", "Una bola.", " ", "the translation is empty"),
        ("xx", "Bola.", "A ball.", "negations of 'xx' are unknown"),
    ],
)
def test_unfaithful_ones(language: str, original: str, translation: str, finding: str) -> None:
    assert finding in "; ".join(findings(original, translation, language))


def test_words_of_negation_may_be_a_users_own() -> None:
    own = {"xx": ["ez", "gabe"]}
    assert findings("Bola ez da.", "It is not a ball.", "xx", own) == []
    assert findings("Bola da.", "It is not a ball.", "xx", own)
    assert negated_sentences("Gabe dago. Bola da.", "xx", own) == 1


@pytest.mark.parametrize(
    ("number", "meant"),
    [
        ("20,0", {"20.0"}), ("1.500", {"1.500", "1500"}), ("1.234.567", {"1234567"}),
        ("1,234.5", {"1234.5"}), ("7", {"7"}), ("-0,5", {"-0.5"}), ("1,2,3", {"1,2,3"}),
    ],
)  # fmt: skip
def test_what_a_number_may_mean(number: str, meant: set[str]) -> None:
    assert readings(number) == meant


@given(st.text(max_size=80))
def test_any_text_survives_in_itself(text: str) -> None:
    assert findings(text, text, "en") in ([], ["the translation is empty"])


@given(st.lists(st.integers(min_value=-999, max_value=999), min_size=1, max_size=6), st.data())
def test_a_changed_number_is_always_found(numbers: list[int], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(numbers) - 1))
    other = data.draw(st.integers(-999, 999).filter(lambda n: n not in numbers))
    changed = [*numbers[:place], other, *numbers[place + 1 :]]
    original, translation = (" x ".join(map(str, some)) for some in (numbers, changed))
    assert any("numbers" in line for line in findings(original, translation, "es"))


@pytest.mark.parametrize(
    ("original", "translation", "lines"),
    [
        (r"sea $\dfrac12 \le x$", r"let $\frac{1}{2}\leq x$", []),
        (r"sea $3{,}5$ y \(a_1\)", "let $3.5$ and $a_{1}$", []),
        (r"若 $x>0 \text{ 且 } y>0$", r"if $x>0 \text{ and } y>0$", []),
        (r"若 $x_1>0 \text{ 且}$", r"if $x_{1}>0$", []),
        (r"sea $\sqrt{2}$ el lado $a$", r"let $a$ be the side", ["formulas"]),
        ("sea 5 el lado $a$", "let $5$ be the side $a$", []),
        (r"sea $\frac{a}{b}$", r"let $\frac{b}{a}$", ["formulas"]),
    ],
)
def test_formulas_are_compared_in_their_normal_form(
    original: str, translation: str, lines: list[str]
) -> None:
    lost = findings(original, translation, "es")
    assert [line.split(":")[0] for line in lost if line.startswith("formulas")] == lines
