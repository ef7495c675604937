"""Folder of a demonstration: tasks of every kind, people with passwords, a few decisions."""

from __future__ import annotations

import hashlib
import json
import secrets
import shutil
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final

from omibench.review.folder import REVIEWERS, TASKS, read_tasks
from omibench.review.hashing import hash_content
from omibench.review.kinds import KINDS
from omibench.review.kinds.declaration import Kind
from omibench.review.people import Reviewer
from omibench.review_app.demo.content import invent_content, invent_fields
from omibench.review_app.demo.pictures import draw_pictures
from omibench.review_app.log.database import set_password
from omibench.review_app.service import ReviewService, Submission
from omibench.schemas.review import ReviewTask, TaskPicture

PEOPLE: Final = (
    Reviewer(name="Ada", roles=["annotator"], simulated=True),
    Reviewer(name="Bo", roles=["auditor"], simulated=True),
    Reviewer(name="Cleo", roles=["senior"], simulated=True),
    Reviewer(name="Dan", roles=["annotator", "auditor"], simulated=True),
)
"""Invented people; their decisions are marked as simulated."""
SAMPLE: Final = Path("sample/review")
"""The review of the sample study in a checkout."""
IMAGES: Final = (SAMPLE / "pictures", Path("results/ocr"), Path("results/freeze"))
"""The picture folders of the sample study."""
_OF_EACH_KIND: Final = 3


def write_demo(
    folder: Path, sample: Path = SAMPLE, images: Sequence[Path] = IMAGES
) -> tuple[tuple[str, str, str], ...]:
    """Write a review for trying out the application.

    Args:
        folder: An empty folder.
        sample: The folder of a review whose tasks are added, if it exists.
        images: Folders to search for its pictures.

    Returns:
        Name, password and roles of each person.
    """
    pictures = draw_pictures(folder)
    tasks = [
        make_demo_task(kind, number, pictures)
        for number in range(1, _OF_EACH_KIND + 1)
        for kind in KINDS.values()
    ]
    lines = [task.model_dump_json() for task in tasks]
    (folder / TASKS).write_text("".join(f"{line}\n" for line in lines), "utf-8")
    people = [person.model_dump(mode="json", exclude_defaults=True) for person in PEOPLE]
    (folder / REVIEWERS).write_text(json.dumps(people, ensure_ascii=False), "utf-8")
    _add_sample(folder, sample, images)
    service = ReviewService(folder)
    try:
        _invent_decisions(service)
        return _set_passwords(service)
    finally:
        service.close()


def make_demo_task(kind: Kind, number: int, pictures: Sequence[TaskPicture]) -> ReviewTask:
    """Build an invented task of a kind.

    Args:
        kind: The kind.
        number: The number of the task within its kind.
        pictures: The pictures that the kind can show.
    """
    content = invent_content(kind)
    styles = {part.style for part in kind.parts}
    shown = [p for p in pictures if ("pages" if p.part == "page" else "images") in styles]
    problem = f"demo-{number}"
    return ReviewTask(
        id=f"{kind.name}:{problem}",
        kind=kind.name,
        problem=problem,
        content=content,
        content_hash=hash_content(kind, content, shown),
        pictures=shown,
        simulated=True,
    )


def _add_sample(folder: Path, sample: Path, images: Sequence[Path]) -> None:
    """Append the tasks of the sample study, open to everyone.

    Tasks with pictures that the study has not made yet are omitted.
    """
    if not (sample / TASKS).is_file():
        return
    tasks = [task for task in read_tasks(sample / TASKS).rows if task.purpose == "work"]
    needed = {picture.sha256 for task in tasks for picture in task.pictures}
    files = _find_pictures(needed, images) if needed else {}
    for task in tasks:
        if all(picture.sha256 in files for picture in task.pictures):
            for picture in task.pictures:
                shutil.copyfile(files[picture.sha256], folder / picture.file)
            with (folder / TASKS).open("a", encoding="utf-8") as file:
                file.write(task.model_copy(update={"people": {}}).model_dump_json() + "\n")


def _find_pictures(needed: Collection[str], folders: Sequence[Path]) -> dict[str, Path]:
    """Return the picture files by content hash."""
    files: dict[str, Path] = {}
    for path in (path for folder in folders for path in sorted(folder.glob("**/*.png"))):
        if path.is_file() and not path.is_symlink():
            sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
            if sha256 in needed:
                files[sha256] = path
    return files


def _invent_decisions(service: ReviewService) -> None:
    """Make decisions: in each kind, one task waits for its audit; one item is escalated."""
    people = service.content.people
    for kind in KINDS.values():
        if kind.design == "review" and kind.reviewers > 1:
            _decide(service, f"{kind.name}:demo-2", people["Ada"])
    _decide(service, "item:demo-3", people["Ada"])
    _decide(service, "item:demo-3", people["Bo"], is_last=True)


def _decide(service: ReviewService, name: str, person: Reviewer, is_last: bool = False) -> None:
    listed = service.content.tasks[name]
    opened = service.open_task(listed, person)
    fields = invent_fields(listed.kind, listed.task, is_last)
    base = opened.find_base(person) if opened else None
    submission = Submission(fields, "", 60.0, listed.task.content_hash, base)
    service.decide(listed, person, submission)


def _set_passwords(service: ReviewService) -> tuple[tuple[str, str, str], ...]:
    users = []
    with service.database.write() as connection:
        for person in service.content.people.values():
            password = secrets.token_urlsafe(9)
            set_password(connection, person.name, password)
            users.append((person.name, password, ", ".join(person.roles)))
    return tuple(users)
