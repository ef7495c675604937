"""Certificates of judges, and what a study consists of."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from omibench.schemas.problem import FrozenModel

CERTIFICATE_FILE, REASONING_FILE = "certificate.json", "reasoning.json"
"""Output of the stage `certify`: for the judge of answers, and for judges of reasoning."""
DISAGREEMENTS_FILE = "disagreements.jsonl"
"""Additional output: responses on which scorer and judge disagree."""
ALL_TYPES = "all"
"""Used in place of an answer type: all labels together."""


class Measure(FrozenModel):
    """A figure with its interval; None if the labels do not determine it.

    `n` is the number of labels; `n_eff` is their effective number if several belong to one problem.
    """

    value: float | None
    lo: float | None
    hi: float | None
    n: int
    n_eff: float | None = None


UNKNOWN = Measure(value=None, lo=None, hi=None, n=0)


class JudgeQuality(FrozenModel):
    """The judge compared with the labels of one answer type, or of all.

    `agreement`: share of labels that the judge reproduces; `kappa`: Cohen's; `ac1`: Gwet's AC1;
    `positive` and `negative`: share of the ratings `right` and `wrong` of both that the other
    shares; `spearman`: between graded labels and the judge's scores; `tpr` and `fpr`: share of
    right and of wrong responses that the judge accepts. `share_right` is the accuracy by human
    labels, `judged_right` the judge's, and `corrected` the latter corrected for `tpr` and `fpr`
    (Rogan and Gladen 1978).
    """

    agreement: Measure
    kappa: Measure
    ac1: Measure = UNKNOWN
    positive: Measure = UNKNOWN
    negative: Measure = UNKNOWN
    spearman: Measure
    tpr: Measure
    fpr: Measure
    share_right: Measure
    judged_right: Measure
    corrected: Measure


class QuadrantCounts(FrozenModel):
    """Scorer x judge over scored responses of one model (OMIBench, C.3), or of all (`model` "").

    `labelled_right` contains human labels for each of the four: [right, labelled].
    """

    model: str
    both_right: int
    both_wrong: int
    judge_only: int
    rules_only: int
    labelled_right: dict[str, tuple[int, int]] = {}


class Certificate(FrozenModel):
    """Agreement of a judge with labels, and its comparison with the scorer."""

    judge: str
    """Keys of the judge models in the study's params, joined by +."""
    identity: list[dict[str, Any]]
    """Fields of each model's block that affect its answers."""
    prompt_sha256: str
    labels: str
    """Name of the label file."""
    labels_sha256: str
    n: int
    """Labelled responses that the judge scored."""
    problems: int
    judge_failed: int
    """Labelled responses without a verdict of the judge; included only in this figure."""
    not_judged: int
    """Labelled responses that were not sent to the judge: refused, empty, looping, truncated."""
    stale: int
    """Labels of a response that has changed since; excluded."""
    unknown: int = 0
    """Labels of responses that this study does not have; excluded."""
    left_out: dict[str, list[str]] = {}
    """Reason for excluding labels -> their responses."""
    confidence: float
    quality: dict[str, JudgeQuality]
    """By answer type, and `all`."""
    by_model: dict[str, JudgeQuality] = {}
    """By model whose responses were labelled."""
    rules: str
    """Scorer of the four-way table."""
    four_way: list[QuadrantCounts]
    simulated: bool
    """Whether judgements or labels are simulated: a rehearsal, not a certificate."""
    study: str


class Confusion(FrozenModel):
    """How often the judge gives a type when the human label is another or the same.

    `share` is that of the responses with the human label `label`.
    """

    label: str
    judge: str
    count: int
    share: Measure


class MarkQuality(FrozenModel):
    """The judge's marks of one dimension compared with human marks, both from 1 to 5.

    `spearman` is the rank correlation; `within_one` and `exact` are the shares of responses on
    which the two marks differ by at most one grade, and are equal.
    """

    spearman: Measure
    within_one: Measure
    exact: Measure


class ReasoningCertificate(FrozenModel):
    """Agreement of a judge of reasoning: on types of errors, or on marks.

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
    """For types of errors; `kappa` is Cohen's, over all types that occur."""
    kappa: Measure | None = None
    confusion: list[Confusion] = []
    marks: dict[str, MarkQuality] = {}
    """By dimension, if there are human marks."""
    simulated: bool
    study: str


class ReasoningCertificates(FrozenModel):
    """`reasoning.json` of certify: one certificate per instrument with human labels."""

    certificates: list[ReasoningCertificate]


class DisagreementRow(FrozenModel):
    """One response on which scorer and judge disagree, for reading.

    `source` is filled in by you: no_effective_reasoning, reasoning_error, rule_match_error or
    other (OMIBench, C.3); `label` makes the row a human label.
    """

    id: str
    model: str
    setting: str
    index: int
    disagreement: str
    """`judge_only`: only the judge accepts it; `rules_only`: only the scorer does."""
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
    """Hash of `response`: labels of another text are excluded."""


# What a study consists of, as the last run of its graph noted in its results folder.


class StudyRecord(BaseModel):
    """The current cells of a study; files of other cells are left over from earlier parameters."""

    model_config = ConfigDict(frozen=True)

    version: int = 1
    cells: dict[str, list[tuple[str, str]]]
    """Stage with a file per cell -> model and setting of each of its cells."""
    aggregates: dict[str, str]
    """Setting that chooses one of several samples -> how: `first`, `majority`, ..."""
    labels: dict[str, str]
    """Model or setting with a cell -> its display name, if it has one."""
    main_rules: str | None
    """The scorer of the headline."""


# `journal.json` of reevaluate: state of each model found by a watch.

State = Literal["begun", "done", "waiting", "pending", "cancelled"]


class Sighting(FrozenModel):
    """A model found by a watch: `pending` until you approve it, `waiting` for a budget, `begun`,
    `done` and on the board, or `cancelled`.

    A model stopped by a budget is on the board and waiting.
    """

    model: str
    id: str
    watch: str
    state: State
    when: str
    """Time of the last change of state, in UTC."""
    why: str | None = None
    cap_usd: float | None = None
    """Spending limit of the study when this model was stopped; raise it to continue."""
    approved: bool = False
    """Whether its evaluation was approved."""
    run: str | None = None
    """Id of the flow run that evaluates it."""


class Journal(BaseModel):
    """`journal.json` of reevaluate: state of each model found by a watch."""

    model_config = ConfigDict(extra="forbid")

    models: list[Sighting] = []
    retired: dict[str, str] = {}
    """Models of the study that their endpoint has stopped listing, with the time, in UTC."""
    posted: dict[str, str] = {}
    """The last failure that was posted, by event, until a run succeeds."""
    costs_month: str = ""
    """The month in which the costs of the one before were last posted."""
    drift_month: str = ""
    """The month of the last drift check."""


# Machine-readable leaderboard: `board.json` of a published folder.


class LeaderboardRow(BaseModel):
    """Accuracy of a model under a setting, by one scorer, on one subject or `total`.

    Shares are in [0, 1]; `low` and `high` bound the interval of the report. `rank` and its range
    by the paired tests are only in totals of the report's main scorer.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str
    label: str
    group: str
    setting: str
    rules: str
    subject: str
    n: int
    estimate: float
    low: float
    high: float
    simulated: bool
    """Whether the responses or their judge are simulated."""
    rank: int | None = None
    rank_low: int | None = None
    rank_high: int | None = None


class Leaderboard(BaseModel):
    """All rows of a study's leaderboard."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal["omibench-board"] = "omibench-board"
    version: Literal[1] = 1
    """Incremented when a column is renamed or changes meaning."""
    dataset: str
    partial: str = ""
    """For a partial run, the number of evaluated problems and of all problems."""
    rows: list[LeaderboardRow]
