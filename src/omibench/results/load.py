"""Load the results of a study: verdicts, responses, judgements, and the part evaluated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from omibench.errors import FileFormatError, MissingInputError, OmibenchError, ParamsError
from omibench.files.parquet import read_frame
from omibench.params.cells import Family, choose_family, list_cells, list_full_settings
from omibench.params.presentation import is_selected
from omibench.params.setting import Cell, Setting
from omibench.results.grouped import FamilyTests, compare_family
from omibench.results.statistics.intervals import Estimate, clustered_wilson
from omibench.results.study_files import SAMPLE, StudyFiles
from omibench.schemas.adaptive import FOLDER as ADAPTIVE
from omibench.schemas.adaptive import Look, list_open
from omibench.schemas.cells import count_answered, failed_reason
from omibench.schemas.certificate import Certificate, ReasoningCertificate
from omibench.schemas.problem import Answer, Example, Question
from omibench.schemas.tables import FrozenManifest, read_jsonl
from omibench.text.lists import list_first

if TYPE_CHECKING:
    from omibench.params.study import Study


# Partial runs: the evaluated part of a dataset, which every output of the study must state.

PARTIAL = "PARTIAL RUN"


class Partial(NamedTuple):
    """The number of evaluated problems, of all, and the selection."""

    problems: int
    of: int
    selection: str

    def __str__(self) -> str:
        return f"{self.problems:,} of {self.of:,} problems ({self.selection})"


def find_partial(
    study: Study,
    questions: Collection[Question],
    responses: pl.DataFrame,
    examples: Iterable[Example],
) -> Partial | None:
    """Return the evaluated part if it is not all of the frozen `questions`; else None.

    The part is given by its `limit`, or by its cells, if one was run manually for part of the
    problems of its setting. Recorded responses can always cover a part.
    """
    limit, total = study.study.limit, len(questions)
    if limit and (asked_problems := len(limit.select([q.id for q in questions]))) < total:
        return Partial(asked_problems, total, str(limit))
    aside = {example.id for example in examples if example.take == "sampled"}
    counts = _counts(responses)
    asked_counts = {
        name: _count_asked(study.settings[name], questions, aside)
        for name in dict.fromkeys(cell.setting for cell in counts)
    }
    smaller_counts = [
        count
        for cell, count in counts.items()
        if not study.models[cell.model].is_recorded and count < asked_counts[cell.setting]
    ]
    return Partial(min(smaller_counts), total, "selected manually") if smaller_counts else None


def _counts(responses: pl.DataFrame) -> dict[Cell, int]:
    counts = responses.group_by("model", "setting").agg(pl.col("id").n_unique())
    return {Cell(model, setting): count for model, setting, count in counts.iter_rows()}


def _count_asked(setting: Setting, questions: Iterable[Question], aside: Collection[str]) -> int:
    """Count the problems of a setting: those of its `where` that are not set aside as examples."""
    shows_sampled = setting.examples is not None and setting.examples.take == "sampled"
    return sum(
        is_selected(question, setting.where) and not (shows_sampled and question.id in aside)
        for question in questions
    )


# The cells of a report: those with files, and those that can lead.

NAMED = 3
"""Missing cells that a sentence lists."""


def find_present_cells(study: Study, infer: Path, score: Path) -> list[Cell]:
    """Return the cells of a study with responses and verdicts.

    In a partial run, those of which the limit leaves no problem are not among them.
    """
    return [
        cell
        for cell in list_cells(study.infer)
        for name in [f"{cell.model}/{cell.setting}.parquet"]
        if all((stage / name).is_file() for stage in (infer, score))
        and not (study.study.limit and _is_empty(infer / name))
    ]


def _is_empty(path: Path) -> bool:
    try:
        return read_frame(path, columns=["id"]).is_empty()
    except OmibenchError:
        return False  # reading it whole reports the error


def keep_cells(study: Study, cells: Sequence[Cell]) -> Study:
    """Return the study with only these cells."""
    settings_by_model = {
        model: [cell.setting for cell in cells if cell.model == model]
        for model in dict.fromkeys(cell.model for cell in cells)
    }
    infer = study.infer.model_copy(
        update={"models": list(settings_by_model), "only": settings_by_model}
    )
    return study.model_copy(update={"infer": infer})


def describe_missing(missing: Sequence[Cell]) -> str:
    """Describe the cells that a report lacks; empty if it lacks none."""
    if not missing:
        return ""
    names = list_first([f"{cell.model}/{cell.setting}" for cell in missing], NAMED)
    count_text = "1 cell is" if len(missing) == 1 else f"{len(missing):,} cells are"
    return f"{count_text} missing, without responses or verdicts: {names}."


def failed_cells(responses: pl.DataFrame, cells: Iterable[Cell], share: float) -> list[Cell]:
    """Return the cells that cannot lead: without answers, or with more than `share` errors.

    Such a cell is written only if more errors were allowed at the time, or the budget ended it.
    """
    failed = []
    counts = {
        Cell(model, setting): dict(zip(part["outcome"], part["len"], strict=True))
        for (model, setting), part in responses.group_by("model", "setting", "outcome")
        .len()
        .partition_by("model", "setting", as_dict=True)
        .items()
    }
    for cell in cells:
        outcomes = counts.get(cell, {})
        if failed_reason(outcomes, share) or not count_answered(outcomes):
            failed.append(cell)
    return failed


# The joined input of a report: one row per verdict, one row per response.

JUDGE_RULES, PUBLISHED_RULES, ROBUST_RULES = "gptscore", "published", "robust"
VOTE_MARK = "/"
"""Separates a scorer from the judge of a panel whose individual verdict it is."""
_ITEM = ("subject", "cluster", "n_images", "answer_type")


class StoppedCells(NamedTuple):
    """The cells that `infer.adaptive` stopped: they have only a part of the problems."""

    looks: list[Look]
    verdicts: pl.DataFrame
    """Their verdicts, with the columns of `Results.verdicts`."""
    responses: pl.DataFrame
    """Their responses, with the columns of `Results.responses`."""


@dataclass(frozen=True)
class Results:
    """The results of a whole study.

    `verdicts`: the columns of VerdictRow and `model, setting, subject, cluster, n_images,
    answer_type, failed, responded_simulated, judge_simulated`; `responses`: those of ResponseRow
    without `LONG_COLUMNS`, and `model, setting, characters` (of the text); `read_responses` reads
    them with their texts. `cluster` is a problem's group, or the problem itself if it shares no
    stem. `failed` states whether a response has no answer to score. Published verdicts lack it: for
    them it is the result of `robust`, and null if that did not score the response. `counts` states
    whether the setting chose this sample; `select_verdicts` returns only those rows.
    """

    study: Study
    manifest: FrozenManifest
    freeze: Path
    questions: dict[str, Question]
    answers: dict[str, Answer]
    verdicts: pl.DataFrame
    responses: pl.DataFrame
    full_study: Study | None = None
    """The study according to its parameters, if some of its cells are missing in `study`."""
    stopped: StoppedCells | None = None
    """The cells that `infer.adaptive` stopped, which are in no other field but `full_study`."""
    missing: tuple[Cell, ...] = ()
    """Cells of the study without responses or verdicts, which are in no other field."""
    partial: Partial | None = None
    """The evaluated part of the dataset, if it is not complete."""
    certificate: Certificate | None = None
    """The judge's agreement with human labels; None without a certificate of this judge."""
    reasoning_certificates: tuple[ReasoningCertificate, ...] = ()
    """Certificates of judges of reasoning, of this study's judges or of others."""
    infer: Path | None = None
    """Folder of the response files; None: next to `freeze`."""

    @property
    def main_rules(self) -> str:
        """The scorer of the headline."""
        return self.study.analyze.main_scorer or self.study.score.scorers[0]

    @cached_property
    def rules(self) -> list[str]:
        """Every scorer with verdicts, the headline's first, the judge last."""
        scorers = {r for r in self.verdicts["rules"].unique() if VOTE_MARK not in r}
        order = [self.main_rules, *self.study.score.scorers, *sorted(scorers - {JUDGE_RULES})]
        return [
            *(r for r in dict.fromkeys(order) if r in scorers),
            *({JUDGE_RULES} & scorers),
        ]

    @cached_property
    def votes(self) -> list[str]:
        """The verdicts of individual judges of a panel that voted: `gptscore/<model>`, ..."""
        return sorted(r for r in self.verdicts["rules"].unique() if VOTE_MARK in r)

    @cached_property
    def cells(self) -> list[Cell]:
        """The present cells of the study, in its order."""
        return list(self.study.cells)

    def read_responses(self) -> pl.DataFrame:
        """Read the responses of all cells with their texts, which take most of the memory.

        Returns:
            The columns of ResponseRow and `model, setting`.

        Raises:
            MissingInputError: A file no longer exists.
        """
        files = StudyFiles(self.freeze.parent, **({"infer": self.infer} if self.infer else {}))
        return pl.concat([files.read_responses(cell) for cell in self.cells])

    @cached_property
    def failed_cells(self) -> list[Cell]:
        """The cells with too few answers to judge the model."""
        share = self.study.infer.failed_share
        return failed_cells(self.responses, self.cells, share)

    @cached_property
    def simulated_cells(self) -> dict[Cell, bool]:
        """Whether any response of a cell was simulated."""
        rows = self.responses.group_by("model", "setting").agg(sim=pl.col("simulated").any())
        return {Cell(r["model"], r["setting"]): r["sim"] for r in rows.iter_rows(named=True)}

    @cached_property
    def _judged_by_stand_ins(self) -> set[str]:
        return set(self.verdicts.filter(pl.col("judge_simulated"))["rules"].unique())

    @property
    def judge_simulated(self) -> bool:
        """Whether any judgement came from a simulated judge."""
        return JUDGE_RULES in self._judged_by_stand_ins

    @property
    def any_simulated(self) -> bool:
        """Whether the report must show SIMULATED anywhere."""
        stand_ins = bool(self._judged_by_stand_ins) or any(self.simulated_cells.values())
        return stand_ins or self.has_synthetic_problems

    def rests_on_simulation(self, rules: str) -> bool:
        """Return whether a scorer's results depend on a simulated response or judge."""
        return (
            self.has_simulated_judge(rules)
            or any(self.simulated_cells.values())
            or self.has_synthetic_problems
        )

    def has_simulated_judge(self, rules: str) -> bool:
        """Return whether a scorer has verdicts of a simulated judge, for any responses."""
        return rules in self._judged_by_stand_ins

    @property
    def main_simulated(self) -> bool:
        """Whether numbers of all cells under the main rules are marked SIMULATED."""
        return self.rests_on_simulation(self.main_rules)

    @cached_property
    def family(self) -> Family:
        """The cells that the headline compares: the models under one setting."""
        return choose_family(self.study.cells, self.study.analyze.reference_setting)

    @cached_property
    def family_tests(self) -> FamilyTests:
        """All pairs of the family under the main rules, each over the items that both answered."""
        verdicts = self.select_verdicts(self.main_rules)
        return compare_family(verdicts, self.family, self.study.analyze.confidence)

    @cached_property
    def full_settings(self) -> list[str]:
        """The settings with a cell that show every item completely."""
        return list_settings_shown_in_full(self.study)

    @property
    def pooled_settings(self) -> list[str]:
        """The settings over which several cells are aggregated (`list_pooled_settings`)."""
        return list_pooled_settings(self.study)

    @property
    def failure_rules(self) -> str | None:
        """The scorer that determines which responses have no answer; None without one."""
        if self.main_rules != PUBLISHED_RULES:
            return self.main_rules
        return ROBUST_RULES if ROBUST_RULES in self.rules else None

    @property
    def has_synthetic_problems(self) -> bool:
        """Whether the problems are synthetic, so that nothing here is about a real benchmark."""
        return self.manifest.synthetic is not None

    @property
    def pictures_held(self) -> bool:
        """Whether the frozen dataset contains pictures, or its problems need none."""
        return self.manifest.images > 0 or not any(a.n_images for a in self.answers.values())

    def label(self, model: str) -> str:
        """Return the display name of a model."""
        return self.study.models[model].label or model

    def setting_label(self, setting: str) -> str:
        """Return the display name of a setting."""
        return self.study.settings[setting].label or setting

    def select_verdicts(self, rules: str, cell: Cell | None = None) -> pl.DataFrame:
        """Return the counting verdicts of one scorer, for one cell or all."""
        if cell is None:
            return self.counting_verdicts.filter(pl.col("rules") == rules)
        return self._parts.get((*cell, rules), self.verdicts.clear())

    @cached_property
    def counting_verdicts(self) -> pl.DataFrame:
        """The verdicts of the samples that settings chose, under every scorer."""
        return (
            self.verdicts
            if self.verdicts["counts"].all()
            else self.verdicts.filter(pl.col("counts"))
        )

    @cached_property
    def _parts(self) -> dict[tuple[object, ...], pl.DataFrame]:
        return self.counting_verdicts.partition_by("model", "setting", "rules", as_dict=True)


def list_settings_shown_in_full(study: Study) -> list[str]:
    """Return the settings of a study with a cell that show every item completely."""
    settings = list(dict.fromkeys(cell.setting for cell in study.cells))
    return list_full_settings(study.settings, settings, study.analyze.full_settings)


def list_pooled_settings(study: Study) -> list[str]:
    """Return the settings over which several cells are aggregated.

    These are the full ones; without any, the one under which the headline compares models.
    """
    family = choose_family(study.cells, study.analyze.reference_setting)
    return list_settings_shown_in_full(study) or [family.setting or study.cells[0].setting]


def load_results(freeze: Path, infer: Path, score: Path, study: Study) -> Results:
    """Join frozen dataset, responses and verdicts of every scored cell of the study.

    The others are `missing`; `aggregate` is next to `score`. Raises MissingInputError for a missing
    file or without any cell, FileFormatError for a verdict without its problem or response or if
    the samples that count do not fit the parameters, ParamsError if the study has no cells or no
    verdict of its main rules.
    """
    if not study.cells:
        raise ParamsError(
            "infer: has no model and setting, so there is nothing to analyze; add them"
        )
    aggregate = score.parent / "aggregate"
    files = StudyFiles(score.parent, freeze=freeze, infer=infer, score=score, aggregate=aggregate)
    present = find_present_cells(study, infer, score)
    missing = tuple(cell for cell in study.cells if cell not in present)
    full_study = study
    looks = _read_looks(infer, study)
    open_cells = {*list_open(looks, present)}
    if present and missing:
        study = keep_cells(study, present)
    # What the parameters say that the study has, whatever was noted in the folder.
    scored, chosen = frozenset(study.cells), frozenset(study.aggregated_cells)
    files.current = {"infer": scored, "score": scored, "aggregate": chosen}
    items = _frame_items(files.answers.values())
    simulated_models = [name for name, model in study.models.items() if model.is_simulated]
    responses, verdicts = [], []
    # Cell by cell, so that texts and joins take the memory of only one cell.
    for cell in study.cells:
        _check_choice(files, study, cell)
        responses.append(files.read_responses(cell, with_texts=False))
        rows = files.read_verdicts(cell, responses[-1])
        verdicts.append(_join(rows, responses[-1], items, simulated_models))
    stopped = None
    if len(open_cells) < len(study.cells):
        kept = [cell in open_cells for cell in study.cells]
        left = [not is_kept for is_kept in kept]
        rows, answered = (pl.concat(compress(frames, left)) for frames in (verdicts, responses))
        stopped = StoppedCells(looks, rows, answered)
        responses, verdicts = [*compress(responses, kept)], [*compress(verdicts, kept)]
        study = keep_cells(study, [*compress(study.cells, kept)])
    all_responses = pl.concat(responses, rechunk=True)
    responses.clear()
    all_verdicts = pl.concat(verdicts, rechunk=True)
    verdicts.clear()
    results = Results(
        study=study,
        manifest=files.manifest,
        freeze=freeze,
        questions=files.questions,
        answers=files.answers,
        verdicts=all_verdicts,
        responses=all_responses,
        partial=find_partial(study, files.questions.values(), all_responses, files.examples),
        full_study=full_study,
        missing=missing,
        stopped=stopped,
        infer=infer,
    )
    if results.main_rules not in results.rules:
        raise ParamsError(
            f"analyze.main_scorer: the scores have no verdict of {results.main_rules!r}, only of "
            f"{', '.join(results.rules) or 'none'}"
        )
    return results


def _read_looks(infer: Path, study: Study) -> list[Look]:
    """Read the looks of a study, none without `infer.adaptive`.

    Cells found behind at the last look have answered all problems: they are no stopped ones.
    """
    if not study.infer.adaptive:
        return []
    return [
        look if look.problems < look.of else look.model_copy(update={"stopped": []})
        for look in read_jsonl(infer / ADAPTIVE / "looks.jsonl", Look)
    ]


def _check_choice(files: StudyFiles, study: Study, cell: Cell) -> None:
    """Check that the samples that count in a cell are those that the parameters choose."""
    setting = study.settings[cell.setting]
    how = setting.aggregate.how if setting.decoding.samples > 1 else "mean"
    size = None if how == "mean" else setting.samples_of_a_run
    path, again = files.locate("aggregate", cell), f"{cell.model} under {cell.setting}"
    if how != "mean" and not path.is_file():
        raise MissingInputError(
            f"{path}: the file does not exist; run `omibench aggregate` for {again} first"
        )
    made, made_size = files.find_aggregate(cell)
    if (made, made_size) != (how, size):
        found, stated = (made, how) if made != how else (f"{made} of {made_size}", f"of {size}")
        raise FileFormatError(
            f"{path}: was made with `aggregate: {found}`, but the parameters say {stated}; run "
            f"`omibench aggregate` for {again} again"
        )


def _frame_items(answers: Iterable[Answer]) -> pl.DataFrame:
    """Return one row per item with the columns that its verdicts need."""
    types = (pl.String, pl.String, pl.String, pl.Int64, pl.String)
    return pl.DataFrame(
        [(a.id, a.subject, a.group or a.id, a.n_images, a.answer_type) for a in answers],
        schema=dict(zip(("id", *_ITEM), types, strict=True)),
        orient="row",
    )


def _join(
    verdicts: pl.DataFrame,
    responses: pl.DataFrame,
    items: pl.DataFrame,
    simulated_models: list[str],
) -> pl.DataFrame:
    """Join the verdicts of one cell with the columns of their items and responses."""
    samples = responses.select(*SAMPLE, responded_simulated="simulated").unique(SAMPLE)
    joined = verdicts.join(items, on="id", how="left", maintain_order="left").join(
        samples, on=SAMPLE, how="left", maintain_order="left"
    )
    # A judgement of a simulated response is marked too, even if its judge is real.
    judges = pl.col("judge").str.split("+")
    by_stand_in = judges.list.set_intersection(simulated_models).list.len() > 0
    return _with_failures(joined).with_columns(
        judge_simulated=(
            pl.col("simulated") & (by_stand_in | ~pl.col("responded_simulated"))
        ).fill_null(value=False)
    )


def _with_failures(verdicts: pl.DataFrame) -> pl.DataFrame:
    failed = pl.col("outcome") != "scored"
    if not verdicts["rules"].eq(PUBLISHED_RULES).any():
        return verdicts.with_columns(failed=failed)
    robust = verdicts.filter(pl.col("rules") == ROBUST_RULES).select(*SAMPLE, robust_failed=failed)
    published = pl.col("rules") == PUBLISHED_RULES
    return (
        verdicts.join(robust, on=SAMPLE, how="left", maintain_order="left")
        .with_columns(
            failed=pl.when(published).then(failed | pl.col("robust_failed")).otherwise(failed)
        )
        .drop("robust_failed")
    )


# A file of verdicts in a few lines: accuracy with its interval, and the other outcomes.

UNREAD = "unparsed"
SCORED = "scored"


class VerdictSummary(NamedTuple):
    """The verdicts of one scorer.

    `accuracy` is the mean verdict with Wilson's interval at the effective number of responses,
    clustered; a response without an answer counts as wrong.
    """

    rules: str
    accuracy: Estimate
    clusters: int
    outcomes: Counter[str]
    confidence: float

    @property
    def unread_share(self) -> float:
        """The share of responses with text in which no answer was found, in [0, 1]."""
        return self.outcomes[UNREAD] / max(1, self.accuracy.n)


def summarise_verdicts(
    rules: str,
    verdicts: Sequence[float],
    outcomes: Sequence[str],
    clusters: Sequence[str],
    confidence: float = 0.95,
) -> VerdictSummary:
    """Summarize verdicts in [0, 1] with their outcomes and clusters."""
    estimate = clustered_wilson(verdicts, clusters, confidence)
    return VerdictSummary(rules, estimate, len(set(clusters)), Counter(outcomes), confidence)


def format_lines(summary: VerdictSummary) -> Iterator[str]:
    """Render the summary: one line of accuracy, one of outcomes."""
    mean, lo, hi, n, _ = summary.accuracy
    level = f"{100 * summary.confidence:g} % interval"
    problems = f" to {summary.clusters:,} problems, clustered" if summary.clusters < n else ""
    yield (
        f"{summary.rules}: accuracy {_percent(mean)} [{_percent(lo)}, {_percent(hi)}] ({level}), "
        f"{n:,} response{'s' if n != 1 else ''}{problems}"
    )
    counts = summary.outcomes.most_common()
    failures = [f"{name.replace('_', ' ')} {count:,}" for name, count in counts if name != SCORED]
    failure_note = f"; no answer: {', '.join(failures)} (counted as wrong)" if failures else ""
    unread = _percent(summary.unread_share)
    yield f"  scored {summary.outcomes[SCORED]:,}{failure_note}; unread {unread}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
