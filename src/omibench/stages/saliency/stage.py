"""One cell looked into: log-probabilities under every patch as a table, and its heat maps."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from omibench.client.ask import ask_keyed, open_asker
from omibench.errors import ParamsError
from omibench.files.atomic import write_atomically
from omibench.params.cell import Cell
from omibench.params.saliency import SaliencyParams
from omibench.params.stage_params import SaliencyStageParams
from omibench.schemas.cell_origin import describe_origin
from omibench.schemas.problem import Answer
from omibench.schemas.request import ImagePart, Request, Response, Tags
from omibench.schemas.saliency_row import SaliencyRow, map_file
from omibench.schemas.tables import ResponseRow, read_jsonl, read_parquet, write_parquet
from omibench.settings.pictures.opening import open_picture
from omibench.settings.steps import Task
from omibench.stages.infer.stage import threads_of
from omibench.stages.saliency.ask import Covered, Looked, look
from omibench.stages.saliency.maps import Effect, Scores, best_option, effects, strongest
from omibench.stages.saliency.overlay import overlay

log = logging.getLogger("omibench.stages.saliency")


class Found(NamedTuple):
    """What a model said of one problem: its scores uncovered, and under each patch."""

    looked: Looked
    key: str
    base: Scores
    covered: Mapping[Covered, Scores]
    simulated: bool


def saliency_cell(
    results: Path, out: Path, study: SaliencyStageParams, cell: Cell, job: str = ""
) -> int:
    """Look into one cell of a results folder with freeze/ and infer/; write SaliencyRow Parquet.

    The multiple-choice problems that `saliency.problems` leaves are asked about through the store.
    Heat maps of the chosen option, and of the right one where it is another, are written as PNG
    into the folder named as `out` without its suffix. Returns how many rows there are. Requests
    that failed are left out, with a warning. Raises ParamsError when no problem has options or the
    setting goes in several steps, ModelError when the model gives no log-probabilities, and as
    reading the files and asking do.
    """
    params = study.saliency
    gold = {a.id: a.answer for a in read_jsonl(results / "freeze" / "answers.jsonl", Answer)}
    questions = results / "freeze" / "questions.jsonl"
    looked = list(looks(questions, study, cell, lambda: _responses(results, cell)))
    with open_asker(study, cell.model) as asker:
        requests = [request for each in looked for request in each.requests]
        told = ask_keyed(requests, asker.provider, asker.store, asker.budget)
    answers = {id(q): answer for q, answer in zip(requests, told, strict=True)}
    found = [each for one in looked if (each := _collect_scores(one, answers)) is not None]
    _warn_of_failures(cell, [response for _, response in told])
    rows = [row for each in found for row in _rows(each, gold.get(each.looked.question.id, []))]
    for each in found:
        _draw(out.with_suffix(""), each, gold.get(each.looked.question.id, []), params)
    write_parquet(out, rows, SaliencyRow, describe_origin(out, job))
    return len(rows)


def few(ids: Sequence[str], many: int | None, seed: int) -> set[str]:
    """At most so many ids, the same in every cell: those with the smallest seeded hashes."""
    ranked = sorted(ids, key=lambda name: sha256(f"{seed} {name}".encode()).digest())
    return set(ranked[:many])


def looks(
    questions: Path,
    study: SaliencyStageParams,
    cell: Cell,
    responses: Callable[[], Mapping[str, str]],
) -> Iterator[Looked]:
    """What is asked about each problem of a cell that is looked into.

    `responses`, the cell's own by problem, are called for where letters follow them.
    """
    params = study.saliency
    threads = threads_of(questions, study, cell)
    tasks = [t.task for t in threads if t.sample == 0 and t.task.question.choices]
    if not tasks:
        raise ParamsError(
            "saliency.settings: none of the problems has choices; saliency is of the letters of "
            "multiple-choice problems"
        )
    kept = few([task.question.id for task in tasks], params.problems, study.study.seed)
    after = cell.setting in params.after_response
    own = responses() if after else {}
    for task in (task for task in tasks if task.question.id in kept):
        if after and not own.get(task.question.id):
            continue  # nothing was answered that a letter could follow
        yield look(task, params, _tags(task, study, cell), own.get(task.question.id))


def _responses(results: Path, cell: Cell) -> dict[str, str]:
    file = results / "infer" / cell.model / f"{cell.setting}.parquet"
    rows = read_parquet(file, ResponseRow).filter(index=0, outcome="answered")
    return dict(rows.select("id", "text").iter_rows())


def _tags(task: Task, study: SaliencyStageParams, cell: Cell) -> Tags:
    return Tags(
        role="scorer", problem=task.question.id, study=study.study.name, setting=cell.setting
    )


def _collect_scores(looked: Looked, answers: Mapping[int, tuple[str, Response]]) -> Found | None:
    def scores(request: Request) -> Scores:
        return answers[id(request)][1].option_logprobs or {}

    key, base = answers[id(looked.base)]
    if not base.option_logprobs:
        return None
    covered = {place: found for place, q in looked.covered.items() if (found := scores(q))}
    return Found(looked, key, base.option_logprobs, covered, base.simulated)


def _effects(found: Found, number: int, option: str) -> list[Effect]:
    own = [(place.patch, scores) for place, scores in found.covered.items()
           if place.number == number]  # fmt: skip
    return effects(found.base, own, option)


def _rows(found: Found, gold: Sequence[str]) -> Iterator[SaliencyRow]:
    best = best_option(found.base)
    for number, picture in enumerate(found.looked.pictures):
        for option in found.base:
            for (x, y, side), drop in _effects(found, number, option):
                yield SaliencyRow(
                    id=found.looked.question.id, key=found.key, image=number,
                    sha256=picture.sha256, x=x, y=y, side=side, option=option,
                    logprob=found.base[option], drop=drop, chosen=option == best,
                    right=option in gold, simulated=found.simulated,
                )  # fmt: skip


def _draw(folder: Path, found: Found, gold: Sequence[str], params: SaliencyParams) -> None:
    best = best_option(found.base)
    targets = {best: "chosen"} | {o: "right, not chosen" for o in gold if o in found.base}
    targets[best] = "chosen, right" if best in gold else "chosen"
    for number, picture in enumerate(found.looked.pictures):
        for option, words in targets.items():
            shown = strongest(_effects(found, number, option), params.top)
            if shown:
                mark = "SIMULATED, " if found.simulated else ""
                caption = f"{mark}image {number + 1}, option {option} ({words})"
                file = map_file(folder, found.looked.question.id, number, option)
                _write(file, picture, shown, caption)


def _write(path: Path, picture: ImagePart, shown: Sequence[Effect], caption: str) -> None:
    from io import BytesIO

    written = BytesIO()
    overlay(open_picture(picture).image, shown, caption).save(written, "PNG")
    write_atomically(path, written.getvalue())


def _warn_of_failures(cell: Cell, responses: Sequence[Response]) -> None:
    failed = [response for response in responses if not response.option_logprobs]
    if failed:
        why = next((r.error for r in failed if r.error), failed[0].outcome)
        log.warning(
            "omibench: saliency of %s/%s: %s of %s requests have no log-probabilities (%s); run "
            "the command again to ask for them, what was answered is kept",
            *cell, f"{len(failed):,}", f"{len(responses):,}", why,
        )  # fmt: skip
