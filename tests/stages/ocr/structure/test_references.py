"""The numbers of figures that a text names, and the captions that give them."""

from __future__ import annotations

import pytest

from omibench.stages.ocr.layout.figures import CAPTION
from omibench.stages.ocr.structure.numbering import figure_numbers


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Figures 1 and 2 show a cart; see fig. 4", ["1", "2", "4"]),
        ("In Figure 1 a 3 kg block slides", ["1"]),
        ("Na obrázku 1 a na obr. 2 a 3 je obvod", ["1", "2", "3"]),
        ("Na rysunkach 1 i 2 oraz rys. nr 4", ["1", "2", "4"]),
        ("На рисунке 1 и рис. № 2, 3", ["1", "2", "3"]),
        ("図1と2、第3図を見よ。如图４", ["1", "2", "3", "４"]),
        ("The rysunek has no number", []),
    ],
)
def test_the_figures_that_a_text_names(text: str, numbers: list[str]) -> None:
    assert figure_numbers(text) == numbers


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Figure 3: A cart.", "3"), ("Obr. 2: Obvod", "2"), ("Obrázek 1", "1"), ("Rys. 4. To", "4"),
        ("Rysunek 5", "5"), ("Рис. 6. Путь", "6"), ("Рисунок 7 – Путь", "7"), ("図8：回路", "8"),
    ],
)  # fmt: skip
def test_captions(text: str, number: str) -> None:
    match = CAPTION.fullmatch(text)
    assert match is not None
    assert match["number"] == number
