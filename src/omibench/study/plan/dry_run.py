"""A dry run: stages run as usual, the store answers, and missing requests are listed.

So a plan counts the actual requests of a run, by the same code. Nothing is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from omibench.answers.judges.extraction import EXTRACTION
from omibench.answers.judges.gptscore import GPTSCORE
from omibench.answers.judges.grade import GRADE
from omibench.answers.judges.instrument import Instrument, build_prompt
from omibench.answers.judges.panel import Judge, OpenPanel, consult
from omibench.answers.judges.registry import JUDGES, ResponseSelection, build_instrument
from omibench.params.panel import JudgePanel
from omibench.params.setting import Cell
from omibench.params.stages.judge import ErrorPanel
from omibench.schemas.request import ImagePart, Request, Response, Role
from omibench.schemas.tables import VerdictRow
from omibench.schemas.verdict import ScoredItem
from omibench.settings.pictures import without_drawing
from omibench.stages.aggregate.choose import Choosing, RewardPanel, find_reward_panel
from omibench.stages.aggregate.judges import CaseMaterial, Statements, prepare_statements
from omibench.stages.aggregate.stage import make_sample
from omibench.stages.aggregate.votes import Sample
from omibench.stages.filter.models import Models, Replies
from omibench.stages.judge.material import (
    Material,
    choose_ids,
    find_stratum,
    make_case,
    make_transcript_case,
)
from omibench.stages.judge.stage import list_cases, select_material
from omibench.stages.score.judge import INSTRUMENTS, gptscore, list_judged_pictures, run_mathreal
from omibench.stages.score.judge import find_instrument as find_score_instrument
from omibench.stages.score.judge import make_item_case as case_of_item
from omibench.stages.score.stage import pair_with_gold
from omibench.store.store import Partition
from omibench.study.plan.plan import GUESS, Step, StudyView, filler, guess
from omibench.study.plan.responses import Expected, find_answer, find_verdicts

NOT_YET = Response(text="", outcome="budget_stop", provider_id=GUESS)
"""A judge's placeholder for a missing reply: no verdict, and no reason for a second request."""
WORDS = Response(text=filler(200), provider_id=GUESS)
"""Another model's placeholder for a missing reply; long enough for a worked solution."""
Reply = Callable[[Request], Response]


class DryJudge(Judge):
    """A judge in a dry run. Its replies are discarded, so they need no key."""

    __slots__ = ()

    def key(self, request: Request) -> str:
        """Return no key."""
        return ""


class DryRun:
    """Replaces the models; `steps` are their requests, in order.

    `reply` returns the placeholder of a missing answer. A repeated request after such a reply is
    skipped. If `chained`, all later requests about a problem are guessed, except the other votes of
    a panel; if `guessing`, all are. If `made_up`, all requests are about placeholders of responses:
    they are not in the store, and their keys are not computed, which would be slow.
    """

    def __init__(
        self, view: StudyView, reply: Reply = lambda _: NOT_YET, chained: bool = False
    ) -> None:
        self.view, self.steps = view, list[Step]()
        self.guessing = self.made_up = False
        self._reply, self._chained = reply, chained
        self._unanswered: dict[str, set[Role]] = {}
        self._asked: set[str] = set()

    def ask(self, model: str, requests: Sequence[Request]) -> Replies:
        """Return the key and the response of each request, from the store if it has one."""
        partition = self.view.open_partition(model)
        replies, unanswered = [], []
        for request in requests:
            key, tags = self._key(partition, request), request.tags
            response = partition.get(key) or self._reply(request)
            replies.append((key, response))
            if request.index:
                first = request.model_copy(update={"index": 0})
                if self._key(partition, first) in self._asked:
                    continue
            guessed = self.guessing or (self._chained and self._follows(request))
            self.steps.append(Step(model, tags.role, key, request, guessed))
            if response.provider_id == GUESS:
                unanswered.append((key, tags))
        for key, tags in unanswered:
            self._asked.add(key)
            self._unanswered.setdefault(tags.problem, set()).add(tags.role)
        return replies

    def _key(self, partition: Partition, request: Request) -> str:
        """Return the key of a request, or for a placeholder an identifier within this plan."""
        if not self.made_up:
            return partition.key(request)
        place = hash((partition.folder, request.conversation, request.index))
        return f"{place % 2**64:064x}"

    def _follows(self, request: Request) -> bool:
        before = self._unanswered.get(request.tags.problem, set())
        return bool(before - ({"voter"} if request.tags.role == "voter" else set()))

    def answer(self, model: str, requests: Sequence[Request]) -> list[Response]:
        """Return the response of each request."""
        return [response for _, response in self.ask(model, requests)]

    def asking(self, model: str) -> Callable[[Sequence[Request]], list[Response]]:
        """Return how a stage queries one model."""
        return partial(self.answer, model)

    def judge(self, model: str) -> Judge:
        """Return the model as part of a panel."""
        return DryJudge(model, self.asking(model), dict(self.view.open_provider(model).identity))

    def panel(self, instrument: Instrument[Any], params: JudgePanel) -> OpenPanel:
        """Return the judges of an instrument, as `open_panels` does."""
        judges = [self.judge(name) for name in params.models]
        prompt = build_prompt(instrument, params.prompt)
        return OpenPanel(judges, prompt, params.max_tokens, quiet=True)


class DryModels(Models):
    """The models of a study for the filter, in a dry run."""

    def __init__(self, dry: DryRun) -> None:
        super().__init__(dry.view.study, ExitStack())
        self._dry = dry

    def ask(self, model: str, requests: Sequence[Request]) -> Replies:
        """See `DryRun.ask`."""
        return self._dry.ask(model, requests)

    def judge(self, model: str) -> Judge:
        """See `DryRun.judge`."""
        return self._dry.judge(model)


# The requests of a cell to judges: for scoring, for the reasoning, and to choose samples.
#
# All are counted in a dry run. Requests that depend on something missing (a response, a verdict,
# the reply of another judge) are guessed and counted at their maximum.


class CellJudgements:
    """The judgements of one cell, one dry run per instrument."""

    def __init__(self, view: StudyView, cell: Cell, responses: Sequence[Expected]) -> None:
        self.view, self.cell, self.responses = view, cell, responses

    def list_steps(self) -> Iterator[tuple[Role, str, list[Step]]]:
        """List the role of each instrument, a model in it, and its requests."""
        study = self.view.study
        for name, steps in self._list_score_steps().items():
            panel = study.panels("score")[name]
            yield from _by_model(INSTRUMENTS[name].role, panel.models, steps)
        if self.cell in study.judged_cells:
            for name, panel in study.panels("judge").items():
                role = build_instrument(name, panel).role
                yield from _by_model(role, panel.models, self._list_reasoning_steps(name, panel))
        reward = find_reward_panel(study, self.cell)
        if reward and self.cell in study.aggregated_cells:
            steps = self._list_sample_steps(reward)
            yield from _by_model(reward.instrument.role, reward.params.models, steps)

    def list_caption_steps(self) -> list[Step]:
        """List the requests to the captioner of a reward model without image input."""
        has_panel = find_reward_panel(self.view.study, self.cell) is not None
        return self._statements[1] if has_panel else []

    def _list_score_steps(self) -> dict[str, list[Step]]:
        """List the steps of each scoring panel; grades that wait for an extraction are guesses."""
        panels, steps_by_instrument = self.view.study.panels("score"), dict[str, list[Step]]()
        if GPTSCORE.name in panels:
            steps_by_instrument[GPTSCORE.name] = self._gptscore(panels[GPTSCORE.name])
        if GRADE.name in panels and EXTRACTION.name in panels:
            steps = self._grade(panels[GRADE.name], panels[EXTRACTION.name])
            for instrument in (GRADE, EXTRACTION):
                steps_by_instrument[instrument.name] = [
                    step for step in steps if step.role == instrument.role
                ]
        return steps_by_instrument

    def _gptscore(self, params: JudgePanel) -> list[Step]:
        dry = DryRun(self.view)
        instrument = find_score_instrument(GPTSCORE.name, params)
        panel = dry.panel(instrument, params)

        def list_pictures(items: Sequence[ScoredItem]) -> list[tuple[ImagePart, ...]]:
            questions = [self.view.questions_by_id[item.id] for item in items]
            return list_judged_pictures(questions, self.view.questions.parent, params)

        items, texts = self._items(stored=True)
        gptscore(items, texts, panel, pictures=list_pictures(items))
        dry.guessing = dry.made_up = True
        items, texts = self._items(stored=False)
        rows = zip(items, texts, list_pictures(items), strict=True)
        consult([case_of_item(i, t, images=images) for i, t, images in rows], instrument, panel)
        return dry.steps

    def _grade(self, graders: JudgePanel, extractors: JudgePanel) -> list[Step]:
        dry = DryRun(self.view)
        grade, extraction = dry.panel(GRADE, graders), dry.panel(EXTRACTION, extractors)
        for stored in (True, False):
            dry.guessing = dry.made_up = not stored
            items, texts = self._items(stored=stored)
            verdicts = run_mathreal(items, texts, grade, extraction)
            waiting = [
                case_of_item(item, text, item.prediction)
                for item, text, (first, *_) in zip(items, texts, verdicts, strict=True)
                if first.verdict.outcome == "budget_stop" and first.verdict.extracted is None
            ]
            dry.guessing = True
            consult(waiting, GRADE, grade)
        return dry.steps

    def _list_reasoning_steps(self, name: str, params: JudgePanel) -> list[Step]:
        dry, candidates, errors = DryRun(self.view), self._material(), self.view.study.judge.errors
        instrument, responses = build_instrument(name, params), JUDGES.get(name).responses
        panel = dry.panel(instrument, params)
        if name == "error_type" and errors and errors.draw:
            self._plan_draw(dry, instrument, panel, errors)
            return dry.steps
        for sure in (True, False):
            dry.guessing = not sure
            material = [
                m
                for m, is_stored in candidates
                if sure == (is_stored and _is_decided(m, responses))
            ]
            if responses == "wrong" and not sure:
                material = [replace(m, verdict=_wrong(m)) for m in material if m.is_readable]
            selected = select_material(name, material, errors)
            consult(list_cases(name, selected), instrument, panel)
        return dry.steps

    def _plan_draw(
        self, dry: DryRun, instrument: Instrument[Any], panel: OpenPanel, errors: ErrorPanel
    ) -> None:
        """Add the requests about the drawn failures; guesses while verdicts are missing."""
        material = []
        for m, stored in self._material():
            decided = stored and m.verdict is not None
            dry.guessing |= not decided
            if decided or m.is_readable:
                material.append(m if decided else replace(m, verdict=_wrong(m)))
        selected = select_material(instrument.name, material, errors)
        consult([m.case for m in selected], instrument, panel)

    def _list_sample_steps(self, reward: RewardPanel) -> list[Step]:
        """List the steps for every k; after a match without a winner, the next are guesses.

        Requests about a problem with a missing caption are guesses, too.
        """
        study, steps = self.view.study, list[Step]()
        setting = study.settings[self.cell.setting]
        samples, sure = self._samples()
        texts = {(e.row.id, e.row.index): e.row.text for e in self.responses}
        answers = {id: find_answer(self.view, id) for id in samples}
        statements, captions = self._statements
        partition_of = self.view.open_partition
        sure -= {s.request.tags.problem for s in captions if s.key not in partition_of(s.model)}
        material = CaseMaterial(self.view.questions_by_id, texts, answers, statements)
        for k in sorted({*setting.aggregate.k, setting.decoding.samples}):
            for is_scored in (True, False):
                dry = DryRun(self.view, chained=reward.instrument.role == "referee")
                dry.guessing = not is_scored
                chosen_samples = {
                    id: problem_samples
                    for id, problem_samples in samples.items()
                    if (id in sure) == is_scored
                }
                choosing = Choosing(chosen_samples, [k], material, study.study.seed)
                reward.choose(choosing, dry.panel(reward.instrument, reward.params))
                steps += dry.steps
        return steps

    @cached_property
    def _statements(self) -> tuple[Statements, list[Step]]:
        """The problems as a reward model reads them, and the requests to their captioner."""
        setting, dry = self.view.study.settings[self.cell.setting], DryRun(self.view, guess)
        questions = {e.row.id: self.view.questions_by_id[e.row.id] for e in self.responses}
        folder, name = self.view.questions.parent, self.view.study.study.name
        with without_drawing():
            return prepare_statements(questions, setting, folder, name, dry.answer), dry.steps

    def _samples(self) -> tuple[dict[str, list[Sample]], set[str]]:
        """Return the samples of every problem, and the problems with all samples scored.

        A response without a verdict counts as one with an answer.
        """
        scorers = [rules for rules in self.view.study.score.scorers if rules != "published"]
        verdicts = find_verdicts(self.view, self.cell, scorers[0] if scorers else None)
        samples: dict[str, list[Sample]] = {}
        for expected in self.responses:
            row, verdict = expected.row, verdicts.get(expected.row.key)
            sample = make_sample(verdict) if verdict else Sample(row.index, answer="?")
            samples.setdefault(row.id, []).append(sample)
        unsure = {e.row.id for e in self.responses if e.row.key not in verdicts}
        return samples, set(samples) - unsure

    def _items(self, stored: bool) -> tuple[list[ScoredItem], list[str]]:
        """Return the stored responses, or the missing ones, with their questions."""
        rows = [e.row for e in self.responses if e.stored == stored]
        gold = {id: find_answer(self.view, id) for id in {row.id for row in rows}}
        items = [pair_with_gold(row, gold, Path()) for row in rows]
        return items, [self.view.questions_by_id[row.id].question for row in rows]

    def _material(self) -> list[tuple[Material, bool]]:
        """Return the reasoning to judge, and whether the store has it."""
        params, folder = self.view.study.judge, self.view.questions.parent
        verdicts: Mapping[str, VerdictRow] = {}
        if any(JUDGES.get(name).responses == "wrong" for name in params.panels):
            first = self.view.study.score.scorers[0]
            verdicts = find_verdicts(self.view, self.cell, params.wrong_by or first)
        draw = params.errors.draw if params.errors else None
        kept_ids = choose_ids(self.view.questions_by_id, params.problems)
        material = []
        for row, stored in self.responses:
            if row.id in kept_ids or draw:
                question, answer = self.view.questions_by_id[row.id], find_answer(self.view, row.id)
                case = make_case(question, answer, row.text, folder, params.images)
                stratum, verdict = find_stratum(answer, draw), verdicts.get(row.key)
                transcript = make_transcript_case(question, row)
                m = Material(row, case, verdict, stratum, row.id in kept_ids, transcript)
                material.append((m, stored))
        return material


def _by_model(
    role: Role, models: Sequence[str], steps: Sequence[Step]
) -> Iterator[tuple[Role, str, list[Step]]]:
    for model in models:
        model_steps = {step.key: step for step in reversed(steps) if step.model == model}
        yield role, model, list(reversed(model_steps.values()))


def _is_decided(material: Material, responses: ResponseSelection) -> bool:
    """Return whether it is known if a judge is queried about an existing response."""
    return responses != "wrong" or material.verdict is not None


def _wrong(material: Material) -> VerdictRow:
    row = material.row
    return VerdictRow(
        id=row.id, index=row.index, key=row.key, rules="", version=0, method="", verdict=0.0,
        outcome="scored",
    )  # fmt: skip
