"""Splitting of a text at commas, semicolons and words such as `and`, outside brackets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from glyphtex import lazy_re as re

MOST_PIECES = 64
_WORDS = dict.fromkeys(("oder", "ou", "или", "或", "或者"), "or") | dict.fromkeys(
    ("und", "et", "и", "和"), "and"
)
_MARK = re.compile(
    r"[\[({]|[\])}]|;|；|,|，|、|\n|\s(?:and|or|&|und|oder|et|ou|и|или)\s|或者?|和|\\to\b|->|\s-\s|\\[{}]"
)


def split_outside_brackets(text: str, marks: set[str]) -> list[str]:
    """Return pieces between `marks` outside brackets; grouped digits and decimals stay whole."""
    pieces: list[str] = []
    depth = start = 0
    for match in _MARK.finditer(text):
        mark = match.group().strip(" \t") or "\n"
        mark = _WORDS.get(mark, mark)
        if mark in ("\\{", "\\}") or mark in "[({":
            depth += -1 if mark == "\\}" else 1
        elif mark in "])}":
            depth = max(depth - 1, 0)
        elif depth == 0 and mark in marks and not _inside_number(text, match):
            pieces.append(text[start : match.start()])
            start = match.end()
            if len(pieces) >= MOST_PIECES:
                break
    pieces.append(text[start:])
    trimmed = [trim_piece(piece) for piece in pieces]
    return [piece for piece in trimmed if piece]


def trim_piece(text: str) -> str:
    """Strip the marks around a piece, including an unpaired dollar sign."""
    return text.strip(" \n\t;,.；，$") if text.count("$") % 2 else text.strip(" \n\t;,.；，")


def _inside_number(text: str, mark: re.Match[str]) -> bool:
    if mark.group() != ",":
        return False
    before, after = text[: mark.start()], text[mark.end() : mark.end() + 4]
    return bool(
        re.search(r"(?<!\d)\d{1,3}(?:,\d{3})*$", before[-24:]) and re.match(r"\d{3}(?!\d)", after)
    )


# Words of negation in the languages of exam papers, and counts of negated sentences.

_SENTENCE = re.compile(r"(?<=[.?!;:])\s+|[。？！；：\n]+")
_ENGLISH = (
    r"not|\w+n['’]t|cannot|no|never|none|neither|nor|nothing|nobody|nowhere|without|except|"
    r"incorrect\w*|false|impossible|unless|unable|uncertain|undetermined|indeterminate|non"
)
# A stem ends in \w*; 不 and 无 also occur in words without negation.
_WORDS_NEGATIONS: Mapping[str, str] = {
    "en": _ENGLISH,
    "es": r"no|nunca|jamás|ning[uú]n\w*|nada|nadie|ni|tampoco|sin|excepto|salvo|menos que|"
    r"incorrect\w*|fals[oa]s?|imposible|incapaz",
    "pt": r"não|nunca|jamais|nenhum\w*|nada|ninguém|nem|tampouco|sem|exceto|menos que|"
    r"incorret\w*|fals[oa]s?|impossível|incapaz",
    "de": r"nicht|kein\w*|nie|niemals|niemand\w*|nichts|weder|ohne|außer|es sei denn|falsch\w*|"
    r"unmöglich|nirgend\w*",
    "fr": r"ne|n(?=['’])|jamais|aucune?s?|rien|ni|sans|sauf|excepté\w*|à moins|incorrect\w*|faux|"
    r"fausses?|impossible|incapable",
    "it": r"non|mai|nessun\w*|niente|nulla|né|senza|eccetto|tranne|a meno|errat\w*|fals[oaie]|"
    r"impossibile|incapace",
    "ru": r"не|нет|ни|без|никогда|никак\w*|никто|ничто|кроме|неверн\w*|неправильн\w*|невозможно",
}
_CHINESE = re.compile(
    r"不(?!同|仅|但|断|妨|久|管|论|止|变|等式)|没有|未(?!来|知数)|无(?!关|论|穷|限|色|机)|"
    r"非(?!常|洲|金属)|勿|(?<![是能可])否|除[^。，；]{1,12}外|错误"
)


_ANY = re.compile(rf"\b(?:{'|'.join(_WORDS_NEGATIONS.values())})\b", re.IGNORECASE)
_AMBIGUOUS = frozenset({"sin", "ne", "n", "ni", "mai", "né"})
"""Words of negation that are also functions, products of quantities or pieces of words."""


def list_negations(text: str) -> list[str]:
    """Return the negations of a text in any of the known languages, sorted.

    Args:
        text: Prose without formulas; its language may be unknown.
    """
    words = (word.lower() for word in _ANY.findall(text))
    return sorted([*(word for word in words if word not in _AMBIGUOUS), *_CHINESE.findall(text)])


def knows(language: str, added_words: Mapping[str, Sequence[str]]) -> bool:
    """Return whether the words of negation of a language are known."""
    return language in added_words or language in _WORDS_NEGATIONS or language == "zh"


def negated_sentences(text: str, language: str, added_words: Mapping[str, Sequence[str]]) -> int:
    """Return the number of sentences with a negation; `added_words` are additional, by language."""
    pattern = _pattern(language, added_words.get(language))
    return sum(1 for sentence in _SENTENCE.split(text) if pattern.search(sentence))


def _pattern(language: str, added_words: Sequence[str] | None) -> re.Pattern[str]:
    if added_words is None and language == "zh":
        return _CHINESE
    words = (
        _WORDS_NEGATIONS[language] if added_words is None else "|".join(map(re.escape, added_words))
    )
    return re.compile(rf"\b(?:{words})\b", re.IGNORECASE)


# Splitting of a worked solution: reasoning without the final answer, divided into steps.

_OPENING: Final = re.compile(r"\A[\s{]*reasoning[ \t]*:[ \t]*", re.IGNORECASE)
_FINAL: Final = re.compile(
    r"(?:^|(?<=[.!?。])[ \t])[ \t*#>_]*final answer\b[^\n]*"
    r"(?:\n\s*(?:\$\$|\\\[)?\s*\\boxed[^\n]*)?",
    re.IGNORECASE | re.MULTILINE,
)
_STEP_MARK: Final = re.compile(
    r"#{1,6}[ \t]|\*{0,2}(?:step[ \t]*\d|第[一二三四五六七八九十\d]+步)"
    r"|\d{1,2}[.)][ \t]|[-*•][ \t]",
    re.IGNORECASE,
)
"""Start of a line that opens a step: a heading, `Step 2`, a number, a bullet."""
_HEADING: Final = re.compile(
    r"#{1,6}[ \t][^\n]*|\*\*[^\n*]+\*\*:?|\*{0,2}step[ \t]*\d{1,2}[.:]?\*{0,2}:?", re.IGNORECASE
)
_FORMULA_FIRST: Final = re.compile(r"\$\$|\\\[|\\begin\b|[=≈<>]")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+(?=[^\W\d_]|\$|\\)|(?<=[。！？])")
_ABBREVIATION: Final = re.compile(r"\b(?:e\.g|i\.e|figs?|eqs?|cf|vs|approx|resp)\.$", re.IGNORECASE)


def strip_final_answer(text: str) -> str:
    r"""Return the reasoning of a reply of the form `Reasoning: ... Final Answer: \boxed{...}`.

    Args:
        text: Unchanged reply (OMIBench, A.3.1: a trace and an explicit final answer).

    Returns:
        The reply without its opening word and the lines that state the final answer.
    """
    return _FINAL.sub("", _OPENING.sub("", text, count=1)).strip(" \t\n{}")


def split_steps(text: str) -> list[str]:
    """Split reasoning into its steps s_1 ... s_m (OMIBench, section 3.1).

    A step ends at an empty line, and begins at a heading, a numbered line or a bullet. A heading
    belongs to the text after it, a displayed formula to the text before it. Reasoning of a
    single paragraph is split into sentences.

    Args:
        text: Reasoning without its final answer.

    Returns:
        Non-empty steps in order. Together they contain all of the text except the white space
        between them.
    """
    blocks = _join_blocks(_list_blocks(text))
    return blocks if len(blocks) != 1 else _split_sentences(blocks[0])


def _list_blocks(text: str) -> Iterator[str]:
    lines: list[str] = []
    displayed = False
    for line in text.splitlines():
        opens_step = bool(_STEP_MARK.match(line.lstrip()))
        if not displayed and lines and (not line.strip() or opens_step):
            yield "\n".join(lines).strip()
            lines = []
        displayed = _ends_displayed(line, displayed)
        if line.strip() or lines:
            lines.append(line)
    if lines:
        yield "\n".join(lines).strip()


def _ends_displayed(line: str, displayed: bool) -> bool:
    """Return whether the end of a line is within a displayed formula or a code block."""
    if line.count("$$") % 2 or line.lstrip().startswith("```"):
        return not displayed
    opened, closed = line.rfind("\\["), line.rfind("\\]")
    return displayed if opened == closed else opened > closed


def _join_blocks(blocks: Iterator[str]) -> list[str]:
    joined: list[str] = []
    for block in blocks:
        continues = bool(joined) and (
            _HEADING.fullmatch(joined[-1].rpartition("\n")[2]) or _FORMULA_FIRST.match(block)
        )
        if continues:
            joined[-1] = f"{joined[-1]}\n{block}"
        else:
            joined.append(block)
    return joined


def _split_sentences(text: str) -> list[str]:
    sentences: list[str] = []
    for piece in _SENTENCE_END.split(text):
        if sentences and _is_unfinished(sentences[-1]):
            sentences[-1] = f"{sentences[-1]} {piece}"
        elif piece.strip():
            sentences.append(piece)
    return [sentence.strip() for sentence in sentences]


def _is_unfinished(sentence: str) -> bool:
    """Return whether a full stop ends an abbreviation or is within a formula."""
    return sentence.count("$") % 2 == 1 or bool(_ABBREVIATION.search(sentence[-8:]))
