"""`synthetic`: generated problems in the shape of a published study, for tests without its data.

Every question states its origin in `source`, so that it is visible in every dataset and result
based on it.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from omibench.datasets.dataset import Dataset
from omibench.datasets.registry import benchmark
from omibench.models.synthetic.items import (
    Drawing,
    Item,
    clean_items,
    describe_item,
    items,
    picture,
)
from omibench.models.synthetic.profiles import Made
from omibench.params.benchmark import BenchmarkParams
from omibench.schemas.problem import Answer, Choice, Figure, Question


@benchmark("synthetic", reads_files=False)
def load(folder: Path, scratch: Path, params: BenchmarkParams) -> Dataset:
    """Generate every problem of the profile; the pictures are written to `scratch`.

    Those like MathReal's follow `benchmark.pictures`.
    """
    like, seed = params.like, params.seed
    problems = list_problems(params)
    figures = {drawing: _figure(drawing, scratch) for item in problems for drawing in item.drawings}
    source = str(Made(like, seed))
    questions = [_question(item, [figures[d] for d in item.drawings], source) for item in problems]
    return Dataset(questions, [_answer(item, params) for item in problems], scratch)


def list_problems(params: BenchmarkParams) -> list[Item]:
    """Return the problems of a profile, with the pictures of `benchmark.pictures`."""
    problems, clean = items(params.like, params.seed), clean_items(params.like, params.seed)
    if params.pictures == "real" or not clean:
        return [*problems]
    sides = {item.group: item for item in clean}
    if params.pictures == "clean":
        return [item._replace(id=item.group, group="") for item in clean]
    pairs = [(i._replace(group=i.id), sides[i.id]) for i in problems if i.id in sides]
    return [item for pair in pairs for item in pair]


def _figure(drawing: Drawing, scratch: Path) -> Figure:
    content = picture(drawing)
    sha256 = hashlib.sha256(content).hexdigest()
    path = scratch / f"{sha256}.png"
    path.write_bytes(content)
    return Figure(file=str(path.absolute()), sha256=sha256, caption=drawing.caption)


def _choices(item: Item) -> list[Choice] | None:
    return [Choice(label=o.label, text=o.text, image=o.drawing) for o in item.options] or None


def _question(item: Item, figures: list[Figure], source: str) -> Question:
    return Question(
        id=item.id,
        question=item.question,
        images=figures,
        choices=_choices(item),
        subject=item.subject,
        group=item.group,
        licence="CC0-1.0",
        subset=item.attributes.get("exam"),
        source=source,
    )


def _answer(item: Item, params: BenchmarkParams) -> Answer:
    return Answer(
        id=item.id,
        answer=item.answer,
        answer_type=item.answer_type,
        choices=_choices(item),
        solution=item.solution,
        subject=item.subject,
        topic=item.attributes.get("category"),
        group=item.group,
        n_images=len(item.drawings),
        attributes=describe_item(item, params.like, params.seed),
    )
