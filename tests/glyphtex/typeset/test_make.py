"""What makes the typeset papers: the same ones each time, in the markup of each tool."""

from __future__ import annotations

from random import Random
from xml.etree import ElementTree

import pytest
from tests.glyphtex.typeset.make import typst_text, word
from tests.glyphtex.typeset.make.broken import write_broken
from tests.glyphtex.typeset.make.documents import write_paper
from tests.glyphtex.typeset.make.grammar import Grammar
from tests.glyphtex.typeset.make.tex import write_tex
from tests.glyphtex.typeset.make.typed import can_type, write_typed
from tests.glyphtex.typeset.make.written import read_table

WRITTEN = [latex for formulas in read_table().values() for latex in formulas]
MATHEMATICS = "http://schemas.openxmlformats.org/officeDocument/2006/math"


def test_a_paper_is_the_same_each_time_and_no_formula_stands_twice() -> None:
    papers = [write_paper("cm-shown", 5, 17) for _ in range(2)]
    assert write_tex(papers[0], "cm", colour=True) == write_tex(papers[1], "cm", colour=True)
    formulas = [formula.latex for formula in papers[0].list_formulas()]
    assert len(set(formulas)) == len(formulas) > 10
    assert write_paper("cm-held", 5, 17) != papers[0]


def test_a_paper_of_long_formulas_is_the_same_each_time() -> None:
    papers = [write_broken("cm-shown", "held", 17, lambda _: True) for _ in range(2)]
    assert write_tex(papers[0], "cm", colour=True) == write_tex(papers[1], "cm", colour=True)
    formulas = [formula.latex for formula in papers[0].list_formulas()]
    assert len(set(formulas)) == len(formulas) > 20
    assert all(latex.count("{") == latex.count("}") for latex in formulas)


def test_a_formula_is_typed_as_text_with_spaces_at_its_operators() -> None:
    markup = write_typed(r"a_{1} = -b + \sin \theta", (1, 2, 255))
    document = f'<w:p xmlns:w="urn:w">{markup}</w:p>'
    texts = [run.text for run in ElementTree.fromstring(document).iter("{urn:w}t")]
    assert texts == ["a", "1", " = ", "−", "b", " + ", "sin ", "θ"]
    assert markup.count('<w:vertAlign w:val="subscript"/>') == 1
    assert '<w:color w:val="0102FF"/>' in markup
    assert not can_type(r"\frac{a}{b}")
    assert not can_type("a_{1}^{2}")


@pytest.mark.parametrize("kind", list(Grammar(Random()).kinds))
def test_formulas_of_each_kind_are_written_for_typst_and_word(kind: str) -> None:
    grammar = Grammar(Random(kind))
    for latex in [*(grammar.draw(kind) for _ in range(30)), *read_table().get(kind, [])]:
        assert latex.count("{") == latex.count("}")
        assert typst_text.write_formula(latex)
        if word.can_set(latex):
            markup = word.write_formula(latex).replace(
                "<m:oMath>", f'<m:oMath xmlns:m="{MATHEMATICS}">'
            )
            assert ElementTree.fromstring(markup).tag.endswith("oMath")


@pytest.mark.parametrize(
    ("latex", "markup"),
    [
        (r"\frac{1}{2}mv^{2}", "frac(1, 2) m v^(2)"),
        (r"\ce{2H2 + O2 -> 2H2O}", '2"H"_(2) +"O"_(2) → 2"H"_(2)"O"'),
        (r"8.31\,\mathrm{J\,mol^{-1}}", '8.31 thin"J"thin"mol"^(- 1)'),
        (r"\left( \frac{a}{b} \right)^{2}", r"lr(\( frac(a, b) \))^(2)"),
    ],
)
def test_markup_of_typst(latex: str, markup: str) -> None:
    assert typst_text.write_formula(latex) == markup


def test_what_libreoffice_cannot_set_is_left_out() -> None:
    assert word.can_set(r"\frac{a}{b}")
    assert not word.can_set(r"\mathbf{F}")
    assert not word.can_set("(a")
    assert sum(map(word.can_set, WRITTEN)) > 0.9 * len(WRITTEN)
