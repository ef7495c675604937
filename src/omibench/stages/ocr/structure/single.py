"""Read a photograph of one problem, with or without its number."""

from __future__ import annotations

from dataclasses import replace

from omibench.stages.ocr.keys.inline import without_arrows
from omibench.stages.ocr.layout.layout import Item, Line
from omibench.stages.ocr.structure.choices import split_choices
from omibench.stages.ocr.structure.document import Document
from omibench.stages.ocr.structure.drafts import Draft
from omibench.stages.ocr.structure.numbering import read_number


def only_problem(document: Document) -> list[Draft]:
    """Return the whole page as one problem; none if it is empty.

    Its number is that of its first numbered line, and the text above that line belongs to it;
    without any it is problem 1.
    """
    items: list[Item] = list(document.flow)
    if not any(isinstance(item, Line) for item in items):
        return []
    for index, item in enumerate(items):
        number = read_number(item.text) if isinstance(item, Line) and item.starts else None
        if isinstance(item, Line) and number:
            items[index] = replace(item, text=item.text[number.end :].lstrip())
            break
    else:
        number = None
    statement, options = split_choices([i for i in items if not isinstance(i, Line) or i.text])
    value = number.value if number else 1
    pages = sorted({item.page for item in document.flow})
    return [Draft(str(value), pages, without_arrows(statement), options, None, None, value=value)]
