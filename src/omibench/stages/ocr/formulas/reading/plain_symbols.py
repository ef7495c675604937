"""What a character means by its Unicode alone, whatever its font."""

from __future__ import annotations

import unicodedata

from omibench.stages.ocr.formulas.marks import Kind, Symbol
from omibench.stages.ocr.formulas.reading.characters import Character

_KINDS: dict[str, Kind] = {
    **dict.fromkeys("([{⟨⌊⌈", "open"),
    **dict.fromkeys(")]}⟩⌋⌉", "close"),
    **dict.fromkeys("+-−±∓×·⋅*/÷∗∘⊙⊕⊗∪∩∧∨", "operator"),
    **dict.fromkeys("=<>≤≥≈≠≪≫∼≃≅≡∝∈∉⊂⊃⊆⊇∥⊥∣", "relation"),
    **dict.fromkeys("→←↔⇒⇐⇔↑↓⇌⟶⟵↦", "arrow"),
    **dict.fromkeys("∑∏∫∮⋃⋂", "large"),
    **dict.fromkeys("′″‴", "prime"),
    "√": "root",
}


def identify_character(character: Character) -> Symbol:
    """The symbol of a character.

    Args:
        character: What the text layer says of it.

    Returns:
        The symbol; of kind `unknown` where the PDF tells no Unicode.
    """
    text = unicodedata.normalize("NFKC", character.text)
    if character.code is not None or not text.strip():
        return Symbol("", "unknown")
    first = text[0]
    if first in _KINDS:
        return Symbol(text, _KINDS[first])
    if first.isdecimal():
        return Symbol(text, "digit")
    return Symbol(text, "letter" if first.isalpha() else "punctuation")
