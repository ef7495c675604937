"""Review tasks of a dataset and their decisions: lines of tasks.jsonl and decisions.jsonl.

Both are in one folder with `pictures/`, where each picture of a task is named by its hash.
`decisions.jsonl` is append-only: one event per line, and nothing is ever removed.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field, JsonValue, StringConstraints

from omibench.schemas.problem import BBox, FrozenModel

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]

ReviewRole = Literal["annotator", "auditor", "senior", "imported"]
"""Role of a reviewer (OMIBench, A.4): the first, the blind second, and the one whose decision is
final. Decisions exported from another program are `imported` and never an audit.
"""
TaskPurpose = Literal["work", "sample", "calibration", "familiarisation"]
"""`sample` is drawn from settled work to be reviewed again (A.4.3); `calibration` has a gold answer
hidden from the reviewer (A.3.2); `familiarisation` is not counted (K).
"""


class TaskPicture(FrozenModel):
    """A picture of a task: `pictures/SHA256.SUFFIX`.

    `image` is one of the problem's, in the order of its marks; `page` is a page of the paper,
    with the boxes of the extracted parts as shares of its width and height.
    """

    sha256: Sha256
    suffix: Annotated[str, StringConstraints(pattern=r"^(png|jpg|jpeg|gif|webp|bmp)$")]
    part: Literal["image", "page"] = "image"
    label: str = ""
    boxes: list[BBox] = []

    @property
    def file(self) -> str:
        """Its path in the folder of the review."""
        return f"pictures/{self.sha256}.{self.suffix}"


class ReviewedResponse(FrozenModel):
    """Response of a model that a task is about."""

    model: Name
    setting: Name
    id: Name
    """Id of the problem."""
    index: Annotated[int, Field(ge=0)] = 0
    """Index of the sample, from 0."""
    sha256: Sha256
    """Hash of its whole text, which identifies labels of another text (docs/certifying.md)."""


class ReviewTask(FrozenModel):
    """One question to reviewers about one subject: a line of tasks.jsonl.

    `content` contains the parts declared by the kind of task, by name. `content_hash` covers the
    parts that a decision is about (`review.hashing`).
    """

    id: Name
    """`KIND:SUBJECT`, such as `item:ipho-3` or `steps:MODEL/SETTING/ID#INDEX`; for a repeated task
    `KIND:SUBJECT@NAME`.
    """
    kind: Name
    problem: Name
    """Id of the problem, or the photograph."""
    content: dict[str, JsonValue]
    content_hash: Sha256
    pictures: list[TaskPicture] = []
    response: Annotated[
        ReviewedResponse | None, Field(exclude_if=lambda response: response is None)
    ] = None
    """Response that it is about; omitted if there is none."""
    people: dict[str, list[Name]] = {}
    """Assigned reviewers by role; a role without names is open to everyone with that role."""
    strata: dict[str, str] = {}
    """Strata of samples: type of problem, difficulty, source."""
    purpose: TaskPurpose = "work"
    of: str | None = None
    """For a sample: the task that is reviewed again."""
    gold: dict[str, JsonValue] = {}
    """For a calibration: the fields of the right decision, shown to no reviewer."""
    simulated: bool = False
    """Whether any of its text comes from a simulated model."""


class ReviewDecision(FrozenModel):
    """One event: a decision of one person on one task, in one role, at one time.

    `content_hash` is that of the task at the time of the decision: on other content the decision
    is stale. A field left unchanged is None.
    """

    id: Name
    """Unique among all events: an import takes each once."""
    task: Name
    """Id of the task."""
    kind: Name
    person: Name
    role: ReviewRole
    time: AwareDatetime
    content_hash: Sha256
    fields: dict[str, JsonValue]
    seconds: Annotated[float, Field(ge=0)] | None = None
    """Time that the task was displayed, without pauses."""
    comment: str = ""
    own_answer: str | None = None
    """The person's own answer to the problem, given before key and solution were shown; empty if
    they could not solve it. Omitted in kinds that show the key at once, and by earlier versions."""
    simulated: bool = False
    """Whether a program simulates the person."""


class ReviewCounts(FrozenModel):
    """Result of a review when its dataset was frozen, without names."""

    reviewers: Annotated[int, Field(ge=0, le=2)]
    """Number of reviewers required per problem (`review.reviewers`)."""
    kinds: list[Name]
    """Kinds of tasks (`review.kinds`)."""
    problems: Annotated[int, Field(ge=0)]
    """Frozen problems with a settled task."""
    dropped: Annotated[int, Field(ge=0)]
    """Problems removed by settled tasks."""
    people: Annotated[int, Field(ge=0)]
    """People whose decisions count."""
    simulated_people: Annotated[int, Field(ge=0)]
    """Number of them simulated by a program."""
    unsettled: Annotated[int, Field(ge=0)]
    """Escalated and stale tasks that were ignored because `review.reviewers` is 0."""
    head: Sha256
    """Head hash of decisions.jsonl."""
