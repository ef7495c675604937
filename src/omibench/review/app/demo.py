"""Invented content for tasks of every kind."""

from __future__ import annotations

import hashlib
import secrets
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pydantic import JsonValue

from omibench.params.review import REVIEWERS, TASKS
from omibench.review.app.database import set_password
from omibench.review.app.service import ReviewService, Submission
from omibench.review.contents import hash_content
from omibench.review.folder import read_tasks
from omibench.review.kinds import KINDS
from omibench.review.kinds.declaration import Kind, is_asked, list_options
from omibench.review.people import Reviewer, format_reviewers
from omibench.schemas.problem import BBox
from omibench.schemas.review import ReviewTask, TaskPicture
from omibench.schemas.tables import write_jsonl

if TYPE_CHECKING:
    from PIL.Image import Image


SOLUTION: Final = (
    "The heat from the acid warms solution and calorimeter: $Q = C\\,\\Delta T$ with "
    "$\\Delta T = 6.2\\ \\mathrm{K}$ from [IMAGE1].\n\n"
    "For $\\ce{HCl + NaOH -> NaCl + H2O}$ the smaller amount counts, "
    "$n = 0.050\\ \\mathrm{mol}$.\n\n"
    "$$\\Delta H = -\\frac{C\\,\\Delta T}{n} = -\\frac{450 \\cdot 6.2}{0.050}\\ "
    "\\mathrm{J\\,mol^{-1}} = -56\\ \\mathrm{kJ\\,mol^{-1}}$$"
)
_CHOICES: Final[JsonValue] = [
    {"label": label, "text": f"${value}\\ \\mathrm{{kJ\\,mol^{{-1}}}}$", "image": None}
    for label, value in (("A", "-56"), ("B", "-28"), ("C", "+56"))
]
_TEXTS: Final[Mapping[str, JsonValue]] = {
    "question": (
        "A calorimeter with the heat capacity $C = 450\\ \\mathrm{J\\,K^{-1}}$ is filled as in "
        "[IMAGE0]; then $\\ce{HCl}$ and $\\ce{NaOH}$ react. The temperature runs as in [IMAGE1]. "
        "What is the enthalpy of neutralisation, $\\Delta H$?"
    ),
    "original_question": (
        "Ein Kalorimeter mit der Wärmekapazität $C = 450\\ \\mathrm{J\\,K^{-1}}$ wird gefüllt wie "
        "in [IMAGE0]; dann reagieren $\\ce{HCl}$ und $\\ce{NaOH}$. Die Temperatur verläuft wie in "
        "[IMAGE1]. Wie groß ist die Neutralisationsenthalpie $\\Delta H$?"
    ),
    "choices": _CHOICES,
    "original_choices": _CHOICES,
    "answer": ["A"],
    "solution": SOLUTION,
    "reference": "Read the rise of the temperature, take the limiting amount, divide.",
    "response": SOLUTION.replace("-56", "-28").replace("0.050", "0.100"),
    "candidates": [
        {"id": "1", "title": "Candidate 1: right", "text": SOLUTION},
        {"id": "2", "title": "Candidate 2: right", "text": f"{SOLUTION}\n\nSo the answer is A."},
        {"id": "3", "title": "Candidate 3: wrong", "text": SOLUTION.replace("-56", "-28")},
    ],
    "steps": [
        "The temperature rises by $6.2\\ \\mathrm{K}$.",
        "Both amounts add up to $0.100\\ \\mathrm{mol}$.",
        "So $\\Delta H = -28\\ \\mathrm{kJ\\,mol^{-1}}$.",
    ],
    "error_types": [
        {"value": "perception", "title": "Perception", "help": "A picture was misread."},
        {"value": "reasoning", "title": "Reasoning", "help": "A step does not follow."},
        {"value": "knowledge", "title": "Knowledge", "help": "A law or fact is wrong."},
    ],
    "subfields": ["Thermochemistry", "Kinetics", "Electrochemistry"],
    "subject": "chemistry",
    "subfield": "Thermochemistry",
    "topic": "enthalpy of neutralisation",
    "reason": "The solution rests on a balance of heat.",
    "description": "A calorimeter, and a curve of temperature over time.",
    "labels": {"about": "invented"},
    "facts": {"source": "invented paper", "number": "3", "subject": "chemistry"},
}
"""Parts by name, for all kinds."""


def invent_content(kind: Kind) -> dict[str, JsonValue]:
    """Return the parts of an invented task of a kind, without pictures.

    Args:
        kind: The kind.
    """
    names = (part.name for part in kind.parts if part.style not in {"images", "pages"})
    return {name: _TEXTS[name] for name in names}


def invent_fields(kind: Kind, task: ReviewTask, is_last: bool = False) -> dict[str, JsonValue]:
    """Return a valid decision: the first or last option of every field.

    Args:
        kind: The kind.
        task: The task.
        is_last: Whether to take the last option, which differs from the first.
    """
    steps = task.content.get("steps")
    fields: dict[str, JsonValue] = {}
    for field in kind.fields:
        if not is_asked(field, fields) or not field.required:
            continue
        options = [option.value for option in list_options(field, task.content)]
        if field.options_from:  # an option of the task, not "none of these"
            options = options[: len(options) - len(field.options)] or options
        option = options[-1 if is_last else 0] if options else None
        values: Mapping[str, JsonValue] = {
            "choice": option,
            "choices": [option] if option else [],
            "rating": field.scale[1 if is_last else 0],
            "flag": not is_last,
            "text": "An invented text.",
            "steps": [option] * len(steps) if isinstance(steps, list) else [],
        }
        if values[field.type] is not None:
            fields[field.name] = values[field.type]
    return fields


# Generated pictures of the demonstration: an apparatus, a curve, a page.

_INK, _BLUE = "#222222", "#3465a4"
PAGE_BOXES: Final[list[BBox]] = [(0.08, 0.16, 0.92, 0.3), (0.1, 0.36, 0.9, 0.66)]
"""The boxes of the problem on the page, as shares of its width and height."""


def draw_pictures(folder: Path) -> list[TaskPicture]:
    """Write the pictures of an invented problem, and its page, into a review folder.

    Args:
        folder: The review folder.

    Returns:
        Two pictures of the problem, and the page with its boxes.
    """
    from PIL import Image, ImageDraw

    apparatus, curve, page = (
        Image.new("RGB", size, "#ffffff") for size in ((480, 360), (560, 360), (620, 877))
    )
    draw = ImageDraw.Draw(apparatus)
    draw.rectangle((140, 120, 340, 320), outline=_INK, width=4)
    draw.rectangle((144, 200, 336, 316), fill="#a9c6e8")
    draw.line((240, 40, 240, 280), fill=_INK, width=5)
    draw.text((352, 240), "25 mL + 25 mL", fill=_INK, font_size=18)
    draw.text((252, 40), "thermometer", fill=_INK, font_size=18)
    draw = ImageDraw.Draw(curve)
    draw.line((60, 20, 60, 310, 540, 310), fill=_INK, width=3)
    draw.line((60, 270, 180, 270, 230, 90, 540, 110), fill=_BLUE, width=4)
    draw.text((70, 16), "T in K", fill=_INK, font_size=18)
    draw.text((450, 322), "time in s", fill=_INK, font_size=18)
    draw.text((70, 276), "298.0", fill=_INK, font_size=16)
    draw.text((240, 66), "304.2", fill=_INK, font_size=16)
    draw = ImageDraw.Draw(page)
    draw.text((60, 60), "INVENTED PAPER", fill=_INK, font_size=28)
    for row in range(4):
        draw.rectangle((60, 150 + 28 * row, 540 - 60 * (row == 3), 160 + 28 * row), fill="#888888")
    draw.rectangle((70, 330, 550, 570), outline=_INK, width=3)
    draw.line((100, 540, 200, 540, 250, 390, 520, 405), fill=_BLUE, width=4)
    for row in range(8):
        draw.rectangle((60, 620 + 28 * row, 560, 630 + 28 * row), fill="#bbbbbb")
    return [
        _write(folder, apparatus, label="apparatus"),
        _write(folder, curve, label="temperature"),
        _write(folder, page, part="page", label="page 1", boxes=PAGE_BOXES),
    ]


def _write(folder: Path, image: Image, **values: object) -> TaskPicture:
    buffer = BytesIO()
    image.save(buffer, "PNG")
    data = buffer.getvalue()
    fields = {"sha256": hashlib.sha256(data).hexdigest(), "suffix": "png", **values}
    picture = TaskPicture.model_validate(fields)
    path = folder / picture.file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return picture


# Folder of a demonstration: tasks of every kind, people with passwords, a few decisions.

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
    write_jsonl(folder / TASKS, [*tasks, *_add_sample(folder, sample, images)])
    (folder / REVIEWERS).write_text(format_reviewers(PEOPLE), "utf-8")
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
    visible = [p for p in pictures if ("pages" if p.part == "page" else "images") in styles]
    problem = f"demo-{number}"
    return ReviewTask(
        id=f"{kind.name}:{problem}",
        kind=kind.name,
        problem=problem,
        content=content,
        content_hash=hash_content(kind, content, visible),
        pictures=visible,
        simulated=True,
    )


def _add_sample(folder: Path, sample: Path, images: Sequence[Path]) -> Iterator[ReviewTask]:
    """Copy the pictures of the sample study's tasks, and yield the tasks, open to everyone.

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
            yield task.model_copy(update={"people": {}})


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
    if opened and opened.withheld:
        answer = "B" if is_last else "A"
        service.answer(listed, person, answer, 40.0, listed.task.content_hash)
    fields = invent_fields(listed.kind, listed.task, is_last)
    base = opened.base if opened else None
    submission = Submission(
        fields=fields, seconds=60.0, content_hash=listed.task.content_hash, base=base
    )
    service.decide(listed, person, submission)


def _set_passwords(service: ReviewService) -> tuple[tuple[str, str, str], ...]:
    users = []
    with service.database.write() as connection:
        for person in service.content.people.values():
            password = secrets.token_urlsafe(9)
            set_password(connection, person.name, password)
            users.append((person.name, password, ", ".join(person.roles)))
    return tuple(users)
