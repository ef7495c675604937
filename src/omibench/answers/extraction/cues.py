"""Answers stated in sentences: cue phrases, lead letters, concluding sentences."""

from __future__ import annotations

from glyphtex import lazy_re as re
from omibench.answers.extraction.letters import make_patterns
from omibench.answers.multipart import split_labelled

_NOUNS = (
    r"final\s+answers?|correct\s+answers?|correct\s+(?:option|choice|statement)s?|right\s+answer"
    r"|best\s+(?:answer|option|choice)|the\s+answers?|answers?|correct\s+letter|final\s+result"
    r"|final\s+choice|respuestas?(?:\s+(?:final|correcta))?|opci[oó]n\s+correcta"
    r"|respostas?(?:\s+(?:final|correta))?|alternativa\s+correta|r[ée]ponse(?:\s+(?:finale|correcte))?"
    r"|antwort(?:en)?|l[öo]sung(?=\s+lautet|\s*:|\s+ist\s+(?-i:[A-J])\W*$)|endergebnis|rispost[ae](?:\s+(?:finale|corretta))?"
    r"|antwoord|ответ|відповідь|odpowied[źz]|odpověď|cevap|svar(?:et)?|đáp\s+án(?:\s+đúng)?"
    r"|jawaban(?:\s+yang)?(?:\s+benar)?|(?:selected|chosen)\s+(?:option|choice|answer)"
    r"|\bresult(?=\s*\**\s*:)|^\W{0,4}correct(?=\s*:[\s*(]{0,4}(?-i:[A-J])\W*$)"
    r"|الإجابة|الجواب|उत्तर|答え|解答|正解|정답|최종\s*답|(?<!\w)답"
)
_VERBS = (
    r"(?:would\s+be|should\s+be|must\s+be|will\s+be|is|are|est|ist|lautet|sind|sont|es|son|é|è|são"
    r"|sono|jest|är|là|adalah)(?![a-zà-ÿ])|هي|هو|है|は|은|는|[:=]|[—–-](?=\s)"
)
_HEADINGS = (
    r"(?:the\s+)?(?:final\s+)?answers?|respuesta(?:\s+final)?|resposta|r[ée]ponse|antwort|risposta"
    r"|ответ"
)
_LETTER = r"(?-i:[A-J])\b"
_OPTION = "letra|lettre|lettera|opci[oó]n|opção|alternativa|option"
_ARTICLE = (
    rf"\s+(?-i:la|el|le|o|a|il|die|der|{_OPTION})(?:\s+(?:{_OPTION}))?(?=\s+[*(]{{0,3}}{_LETTER})"
)
_CUES = re.compile(
    rf"(?:{_NOUNS})[*_\s]{{0,4}}(?:{_VERBS})"
    rf"(?:\s*(?:therefore|thus|then|option|choice|that(?=\s)|:)|{_ARTICLE})?[:*_\s]{{0,4}}"
    rf"|odpowied[źz]\s+to\s+(?={_LETTER})"
    r"|(?:最终|正确)?答案(?:是|为|選|选|應為|应为)?\s*[::]?\s*|(?:故|应该?|所以|因此|我)选择?\s*[::]?\s*"
    r"|(?:正确|最佳)(?:的)?选项(?:是|为|應為)?\s*[::]?\s*"
    r"|^(?:final\s+)?answer\s{0,3}(?=\$|\\[(\[])"
    rf"|####\s*(?=\S)|^[#>*_ \t]{{1,8}}(?:{_HEADINGS})[*_: \t]*\n",
    re.IGNORECASE | re.MULTILINE,
)
_BULLET = re.compile(r"^[ \t]*[-*•][ \t]+(?=[(\w])", re.MULTILINE)
_ASIDE = re.compile(r"(?<=\S)\s+\((?:see|from|as|cf\.?|by|since)\s[^()]*\)[\s.]*$", re.IGNORECASE)
_COPULA = re.compile(r"(?:です|である|だ|입니다|이다|예요|이에요)[。.\s]*$")
_REASON = re.compile(
    r"(?:therefore|thus|hence|so|consequently|in conclusion|finally|因此|所以)\b[^.=]{0,120}?"
    r"\s(?:is|are|equals|was|were|be)\s+(?:equal\s+to\s+|exactly\s+|about\s+|approximately\s+)?"
    r"([^a-zA-Z\s.]*[\d\\][^.]*(?:\.\d[^.]*)*)\.?\W*$",
    re.IGNORECASE,
)
_FORMULA = re.compile(r"\$\$(.+?)\$\$|\$(.+?)\$|\\\((.+?)\\\)|\\\[(.+?)\\\]", re.DOTALL)
_CONCLUSIONS = frozenset((
    "answer", "conclude", "find", "get", "have", "hence", "obtain", "so", "solution", "solutions",
    "therefore", "thus",
))  # fmt: skip
_CONCLUDING_WORDS = _CONCLUSIONS | frozenset((
    "a", "all", "and", "are", "be", "equation", "final", "for", "in", "inequality", "interval",
    "exactly", "holds", "if", "iff", "is", "it", "of", "only", "our", "precisely", "result",
    "set", "system", "that", "the", "then", "to", "true", "value", "values", "we", "when",
    "where", "which", "x", "y", "z", "t",
))  # fmt: skip
"""A sentence of no other words says of its only formula that it is the answer."""
_RELATES = re.compile(
    r"\s*(?:therefore|thus|hence|so),?\s+(\w{1,3}(?:\([a-z]\))?\s*[=∈<>≤≥][^.]{1,80}?)[.!]?\s*",
    re.IGNORECASE,
)
"""A concluding relation without delimiters: Thus x = 3 or x = -3."""
_STATED = re.compile(
    r".*\s(?:is|are|equals?|was|were|be)\s+"
    r"(?:(?:then|therefore|thus|hence|exactly|just|at|equal to)\s+)?(.{1,80}?)[.!*_\s]*",
    re.DOTALL,
)
"""The value at the end of a sentence: its sum equals $0$; the primes are therefore 3, 5 and 7."""
_VALUE = re.compile(
    r"\$[^$]+\$|\\\((?:(?!\\\)).)+\\\)"
    r"|(?=.*\w)(?:[^$A-Za-z]|(?<![A-Za-z])(?:and|or|sqrt|sin|cos|tan|log|[A-Za-z]{1,2})(?![A-Za-z]))+"
)
"""One formula, or a text without words: 1.2 × 10⁻⁵, x² + y² = 25."""
_STOP = re.compile(
    r"\.(?=\s+[A-ZÀ-ÞА-Я(\\*])|\.(?=\s*$)|(?:,|;)?\s+(?:because|since|as\s+(?:it|the|this))\s|。|\n\n",
    re.IGNORECASE,
)
_CONCLUDES = re.compile(
    r"\b(?:therefore|thus|hence|so|consequently|conclude|correct|best|matches|fits|choose|select"
    r"|pick|go with|must be|answer|corresponds to)\b|因此|所以|故",
    re.IGNORECASE,
)
_SAYS_CORRECT = re.compile(r"\b(?:correct|right|best|answer)\b", re.IGNORECASE)
_FINISHED = re.compile(r"[.!?。)\]*]\s*$")
_SENTENCE_END = re.compile(r"(?<=[.!?。])\s+|\n+")
_HEDGED = re.compile(
    r"\b(?:if|whether|not|never|n't|cannot|would|could|might|may|perhaps|maybe|suppose|assum\w*)\b"
    r"|n't\b|如果|若|是否|可能|也许|假设",
    re.IGNORECASE,
)
_OPENINGS = (
    "final", "correct", "best", "answer", "respuesta", "opci", "resposta", "alternativa", "réponse",
    "reponse", "antwort", "l\u00f6sung", "losung", "endergebnis", "rispost", "antwoord", "ответ",
    "відповідь", "odpowied", "odpověď", "cevap", "svar", "đáp", "jawaban", "selected", "chosen",
    "result", "الإجابة", "الجواب", "उत्तर", "答え", "解答", "正解", "정답", "최종", "답", "答案",
    "故选", "应选", "应该选", "所以选", "因此选", "我选", "正确选项", "正确的选项", "最佳选项",
    "最佳的选项", "####",
)  # fmt: skip
"""Every cue starts with one of these, optionally after words that do not move its end ("the",
"right", 最终), or starts a line. Plain searches for them are much cheaper than the pattern at each
position.
"""
_ASCII_OPENINGS = tuple(filter(str.isascii, _OPENINGS))
_CHOOSING = ("correct", "right", "best", "choose", "select", "pick", "go", "选")
"""A sentence that chooses an option contains one of these."""
_HEADING = re.compile(r"^[#>*_ \t]", re.MULTILINE)
_ANSWER_CHARS = 4_000
_TAIL_CHARS = 600
_PARTS_CHARS = 1_200


def find_cued_answer(text: str, parts: int = 1) -> str | None:
    """Return the text after the last cue ("the answer is", "答案是"); None without a cue.

    The result is the rest of the line, or the next non-empty line; it can be empty. A
    following sentence and a reason after "because" or "since" are cut off. If several parts are
    expected and labelled parts follow, on separate lines or not, the result contains all of them.
    """
    end = find_cue_end(text)
    if end is None:
        return None
    following = text[end : end + _ANSWER_CHARS].lstrip(" \t*_:")
    listed = _BULLET.sub("", following[:_PARTS_CHARS].lstrip())
    if parts > 1 and len(parts_found := split_labelled(listed)) > 1:
        following = listed
        return following[: following.rfind(parts_found[-1].text) + len(parts_found[-1].text)].split(
            "\n\n\n"
        )[0]
    lines = [line.strip() for line in following.split("\n")]
    answer = next((line for line in lines if line.strip("*_`$[]\\ ")), "")
    stop = _STOP.search(answer)
    if stop:
        answer = answer[: stop.start()]
    answer = _ASIDE.sub("", answer)
    return _COPULA.sub("", answer.strip().strip("*_`").strip())


def find_conclusion(text: str) -> str | None:
    r"""Return the value of a concluding last sentence: "Thus the number of ways is 12.".

    Also the only formula of one: "Therefore $x \geq 5$ is the solution.".
    """
    tail = text[-_TAIL_CHARS:]
    match = _REASON.search(tail)
    if match and len(match.group(1)) <= 80:
        return match.group(1).strip()
    last = next((s for s in reversed(_SENTENCE_END.split(tail)) if s.strip()), "")
    formulas = _FORMULA.findall(last)
    words = [word.lower() for word in re.findall(r"[^\W\d_]+", _FORMULA.sub(" ", last))]
    concludes = len(formulas) == 1 and set(words) <= _CONCLUDING_WORDS
    if concludes and not _CONCLUSIONS.isdisjoint(words):
        return str(next(filter(None, formulas[0]))).strip()
    if _HEDGED.search(last):
        return None
    stated = _STATED.fullmatch(last) or _RELATES.fullmatch(last)
    return stated[1].strip() if stated and _VALUE.fullmatch(stated[1].strip()) else None


def find_cue_end(text: str) -> int | None:
    """Return the end position of the last cue, such as "the answer is"; None without one.

    The tail is searched first, because answers are usually at the end.
    """
    folded = text.lower()
    for start in sorted({0, max(0, len(text) - _TAIL_CHARS)}, reverse=True):
        if len(folded) == len(text):
            end = _last_end(text, folded, start)
        else:  # lower case has a different length here: positions differ
            end = max((match.end() for match in _CUES.finditer(text, start)), default=None)
        if end is not None:
            return end
    return None


def _last_end(text: str, folded: str, start: int) -> int | None:
    """Return the end of the last cue from `start` on, as `_CUES.finditer` finds it."""
    end, last = start, None
    for at in sorted(_openings(folded, start)):
        if at >= end and (match := _CUES.match(text, at)):
            end = last = match.end()
    return last


def _openings(folded: str, start: int) -> set[int]:
    """Yield every position from `start` on at which a cue can begin."""
    places: set[int] = set()
    for word in _ASCII_OPENINGS if folded.isascii() else _OPENINGS:
        at = folded.find(word, start)
        while at >= 0:
            places.add(at)
            if word == "correct":  # also a whole line, after signs: **Correct: B
                signs = range(max(start, at - 4), at)
                places.update(i for i in signs if i == 0 or folded[i - 1] == "\n")
            at = folded.find(word, at + 1)
    if not places:
        return places
    places.update(match.start() for match in _HEADING.finditer(folded, start))
    return places


def last_sentence_letters(text: str, labels: str) -> str | None:
    """Return the options in a concluding last sentence, as in "so option (B) fits best".

    Only the last finished sentence counts. It must conclude something and contain one group of
    options: the option list of a truncated response is not an answer, nor is "B or C".
    """
    sentences = [s for s in _SENTENCE_END.split(text[-2_000:]) if s.strip(" *_`$")]
    last = sentences[-1] if sentences else ""
    chosen = _find_chosen_letter(last, labels)
    if chosen:
        return chosen
    if not _FINISHED.search(last) or not _CONCLUDES.search(last):
        return None
    naming = make_patterns(labels)
    patterns = [*naming.mentions]
    if _SAYS_CORRECT.search(last):
        patterns.append(naming.ending)
    named = {mention for pattern in patterns for mention in pattern.findall(last)}
    letter = named.pop() if len(named) == 1 else None
    return None if letter is None or "or" in letter else letter


def _find_chosen_letter(sentence: str, labels: str) -> str | None:
    """Return the option chosen at the end of an unconditional sentence: "I choose B", "选B"."""
    if not any(word in sentence for word in _CHOOSING) or _HEDGED.search(sentence):
        return None
    matches = [m for pattern in make_patterns(labels).choosing if (m := pattern.search(sentence))]
    words = make_patterns(labels).word.findall(sentence) if matches else []
    return matches[0].group(1) if matches and len(set(words) - {"I"}) <= 1 else None
