"""Stage `aggregate`: reads a cell's samples and verdicts, writes their metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from omibench.answers.judges.panel import PanelRequest, open_panels
from omibench.answers.scorers.registry import SCORERS
from omibench.errors import ParamsError
from omibench.models.client.ask import open_asker
from omibench.params.setting import Cell, Setting
from omibench.results.statistics.samples import pass_at_k
from omibench.schemas.cells import describe_origin
from omibench.schemas.problem import Answer, Question
from omibench.schemas.request import Request, Response
from omibench.schemas.tables import (
    AggregateRow,
    ResponseRow,
    VerdictRow,
    read_jsonl,
    read_parquet,
    write_parquet,
)
from omibench.schemas.verdict import RIGHT
from omibench.stages.aggregate.choose import Choosing, RewardPanel, Samples, find_reward_panel
from omibench.stages.aggregate.judges import CaseMaterial, choose_images, prepare_statements
from omibench.stages.aggregate.registry import Candidates, choose_sample
from omibench.stages.aggregate.votes import (
    NORMAL_FORM,
    VERSION,
    Equivalence,
    Sample,
    consistency,
    majority,
    make_equivalence,
    make_generator,
    make_validity,
)

if TYPE_CHECKING:
    from omibench.params.study import Study


@dataclass(frozen=True)
class _Work:
    """The samples of one cell under every scorer, and the equivalence of answers."""

    by_rules: Mapping[str, Samples]
    base: str
    """The scorer whose extracted answers are used for scorers without extraction, such as judges.
    """
    sameness: str | None
    """The scorer that defines equivalence; None for normal forms."""
    answers: Mapping[str, Answer]
    seed: int
    ks: list[int]
    samples_of_a_run: int

    @cached_property
    def _equivalences(self) -> dict[str, Equivalence]:
        return {}

    def find_book(self, rules: str) -> str:
        """Return the scorer whose extracted answers vote under `rules`."""
        return rules if rules in SCORERS and rules != "published" else self.base

    def split_runs(self, samples: Sequence[Sample]) -> list[list[Sample]]:
        """Return the samples of each run in the order drawn."""
        runs: dict[int, list[Sample]] = {}
        for sample in samples:
            runs.setdefault(sample.index // self.samples_of_a_run, []).append(sample)
        return list(runs.values())

    def get_equivalence(self, problem: str) -> Equivalence:
        """Return the equivalence of answers to a problem, cached over all k and scorers."""
        if problem not in self._equivalences:
            answer = self.answers[problem]
            self._equivalences[problem] = make_equivalence(
                self.sameness, answer.answer_type, answer.choices
            )
        return self._equivalences[problem]

    def describe_sameness(self) -> dict[str, Any]:
        """Return the columns that describe the equivalence."""
        return {"version": VERSION, "sameness": self.sameness or NORMAL_FORM}


def aggregate_cell(results: Path, out: Path, study: Study, cell: Cell, job: str = "") -> int:
    """Aggregate one cell of a results folder with freeze/, infer/ and score/; write AggregateRow.

    Every scorer and the judge get pass@k, estimated from all samples, and consistency@k, the mean
    over runs, for every k, and, if the setting chooses
    a sample, the chosen one of each run; that among all samples of a run `counts`. Reward models
    are called through the store. Returns the number of rows.

    Raises:
        ParamsError: The setting draws a single sample. Reading files and requests can also raise.
    """
    setting = study.settings[cell.setting]
    if setting.decoding.samples < 2:
        raise ParamsError(
            f"settings.{cell.setting}: draws one sample, so there is nothing to aggregate; "
            "raise decoding.samples"
        )
    answers = {a.id: a for a in read_jsonl(results / "freeze" / "answers.jsonl", Answer)}
    by_rules, simulated = _read_samples(results / "score" / cell.model / f"{cell.setting}.parquet")
    base = next((r for r in study.score.scorers if r != "published" and r in by_rules), "")
    size = setting.samples_of_a_run
    ks = sorted({*setting.aggregate.k, size})
    work = _Work(by_rules, base, setting.aggregate.sameness, answers, study.study.seed, ks, size)
    method, rows = setting.aggregate.how, list(_make_share_rows(work))
    if method == "first":
        rows += _choose_first(work)
    elif method == "majority":
        rows += _choose_by_majority(work)
    elif reward := find_reward_panel(study, cell):
        rows += _choose_by_judge(work, results, study, cell, reward)
    elif method != "mean":
        rows += _choose_by_plugin(work, method, _read_texts(results, cell))
    marked = [
        row.model_copy(
            update={
                "simulated": row.simulated or simulated,
                "counts": row.metric == method and row.k == size,
            }
        )
        for row in rows
    ]
    write_parquet(out, marked, AggregateRow, describe_origin(out, job))
    return len(rows)


def _read_samples(verdicts: Path) -> tuple[dict[str, Samples], bool]:
    """Return scorer -> problem -> samples in the order drawn, and whether any is simulated."""
    by_rules: dict[str, dict[str, list[Sample]]] = {}
    frame = read_parquet(verdicts, VerdictRow).sort("index", maintain_order=True)
    for row in frame.iter_rows(named=True):
        if "/" not in row["rules"]:
            problem_samples = by_rules.setdefault(row["rules"], {}).setdefault(row["id"], [])
            problem_samples.append(make_sample(VerdictRow.model_construct(**row)))
    return dict(by_rules), bool(frame["simulated"].any())


def make_sample(verdict: VerdictRow) -> Sample:
    """Return the sample of a verdict."""
    answer = verdict.extracted if verdict.outcome == "scored" else None
    return Sample(verdict.index, answer, verdict.verdict)


def _list_voters(work: _Work, rules: str, problem: str) -> list[Sample]:
    """Return the samples with the voting answers and the verdicts of `rules`."""
    samples = work.by_rules[rules][problem]
    if work.find_book(rules) == rules or not work.base:
        return samples
    answers = {s.index: s.answer for s in work.by_rules[work.base].get(problem, [])}
    return [Sample(s.index, answers.get(s.index), s.verdict) for s in samples]


def _iterate_samples(work: _Work) -> Iterator[tuple[str, str, list[Sample]]]:
    for rules, problems in work.by_rules.items():
        for problem in problems:
            yield rules, problem, _list_voters(work, rules, problem)


def _make_share_rows(work: _Work) -> Iterator[AggregateRow]:
    for rules, problem, samples in _iterate_samples(work):
        right = sum(s.verdict >= RIGHT for s in samples)
        is_valid = make_validity(work.answers[problem].choices)
        for k in (k for k in work.ks if k <= len(samples)):
            passed = pass_at_k(len(samples), right, k)
            yield AggregateRow(id=problem, rules=rules, metric="pass", k=k, value=passed)
            runs = [run[:k] for run in work.split_runs(samples) if len(run) >= k]
            if work.base and runs:
                same = work.get_equivalence(problem)
                agreed = fmean(consistency(run, same, is_valid) for run in runs)
                yield AggregateRow(
                    id=problem, rules=rules, metric="consistency", k=k, value=agreed,
                    **work.describe_sameness(),
                )  # fmt: skip


def _choose_first(work: _Work) -> Iterator[AggregateRow]:
    for rules, problem, samples in _iterate_samples(work):
        for run in work.split_runs(samples):
            yield _make_choice_row(problem, rules, "first", work.ks[-1], run[0])


def _choose_by_majority(work: _Work) -> Iterator[AggregateRow]:
    for rules, problem, samples in _iterate_samples(work):
        for number, run in enumerate(work.split_runs(samples)):
            names = (problem, str(number)) if number else (problem,)
            for k in work.ks:
                rng = make_generator(work.seed, "majority", *names)
                won = majority(run[:k], work.get_equivalence(problem), rng)
                row = _make_choice_row(problem, rules, "majority", k, won)
                yield row.model_copy(update=work.describe_sameness())


def _choose_by_plugin(
    work: _Work, method: str, texts: Mapping[tuple[str, int], str]
) -> Iterator[AggregateRow]:
    for rules, problem, samples in _iterate_samples(work):
        for k in work.ks:
            first = samples[:k]
            candidates = Candidates(
                problem,
                tuple(sample.answer for sample in first),
                tuple(texts[problem, sample.index] for sample in first),
                work.get_equivalence(problem),
                make_generator(work.seed, method, problem),
            )
            won = first[choose_sample(method, candidates)]
            row = _make_choice_row(problem, rules, method, k, won)
            yield row.model_copy(update=work.describe_sameness())


def _choose_by_judge(
    work: _Work, results: Path, study: Study, cell: Cell, reward: RewardPanel
) -> Iterator[AggregateRow]:
    if not work.by_rules:
        return  # a limit can leave no problem of the setting's `where`
    setting = study.settings[cell.setting]
    samples = work.by_rules[work.base or next(iter(work.by_rules))]
    texts, simulated = _read_texts(results, cell), _is_simulated(study, reward, setting)
    questions = {q.id: q for q in read_jsonl(results / "freeze" / "questions.jsonl", Question)}
    judged = {id: questions[id] for id in samples if id in questions}
    statements = prepare_statements(
        judged, setting, results / "freeze", study.study.name, partial(_ask_once, study)
    )
    material = CaseMaterial(questions, texts, work.answers, statements)
    choosing = Choosing(samples, work.ks, material, work.seed)
    params_key = f"settings.{cell.setting}.aggregate.judge"
    with open_panels(study, [PanelRequest(reward.params, reward.instrument, params_key)]) as (
        panel,
    ):
        choices = reward.choose(choosing, panel)
    for rules, problem, voters in _iterate_samples(work):
        by_index = {s.index: s for s in voters}
        for k in work.ks:
            chosen = choices[k][problem]
            won = by_index[chosen.sample.index]
            row = _make_choice_row(problem, rules, setting.aggregate.how, k, won)
            yield row.model_copy(
                update={
                    "judge": panel.name, "prompt_sha256": panel.prompt.sha256,
                    "literal": panel.prompt.literal or None,
                    "mark": chosen.mark, "prompts": chosen.prompts, "simulated": simulated,
                }
            )  # fmt: skip


def _ask_once(study: Study, model: str, requests: Sequence[Request]) -> list[Response]:
    with open_asker(study, model) as ask:
        return ask(requests)


def _is_simulated(study: Study, reward: RewardPanel, setting: Setting) -> bool:
    captioner = choose_images(setting).model
    captioners = [study.models[captioner]] if captioner in study.models else []
    return any(model.is_simulated for model in [*reward.models, *captioners])


def _read_texts(results: Path, cell: Cell) -> dict[tuple[str, int], str]:
    responses = results / "infer" / cell.model / f"{cell.setting}.parquet"
    rows = read_parquet(responses, ResponseRow).iter_rows(named=True)
    return {(r["id"], r["index"]): r["text"] for r in rows}


def _make_choice_row(problem: str, rules: str, metric: str, k: int, won: Sample) -> AggregateRow:
    return AggregateRow(
        id=problem, rules=rules, metric=metric, k=k, value=won.verdict, index=won.index,
        answer=won.answer,
    )  # fmt: skip
