"""The requests of page readers and formula readers, counted on the papers themselves.

The papers are opened as `ocr` opens them, so a request that is stored is known by its key. What
follows a missing answer is estimated: the blocks of a page whose layout is unknown.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from omibench.answers.judges.panel import ASKS
from omibench.files.reading import hash_file
from omibench.models.client.ask import track
from omibench.params.stages.filter import FilterParams
from omibench.params.study import Study
from omibench.schemas.pages import PageText
from omibench.schemas.problem import Problem
from omibench.schemas.request import Request, Response, Role
from omibench.schemas.tables import read_jsonl
from omibench.schemas.verdict import ScoredItem, Verdict
from omibench.stages.filter import photographs
from omibench.stages.filter.checks import judge_with_models
from omibench.stages.filter.completeness import POINTS
from omibench.stages.filter.reasons.registry import REASONS_OF_MODELS, build_model_reason
from omibench.stages.filter.stage import sift
from omibench.stages.filter.translation import ASKS as TRANSLATIONS
from omibench.stages.ocr.engines import mathpix, mineru
from omibench.stages.ocr.jobs import Unread
from omibench.stages.ocr.read_ahead import send_formulas, send_pages
from omibench.stages.ocr.sources.files import is_photograph
from omibench.stages.ocr.waiting import find_waiting, list_sources
from omibench.stages.rationale.candidates import Ask, Score, write_solutions
from omibench.stages.rationale.degenerate import DegeneracyRule
from omibench.stages.rationale.labels.clusters import Embed, build_text_request
from omibench.stages.rationale.labels.run import LabelModels, choose_embedding, label_problems
from omibench.stages.rationale.stage import make_writer, score_by
from omibench.study.plan.dry_run import NOT_YET, WORDS, DryModels, DryRun, Reply
from omibench.study.plan.plan import GUESS, ReadingCounts, Step, StudyView

if TYPE_CHECKING:
    from omibench.stages.rationale.labels.clusters import Matrix


BLOCKS: Final = 15
"""Blocks of a page whose layout is not stored; an assumption about exam papers."""
_OLMOCR_ASKS: Final = 2
"""olmOCR is asked again about a page that is not upright."""
_GUESSED_LAYOUT: Final = NOT_YET.model_copy(
    update={
        "outcome": "answered",
        "text": "\n".join(
            f"<|box_start|>100 {y} 900 {y + 40}<|box_end|><|ref_start|>text<|ref_end|>"
            for y in range(50, 50 + 60 * BLOCKS, 60)
        ),
    }
)


def names_readers(study: Study) -> bool:
    """Return whether a study of papers names a reader of pages or formulas, or Mathpix."""
    return study.benchmark.name == "papers" and study.ocr.asks_ahead


def read_papers(view: StudyView, folder: Path) -> tuple[list[Step], ReadingCounts | None]:
    """Return the requests of readers, and what they do not count; None without readers or papers.

    Args:
        view: The study and its store.
        folder: An empty folder for the pictures of the requests.

    Raises:
        MissingInputError: A paper or folder of the manifest is missing.
        FileFormatError: The manifest is invalid.
    """
    params = view.study.ocr
    if not names_readers(view.study) or params.sources is None:
        return [], None
    dry = DryRun(view, _guess_reply, chained=True)
    readers, sources = _Readers(dry), list_sources(Path(params.sources))
    papers = find_waiting(sources, params, folder, readers.ask)
    waiting = [next(papers) for _ in track(sources, "paper")]
    scanned = sum(paper.scanned for paper in waiting) if params.formula_reader is not None else 0
    counts = ReadingCounts(
        unopened={paper.source: paper.fault for paper in waiting if paper.fault},
        scanned_pages=scanned,
        scanned_lines=_count_doubtful_lines(view.study) if scanned else None,
        mathpix_pages=readers.pages,
        mathpix_formulas=readers.formulas,
    )
    return dry.steps, counts


def _guess_reply(request: Request) -> Response:
    """Return no reply, or the layout of a typical page."""
    return _GUESSED_LAYOUT if mineru.LAYOUT_TASK in request.conversation.text else NOT_YET


class _Readers:
    """Asks the readers of papers in a dry run, and counts what Mathpix would be sent.

    Counted are pages and crops without an answer of Mathpix in the store.
    """

    def __init__(self, dry: DryRun) -> None:
        self.pages = self.formulas = 0
        self._dry, self._study = dry, dry.view.study
        self._folder = Path(self._study.study.store) / mathpix.NAME
        self._crops: set[str] = set()

    def ask(self, unread: Unread) -> None:
        """Ask about the unread pages or formulas of a paper."""
        params = self._study.ocr
        if unread.pages and params.engine == "vision":
            send_pages(self._dry.asking(params.reader or ""), self._study, unread)
        elif unread.pages:
            for place, numbers in unread.pages.items():
                self.pages += 0 if self._locate_answer(unread, place).is_file() else len(numbers)
        elif params.formula_model:
            send_formulas(self._dry.asking(params.formula_model), self._study, unread)
        elif unread.crops:
            new = {hash_file(path) for path in unread.crops.glob("*.png")} - self._crops
            answers = (mathpix.locate_image_answer(self._folder, digest) for digest in new)
            self.formulas += sum(not answer.is_file() for answer in answers)
            self._crops |= new

    def _locate_answer(self, unread: Unread, place: int) -> Path:
        path = Path(unread.source.files[place])
        if is_photograph(path):
            return mathpix.locate_image_answer(self._folder, hash_file(unread.picture(place, 1)))
        return mathpix.locate_pdf_answer(self._folder, hash_file(path))


def _count_doubtful_lines(study: Study) -> int | None:
    """Return the lines of scans that may hold formulas; None before `ocr`."""
    pages = Path(study.study.results) / "ocr" / "pages.jsonl"
    if not pages.is_file():
        return None
    return sum(
        line.math_suspect and not line.left_out
        for page in read_jsonl(pages, PageText)
        if page.engine == study.ocr.engine
        for line in page.lines
    )


# The requests of the stages before the freeze: filter models, rationale writers and labellers.
#
# They are counted in a dry run over the existing problems. A problem with an unknown judgement
# counts as passing it, so that later judgements are counted at their maximum.

GUESSED_LABEL = Response(text="{CLASS: not known yet}", provider_id=GUESS)
READ = {"filter": "ocr", "rationale": "filter"}
"""Stage -> the stage that produces its problems."""


def _approve(points: Mapping[str, object]) -> Response:
    return Response(text=json.dumps(points), provider_id=GUESS)


APPROVES = _approve(dict.fromkeys(POINTS, True))


def list_steps_before_freeze(view: StudyView) -> Iterator[tuple[str, list[Step]]]:
    """Yield each stage that asks models about problems that exist, and its requests."""
    plans = {"filter": _plan_filter, "rationale": _plan_rationales}
    for stage in _asking(view.study):
        if stage in plans and (problems := _problems(view.study, stage)).is_file():
            yield stage, plans[stage](view, problems).steps


def uncounted_models(study: Study, *, is_read: bool = False) -> dict[str, list[str]]:
    """Return stage -> its models whose input is missing.

    Args:
        study: Study.
        is_read: Whether the papers were opened, so that the requests of readers are counted.
    """
    named = _asking(study)
    return {
        stage: models
        for stage, models in named.items()
        if not (is_read if stage not in READ else _problems(study, stage).is_file())
    }


def asks_before_freeze(study: Study) -> bool:
    """Return whether stages before the freeze query models, or Mathpix."""
    return bool(_asking(study)) or names_readers(study)


def count_asks(view: StudyView, role: Role, model: str, steps: Sequence[Step]) -> float:
    """Return the maximum number of requests as a multiple of the expected one.

    Args:
        view: The study and its store.
        role: The role of the model.
        model: Its name.
        steps: Its expected requests.

    Returns:
        1 if no request repeats. A writer can be queried for all candidates and tries.
    """
    if role == "rationale_writer":
        return _count_writer_asks(view, model, steps)
    if role == "page_reader" and view.study.ocr.preset == "olmocr":
        return _OLMOCR_ASKS
    return {"voter": ASKS, "assessor": ASKS, "translator": TRANSLATIONS}.get(role, 1)


def _count_writer_asks(view: StudyView, model: str, steps: Sequence[Step]) -> float:
    params = view.study.rationale
    if params.stop_at_right:
        return params.candidates + params.reference_tries
    partition = view.open_partition(model)
    missing = [step.request.tags.problem for step in steps if step.key not in partition]
    tries = params.reference_tries * len(set(missing))
    return 1 + tries / len(missing) if missing else 1


def _asking(study: Study) -> dict[str, list[str]]:
    """Return the stages before the freeze that query models; none if nothing is built."""
    named = {
        "ocr": study.ocr.models,
        "filter": study.filter.models,
        "rationale": study.rationale.models,
    }
    from_papers = study.benchmark.name == "papers"
    return {
        stage: list(dict.fromkeys(names)) for stage, names in named.items() if names and from_papers
    }


def _problems(study: Study, stage: str) -> Path:
    return Path(study.study.results) / READ[stage] / "problems.jsonl"


def _plan_filter(view: StudyView, problems: Path) -> DryRun:
    folder, params = problems.parent, view.study.filter
    sound, _ = sift(read_jsonl(problems, Problem), folder, params)
    subjects = params.photographs.subjects if params.photographs else ()
    replies = _passing({p.id: p for p in sound}, subjects, params)
    dry = DryRun(view, replies, chained=True)
    judge_with_models(DryModels(dry), sound, folder, params)
    return dry


def _passing(problems: dict[str, Problem], subjects: Sequence[str], params: FilterParams) -> Reply:
    """Return passing replies: approving votes, right or wrong answers as required."""
    of_photographs = {"subject": next(iter(subjects), "other"), "figure": True}
    votes = {
        photographs.CLASS.closing: _approve(of_photographs),
        photographs.COMPLETENESS.closing: _approve(dict.fromkeys(photographs.POINTS, True)),
    }
    for name, panel in params.model_reasons.items():
        instrument = build_model_reason(name, panel)
        labels = getattr(instrument.scale, "labels", {})
        kept = next(
            (label for label in labels if label not in REASONS_OF_MODELS.get(name).rejects), ""
        )
        votes[instrument.closing] = WORDS.model_copy(update={"text": f"LABEL: {kept}"})

    def reply(request: Request) -> Response:
        tags = request.tags
        if tags.role in ("voter", "assessor"):
            text = request.conversation.text
            return next((vote for words, vote in votes.items() if words in text), APPROVES)
        if tags.setting != "difficulty":
            return WORDS
        right = "; ".join(problems[tags.problem].answer or [])
        return WORDS.model_copy(update={"text": f"\\boxed{{{right}}}"})

    return reply


def _plan_rationales(view: StudyView, problems: Path) -> DryRun:
    """Plan rationales: a missing candidate counts as right, so no reference is shown after it.

    Topics without a name count as one topic per subject: at least one cluster is named.
    """
    study, rows = view.study, read_jsonl(problems, Problem)
    params, folder = study.rationale, problems.parent
    dry = DryRun(view, _write_something)
    if params.writer:
        model = params.writer
        writer = make_writer(study, model, partial(dry.ask, model), _accept_filler(params.scorer))
        rule = _lengthen_filler(writer.degeneracy)
        rows = write_solutions(rows, folder, replace(writer, degeneracy=rule)).problems
    if params.labeller:
        embedder = dry.asking(params.embedder) if params.embedder else None
        models = LabelModels(dry.asking(params.labeller), _embed(study, embedder))
        label_problems(rows, folder, study, models)
    return dry


def _write_something(request: Request) -> Response:
    return GUESSED_LABEL if request.tags.role == "labeller" else WORDS


def _embed(study: Study, ask: Ask | None) -> Embed:
    """Embed topics; a model's vectors are counted but not read, so that all are one cluster."""
    if ask is None:
        return choose_embedding(study, None)

    def count(texts: Sequence[str]) -> Matrix:
        import numpy as np

        ask([build_text_request(text, study.study.name) for text in texts])
        return np.zeros((len(texts), 1))

    return count


def _accept_filler(rules: str) -> Score:
    score = score_by(rules)

    def accept(item: ScoredItem) -> Verdict:
        verdict = score(item)
        is_filler = item.prediction == WORDS.text
        return verdict.model_copy(update={"verdict": 1.0}) if is_filler else verdict

    return accept


def _lengthen_filler(rule: DegeneracyRule) -> DegeneracyRule:
    def count_tokens(text: str) -> int:
        return rule.min_tokens if text == WORDS.text.strip() else rule.count_tokens(text)

    return rule._replace(count_tokens=count_tokens)
