"""How a statement refers to its figures: by number ("Figures 1 and 2") or by kind ("the graph").

The words of six languages are searched together, because the language of a paper is only as
certain as its manifest and a foreign word does no harm.
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
    r"graph(?:e|es|iques?)|diagrammes?|sch[eé]mas?|dessins?|tableaux?|courbes?|cartes?"
)
_POINTERS = (
    r"shown|depicted|pictured|illustrated|sketched|drawn|displayed|"
    r"muestran?|mostrad[oa]s?|representad[oa]s?|ilustrad[oa]s?|mostram?|"
    r"gezeigt\w*|dargestellt\w*|abgebildet\w*|skizziert\w*|"
    r"montr(?:e|ent|ée?s?)|repr[eé]sent(?:e|ent|ée?s?)|illustr(?:e|ent|ée?s?)"
)
_CHINESE = r"如图|下图|上图|左图|右图|图中|图示|图像|图象|图片|照片|示意|图|表"

REFERENCE = re.compile(rf"(?<!significant )\b(?:{_NOUNS}|{_POINTERS})\b|{_CHINESE}", re.I)
"""A word that points at a picture."""

_ALL = re.compile(
    r"\b(?:(?:the|these|both|all|two|three|four|five|six)|(?:l[oa]s|est[oa]s|amb[oa]s|tod[oa]s)|"
    r"(?:[oa]s|dois|duas)|(?:die|den|beiden?|alle[nr]?)|(?:les|ces|deux))\s+"
    r"(?:\w+\s+)?(?:figures|graphs|diagrams|images|pictures|photos|drawings|panels|plots|charts|"
    r"figuras|gr[aá]fic[oa]s|diagramas|im[aá]genes|imagens|dibujos|desenhos|esquemas|"
    r"abbildungen|bildern?|diagrammen?|graphen|skizzen|graphiques|diagrammes|sch[eé]mas|dessins)\b",
    re.I,
)

_LABEL = (
    r"(?:\b(?:fig(?:ures?|uras?|uren|s)?|abb(?:ildung(?:en)?)?|bild(?:er)?|graphs?|diagramm?[es]?|"
    r"diagramas?|gr[aá]fic[oa]s?|esquemas?|sch[eé]mas?|images?|im[aá]gen(?:es)?|image(?:m|ns)|"
    r"tables?|tablas?|tableaux?|tabelas?|tabellen?|schemes?|panels?|photos?|pictures?)\b\.?|图|表)"
)
_PLURAL = ("s", "x", "ungen", "uren", "bilder", "tabellen", "图", "表")
_PART = r"(?:[a-h]|\s?\([a-h]\))?"
_ONE = rf"\(?\d{{1,3}}(?!\.?\d){_PART}(?![a-z0-9])\)?"
_JOIN = (
    r"(?:\s*(?:,|;|/|&|、)\s*(?:and|und|et|y|e)?\s*|"
    r"\s+(?:and|or|und|oder|et|ou|y|e|o|u)\s+|\s*[和与及或]\s*)"
)
_SPAN = r"(?:\s*[-–—~至到]\s*|\s+(?:to|through|bis|à|al|até)\s+)"
_LIST = rf"{_ONE}(?:(?:{_JOIN}|{_SPAN}(?:{_LABEL}\s*)?){_ONE})*"

FIGURE_NUMBERS = re.compile(rf"(?P<label>{_LABEL})\s*(?P<list>{_LIST})", re.I)
"""A label followed by the numbers of one or more figures."""

CAPTION_NUMBER = re.compile(rf"\s*\**(?P<label>{_LABEL})\s*(?P<number>\d{{1,3}})", re.I)
"""The label and number with which a caption begins."""

_RANGE = re.compile(rf"(\d+){_PART}\)?{_SPAN}(?:{_LABEL}\s*)?\(?(\d+)", re.I)
# "a" is a range only after a plural: "las figuras 1 a 3", but "in Figure 1 a 3 kg block".
_RANGE_A = re.compile(
    r"\b(figuras|gr[aá]fic[oa]s|tab(?:el|l)as)\s+(\d{1,3})\s+a\s+(\d{1,3})\b", re.I
)


class Numbered(NamedTuple):
    """A figure or table by its printed number; papers count the two apart."""

    kind: Literal["figure", "table"]
    number: int

    def __str__(self) -> str:
        return f"{self.kind} {self.number}"


def referred_numbers(text: str, *, sure: bool = False) -> set[Numbered]:
    """All figures and tables that `text` refers to by number, ranges filled in.

    When `sure`, a list counts only after a plural ("Figures 1 and 2"), since what follows a
    singular may count other things ("in Figure 1, 3 springs hang").
    """
    found: set[Numbered] = set()
    for match in FIGURE_NUMBERS.finditer(text):
        label, listed = match.group("label"), match.group("list")
        numbers = [int(digits) for digits in re.findall(r"\d+", listed)]
        if sure and not label.rstrip(".").casefold().endswith(_PLURAL):
            del numbers[1:]
        else:
            for first, last in _RANGE.findall(listed):
                numbers += range(int(first), int(last) + 1)
        found.update(Numbered(_kind(label), number) for number in numbers)
    for label, first, last in _RANGE_A.findall(text):
        found.update(Numbered(_kind(label), n) for n in range(int(first), int(last) + 1))
    return found


def printed_number(caption: str | None) -> Numbered | None:
    """The number under which a caption presents its figure, or None."""
    match = CAPTION_NUMBER.match(caption or "")
    return Numbered(_kind(match["label"]), int(match["number"])) if match else None


def _kind(label: str) -> Literal["figure", "table"]:
    return "table" if label.casefold().startswith(("tab", "表")) else "figure"


def refers_to_pictures(text: str) -> bool:
    """Whether any word of `text` points at a picture."""
    return REFERENCE.search(text) is not None


def refers_to_all(text: str) -> bool:
    """Whether `text` speaks of its pictures together ("both graphs", "the figures")."""
    return _ALL.search(text) is not None
