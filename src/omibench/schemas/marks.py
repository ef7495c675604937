"""Marks of the built-in judges of reasoning, from 1 (worst) to 5, by instrument.

They are columns of JudgementRow and of label files, and dimensions of certificates.
"""

from __future__ import annotations

from typing import Final

QUALITY_MARKS: Final = (
    "correctness", "faithfulness", "information_usage", "clarity", "detail", "overall",
)  # fmt: skip
"""Marks of a rationale (OMIBench, B.2)."""
ALIGNMENT_MARK: Final = "alignment"
"""Mark of a rationale compared with the reference solution."""
MARKS: Final = (*QUALITY_MARKS, ALIGNMENT_MARK)
NO_ERROR: Final = "no_error"
"""The type of error of a right answer."""
MARKS_BY_INSTRUMENT: Final[dict[str, tuple[str, ...]]] = {
    "quality": QUALITY_MARKS,
    "alignment": (ALIGNMENT_MARK,),
}
LOWEST_MARK: Final = 1.0
HIGHEST_MARK: Final = 5.0
