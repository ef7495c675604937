"""Pages of the application as text, from templates and typed values.

Every value is escaped. Pages have no inline script or style except the JSON of a task, so that
their policy does not need `unsafe-inline`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from omibench.web.templates import make_environment

PACKAGE: Final = "omibench.review.app"
_ESCAPES = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


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


@dataclass(frozen=True)
class MissLine:
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


@dataclass(frozen=True)
class TestLine:
    """A person's result in a calibration test.

    Attributes:
        kind: Title of the kind.
        name: Name of the set.
        status: `passed`, `failed`, `not done` or `no test`.
        agreeing: The number of decisions that agree with the gold ones.
        decided: The number of decisions.
        needed: The number of decisions that the test requires.
        kappa: Cohen's kappa of the verdicts; None if undefined.
        hurried: The number of decisions in less time than is credible.
        shortest: The least credible time of a decision, in seconds.
        misses: The answers that do not agree; shown only after the test.
    """

    kind: str
    name: str
    status: str
    agreeing: int
    decided: int
    needed: int
    kappa: float | None = None
    hurried: int = 0
    shortest: float = 0.0
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


@dataclass(frozen=True)
class PersonLine:
    """The work of one person.

    Attributes:
        name: The name.
        roles: The person's roles.
        decided: The number of decisions.
        median_seconds: The median time of a decision; None without decisions.
        hurried: The number of decisions in less time than is credible.
        simulated: Whether the person is simulated.
    """

    name: str
    roles: tuple[str, ...]
    decided: int
    median_seconds: float | None = None
    hurried: int = 0
    simulated: bool = False


def render_login(visitor: Visitor, message: str = "", name: str = "", target: str = "/") -> str:
    """Render the login page; its form posts `name`, `password`, `target`, `csrf`.

    Args:
        visitor: The visitor with the token of the form.
        message: The reason of a failed login.
        name: The name typed before.
        target: The page to open after the login.
    """
    return _render(visitor, "login.html.j2", message=message, typed_name=name, target=target)


def render_task_list(
    visitor: Visitor,
    workloads: Sequence[Workload],
    tasks: Sequence[TaskLine],
    hidden: int = 0,
    tests: Sequence[TestLine] = (),
) -> str:
    """Render a person's tasks.

    Args:
        visitor: The person.
        workloads: Progress per kind and role.
        tasks: The tasks to list, open ones first.
        hidden: The number of tasks not listed.
        tests: Results of the person's calibration tests.
    """
    values = {"workloads": workloads, "tasks": tasks, "hidden": hidden, "tests": tests}
    return _render(visitor, "tasks.html.j2", **values)


def render_task(visitor: Visitor, document: Mapping[str, Any]) -> str:
    """Render the page of one task; the browser builds it from the JSON.

    Args:
        visitor: The person.
        document: Task, kind, role, draft, state, history and neighbours, without anything hidden
            from the role.
    """
    title = str(document["task"]["title"])
    return _render(visitor, "task.html.j2", title=title, document=escape_json(document))


def render_progress(
    visitor: Visitor,
    kinds: Sequence[KindLine],
    people: Sequence[PersonLine] = (),
    head: str = "",
    shortest_seconds: float = 0.0,
) -> str:
    """Render the overall progress.

    Args:
        visitor: The person.
        kinds: The kinds of tasks.
        people: Each person's work; only if the visitor can see it.
        head: The head hash of decisions.jsonl.
        shortest_seconds: The least credible time of a decision.
    """
    values = {"kinds": kinds, "people": people, "head": head, "shortest": shortest_seconds}
    return _render(visitor, "progress.html.j2", **values)


def render_error(visitor: Visitor, title: str, message: str) -> str:
    """Render an error page with a link to continue."""
    return _render(visitor, "error.html.j2", title=title, message=message)


def escape_json(document: Any) -> str:
    """Return JSON that is safe inside a script element and on one line.

    Args:
        document: A JSON value.
    """
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).translate(_ESCAPES)


def link_task(task: str) -> str:
    """Return the address of a task; its id can contain any character."""
    return f"/tasks/{quote(task, safe='')}"


def _render(visitor: Visitor, template: str, **values: Any) -> str:
    environment = make_environment(PACKAGE)
    environment.globals.setdefault("link_task", link_task)
    return environment.get_template(template).render(visitor=visitor, **values)
