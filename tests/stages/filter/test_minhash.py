"""MinHash finds what is similar, and leaves most of what is not."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz import fuzz

from omibench.stages.filter.candidate import BANDS, ROWS, Similar, signature

LETTERS = "eeeetttaaooiinnsshhrrddllcumwfgypbvk"


def word(draw: random.Random) -> str:
    return "".join(draw.choices(LETTERS, k=draw.randrange(2, 9)))


def test_every_pair_as_similar_as_duplicates_is_a_candidate() -> None:
    draw, seen, texts = random.Random(5), Similar(), []
    for _ in range(300):
        texts.append([word(draw) for _ in range(60)])
        seen.add(" ".join(texts[-1]))
    compared = found = others = 0
    for number, words in enumerate(texts):
        edited = list(words)
        for place in draw.sample(range(len(edited)), draw.randrange(1, 12)):
            edited[place] = word(draw)
        text = " ".join(edited)
        candidates = seen.candidates(text)
        others += len(set(candidates) - {number})
        if fuzz.ratio(text, " ".join(words)) >= 85:
            compared += 1
            found += number in candidates
    assert compared > 200
    assert found == compared
    assert others < 0.1 * 300 * 300


@given(st.text())
def test_a_signature_has_one_shape_and_depends_on_the_text_alone(text: str) -> None:
    assert signature(text).shape == (BANDS * ROWS,)
    assert (signature(text) == signature(text)).all()
    seen = Similar()
    seen.add(text)
    assert seen.candidates(text) == [0]
