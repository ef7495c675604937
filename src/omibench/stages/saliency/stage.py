"""Stage `saliency`: log-probabilities of one cell under every patch, and its heat maps."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from omibench.answers.extraction.extract import LetterMissing
from omibench.errors import ParamsError
from omibench.files.outputs import write_atomically
from omibench.models.client.ask import open_asker
from omibench.models.local.prompts import cut_chunks
from omibench.params.setting import Cell
from omibench.params.stages.saliency import SaliencyParams
from omibench.schemas.cells import describe_origin
from omibench.schemas.problem import Answer, Question
from omibench.schemas.request import ImagePart, Tags
from omibench.schemas.tables import (
    ResponseRow,
    SaliencyRow,
    frame_rows,
    map_file,
    read_jsonl,
    read_parquet,
    write_frame,
)
from omibench.settings.pictures import open_picture
from omibench.settings.steps import Task
from omibench.settings.tasks import list_tasks
from omibench.stages.saliency.ask import (
    LetterContext,
    Occlusion,
    OcclusionScores,
    UnscoredProblem,
    collect_scores,
    make_occlusion,
    make_rows,
    make_unscored_row,
    read_context,
)
from omibench.stages.saliency.maps import Effect, overlay, select_strongest

if TYPE_CHECKING:
    from omibench.params.study import Study


log = logging.getLogger("omibench.stages.saliency")


class ReadResponse(NamedTuple):
    """A response of the analysed cell."""

    outcome: str
    text: str


AT_A_TIME = 8192
"""Group the requests of problems sent together; a problem is never divided."""


def saliency_cell(results: Path, out: Path, study: Study, cell: Cell, job: str = "") -> int:
    """Analyse one cell of a results folder with freeze/ and infer/; write SaliencyRow Parquet.

    Requests for the multiple-choice problems in `saliency.problems` go through the store. Heat maps
    of the chosen option, and of the correct one if different, are written as PNG into the folder
    named as `out` without suffix. Failed requests are skipped with a warning; a problem that cannot
    be scored gets a row with its outcome.

    Args:
        results: The folder of the study's results.
        out: The file to write.
        study: The parameters used by the stage.
        cell: The model and the setting.
        job: Hash of the job's parameters.

    Returns:
        The number of rows.

    Raises:
        ParamsError: No problem has options, or the setting has several steps.
        ModelError: The model gives no log-probabilities, or not inside a response.
        MissingInputError: The responses of the cell, or pictures, are missing.
    """
    params, maps = study.saliency, out.with_suffix("")
    maps.mkdir(parents=True, exist_ok=True)  # an output of the job, even without heat maps
    gold = {a.id: a.answer for a in read_jsonl(results / "freeze" / "answers.jsonl", Answer)}
    problems = make_occlusions(
        results / "freeze" / "questions.jsonl", study, cell, _read_responses(results, cell)
    )
    # A picture at original resolution has about a thousand positions; all rows would exceed memory.
    frames = [frame_rows([], SaliencyRow)]
    failed: list[str] = []
    asked = 0
    with open_asker(study, cell.model) as asker:
        for part in cut_chunks(problems, AT_A_TIME, lambda problem: len(problem.requests)):
            requests = [request for problem in part for request in problem.requests]
            keyed = asker.ask_with_keys(requests)
            asked += len(requests)
            failed += [r.error or r.outcome for _, r in keyed if not r.option_logprobs]
            answers = {id(q): answer for q, answer in zip(requests, keyed, strict=True)}
            for problem in part:
                scored = collect_scores(problem, answers)
                if isinstance(scored, UnscoredProblem):
                    frames.append(frame_rows([make_unscored_row(scored, params)], SaliencyRow))
                    continue
                right = gold.get(scored.occlusion.question.id, [])
                frames.append(frame_rows([*make_rows(scored, right, params)], SaliencyRow))
                _draw_maps(maps, scored, right, params)
    if failed:
        log.warning(
            "omibench: saliency of %s/%s: %s of %s requests have no log-probabilities (%s); "
            "run the command again to request them; completed ones are kept",
            *cell, f"{len(failed):,}", f"{asked:,}", failed[0],
        )  # fmt: skip
    frame = pl.concat(frames)
    write_frame(out, frame, SaliencyRow, describe_origin(out, job))
    return frame.height


def choose_problems(ids: Sequence[str], limit: int | None, seed: int) -> set[str]:
    """Return a limited number of ids, those with the smallest seeded hashes, equal in all cells."""
    ranked = sorted(ids, key=lambda name: sha256(f"{seed} {name}".encode()).digest())
    return set(ranked[:limit])


def make_occlusions(
    questions: Path,
    study: Study,
    cell: Cell,
    responses: Mapping[str, ReadResponse],
) -> Iterator[Occlusion | UnscoredProblem]:
    """Yield the requests for each analysed problem of a cell.

    Args:
        questions: The frozen questions.
        study: The parameters used by the stage.
        cell: The model and the setting.
        responses: The cell's first responses, by problem.

    Yields:
        The requests of a problem, or the reason why there are none.

    Raises:
        ParamsError: No problem has options, or the setting has several steps.
        ModelError: A picture cannot be opened.
    """
    params = study.saliency
    tasks = [
        task
        for task in list_tasks(questions, study, cell)
        if task.sample == 0 and task.question.choices
    ]
    if not tasks:
        raise ParamsError(
            "saliency.settings: none of the problems has choices; saliency is of the letters of "
            "multiple-choice problems"
        )
    kept_ids = choose_problems(
        [task.question.id for task in tasks], params.problems, study.study.seed
    )
    for task in (task for task in tasks if task.question.id in kept_ids):
        context = _find_context(task.question, responses, params)
        if isinstance(context, UnscoredProblem):
            yield context
        else:
            yield make_occlusion(task, params, _make_tags(task, study, cell), context)


def _find_context(
    question: Question, responses: Mapping[str, ReadResponse], params: SaliencyParams
) -> LetterContext | UnscoredProblem:
    response = responses.get(question.id)
    if response is None or response.outcome != "answered":
        reason = "not in the cell" if response is None else response.outcome
        return UnscoredProblem(question, "no_response", reason)
    context = read_context(response.text, question.choices, params.reading)
    if isinstance(context, LetterMissing):
        return UnscoredProblem(question, "no_letter", context.reason)
    return context


def _read_responses(results: Path, cell: Cell) -> dict[str, ReadResponse]:
    file = results / "infer" / cell.model / f"{cell.setting}.parquet"
    rows = read_parquet(file, ResponseRow).filter(index=0).select("id", "outcome", "text")
    return {name: ReadResponse(outcome, text) for name, outcome, text in rows.iter_rows()}


def _make_tags(task: Task, study: Study, cell: Cell) -> Tags:
    return Tags(
        role="scorer", problem=task.question.id, study=study.study.name, setting=cell.setting
    )


def _draw_maps(
    folder: Path, result: OcclusionScores, gold: Sequence[str], params: SaliencyParams
) -> None:
    chosen = result.final_letter
    targets = {chosen: "chosen"} | {o: "right, not chosen" for o in gold if o in result.base}
    targets[chosen] = "chosen, right" if chosen in gold else "chosen"
    mark = "SIMULATED, " if result.simulated else ""
    for number, picture in enumerate(result.occlusion.pictures):
        for option, words in targets.items():
            patch_effects = select_strongest(result.measure_effects(number, option), params.top)
            if patch_effects:
                caption = f"{mark}image {number + 1}, option {option} ({words}), {params.reading}"
                file = map_file(folder, result.occlusion.question.id, number, option)
                _write_map(file, picture, patch_effects, caption)


def _write_map(
    path: Path, picture: ImagePart, patch_effects: Sequence[Effect], caption: str
) -> None:
    from io import BytesIO

    written = BytesIO()
    overlay(open_picture(picture).image, patch_effects, caption).save(written, "PNG")
    write_atomically(path, written.getvalue())
