"""Labels of figures and tables with their numbers, in ten languages."""

from __future__ import annotations

import re

SLAVIC = (
    r"obr|obráz(?:ek|k\w{1,3})|obrázcích|rys|rysun(?:ek|k\w{1,3})|рис|рисун(?:ок|к\w{1,3})|"
    r"graf(?:u|y|em|ech)?|wykres\w{0,3}|график\w{0,3}|schémat\w{1,2}|schemat\w{0,3}|схем\w{1,2}|"
    r"tab|tabul[kc]\w{1,3}|tabel[aieę]|tabelach|табл|таблиц\w{1,3}"
)
LABEL = (
    r"(?:\b(?:fig(?:ures?|uras?|uren|s)?|abb(?:ildung(?:en)?)?|bild(?:er)?|graphs?|diagramm?[es]?|"
    r"diagramas?|gr[aá]fic[oa]s?|esquemas?|sch[eé]mas?|images?|im[aá]gen(?:es)?|image(?:m|ns)|"
    r"tables?|tablas?|tableaux?|tabelas?|tabellen?|schemes?|panels?|photos?|pictures?|"
    rf"{SLAVIC})\b\.?(?:\s*(?:č|nr|№)\.?)?|图|圖|図|表|グラフ|写真)"
)
PLURAL = (
    "s", "x", "ungen", "uren", "bilder", "tabellen", "图", "圖", "図", "表", "グラフ", "写真",
    "obrázky", "obrázků", "obrázcích", "rysunki", "rysunków", "rysunkach", "wykresy", "wykresach",
    "рисунки", "рисунков", "рисунках", "графики", "графиках", "таблицы", "таблицах",
)  # fmt: skip
PART = r"(?:[a-hа-г]|\s?\([a-hа-г]\))?"
_ONE_NUMBER = rf"\(?\d{{1,3}}(?!\.?\d){PART}(?![a-z0-9])\)?"
_JOIN = (
    r"(?:\s*(?:,|;|/|&|、)\s*(?:and|und|et|y|e)?\s*|"
    r"\s+(?:and|or|und|oder|et|ou|y|e|o|u|i|oraz|lub|nebo|и|или)\s+|\s*(?:[和与及或とや]|および|及び|または)\s*)"
)
SPAN = r"(?:\s*(?:[-–—~～〜至到]|から)\s*|\s+(?:to|through|bis|à|al|até|až|по|до)\s+)"
_LIST = rf"{_ONE_NUMBER}(?:(?:{_JOIN}|{SPAN}(?:{LABEL}\s*)?){_ONE_NUMBER})*"

FIGURE_NUMBERS = re.compile(rf"(?P<label>{LABEL})\s*(?P<list>{_LIST})", re.I)
"""A label followed by the numbers of one or more figures."""

CAPTION_NUMBER = re.compile(rf"\s*\**(?P<label>{LABEL})\s*(?P<number>\d{{1,3}})", re.I)
"""The label and number at the start of a caption."""
