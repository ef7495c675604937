"""The language of a paper that nobody has named."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.stages.ocr.structure.numbering import UNKNOWN, detect_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("How fast is the ball when it leaves the table?", "en"),
        ("¿Cuál es la rapidez de la bola al dejar la mesa?", "es"),
        ("Qual é a velocidade da bola ao deixar a mesa, e por que não muda?", "pt"),
        ("Quelle est la vitesse de la balle quand elle quitte la table ?", "fr"),
        ("Wie groß ist die Geschwindigkeit der Kugel, wenn sie den Tisch verlässt?", "de"),
        ("Qual è la velocità della palla che non cade, e per quale motivo?", "it"),
        ("小球离开桌面时 v = 3 m/s，求 F.", "zh"),
        ("球が机を離れるときの速さ v を求めよ。", "ja"),
        ("공이 탁자를 떠날 때의 속력은?", "ko"),
        ("Какова скорость шара, когда он покидает стол?", "ru"),
        ("The angles α, β and γ of the triangle are known", "en"),
        ("F = ma", UNKNOWN),
        ("", UNKNOWN),
    ],
)
def test_words_and_script_tell_it(text: str, language: str) -> None:
    assert detect_language(text) == language


@given(st.text())
def test_any_text_has_some_language_or_none(text: str) -> None:
    assert detect_language(text) == UNKNOWN or len(detect_language(text)) == 2
