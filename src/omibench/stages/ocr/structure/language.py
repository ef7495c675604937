"""Detect the language of a paper by its script and most frequent words."""

from __future__ import annotations

import re
from collections import Counter

UNKNOWN = "und"
"""The ISO 639 code of an undetermined language."""

_SCRIPTS = (
    ("ja", re.compile("[\u3040-\u30ff]")),
    ("ko", re.compile("[\uac00-\ud7af]")),
    ("zh", re.compile("[\u3400-\u9fff]")),
    ("ru", re.compile("[\u0400-\u04ff]")),
    ("el", re.compile("[\u0370-\u03ff]{3,}")),
    ("ar", re.compile("[\u0600-\u06ff]")),
    ("he", re.compile("[\u0590-\u05ff]")),
    ("hi", re.compile("[\u0900-\u097f]")),
    ("th", re.compile("[\u0e00-\u0e7f]")),
)
_WORDS = {
    "en": "the of and is in to which that are with for as by from how what this it be",
    "es": "de la el los las un una del que es en con por para cuál como se y al su más son",
    "pt": "de o a os as um uma do da dos das que é em com por para qual não ao na no são",
    "fr": "de la le les des un une du est dans avec pour quelle qui sur par au et ce sont il",
    "de": "der die das und ist ein eine mit von den dem zu für auf wie welche sind im",
    "it": "di la il gli della che è con per un una nel quale sono dei delle alla più non",
    "nl": "het een van en is dat op met voor zijn de welke deze wordt niet aan bij",
    "pl": "jest się na do nie że oraz który przez dla jak są po to od ze jego",
    "cs": "je se na že který pro do jsou jak jeho ve za byl kde tak nebo při",
    "tr": "bir ve bu için ile olan hangisi değil kadar olarak ne göre en çok",
    "vi": "của là và các một trong không được cho với những này khi bằng",
    "id": "yang dan di dari untuk dengan adalah pada ini sebuah tidak jika oleh",
    "hu": "az egy és hogy nem van mint amely meg ha csak mekkora milyen",
    "sv": "och är att det som en på av för med den ett till inte hur vilken",
    "ro": "și este care cu pe din sunt pentru mai nu prin al ale într dintre când",
}
_VOCABULARY = {code: frozenset(words.split()) for code, words in _WORDS.items()}
_FEWEST = 2


def detect_language(text: str) -> str:
    """Return the ISO 639-1 code of the language of a text; `und` if it is unclear."""
    letters = sum(c.isalpha() for c in text)
    for code, script in _SCRIPTS:
        # Kana among Chinese characters indicate Japanese, however few; letters in formulas do not
        # count.
        share = 0.02 if code == "ja" else 0.2
        if letters and sum(map(len, script.findall(text))) > share * letters:
            return code
    words = re.findall(r"[^\W\d_]+", text.lower())
    votes = Counter(
        {
            code: sum(word in vocabulary for word in words)
            for code, vocabulary in _VOCABULARY.items()
        }
    )
    (first, most_votes), (_, second) = votes.most_common(2)
    return first if most_votes >= _FEWEST and most_votes > second else UNKNOWN
