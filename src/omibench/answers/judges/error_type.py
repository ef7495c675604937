"""The type of the first error of a wrong answer (OMIBench, F.2; EMMA, section 5; MathReal)."""

from __future__ import annotations

import re

from omibench.answers.judges.case import (
    JudgeCase,
    gold_section,
    question_section,
    reference_section,
    response_section,
)
from omibench.answers.judges.instrument import Instrument, register
from omibench.answers.judges.registry import Columns, judge
from omibench.answers.judges.scales import last_value, most
from omibench.answers.judges.taxonomies import TAXONOMIES, Taxonomy, load_taxonomy
from omibench.params.stages.judge import ErrorPanel
from omibench.schemas.verdict import NO_ERROR

_TOKEN = re.compile(r"[a-z][a-z0-9_]*")

INSTRUCTIONS = """\
A response to a problem was scored as wrong. Find its first error that is fatal, the one without \
which the official answer would have been reached, and name the type of its cause. Compare with \
the reference solution where one is given. Where several causes meet, name the earliest: what \
was misread before what was concluded from it. Where the response reaches the official answer \
after all, say so."""

CLOSING = """\
The types of errors:
{types}
- no_error: the response reaches the official answer

You may think first. The last line of your reply must have exactly this form, with one name from \
the list:
ERROR TYPE: name"""


def error_type(taxonomy: Taxonomy) -> Instrument[str]:
    """Return the judge that assigns one type of a taxonomy, or `no_error`."""
    names = {*taxonomy.types, NO_ERROR}
    listed = "\n".join(f"- {name}: {text}" for name, text in taxonomy.types.items())

    def read(reply: str, case: JudgeCase) -> str | None:
        value = (last_value(reply, "error type") or "").strip("*_` .").casefold()
        return value if _TOKEN.fullmatch(value) and value in names else None

    return Instrument(
        name="error_type",
        version=2,
        role="classifier",
        instructions=INSTRUCTIONS,
        closing=CLOSING.replace("{types}", listed),
        sections=lambda case: (
            question_section(case),
            gold_section(case),
            reference_section(case),
            response_section(case),
        ),
        read=read,
        vote=most,
        purpose="names the type of the first error of a wrong answer",
        source="OMIBench, B.2 and F.2 (for annotators)",
        optional=("question", "official_answer", "reference_solution"),
        lists={"types": listed},
    )


def fill_columns(label: str | None, panel: ErrorPanel) -> Columns:
    """Return the type and its taxonomy."""
    return {"error_type": label, "taxonomy": panel.taxonomy}


@judge("error_type", responses="wrong", fill_columns=fill_columns)
def build_error_type(panel: ErrorPanel) -> Instrument[str]:
    """Return the judge of the panel's taxonomy."""
    return error_type(load_taxonomy(panel.taxonomy))


register(name="error_type", instrument=error_type(TAXONOMIES["omibench"]))
