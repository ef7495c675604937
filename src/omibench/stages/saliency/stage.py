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
from omibench.params.stage_params import SaliencyStageParams
from omibench.params.stages.saliency import SaliencyParams
from omibench.schemas.cell_origin import describe_origin
from omibench.schemas.problem import Answer
from omibench.schemas.request import ImagePart, Request, Response, Tags
from omibench.schemas.saliency_row import SaliencyRow, map_file
from omibench.schemas.tables import ResponseRow, read_jsonl, read_parquet, write_parquet
from omibench.settings.pictures.opening import open_picture
from omibench.settings.steps import Task
from omibench.stages.infer.stage import list_threads
from omibench.stages.saliency.ask import Occlusion, PatchPlace, make_occlusion
from omibench.stages.saliency.maps import (
    Effect,
    Scores,
    find_best_option,
    measure_effects,
    select_strongest,
)
from omibench.stages.saliency.overlay import overlay

log = logging.getLogger("omibench.stages.saliency")


class OcclusionScores(NamedTuple):
    """What a model said of one problem: its scores uncovered, and under each patch."""

    occlusion: Occlusion
    key: str
    base: Scores
    covered: Mapping[PatchPlace, Scores]
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
    occlusions = list(
        make_occlusions(questions, study, cell, lambda: _read_responses(results, cell))
    )
    with open_asker(study, cell.model) as asker:
        requests = [request for batch in occlusions for request in batch.requests]
        keyed_responses = ask_keyed(requests, asker.provider, asker.store, asker.budget)
    answers = {id(q): answer for q, answer in zip(requests, keyed_responses, strict=True)}
    scored = [
        result
        for occlusion in occlusions
        if (result := _collect_scores(occlusion, answers)) is not None
    ]
    _warn_of_failures(cell, [response for _, response in keyed_responses])
    rows = [
        row
        for entry in scored
        for row in _make_rows(entry, gold.get(entry.occlusion.question.id, []))
    ]
    for result in scored:
        _draw_maps(out.with_suffix(""), result, gold.get(result.occlusion.question.id, []), params)
    write_parquet(out, rows, SaliencyRow, describe_origin(out, job))
    return len(rows)


def choose_problems(ids: Sequence[str], limit: int | None, seed: int) -> set[str]:
    """At most so many ids, the same in every cell: those with the smallest seeded hashes."""
    ranked = sorted(ids, key=lambda name: sha256(f"{seed} {name}".encode()).digest())
    return set(ranked[:limit])


def make_occlusions(
    questions: Path,
    study: SaliencyStageParams,
    cell: Cell,
    responses: Callable[[], Mapping[str, str]],
) -> Iterator[Occlusion]:
    """What is asked about each problem of a cell that is looked into.

    `responses`, the cell's own by problem, are called for where letters follow them.
    """
    params = study.saliency
    threads = list_threads(questions, study, cell)
    tasks = [t.task for t in threads if t.sample == 0 and t.task.question.choices]
    if not tasks:
        raise ParamsError(
            "saliency.settings: none of the problems has choices; saliency is of the letters of "
            "multiple-choice problems"
        )
    kept_ids = choose_problems(
        [task.question.id for task in tasks], params.problems, study.study.seed
    )
    after = cell.setting in params.after_response
    texts = responses() if after else {}
    for task in (task for task in tasks if task.question.id in kept_ids):
        if after and not texts.get(task.question.id):
            continue  # nothing was answered that a letter could follow
        yield make_occlusion(
            task, params, _make_tags(task, study, cell), texts.get(task.question.id)
        )


def _read_responses(results: Path, cell: Cell) -> dict[str, str]:
    file = results / "infer" / cell.model / f"{cell.setting}.parquet"
    rows = read_parquet(file, ResponseRow).filter(index=0, outcome="answered")
    return dict(rows.select("id", "text").iter_rows())


def _make_tags(task: Task, study: SaliencyStageParams, cell: Cell) -> Tags:
    return Tags(
        role="scorer", problem=task.question.id, study=study.study.name, setting=cell.setting
    )


def _collect_scores(
    occlusion: Occlusion, answers: Mapping[int, tuple[str, Response]]
) -> OcclusionScores | None:
    def read_scores(request: Request) -> Scores:
        return answers[id(request)][1].option_logprobs or {}

    key, base = answers[id(occlusion.base)]
    if not base.option_logprobs:
        return None
    covered = {
        place: values for place, q in occlusion.covered.items() if (values := read_scores(q))
    }
    return OcclusionScores(occlusion, key, base.option_logprobs, covered, base.simulated)


def _measure_effects(result: OcclusionScores, number: int, option: str) -> list[Effect]:
    covered = [(place.patch, scores) for place, scores in result.covered.items()
           if place.number == number]  # fmt: skip
    return measure_effects(result.base, covered, option)


def _make_rows(result: OcclusionScores, gold: Sequence[str]) -> Iterator[SaliencyRow]:
    best = find_best_option(result.base)
    for number, picture in enumerate(result.occlusion.pictures):
        for option in result.base:
            for (x, y, side), drop in _measure_effects(result, number, option):
                yield SaliencyRow(
                    id=result.occlusion.question.id, key=result.key, image=number,
                    sha256=picture.sha256, x=x, y=y, side=side, option=option,
                    logprob=result.base[option], drop=drop, chosen=option == best,
                    right=option in gold, simulated=result.simulated,
                )  # fmt: skip


def _draw_maps(
    folder: Path, result: OcclusionScores, gold: Sequence[str], params: SaliencyParams
) -> None:
    best = find_best_option(result.base)
    targets = {best: "chosen"} | {o: "right, not chosen" for o in gold if o in result.base}
    targets[best] = "chosen, right" if best in gold else "chosen"
    for number, picture in enumerate(result.occlusion.pictures):
        for option, words in targets.items():
            patch_effects = select_strongest(_measure_effects(result, number, option), params.top)
            if patch_effects:
                mark = "SIMULATED, " if result.simulated else ""
                caption = f"{mark}image {number + 1}, option {option} ({words})"
                file = map_file(folder, result.occlusion.question.id, number, option)
                _write_map(file, picture, patch_effects, caption)


def _write_map(
    path: Path, picture: ImagePart, patch_effects: Sequence[Effect], caption: str
) -> None:
    from io import BytesIO

    written = BytesIO()
    overlay(open_picture(picture).image, patch_effects, caption).save(written, "PNG")
    write_atomically(path, written.getvalue())


def _warn_of_failures(cell: Cell, responses: Sequence[Response]) -> None:
    failed = [response for response in responses if not response.option_logprobs]
    if failed:
        reason = next((r.error for r in failed if r.error), failed[0].outcome)
        log.warning(
            "omibench: saliency of %s/%s: %s of %s requests have no log-probabilities (%s); run "
            "the command again to ask for them, what was answered is kept",
            *cell, f"{len(failed):,}", f"{len(responses):,}", reason,
        )  # fmt: skip
