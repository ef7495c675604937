"""Preservation of a printed text in a transcript: key terms and meaning (MathReal, OCR accuracy).

In the published metric a model decides what characters cannot show; numbers, structure and the
lexical part are compared by rules (`ocr_quality.transcripts`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from omibench.answers.judges.case import JudgeCase, clip
from omibench.answers.judges.instrument import Instrument, register
from omibench.answers.judges.registry import Columns, judge
from omibench.answers.judges.scales import last_object, middle, whole_number
from omibench.params.panel import JudgePanel
from omibench.text.fences import Section

KEYS = ("key-terms", "semantics")


class TranscriptScores(NamedTuple):
    """Preserved shares of the printed text in [0, 1]; medians for several judges."""

    terms: float
    semantics: float


INSTRUCTIONS = """\
You compare a transcript of a printed problem with the text that was printed, and say how much of \
it the transcript kept. You neither solve the problem nor mark its difficulty. Give two whole \
numbers from 0 to 100.

- key-terms: the share of the names, technical terms, symbols and other words that carry the \
problem which stand in the transcript and mean the same; a misspelling that leaves no doubt \
counts as kept.
- semantics: how much of the meaning, sentence by sentence, a reader of the transcript alone would \
get. 100 all of it; 50 half of the sentences, or all with conditions changed; 0 another problem or \
nothing. Text that was not printed costs as much as it misleads.

Differences of space, punctuation, notation of formulas and order of lines that mislead nobody \
cost nothing."""

CLOSING = """\
Reply with one JSON object on one line and nothing else, each N a whole number from 0 to 100:
{"key-terms": N, "semantics": N}"""


def read(reply: str, case: JudgeCase) -> TranscriptScores | None:
    """Read the shares of the JSON object that ends a reply; None unless both are valid."""
    fields = last_object(reply, KEYS)
    marks = [mark for key in KEYS if (mark := whole_number(fields.get(key), 0, 100)) is not None]
    return TranscriptScores(*(mark / 100 for mark in marks)) if len(marks) == len(KEYS) else None


def vote(votes: Sequence[TranscriptScores]) -> TranscriptScores | None:
    """Return the median of each share."""
    shares = [share for column in zip(*votes, strict=True) if (share := middle(column)) is not None]
    return TranscriptScores(*shares) if shares else None


def _sections(case: JudgeCase) -> tuple[Section, Section]:
    return (
        Section("PRINTED TEXT", clip(case.reference or "") or "(empty)"),
        Section("TRANSCRIPT", clip(case.response) or "(empty)"),
    )


TRANSCRIPT: Instrument[TranscriptScores] = register(
    Instrument(
        name="transcript",
        version=1,
        role="rater",
        instructions=INSTRUCTIONS,
        closing=CLOSING,
        sections=_sections,
        read=read,
        vote=vote,
        purpose="says what a transcript keeps of a printed text",
    )
)


def fill_columns(shares: TranscriptScores | None, panel: JudgePanel) -> Columns:
    """Return one column per share."""
    return shares._asdict() if shares else {}


@judge("transcript", responses="transcribed", fill_columns=fill_columns)
def build_transcript(panel: JudgePanel) -> Instrument[TranscriptScores]:
    """Return the same judge for every panel."""
    return TRANSCRIPT
