"""Words of negation in the languages of exam papers, and counts of negated sentences."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

_SENTENCE = re.compile(r"(?<=[.?!;:])\s+|[。？！；：\n]+")
_ENGLISH = (
    r"not|\w+n['’]t|cannot|no|never|none|neither|nor|nothing|nobody|nowhere|without|except|"
    r"incorrect\w*|false|impossible|unless|unable|uncertain|undetermined|indeterminate|non"
)
# A stem ends in \w*; 不 and 无 also occur in words without negation.
_WORDS: Mapping[str, str] = {
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


_ANY = re.compile(rf"\b(?:{'|'.join(_WORDS.values())})\b", re.IGNORECASE)
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
    return language in added_words or language in _WORDS or language == "zh"


def negated_sentences(text: str, language: str, added_words: Mapping[str, Sequence[str]]) -> int:
    """Return the number of sentences with a negation; `added_words` are additional, by language."""
    pattern = _pattern(language, added_words.get(language))
    return sum(1 for sentence in _SENTENCE.split(text) if pattern.search(sentence))


def _pattern(language: str, added_words: Sequence[str] | None) -> re.Pattern[str]:
    if added_words is None and language == "zh":
        return _CHINESE
    words = _WORDS[language] if added_words is None else "|".join(map(re.escape, added_words))
    return re.compile(rf"\b(?:{words})\b", re.IGNORECASE)
