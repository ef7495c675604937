"""References of a statement to figures, by number ("Figure 1") or type ("the graph"), and its gaps.

The words of ten languages are searched together, because the language of a paper is only as
reliable as its manifest, and words of other languages do no harm.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from glyphtex.latex import replace_formulas
from omibench.schemas.problem import Problem
from omibench.text.figure_labels import (
    CAPTION_NUMBER,
    FIGURE_NUMBERS,
    LABEL,
    PART,
    PLURAL,
    SLAVIC,
    SPAN,
)

_NOUNS = (
    # English
    r"fig(?:ure|s|ures)?|graphs?|diagrams?|images?|pictures?|photo(?:graph)?s?|drawings?|sketch(?:es)?|"
    r"charts?|plots?|tables?|maps?|panels?|illustrations?|schem(?:e|es|atics?)|micrographs?|"
    # Spanish and Portuguese
    r"figuras?|gr[aá]fic[oa]s?|diagramas?|im[aá]gen(?:es)?|image(?:m|ns)|dibujos?|desenhos?|esquemas?|"
    r"tab(?:l|el)as?|fotos?|fotograf[ií]as?|mapas?|ilustra(?:ci[oó]n(?:es)?|ç(?:ão|ões))|"
    # German
    r"abb(?:ildung(?:en)?)?|figuren|bild(?:er|ern)?|graph(?:en)?|diagramme?n?|skizzen?|zeichnung(?:en)?|"
    r"tabellen?|schemata|schaubild(?:er)?|"
    # French
    r"graph(?:e|es|iques?)|diagrammes?|sch[eé]mas?|dessins?|tableaux?|courbes?|cartes?|"
    # Czech
    r"obr|obráz(?:ek|k\w*)|obrázc\w*|graf(?:u|y|em|ů|ech|ům)?|schémat\w*|náčrt\w*|tabul[kc]\w*|"
    r"diagram\w{0,3}|fotografi\w*|"
    # Polish
    r"rys|rysun(?:ek|k\w*)|wykres\w*|schemat\w*|tabel\w{0,3}|zdjęci\w*|ilustracj\w*|"
    # Russian
    r"рис|рисун(?:ок|к\w*)|график\w{0,3}|схем\w{0,3}|диаграмм\w{0,3}|таблиц\w{0,3}|табл|"
    r"черт[её]ж\w*|фотографи\w*|фото"
)
_POINTERS = (
    r"shown|depicted|pictured|illustrated|sketched|drawn|displayed|"
    r"muestran?|mostrad[oa]s?|representad[oa]s?|ilustrad[oa]s?|mostram?|"
    r"gezeigt\w*|dargestellt\w*|abgebildet\w*|skizziert\w*|"
    r"montr(?:e|ent|ée?s?)|repr[eé]sent(?:e|ent|ée?s?)|illustr(?:e|ent|ée?s?)|"
    r"znázorn[ěe]n\w*|znázorňuj\w*|zobrazen[aoyáéý]?|vyobrazen\w*|zakreslen\w*|"
    r"przedstawi(?:on\w*|a|ają)|pokazan\w*|zilustrowan\w*|narysowan\w*|"
    # "показания" are what an instrument reads
    r"показан(?:[аоы]|н\w*)?|изображ[её]н(?:[аоы]|н\w*)?|представлен(?:[аоы]|н\w*)?"
)
_IDEOGRAPHS = r"图|圖|図|表(?![面现現明達达示层層皮情すさしせ])|照片|写真|示意|グラフ|イラスト"

REFERENCE = re.compile(rf"(?<!significant )\b(?:{_NOUNS}|{_POINTERS})\b|{_IDEOGRAPHS}", re.I)
"""A word that points at a picture."""

_INTRODUCTION = re.compile(r"\bbelow\b|[:：]\s*\[IMAGE\d+\]", re.I)

_ALL_FIGURES = re.compile(
    r"\b(?:(?:the|these|both|all|two|three|four|five|six)|(?:l[oa]s|est[oa]s|amb[oa]s|tod[oa]s)|"
    r"(?:[oa]s|dois|duas)|(?:die|den|beiden?|alle[nr]?)|(?:les|ces|deux))\s+"
    r"(?:\w+\s+)?(?:figures|graphs|diagrams|images|pictures|photos|drawings|panels|plots|charts|"
    r"figuras|gr[aá]fic[oa]s|diagramas|im[aá]genes|imagens|dibujos|desenhos|esquemas|"
    r"abbildungen|bildern?|diagrammen?|graphen|skizzen|graphiques|diagrammes|sch[eé]mas|dessins)\b|"
    r"\b(?:oba|obě|obou|obu|obydwa|obydwu|dwa|dva|tři|trzy|оба|обоих|эти|этих|два|двух|тр[иё]х?)\s+"
    r"(?:\w+\s+)?(?:obráz(?:ky|ků|cích)|graf(?:y|ů|ech)|rysun(?:ki|ków|kach)|wykres(?:y|ów|ach)|"
    r"рисун(?:ки|ках|ка)|график(?:и|ах|а|ов)|схем(?:ы|ах))\b|"
    r"\b(?:na|w|v|на|в)\s+(?:\w+\s+)?(?:obrázcích|grafech|schématech|rysunkach|wykresach|schematach|"
    r"рисунках|графиках|схемах)\b(?!\s*\d)|(?:両方|二つ|2つ|これら|次)の(?:図|グラフ)",
    re.I,
)

_RANGE = re.compile(rf"(\d+){PART}\)?{SPAN}(?:{LABEL}\s*)?\(?(\d+)", re.I)
# "a" is a range only after a plural: "las figuras 1 a 3", but "in Figure 1 a 3 kg block".
_RANGE_A = re.compile(
    r"\b(figuras|gr[aá]fic[oa]s|tab(?:el|l)as)\s+(\d{1,3})\s+a\s+(\d{1,3})\b", re.I
)
# "a" and "do" are also separate words: they join numbers only after Slavic words.
_SLAVIC_PAIR = re.compile(rf"\b({SLAVIC})\b\.?\s+(\d{{1,3}})\s+(a|do)\s+(\d{{1,3}})\b", re.I)
_NUMBER_FIRST = re.compile(r"第\s*(\d{1,3})\s*(図|图|圖|表)")


class Numbered(NamedTuple):
    """A figure or table by its printed number; papers count them separately."""

    kind: Literal["figure", "table"]
    number: int

    def __str__(self) -> str:
        return f"{self.kind} {self.number}"


def referred_numbers(text: str, *, sure: bool = False) -> set[Numbered]:
    """Return all figures and tables that `text` refers to by number, with ranges expanded.

    With `sure`, a list counts only after a plural ("Figures 1 and 2"), because numbers after a
    singular may count other things ("in Figure 1, 3 springs hang").
    """
    references: set[Numbered] = set()
    for match in FIGURE_NUMBERS.finditer(text):
        label, listed = match.group("label"), match.group("list")
        numbers = [int(digits) for digits in re.findall(r"\d+", listed)]
        if sure and not label.rstrip(".").casefold().endswith(PLURAL):
            del numbers[1:]
        else:
            for first, last in _RANGE.findall(listed):
                numbers += range(int(first), int(last) + 1)
        references.update(Numbered(_kind(label), number) for number in numbers)
    for label, first, last in _RANGE_A.findall(text):
        references.update(Numbered(_kind(label), n) for n in range(int(first), int(last) + 1))
    for label, first, word, last in _SLAVIC_PAIR.findall(text):
        pair = (int(first), int(last))
        between = range(pair[0], pair[1] + 1) if word.lower() == "do" else pair
        references.update(Numbered(_kind(label), n) for n in between)
    references |= {
        Numbered(_kind(label), int(number)) for number, label in _NUMBER_FIRST.findall(text)
    }
    return references


def printed_number(caption: str | None) -> Numbered | None:
    """Return the number with which a caption presents its figure, or None."""
    match = CAPTION_NUMBER.match(caption or "")
    return Numbered(_kind(match["label"]), int(match["number"])) if match else None


def _kind(label: str) -> Literal["figure", "table"]:
    return "table" if label.casefold().startswith(("tab", "табл", "表")) else "figure"


def refers_to_pictures(text: str) -> bool:
    """Return whether any word of `text` points at a picture."""
    return REFERENCE.search(text) is not None


def introduces_pictures(question: str) -> bool:
    """Return whether a question with its marks leads to a picture: `below`, or a colon."""
    return _INTRODUCTION.search(question) is not None


def refers_to_all(text: str) -> bool:
    """Return whether `text` refers to its pictures together ("both graphs", "the figures")."""
    return _ALL_FIGURES.search(text) is not None


# Signs of an incomplete statement: it breaks off, or refers to missing parts.

_FUNCTION_WORDS = """
    a an the and or of to in on at by with from for into than that which if is are its their
    this these as between when where while because
    el la los las un una y o de del al en por con para que si es son su entre cuando
    os um uma e do da dos das em no na com
    der die das den dem ein eine und oder von zu im mit für dass wenn ist sind zwischen
    le les une et ou du des au aux dans par avec pour qui est sont entre
"""
_HANGING = frozenset(_FUNCTION_WORDS.split())
_END = 40  # characters that show whether a sentence has ended
_CUT = re.compile(r"[,\-–—=+*/<>≤≥(\[{]$|[^\W\d_]-$")
_LAST_WORD = re.compile(r"([^\W\d_]+)\W*$")
_FINISHED = re.compile(r"[.?!:;。？！：；)\]}\"”»$%_…）]\s*\**$|</?[a-z]\w*>$")
"""A list item ends with a semicolon, an HTML table with its tag."""
_LINE_ACROSS = re.compile(r"(?:\s+(?:-{3,}|\*{3,}))+\s*$")
"""A horizontal rule in Markdown, here below the statement."""
_OPTION = re.compile(r"^\s*\(?([A-Ha-h]|[IVX]{1,4}|\d)[.)、:](?:\s|$)", re.MULTILINE)
"""The label of an option on a separate line."""
_OFFERS_CHOICES = re.compile(
    r"\bwhich (?:one )?of the following\b|\bof the choices below\b|\bcu[aá]l de las siguientes\b|"
    r"\bqual das (?:seguintes|alternativas)\b|\bwelche der folgenden\b|\blaquelle? des suivant|"
    r"\blequel des\b|下列(?:哪|说法|选项)",
    re.I,
)


def find_unfinished_part(problem: Problem, statement: str) -> str | None:
    """Return evidence that `statement` (without marks and captions) is incomplete, or None."""
    return (
        _broken_choices(problem)
        or _missing_choices(problem, statement)
        or _breaks_off(problem, statement)
        or _missing_figures(problem, statement)
    )


def _broken_choices(problem: Problem) -> str | None:
    if problem.choices is None:
        return None
    labels = [choice.label for choice in problem.choices]
    if len(labels) < 2:
        return f"{len(labels)} choice was read; at least 2 are needed"
    empty = [c.label for c in problem.choices if c.image is None and not (c.text or "").strip()]
    if empty:
        return f"choice {empty[0]} is empty"
    if all(len(label) == 1 and label.isascii() for label in labels):
        expected = [chr(ord(labels[0]) + i) for i in range(len(labels))]
        if labels != expected:
            return f"the choices are lettered {''.join(labels)}, not {''.join(expected)}"
    return None


def _missing_choices(problem: Problem, statement: str) -> str | None:
    offer = _OFFERS_CHOICES.search(statement)
    if problem.choices or not offer:
        return None
    following = problem.question.rpartition(offer.group(0))[2]
    if len(set(_OPTION.findall(following))) > 1:
        return None  # the statement contains the options, for example pictures with letters
    return f"the statement says {offer.group(0)!r}, but no choices follow"


def _breaks_off(problem: Problem, statement: str) -> str | None:
    if statement.count("$") % 2:
        return f"a formula is not closed: {statement.count('$')} dollar signs"
    end = _LINE_ACROSS.sub("", statement)[-_END:].rstrip()
    # The choices can complete the sentence of a multiple-choice statement.
    if problem.choices or _FINISHED.search(end):
        return None
    word = _LAST_WORD.search(end)
    hanging = word is not None and word.group(1).casefold() in _HANGING
    return f"the statement breaks off: '...{end}'" if hanging or _CUT.search(end) else None


def _missing_figures(problem: Problem, statement: str) -> str | None:
    chosen = {choice.image for choice in problem.choices or []}
    printed = [printed_number(f.caption) for i, f in enumerate(problem.images) if i not in chosen]
    if not printed or None in printed:
        return None
    have = [number for number in printed if number]
    kinds = {number.kind for number in have}
    missing = sorted(
        number
        for number in referred_numbers(statement, sure=True)
        # Tables are often text of the statement, and then not figures.
        if number.kind in kinds and number not in have
    )
    if not missing:
        return None
    return f"the statement refers to {missing[0]}; it has {', '.join(map(str, have))}"


# Legibility of a statement: words and numbers, or the remains of a bad scan.

_COMMAND = re.compile(r"\\[A-Za-z]+(?:\{[^{}]*\})*")
_SPOILT = re.compile(r"[^\W\d_][@#~¬¦§¤|\\^`¨´¸][^\W\d_]")
"""A sign inside a word that is not used there in any language."""
_ORDINARY = re.compile(
    r"[\w.,;:!?¿¡()\[\]{}+\-=<>*/%°'\"’‘“”„«»…–—−±×·√∞≤≥≠≈→←|^&$~、。，；：？（）《》]+"
)
_ALONE = re.compile(r"[^\W\d_]")
_SPACED = 6
"""This many single letters in a row are a split word, or not words at all."""
_DENSE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def legible_share(statement: str) -> tuple[float, list[str]]:
    """Return the legible share of a statement's words, and the illegible ones.

    Formulas do not count. A statement without words is legible: it is short, not corrupted.
    """
    words = _COMMAND.sub(" ", replace_formulas(statement, lambda _: " ")).split()
    spoilt = [not _reads(word) for word in words]
    _mark_torn(words, spoilt)
    bad = [word for word, spoils in zip(words, spoilt, strict=True) if spoils]
    return (1 - len(bad) / len(words) if words else 1.0), bad


def _reads(word: str) -> bool:
    if _SPOILT.search(word):
        return False
    odd = len(_ORDINARY.sub("", word))
    # Signs of a field (a planet's, a sex's) are single or next to a word, not in runs.
    return odd <= 1 or 3 * odd <= len(word)


def _mark_torn(words: list[str], spoilt: list[bool]) -> None:
    run: list[int] = []
    for i, word in enumerate([*words, "end"]):
        if len(word) == 1 and _ALONE.match(word) and not _DENSE.match(word):
            run.append(i)
            continue
        if len(run) >= _SPACED:
            for torn in run:
                spoilt[torn] = True
        run = []
