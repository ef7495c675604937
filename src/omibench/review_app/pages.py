"""The pages of the application as text: templates, filled with typed values.

Every value is escaped. A page holds no script or style of its own but the JSON of a task, so that
its policy needs no `unsafe-inline`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from omibench.web.templates import make_environment

PACKAGE: Final = "omibench.review_app"
STATIC_FOLDERS: Final[Mapping[str, tuple[str, str]]] = {
    "/static/katex": ("omibench.web", "vendored/katex"),
    "/static/web": ("omibench.web", "static"),
    "/static": (PACKAGE, "static"),
}
"""Where scripts, styles and fonts are served, and from which folder of which package. The first
address that fits counts."""
_ESCAPES = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


@dataclass(frozen=True)
class Visitor:
    """Who looks at a page.

    Attributes:
        name: The name in reviewers.yaml; empty before the login.
        roles: What the person may do.
        csrf: The token of the session, for forms and requests.
        is_demo: Whether everything is an invented demonstration.
        demo_users: Of a demonstration: names and passwords to log in with, with their roles.
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
        role: In which role.
        done: Tasks that the person has decided.
        total: All tasks of the person.
        next_task: Id of the next one that is open; None where there is none.
    """

    kind: str
    role: str
    done: int
    total: int
    next_task: str | None = None


@dataclass(frozen=True)
class TaskLine:
    """One task in a person's list.

    Attributes:
        id: Its id.
        kind: Title of the kind.
        role: In which role the person is asked.
        status: `open`, `draft`, `claimed` (another person has it open), `changed` (the content is
            another than the person decided on), `escalated` or `done`.
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
    """How far the tasks of one kind are.

    Attributes:
        kind: Title of the kind.
        counts: Tasks by status: `open`, `audit`, `escalated`, `settled`.
        stale: Tasks among them with a decision on other content.
    """

    kind: str
    counts: Mapping[str, int]
    stale: int = 0

    @property
    def total(self) -> int:
        """All tasks of the kind."""
        return sum(self.counts.values())


@dataclass(frozen=True)
class PersonLine:
    """What one person has decided.

    Attributes:
        name: The name.
        roles: The person's roles.
        decided: Number of decisions.
        median_seconds: Half of the decisions took less; None without any.
        simulated: Whether the person is invented.
    """

    name: str
    roles: tuple[str, ...]
    decided: int
    median_seconds: float | None = None
    simulated: bool = False


def render_login(visitor: Visitor, message: str = "", name: str = "", target: str = "/") -> str:
    """The page that asks for name and password; it posts `name`, `password`, `target`, `csrf`.

    Args:
        visitor: With the token that the form sends back.
        message: Why a login failed.
        name: What was typed before.
        target: The page to go to.
    """
    return _render(visitor, "login.html.j2", message=message, typed_name=name, target=target)


def render_task_list(
    visitor: Visitor, workloads: Sequence[Workload], tasks: Sequence[TaskLine], hidden: int = 0
) -> str:
    """A person's tasks.

    Args:
        visitor: The person.
        workloads: Per kind and role, how much is done.
        tasks: Those to list, open ones first.
        hidden: How many more there are.
    """
    values = {"workloads": workloads, "tasks": tasks, "hidden": hidden}
    return _render(visitor, "tasks.html.j2", **values)


def render_task(visitor: Visitor, document: Mapping[str, Any]) -> str:
    """The page of one task: the browser makes it from the JSON.

    Args:
        visitor: The person.
        document: Task, kind, role, draft, state, history and neighbours; it must hold nothing that
            the role may not see.
    """
    title = str(document["task"]["title"])
    return _render(visitor, "task.html.j2", title=title, document=escape_json(document))


def render_progress(
    visitor: Visitor,
    kinds: Sequence[KindLine],
    people: Sequence[PersonLine] = (),
    head: str = "",
) -> str:
    """How far all work is.

    Args:
        visitor: Who asks.
        kinds: The kinds of tasks.
        people: What each has decided; only for those who may see it.
        head: Hash of the log's last line.
    """
    return _render(visitor, "progress.html.j2", kinds=kinds, people=people, head=head)


def render_error(visitor: Visitor, title: str, message: str) -> str:
    """A page that says what is wrong and where to go."""
    return _render(visitor, "error.html.j2", title=title, message=message)


def escape_json(document: Any) -> str:
    """JSON that may stand in a script element: no sign in it ends the element or a line.

    Args:
        document: What JSON can hold.
    """
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).translate(_ESCAPES)


def link_task(task: str) -> str:
    """The address of a task; its id may hold any sign."""
    return f"/tasks/{quote(task, safe='')}"


def _render(visitor: Visitor, template: str, **values: Any) -> str:
    environment = make_environment(PACKAGE)
    environment.globals.setdefault("link_task", link_task)
    return environment.get_template(template).render(visitor=visitor, **values)
