"""The nouns of calibration: what a judge was found to be, against the labels of people.

A certificate belongs to one instrument, judge models and prompt. It is a file of its own, so that
one study's labels can certify the judge of the next.
"""

from __future__ import annotations

from typing import Any

from omibench.schemas.problem import Noun

CERTIFICATE_FILE, REASONING_FILE = "certificate.json", "reasoning.json"
"""What the stage `certify` writes: of the judge of answers, and of judges of reasoning."""
DISAGREEMENTS_FILE = "disagreements.jsonl"
"""Beside them: responses on which rule book and judge disagree."""
ALL_TYPES = "all"
"""In place of an answer type: all labels together."""


class Measure(Noun):
    """A figure with its interval; None where the labels cannot tell it.

    `n` labels tell it; `n_eff` is what they are worth, where several are of one problem.
    """

    value: float | None
    lo: float | None
    hi: float | None
    n: int
    n_eff: float | None = None


class JudgeQuality(Noun):
    """The judge against the labels of one answer type, or of all.

    `agreement`: share of labels that the judge repeats; `kappa`: Cohen's; `spearman`: between
    graded labels and the judge's scores; `tpr` and `fpr`: share of right and of wrong responses
    that the judge calls right. `share_right` is people's accuracy, `judged_right` the judge's, and
    `corrected` the latter corrected for `tpr` and `fpr` (Rogan and Gladen 1978).
    """

    agreement: Measure
    kappa: Measure
    spearman: Measure
    tpr: Measure
    fpr: Measure
    share_right: Measure
    judged_right: Measure
    corrected: Measure


class FourWay(Noun):
    """Rule book x judge over scored responses of one model (OMIBench, C.3), or of all (`model` "").

    `labelled_right` holds, for each of the four, labels of people: [right, labelled].
    """

    model: str
    both_right: int
    both_wrong: int
    judge_only: int
    rules_only: int
    labelled_right: dict[str, tuple[int, int]] = {}


class Certificate(Noun):
    """What a judge was found to be, on which labels, and how it stands to the rule book."""

    judge: str
    """Keys of the judge models in the study's params, joined by +."""
    identity: list[dict[str, Any]]
    """What of each model's block changes its answers."""
    prompt_sha256: str
    labels: str
    """Name of the label file."""
    labels_sha256: str
    n: int
    """Labelled responses that the judge scored."""
    problems: int
    judge_failed: int
    """Labelled responses on which the judge gave no verdict: in no figure but this one."""
    not_judged: int
    """Labelled responses that were not sent to the judge: refused, empty, looping, cut off."""
    stale: int
    """Labels of a response that is another one by now, left out."""
    unknown: int = 0
    """Labels of responses that this study does not have, left out."""
    left_out: dict[str, list[str]] = {}
    """Why labels were not used -> of which responses they are."""
    confidence: float
    quality: dict[str, JudgeQuality]
    """By answer type, and `all`."""
    rules: str
    """The rule book of the four-way table."""
    four_way: list[FourWay]
    simulated: bool
    """Whether judgements or labels are simulated: a rehearsal, not a certificate."""
    study: str


class Confusion(Noun):
    """How often the judge names a type where people name another or the same.

    `share` is that of the responses that people call `label`.
    """

    label: str
    judge: str
    count: int
    share: Measure


class MarkQuality(Noun):
    """The judge's marks of one dimension against people's, both from 1 to 5.

    `spearman` is the rank correlation; `within_one` and `exact` are the shares of responses on
    which the two marks lie at most one grade apart, and are the same.
    """

    spearman: Measure
    within_one: Measure
    exact: Measure


class ReasoningCertificate(Noun):
    """What a judge of reasoning was found to be: of types of errors, or of marks.

    The other fields are as in a Certificate.
    """

    instrument: str
    """`quality`, `alignment` or `error_type`."""
    judge: str
    identity: list[dict[str, Any]]
    prompt_sha256: str
    labels: str
    labels_sha256: str
    n: int
    problems: int
    judge_failed: int
    not_judged: int
    left_out: dict[str, list[str]] = {}
    confidence: float
    taxonomy: str | None = None
    agreement: Measure | None = None
    """Of types of errors; `kappa` is Cohen's, over all types that occur."""
    kappa: Measure | None = None
    confusion: list[Confusion] = []
    marks: dict[str, MarkQuality] = {}
    """By dimension, where people marked it."""
    simulated: bool
    study: str


class ReasoningCertificates(Noun):
    """`reasoning.json` of certify: one certificate an instrument that people labelled."""

    certificates: list[ReasoningCertificate]


class DisagreementRow(Noun):
    """One response on which rule book and judge disagree, for a person to read.

    `source` is for the reader to fill in: no_effective_reasoning, reasoning_error,
    rule_match_error or other (OMIBench, C.3); `label` makes the row a human label.
    """

    id: str
    model: str
    setting: str
    index: int
    disagreement: str
    """`judge_only`: the judge alone calls it right; `rules_only`: the rule book alone does."""
    question: str
    gold: list[str]
    response: str
    extracted: str | None
    by_rules: float
    method: str
    by_judge: float
    judge_key: str | None
    source: str | None = None
    label: float | None = None
    response_sha256: str | None = None
    """Of `response`: labels of another text are left out."""
