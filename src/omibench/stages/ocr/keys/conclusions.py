"""Find the choice in the words of a worked solution: "so (B) is correct", 故选 C, "letra D"."""

from __future__ import annotations

import re

_LETTER = r"[(（\[]?(?P<letter>[A-H])[)）\]]?(?![\w'’]|\s*[-–=+])"
_ANSWER = r"(?:answer|key|respuesta|resposta|antwort|l[öo]sung|r[ée]ponse|risposta)"
_NOUN = (
    rf"(?:{_ANSWER}|option|choice|response|alternativ[ae]|opci[óo]n|op[çc][ãa]o|letra|letter|item)"
)
_RIGHT = r"(?:correct|right|corret[ao]|correct[ao]|certa|richtige?|bonne|corretta|exacte)"
_IS = r"(?:is|was|would be|must be|é|es|ist|est|è|lautet)"
_FILL = rf"(?:therefore|thus|hence|a|o|la|el|l['’])?\s*(?:{_NOUN}\s*)?[:：]?\s*"
_ENDS = r"\s*(?:[.,;。]|$|because|since|as\b)"
_PATTERNS = [
    re.compile(pattern, re.I)
    for pattern in (
        rf"\b(?:{_RIGHT}\s+{_NOUN}|{_NOUN}\s+{_RIGHT})\s*{_IS}?\s*{_FILL}{_LETTER}{_ENDS}",
        rf"\b{_ANSWER}\s+{_IS}\s+{_FILL}{_LETTER}{_ENDS}",
        rf"\b{_NOUN}\s+{_LETTER}\s+{_IS}\s+(?:the\s+|a\s+|la\s+|die\s+)?{_RIGHT}",
        rf"[(（](?P<letter>[A-H])[)）]\s+{_IS}\s+(?:the\s+|a\s+|la\s+|die\s+)?{_RIGHT}",
        r"(?:故|应|因此|所以)?(?:本题)?(?:正确)?(?:选|答案)(?:项)?(?:为|是)?\s*[:：]?\s*"
        r"(?P<several>[A-H]{1,4})(?![A-Za-z])(?:\s*[.。．，,；;）)]|\s*$|\s*项)",
        r"\\boxed\{\s*\(?(?:\\text\{)?\s*\(?(?P<letter>[A-H])\)?\s*\}?\)?\s*\}",
    )
]
_DENIED = re.compile(
    r"\b(?:not|isn't|wrong|incorrect|false|n[ãa]o|no|nicht|falsch|incorret[ao])\b|不|错", re.I
)


def read_conclusion(text: str) -> list[str]:
    """Return the letters of the only answer that a text concludes with; none if it has several."""
    conclusions: list[list[str]] = []
    for sentence in re.split(r"(?<=[.。．!?;；\n])\s*(?=\S)", text):
        if _DENIED.search(sentence):
            continue
        for pattern in _PATTERNS:
            for match in pattern.finditer(sentence):
                letters = _letters(match)
                if letters:
                    conclusions.append(letters)
    return (
        conclusions[0]
        if conclusions and all(letters == conclusions[0] for letters in conclusions)
        else []
    )


def _letters(match: re.Match[str]) -> list[str]:
    # Case is ignored above: a small letter without brackets is an article or a variable.
    groups = match.groupdict()
    if letter_list := groups.get("several"):
        return (
            list(letter_list)
            if letter_list.isupper() and letter_list == "".join(sorted(letter_list))
            else []
        )
    letter = groups.get("letter") or ""
    in_brackets = match.string[: match.start("letter")].endswith(("(", "（"))
    return [letter.upper()] if letter.isupper() or (letter and in_brackets) else []
