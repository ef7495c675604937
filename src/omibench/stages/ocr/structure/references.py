"""Find references to figures by number."""

from __future__ import annotations

import re

_SLAVIC = (
    r"obr\.|obráz(?:ek|k\w{1,3})|obrázcích|rys\.|rysun(?:ek|k\w{1,3})|рис\.|рисун(?:ок|к\w{1,3})"
)
_NUMBER = r"\s*(?:(?:č|nr|№)\.?\s*)?(\d{1,3})"
_REFERENCE = re.compile(
    # "a" joins numbers only after Czech words: "in Figure 1 a 3 kg block"
    rf"(?:{_SLAVIC}){_NUMBER}\s+a\s+(\d{{1,3}})|"
    rf"(?:figures?|fig\.|figuras?|abbildung(?:en)?|图|圖|図|{_SLAVIC}){_NUMBER}"
    r"(?:\s*(?:,|and|y|e|und|i|oraz|и|和|と|、|-|–)\s*(\d{1,3}))*"
    r"|第\s*(\d{1,3})\s*[図图圖]",
    re.I,
)


def figure_numbers(text: str) -> list[str]:
    """Return the distinct numbers of the figures in a text, in order."""
    mentions = (match[0] for match in _REFERENCE.finditer(text))
    numbers = [number for mention in mentions for number in re.findall(r"\d{1,3}", mention)]
    return list(dict.fromkeys(numbers))
