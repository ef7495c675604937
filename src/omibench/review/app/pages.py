"""Pages of the application as text, from templates and typed values.

Every value is escaped. Pages have no inline script or style except the JSON of a task, so that
their policy does not need `unsafe-inline`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from omibench.review.calibration import CalibrationResult
from omibench.review.people import Reviewer
from omibench.web.templates import make_environment

PACKAGE: Final = "omibench.review.app"


@dataclass(frozen=True)
class Visitor:
    """The person who views a page.

    Attributes:
        name: The name in reviewers.yaml; empty before the login.
        roles: The person's roles.
        csrf: The token of the session, for forms and requests.
        is_demo: Whether this is a demonstration.
        demo_users: In a demonstration: the names and passwords to log in with, with their roles.
    """

    name: str = ""
    roles: tuple[str, ...] = ()
    csrf: str = ""
    is_demo: bool = False
    demo_users: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True)
class Workload:
    """The tasks of one kind that a person has in one role.

    Attributes:
        kind: Title of the kind.
        role: The role.
        done: The number of tasks that the person has decided.
        total: The number of all tasks of the person.
        next_task: Id of the next open task, or None.
    """

    kind: str
    role: str
    done: int
    total: int
    next_task: str | None = None


class MissLine(NamedTuple):
    """One answer of a calibration test that was not the expected one.

    Attributes:
        task: Id of the task.
        field: Title of the field.
        given: The person's answer.
        expected: The gold answer.
    """

    task: str
    field: str
    given: str
    expected: str


class ResultLine(NamedTuple):
    """A person's result in a calibration test.

    Attributes:
        kind: Title of the kind.
        result: The result.
        misses: The answers that do not agree; shown only after the test.
    """

    kind: str
    result: CalibrationResult
    misses: tuple[MissLine, ...] = ()


@dataclass(frozen=True)
class TaskLine:
    """One task in a person's list.

    Attributes:
        id: Its id.
        kind: Title of the kind.
        role: The person's role in the task.
        status: `open`, `draft`, `claimed` (another person has it open), `changed` (the content has
            changed since the person's decision), `escalated` or `done`.
        purpose: `work`, `sample`, `calibration` or `familiarisation`.
        simulated: Whether its texts come from a simulated model.
    """

    id: str
    kind: str
    role: str
    status: str
    purpose: str = "work"
    simulated: bool = False


@dataclass(frozen=True)
class KindLine:
    """The progress of one kind.

    Attributes:
        kind: Title of the kind.
        counts: The number of tasks by status: `open`, `audit`, `escalated`, `settled`.
        stale: The number of tasks with a decision on other content.
    """

    kind: str
    counts: Mapping[str, int]
    stale: int = 0

    @property
    def total(self) -> int:
        """The number of all tasks of the kind."""
        return sum(self.counts.values())


class PersonLine(NamedTuple):
    """The work of one person.

    Attributes:
        person: The person.
        decided: The number of decisions.
        median_seconds: The median time of a decision; None without decisions.
        hurried: The number of decisions in less time than is credible.
    """

    person: Reviewer
    decided: int
    median_seconds: float | None = None
    hurried: int = 0


def render(visitor: Visitor, page: str, **values: Any) -> str:
    """Render a page.

    Args:
        visitor: The person who views it.
        page: `login`, `tasks`, `task`, `progress` or `error`: the name of the template.
        values: Variables of the template.
    """
    environment = make_environment(PACKAGE)
    environment.globals.setdefault("link_task", link_task)
    return environment.get_template(f"{page}.html.j2").render(visitor=visitor, **values)


def link_task(task: str) -> str:
    """Return the address of a task; its id can contain any character."""
    return f"/tasks/{quote(task, safe='')}"
