"""Case folding: ordinary words lose their case; symbols, units, formulas and names keep it."""

from __future__ import annotations

from functools import lru_cache

from glyphtex import lazy_re as re
from omibench.answers.units import is_symbol

_TOKEN = re.compile(r"\\[A-Za-z]+|[^\W\d_]+")
_SHORT = frozenset((
    "an", "as", "at", "be", "by", "do", "he", "if", "in", "is", "it", "my", "of", "on", "or",
    "so", "to", "up", "us", "we",
))  # fmt: skip
"""Two-letter words; alone they are elements (As, In) or symbols."""
_ALWAYS = frozenset(("no", "yes"))
_LONG_WORD = re.compile(r"[^\W\d_]{4,}")
_CHINESE_WORD = re.compile(r"[\u4e00-\u9fff]{2,}")
_VOWEL = re.compile("[aeiouy]|[^\x00-\x7f]")
_BASES = re.compile("[ACGTU]{3,}|[acgtu]{3,}")
_ATOMS = re.compile("[HBCNOFPSKI]{3}")
_PAIRS = re.compile(r"(?:(\w)\1){2,}", re.IGNORECASE)
_WORD_LETTERS = 4


@lru_cache(maxsize=4096)
def fold_words(text: str) -> str:
    """Lower the ordinary words of a tidied text and keep everything else.

    An ordinary word has three or more letters with a vowel, is all lower, all upper or
    capitalised, touches no digit or index, and is not a unit, formula or genotype.
    """
    prose = any(
        len(m.group()) >= _WORD_LETTERS and _is_word(m.group()) for m in _TOKEN.finditer(text)
    )

    def fold(match: re.Match[str]) -> str:
        word, start, end = match.group(), match.start(), match.end()
        before, after = text[max(0, start - 3) : start], text[end : end + 3]
        if word.casefold() in _ALWAYS or (prose and word.casefold() in _SHORT):
            return word.casefold()
        if prose and word == "A" and start == 0 and after[:1] == " ":
            return "a"
        beside = re.search(r"[\d_^]$", before) or re.match(r"\s*[_^]|\d", after)
        counted = re.search(r"\d\s*$", before) and len(word) < _WORD_LETTERS
        return word if beside or counted or not _is_word(word) else word.casefold()

    return _TOKEN.sub(fold, text)


@lru_cache(maxsize=4096)
def _is_word(word: str) -> bool:
    if _BASES.fullmatch(word) and not _PAIRS.fullmatch(word):
        return True
    plain = word.islower() or word.isupper() or (word[0].isupper() and word[1:].islower())
    return (
        len(word) >= 3
        and plain
        and _VOWEL.search(word.casefold()) is not None
        and not (_PAIRS.fullmatch(word) or _ATOMS.fullmatch(word) or is_symbol(word))
    )


# Comparison of prose answers by words, digits, negations and directions.
#
# A sentence can have a word more or less than the gold answer, but never another word in its
# place: one word (wet, dry) reverses the meaning of a long answer.

SIMILARITY = 0.9
MAX_WORDS = 400

STOP_WORDS = frozenset((
    "a", "an", "the", "is", "are", "was", "were", "be", "been", "being", "of", "to", "in",
    "on", "at", "by", "for", "from", "with", "that", "this", "these", "those", "it", "its",
    "and", "or", "as", "will", "would", "can", "there", "here", "which", "has", "have", "had",
    "do", "does",
))  # fmt: skip
_GUARDED = frozenset((
    "not", "no", "never", "none", "neither", "nor", "without", "un", "left", "right", "up",
    "down", "upward", "upwards", "downward", "downwards", "increase", "increases",
    "increased", "decrease", "decreases", "decreased", "larger", "smaller", "greater", "less",
    "more", "fewer", "higher", "lower", "clockwise", "counterclockwise", "anticlockwise",
    "before", "after", "above", "below", "inside", "outside", "first", "second", "third",
    "true", "false", "yes", "positive", "negative", "cis", "trans", "north", "south", "east",
    "west", "same", "different", "unchanged", "real", "virtual", "upright", "inverted",
    "maximum", "minimum", "all", "half", "twice", "double", "times",
    "hundred", "dozen", "thousand", "million", "billion", "trillion", "万", "亿",
    "nicht", "kein", "keine", "ohne", "ne", "pas", "sans", "jamais", "non", "não", "sem", "nunca",
    "не", "нет", "без", "никогда", "不", "无", "非", "未", "没",
))  # fmt: skip
_HYPHEN = re.compile(r"(?<![\w-])[A-Za-z][a-z]*(?:-[a-z]{4,})+(?![\w-])")
_IRREGULAR = {
    "mitochondria": "mitochondrion", "bacteria": "bacterium", "nuclei": "nucleus", "loci": "locus",
    "fungi": "fungus", "stimuli": "stimulus", "radii": "radius", "foci": "focus", "ova": "ovum",
    "hypotheses": "hypothesis", "axes": "axis", "bases": "base", "vertices": "vertex",
    "matrices": "matrix", "indices": "index", "phenomena": "phenomenon", "spectra": "spectrum",
    "larvae": "larva", "algae": "alga", "women": "woman", "men": "man", "feet": "foot",
    "teeth": "tooth", "leaves": "leaf", "halves": "half", "mice": "mouse",
}  # fmt: skip
_NEGATIONS = frozenset(("not", "no", "never", "none", "neither", "nor", "without", "n't", "nicht"))
_ENDING = re.compile(r"(?:es|s|ed|d|e)$")
_STEM_CHARS = 3
_FORMULA = (
    r"\\(?:frac|sqrt)\s*(?:\{[^{}]*\}\s*){1,2}|\\(?:pi|sin|cos|tan|cot|ln|log|cup|cap|leq|geq|neq)(?![A-Za-z])"
    r"|[(\[](?=[^()\[\]]*[\d∞])[^()\[\],;]{1,30},[^()\[\],;]{1,30}[)\]]|(?<![A-Za-z])[A-Za-z\d)]!|∞|\|"
)
"""Pieces of formulas that must agree as they are written: fractions, functions, intervals."""
_WORD = re.compile(
    _FORMULA
    + r"|[^\W\d_]+(?:['’-][^\W\d_]+)*|\d+(?:\.\d+)?|[<>=+±/^]|[−-](?=\s*[\d\\({$])|[\u4e00-\u9fff]"
)


@lru_cache(maxsize=4096)
def denies(text: str) -> bool:
    """Return whether a text negates the following text or changes the subject: not, never, no
    longer.
    """
    return any(word in _NEGATIONS for word in _words(text))


def is_prose(text: str) -> bool:
    """Return whether a text is words, not mathematics: it has a word of four letters outside
    commands, with a vowel (mgkh is a product).
    """
    plain = re.sub(r"\\[A-Za-z]+|[_^]\s*\{[^{}]*\}", " ", text)
    if not plain.isascii() and _CHINESE_WORD.search(plain):
        return True
    return any(_VOWEL.search(word.casefold()) for word in _LONG_WORD.findall(plain))


def same_words(gold: str, pred: str) -> bool:
    """Return whether two texts agree in 90 % of their words, in order, and in every guarded word.

    Digits, negations and words of direction must agree exactly and in order; a single word must
    be the same word. Articles and similar words are ignored, plurals count as singulars. No word
    can replace another or move: see `_has_replaced_word`.
    """
    g, p = _words(gold), _words(pred)
    if not g or not p or max(len(g), len(p)) > MAX_WORDS:
        return False
    if [w for w in g if is_guarded(w)] != [w for w in p if is_guarded(w)]:
        return False
    from rapidfuzz.distance import LCSseq

    return float(LCSseq.normalized_similarity(g, p)) >= SIMILARITY and not _has_replaced_word(g, p)


def _has_replaced_word(gold: list[str], pred: list[str]) -> bool:
    """Return whether a word of the gold answer was replaced or swapped with another.

    Between two matching words, words can be missing or added. If both happen, every missing word
    needs the same word in another form (absorb, absorbs) among the added ones.
    """
    from rapidfuzz.distance import LCSseq

    gaps, missing, added = [(list[str](), list[str]())], set[str](), set[str]()
    for step in LCSseq.opcodes(gold, pred):
        if step.tag == "equal":
            gaps.append(([], []))
            continue
        old, new = gold[step.src_start : step.src_end], pred[step.dest_start : step.dest_end]
        gaps[-1][0].extend(map(_stem, old))
        gaps[-1][1].extend(map(_stem, new))
        missing.update(old)
        added.update(new)
    return bool(missing & added) or any(old and new and set(old) - set(new) for old, new in gaps)


def _stem(word: str) -> str:
    """Strip a regular ending: absorbs, absorbed. Not "-ing": oxidizing is not oxidized."""
    plain = _ENDING.sub("", word)
    return plain if len(plain) >= _STEM_CHARS else word


@lru_cache(maxsize=4096)
def _words(text: str) -> list[str]:
    text = _HYPHEN.sub(lambda m: m.group().casefold().replace("-", " "), fold_words(text))
    words = [w for w in _WORD.findall(text) if w not in STOP_WORDS]  # A is a label
    return [_singular(w) if w[0].isalpha() else "".join(w.split()) for w in words]


def _singular(word: str) -> str:
    """Strip a plural ending: mitochondria, nuclei, axes, cells."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) > 4 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def is_guarded(word: str) -> bool:
    """Return whether a word must agree exactly: a digit, a negation, a direction, a symbol.

    Words are in lower case (`case.fold_words`); a remaining capital marks a symbol.
    """
    return (
        word != word.casefold() or not word.isalpha() or word in _GUARDED or f"{word}s" in _GUARDED
    )
