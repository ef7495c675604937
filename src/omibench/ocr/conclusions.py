"""The choice that the words of a worked solution name: "so (B) is correct", 故选 C, "letra D"."""

from __future__ import annotations

import re

_LETTER = r"[(（\[]?(?P<letter>[A-H])[)）\]]?(?![\w'’]|\s*[-–=+])"
_LOW = r"[(（](?P<low>[a-h])[)）]"
_ANY = rf"(?:{_LETTER}|{_LOW})"
_NOUN = (
    r"(?:answer|option|choice|response|key|alternativ[ae]|opci[óo]n|op[çc][ãa]o|letra|item|respuesta|"
    r"resposta|antwort|l[öo]sung|r[ée]ponse|risposta)"
)
_RIGHT = r"(?:correct|right|true|best|final|corret[ao]|correct[ao]|certa|richtige?|bonne|corretta)"
_IS = r"(?:is|was|would be|must be|é|es|ist|est|è|lautet)"
_PATTERNS = [
    re.compile(pattern, re.I)
    for pattern in (
        rf"\b(?:{_RIGHT}\s+)?{_NOUN}(?:\s+{_RIGHT})?\s*{_IS}?\s*(?:therefore|thus|a|o|la|el|l['’])?"
        rf"\s*(?:{_NOUN}\s*)?[:：]?\s*{_ANY}\s*(?:[.,;。]|$|because|since|as\b)",
        rf"\b(?:{_NOUN}\s+)?{_ANY}\s+(?:is|é|es|ist|est|è)\s+(?:the\s+|a\s+|la\s+|die\s+)?{_RIGHT}",
        rf"\b(?:{_RIGHT})\s+{_NOUN}\s*(?:is|é|es|ist)?\s*[:：]?\s*{_ANY}(?=\s|[.,;]|$)",
        r"(?:故|应|因此|所以)?(?:本题)?(?:正确)?(?:选|答案)(?:项)?(?:为|是)?\s*[:：]?\s*"
        r"(?P<several>[A-H]{1,4})(?![A-Za-z])(?:\s*[.。．，,；;）)]|\s*$|\s*项)",
        r"\\boxed\{\s*\(?(?:\\text\{)?\s*\(?(?P<letter>[A-H])\)?\s*\}?\)?\s*\}",
    )
]
# Ignoring case, a letter may be an article or the name of a part: only what is printed as a
# choice's letter counts.
_DENIED = re.compile(
    r"\b(?:not|isn't|wrong|incorrect|false|n[ãa]o|no|nicht|falsch|incorret[ao])\b|不|错", re.I
)


def concluded(text: str) -> list[str]:
    """The letters of the one answer that a text concludes with; none when it names several."""
    found: list[list[str]] = []
    for sentence in re.split(r"(?<=[.。．!?;；\n])\s*(?=\S)", text):
        if _DENIED.search(sentence):
            continue
        for pattern in _PATTERNS:
            for match in pattern.finditer(sentence):
                letters = _letters(match)
                if letters:
                    found.append(letters)
    return found[0] if found and all(letters == found[0] for letters in found) else []


def _letters(match: re.Match[str]) -> list[str]:
    groups = match.groupdict()
    if several := groups.get("several"):
        return list(several) if several.isupper() and several == "".join(sorted(several)) else []
    letter = groups.get("letter")
    if letter:
        return [letter] if letter.isupper() else []
    return [groups["low"].upper()] if groups.get("low") else []
