"""Where a response states its answer in words: cue phrases, lead letters, concluding sentences."""

from __future__ import annotations

import re

_CUES = re.compile(
    r"(?:final\s+answers?|correct\s+answers?|correct\s+(?:option|choice)|right\s+answer"
    r"|best\s+(?:answer|option|choice)|the\s+answers?|answers?|correct\s+letter"
    r"|final\s+result|final\s+choice|respuesta(?:\s+(?:final|correcta))?|opci[oó]n\s+correcta"
    r"|resposta(?:\s+(?:final|correta))?|r[ée]ponse(?:\s+(?:finale|correcte))?|antwort|ответ)"
    r"[*_\s]{0,4}(?:would\s+be|should\s+be|must\s+be|is|are|es|é|est|ist|will\s+be|[:=])"
    r"(?:\s*(?:therefore|thus|then|option|choice|:))?[:*_\s]{0,4}"
    r"|(?:最终|正确)?答案(?:是|为|選|选)?\s*[::]?\s*|(?:故|应|所以)选\s*[::]?\s*",
    re.IGNORECASE,
)
_STOP = re.compile(
    r"\.(?=\s+[A-Z(\\*])|\.(?=\s*$)|(?:,|;)?\s+(?:because|since|as\s+(?:it|the|this))\s|。|\n\n",
    re.IGNORECASE,
)
_CONCLUDES = re.compile(
    r"\b(?:therefore|thus|hence|so|consequently|conclude|correct|best|matches|fits|choose|select"
    r"|pick|go with|must be|answer)\b|因此|所以|故",
    re.IGNORECASE,
)
_ANSWER_CHARS = 4_000


def after_cue(text: str) -> str | None:
    """What follows the last cue ("the answer is", "答案是"); "" for nothing, None for no cue.

    The rest of its line, or the next line that is not empty. A sentence after it and the reason
    given with "because" or "since" are cut off.
    """
    last = None
    for last in _CUES.finditer(text):  # noqa: B007
        pass
    if last is None:
        return None
    rest = text[last.end() : last.end() + _ANSWER_CHARS].lstrip(" \t*_:")
    lines = [line.strip() for line in rest.split("\n")]
    answer = next((line for line in lines if line.strip("*_`$[]\\ ")), "")
    stop = _STOP.search(answer)
    if stop:
        answer = answer[: stop.start()]
    return answer.strip().strip("*_`").strip()


def last_sentence_letters(text: str, labels: str) -> str | None:
    """The options that a concluding last sentence names, as in "so option (B) fits best".

    Only the last finished sentence counts, it must conclude something, and it may name options
    only once: the option list of a cut-off answer is no choice. "B or C" is none either.
    """
    sentences = [s for s in re.split(r"(?<=[.!?。])\s+|\n+", text[-2_000:]) if s.strip(" *_`$")]
    last = sentences[-1] if sentences else ""
    if not re.search(r"[.!?。)\]*]\s*$", last) or not _CONCLUDES.search(last):
        return None
    several = rf"[{labels}](?:\s*(?:,|&|and|or)\s*[{labels}])*"
    patterns = [
        rf"\b(?i:option|choice|answer)s?\W{{0,6}}({several})\b",
        rf"(?:\(|\*\*\(?)({several})(?:\)|\*\*)",
    ]
    if re.search(r"\b(?:correct|right|best|answer)\b", last, re.IGNORECASE):
        patterns.append(rf"\bis:?\s+({several})\W*$")
    named = {mention for pattern in patterns for mention in re.findall(pattern, last)}
    only = named.pop() if len(named) == 1 else None
    return None if only is None or "or" in only else only
