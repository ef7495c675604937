"""References of a statement to its figures: by number ("Figures 1 and 2") or type ("the graph").

The words of ten languages are searched together, because the language of a paper is only as
reliable as its manifest, and words of other languages do no harm.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

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

_SLAVIC = (
    r"obr|obráz(?:ek|k\w{1,3})|obrázcích|rys|rysun(?:ek|k\w{1,3})|рис|рисун(?:ок|к\w{1,3})|"
    r"graf(?:u|y|em|ech)?|wykres\w{0,3}|график\w{0,3}|schémat\w{1,2}|schemat\w{0,3}|схем\w{1,2}|"
    r"tab|tabul[kc]\w{1,3}|tabel[aieę]|tabelach|табл|таблиц\w{1,3}"
)
_LABEL = (
    r"(?:\b(?:fig(?:ures?|uras?|uren|s)?|abb(?:ildung(?:en)?)?|bild(?:er)?|graphs?|diagramm?[es]?|"
    r"diagramas?|gr[aá]fic[oa]s?|esquemas?|sch[eé]mas?|images?|im[aá]gen(?:es)?|image(?:m|ns)|"
    r"tables?|tablas?|tableaux?|tabelas?|tabellen?|schemes?|panels?|photos?|pictures?|"
    rf"{_SLAVIC})\b\.?(?:\s*(?:č|nr|№)\.?)?|图|圖|図|表|グラフ|写真)"
)
_PLURAL = (
    "s", "x", "ungen", "uren", "bilder", "tabellen", "图", "圖", "図", "表", "グラフ", "写真",
    "obrázky", "obrázků", "obrázcích", "rysunki", "rysunków", "rysunkach", "wykresy", "wykresach",
    "рисунки", "рисунков", "рисунках", "графики", "графиках", "таблицы", "таблицах",
)  # fmt: skip
_PART = r"(?:[a-hа-г]|\s?\([a-hа-г]\))?"
_ONE_NUMBER = rf"\(?\d{{1,3}}(?!\.?\d){_PART}(?![a-z0-9])\)?"
_JOIN = (
    r"(?:\s*(?:,|;|/|&|、)\s*(?:and|und|et|y|e)?\s*|"
    r"\s+(?:and|or|und|oder|et|ou|y|e|o|u|i|oraz|lub|nebo|и|или)\s+|\s*(?:[和与及或とや]|および|及び|または)\s*)"
)
_SPAN = r"(?:\s*(?:[-–—~～〜至到]|から)\s*|\s+(?:to|through|bis|à|al|até|až|по|до)\s+)"
_LIST = rf"{_ONE_NUMBER}(?:(?:{_JOIN}|{_SPAN}(?:{_LABEL}\s*)?){_ONE_NUMBER})*"

FIGURE_NUMBERS = re.compile(rf"(?P<label>{_LABEL})\s*(?P<list>{_LIST})", re.I)
"""A label followed by the numbers of one or more figures."""

CAPTION_NUMBER = re.compile(rf"\s*\**(?P<label>{_LABEL})\s*(?P<number>\d{{1,3}})", re.I)
"""The label and number at the start of a caption."""

_RANGE = re.compile(rf"(\d+){_PART}\)?{_SPAN}(?:{_LABEL}\s*)?\(?(\d+)", re.I)
# "a" is a range only after a plural: "las figuras 1 a 3", but "in Figure 1 a 3 kg block".
_RANGE_A = re.compile(
    r"\b(figuras|gr[aá]fic[oa]s|tab(?:el|l)as)\s+(\d{1,3})\s+a\s+(\d{1,3})\b", re.I
)
# "a" and "do" are also separate words: they join numbers only after Slavic words.
_SLAVIC_PAIR = re.compile(rf"\b({_SLAVIC})\b\.?\s+(\d{{1,3}})\s+(a|do)\s+(\d{{1,3}})\b", re.I)
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
        if sure and not label.rstrip(".").casefold().endswith(_PLURAL):
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
