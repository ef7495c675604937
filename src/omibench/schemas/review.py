"""What people are asked of a dataset and what they decide: lines of tasks.jsonl, decisions.jsonl.

Both lie in one folder, beside `pictures/`, where each picture that a task shows is named by its
hash. `decisions.jsonl` is append-only: one event a line, and nothing is ever taken out.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field, JsonValue, StringConstraints

from omibench.schemas.problem import BBox, Noun

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]

ReviewRole = Literal["annotator", "auditor", "senior", "imported"]
"""Who decides (OMIBench, A.4): the first reader, the blind second one, and the one whose decision
binds. What another program exported is `imported` and never an audit."""
TaskPurpose = Literal["work", "sample", "calibration", "familiarisation"]
"""`sample` is drawn from settled work to be judged again (A.4.3); `calibration` has a gold answer
that its reader does not see (A.3.2); `familiarisation` counts for nothing (K)."""


class TaskPicture(Noun):
    """A picture that a task shows: `pictures/SHA256.SUFFIX`.

    `image` is one of the problem's, in the order of its marks; `page` is a page of the paper, with
    the boxes of what was read from it, as shares of its width and height.
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


class ReviewedResponse(Noun):
    """The response of a model that a task is about."""

    model: Name
    setting: Name
    id: Name
    """The problem."""
    index: Annotated[int, Field(ge=0)] = 0
    """Which sample, from 0."""
    sha256: Sha256
    """Of its whole text, by which labels of another text are told (docs/certifying.md)."""


class ReviewTask(Noun):
    """One question to people about one thing: a line of tasks.jsonl.

    `content` holds the parts that the kind of task declares, by name. `content_hash` is over those
    that a decision is about (`review.hashing`).
    """

    id: Name
    """`KIND:SUBJECT`, such as `item:ipho-3` or `steps:MODEL/SETTING/ID#INDEX`; of a task that is
    asked again for another purpose `KIND:SUBJECT@NAME`."""
    kind: Name
    problem: Name
    """The problem, or the photograph."""
    content: dict[str, JsonValue]
    content_hash: Sha256
    pictures: list[TaskPicture] = []
    response: Annotated[
        ReviewedResponse | None, Field(exclude_if=lambda response: response is None)
    ] = None
    """The response that it is about; left out where it is about none."""
    people: dict[str, list[Name]] = {}
    """Who is asked, by role; a role without names is open to everybody who has it."""
    strata: dict[str, str] = {}
    """What samples are stratified by: type of problem, difficulty, source."""
    purpose: TaskPurpose = "work"
    of: str | None = None
    """Of a sample: the task that is judged again."""
    gold: dict[str, JsonValue] = {}
    """Of a calibration: the fields of the right decision. It is shown to nobody."""
    simulated: bool = False
    """Whether a text of it comes from a simulated model."""


class ReviewDecision(Noun):
    """One event: what one person decided on one task, in one role, at one time.

    `content_hash` is that of the task when it was decided: on other content the decision is stale.
    A field that a person left as it was is None.
    """

    id: Name
    """Unique among all events: an import takes each once."""
    task: Name
    """The id of the task."""
    kind: Name
    person: Name
    role: ReviewRole
    time: AwareDatetime
    content_hash: Sha256
    fields: dict[str, JsonValue]
    seconds: Annotated[float, Field(ge=0)] | None = None
    """Time that the task was in front of the person, pauses left out."""
    comment: str = ""
    simulated: bool = False
    """Whether a program stands in for the person."""


class ReviewCounts(Noun):
    """What a review came to when its dataset was frozen; names of people are left out."""

    reviewers: Annotated[int, Field(ge=0, le=2)]
    """How many people the study asks to decide on each problem (`review.reviewers`)."""
    kinds: list[Name]
    """In which kinds of task (`review.kinds`)."""
    problems: Annotated[int, Field(ge=0)]
    """Frozen problems of which some task was settled."""
    dropped: Annotated[int, Field(ge=0)]
    """Problems that settled tasks took out."""
    people: Annotated[int, Field(ge=0)]
    """People whose decisions count."""
    simulated_people: Annotated[int, Field(ge=0)]
    """Those of them for whom a program stands in."""
    unsettled: Annotated[int, Field(ge=0)]
    """Escalated and stale tasks that were let pass, since `review.reviewers` is 0."""
    head: Sha256
    """The head hash of decisions.jsonl."""
