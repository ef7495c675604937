"""Judges' contribution to scores: verdicts of GPTScore, and of the scorer `mathreal`.

The verdict that counts has the scorer's name. If several judges vote, each one's own is
`<rules>/<model>`; a tie is `judge_failed`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from omibench.answers.extraction.extract import extract_answer
from omibench.answers.judges.case import JudgeCase, list_pictures
from omibench.answers.judges.extraction import EXTRACTION, NO_ANSWER, is_verbatim
from omibench.answers.judges.gptscore import GPTSCORE, VARIANTS
from omibench.answers.judges.grade import GRADE
from omibench.answers.judges.instrument import Instrument, build_prompt
from omibench.answers.judges.panel import (
    Judge,
    OpenPanel,
    Opinion,
    PanelRequest,
    consult,
    open_panels,
)
from omibench.answers.scorers import mathreal
from omibench.answers.scorers.outcome import find_finish_reason, passes_through
from omibench.params.panel import JudgePanel
from omibench.params.stages.score import PANEL_KEYS, GptscorePanel, GptscoreVariant
from omibench.schemas.problem import Question
from omibench.schemas.request import ImagePart
from omibench.schemas.verdict import ScoredItem, Verdict, VerdictOutcome

if TYPE_CHECKING:
    from omibench.params.study import Study


NAME = GPTSCORE.name
FAILED: tuple[VerdictOutcome, ...] = ("judge_failed", "provider_error", "budget_stop")
"""Outcomes of a requested judgement that failed."""
T = TypeVar("T")


class AttributedVerdict(NamedTuple):
    """A verdict and its judge; `judge` is None without one."""

    verdict: Verdict
    judge: str | None = None
    judge_key: str | None = None
    prompt_sha256: str | None = None
    simulated: bool = False
    was_asked: bool = False
    """Return whether a judge was asked about this response; failures need none."""
    literal: bool | None = None
    """Return whether the judge's prompt is from a literal file."""


def count_failed_judgements(verdicts: Sequence[AttributedVerdict]) -> tuple[int, Counter[str]]:
    """The number of responses sent to judges, and of failed judgements by cause.

    `verdicts` has only the verdicts that count, not those of individual voting judges.
    """
    outcomes = [judged.verdict.outcome for judged in verdicts if judged.was_asked]
    return len(outcomes), Counter(outcome for outcome in outcomes if outcome in FAILED)


def gptscore(
    items: Sequence[ScoredItem],
    questions: Sequence[str],
    panel: OpenPanel,
    variant: GptscoreVariant = "justified",
    pictures: Sequence[tuple[ImagePart, ...]] = (),
) -> list[list[AttributedVerdict]]:
    """Return GPTScore of every response, in order; judges' own verdicts follow the one that counts.

    Args:
        items: The responses.
        questions: The question of each.
        panel: The judges.
        variant: Their criterion.
        pictures: Those of each response's problem; empty if the judges see only text.

    A refused, empty, looping or truncated response without an answer is not sent to the judges. A
    response without an extracted answer for another reason is: judges may be able to read it.
    """
    instrument = VARIANTS[variant]
    outcomes = [screen_item(item) for item in items]
    judgeable = [i for i, outcome in enumerate(outcomes) if outcome == "scored"]
    images = pictures or [()] * len(items)
    cases = [make_item_case(items[i], questions[i], images=images[i]) for i in judgeable]
    opinions = dict(zip(judgeable, consult(cases, instrument, panel), strict=True))

    def as_verdict(value: bool | None, outcome: VerdictOutcome, rules: str) -> Verdict:
        return Verdict(
            extracted=None, method="judge", verdict=float(value or 0), outcome=outcome,
            rules=rules, version=instrument.version,
        )  # fmt: skip

    return [
        _make_verdicts(opinions[i], panel, NAME, as_verdict)
        if i in opinions
        else _repeat_verdict(_make_unjudged_verdict(outcomes[i], instrument.version), panel)
        for i in range(len(items))
    ]


def list_judged_pictures(
    questions: Sequence[Question | None], folder: Path, panel: JudgePanel | None
) -> list[tuple[ImagePart, ...]]:
    """Return the pictures for GPTScore's judges of each question; nothing if they see only text.

    Args:
        questions: The questions; None for one that is not in the dataset.
        folder: The folder of the frozen dataset.
        panel: The judges.
    """
    if not isinstance(panel, GptscorePanel) or not panel.pictures:
        return [()] * len(questions)
    return [list_pictures(q.images, folder) if q else () for q in questions]


def run_mathreal(
    items: Sequence[ScoredItem], questions: Sequence[str], graders: OpenPanel, extractors: OpenPanel
) -> list[list[AttributedVerdict]]:
    """Return verdicts of `mathreal` with its models: boxes or extraction, then grades in [0, 1]."""
    alone = [mathreal.score(item) for item in items]
    answers: dict[int, tuple[str, str]] = {
        i: (verdict.extracted, verdict.method)
        for i, verdict in enumerate(alone)
        if verdict.outcome == "unjudged" and verdict.extracted is not None
    }
    unread = [i for i, v in enumerate(alone) if v.outcome == "unjudged" and i not in answers]
    cases = [make_item_case(items[i], questions[i]) for i in unread]
    extractions = dict(zip(unread, consult(cases, EXTRACTION, extractors), strict=True))
    by = f"extracted by {extractors.name} ({extractors.prompt.sha256[:8]})"
    for i, opinion in extractions.items():
        if opinion.value:
            same = is_verbatim(opinion.value, items[i].prediction)
            answers[i] = opinion.value, by if same else f"{by}, reformatted"
    gradable = sorted(answers)
    cases = [make_item_case(items[i], questions[i], answers[i][0]) for i in gradable]
    grades = dict(zip(gradable, consult(cases, GRADE, graders), strict=True))

    def collect_verdicts(i: int) -> list[AttributedVerdict]:
        if i in grades:
            answer, method = answers[i]

            def as_verdict(value: float | None, outcome: VerdictOutcome, rules: str) -> Verdict:
                verdict = mathreal.make_graded_verdict(
                    answer, f"{method} > graded", value or 0.0, rules
                )
                changed: dict[str, object] = {"outcome": outcome}
                if value is None:
                    changed |= {"credit": None, "strict": None}
                return verdict.model_copy(update=changed)

            return _make_verdicts(grades[i], graders, mathreal.NAME, as_verdict)
        if i in extractions:
            repeated = _repeat_verdict(
                _make_no_answer_verdict(items[i], extractions[i], by),
                graders,
                extractions[i].is_simulated,
            )
            return [judged._replace(was_asked=True) for judged in repeated]
        return _repeat_verdict(alone[i], graders)

    literal = extractors.prompt.literal or None
    return [
        [judged._replace(literal=judged.literal or literal) for judged in collect_verdicts(i)]
        if i in extractions
        else collect_verdicts(i)
        for i in range(len(items))
    ]


def _make_no_answer_verdict(item: ScoredItem, opinion: Opinion[str], by: str) -> Verdict:
    """Return the verdict on a response in which the extracting model found nothing, or failed."""
    outcome = mathreal.no_answer(item) if opinion.value == NO_ANSWER else opinion.outcome
    return Verdict(
        extracted=None, method=by, verdict=0.0, outcome=outcome, rules=mathreal.NAME,
        version=mathreal.VERSION,
    )  # fmt: skip


def screen_item(item: ScoredItem) -> VerdictOutcome:
    """Return `scored` if a judge is asked; else the reason why there is nothing to read."""
    blocked = passes_through(item, NAME, GPTSCORE.version)
    if blocked:
        return blocked.outcome
    extraction = extract_answer(
        item.prediction, item.answer_type, item.choices, len(item.gold), find_finish_reason(item)
    )
    return "scored" if extraction.outcome == "unparsed" else extraction.outcome


def make_item_case(
    item: ScoredItem,
    question: str,
    answer: str | None = None,
    images: tuple[ImagePart, ...] = (),
) -> JudgeCase:
    """Return the judge's view of an item."""
    return JudgeCase(
        item.id, question, item.gold, item.prediction, item.choices, answer, images=images
    )


def _make_verdicts(
    opinion: Opinion[T],
    panel: OpenPanel,
    rules: str,
    as_verdict: Callable[[T | None, VerdictOutcome, str], Verdict],
) -> list[AttributedVerdict]:
    sha256 = panel.prompt.sha256
    counts = AttributedVerdict(
        as_verdict(opinion.value, opinion.outcome, rules), panel.name, opinion.key, sha256,
        opinion.is_simulated, was_asked=True, literal=panel.prompt.literal or None,
    )  # fmt: skip
    if len(opinion.votes) == 1:
        return [counts]
    judge_verdicts = [
        AttributedVerdict(
            as_verdict(vote.value, vote.outcome, f"{rules}/{vote.judge}"), vote.judge, vote.key,
            sha256, vote.simulated, literal=counts.literal,
        )
        for vote in opinion.votes
    ]  # fmt: skip
    return [counts, *judge_verdicts]


def _repeat_verdict(
    verdict: Verdict, panel: OpenPanel, simulated: bool = False
) -> list[AttributedVerdict]:
    """Return a verdict that needs no vote, for the panel and each of several judges."""
    names = [(verdict.rules, panel.name)]
    if len(panel.judges) > 1:
        names += [(f"{verdict.rules}/{judge.name}", judge.name) for judge in panel.judges]
    return [
        AttributedVerdict(
            verdict.model_copy(update={"rules": rules}), judge, None, panel.prompt.sha256, simulated
        )
        for rules, judge in names
    ]


def _make_unjudged_verdict(outcome: VerdictOutcome, version: int) -> Verdict:
    return Verdict(
        extracted=None, method="not judged", verdict=0.0, outcome=outcome, rules=NAME,
        version=version,
    )  # fmt: skip


# Judges of a study's scores, with requests through the store.

INSTRUMENTS: dict[str, Instrument[Any]] = {
    instrument.name: instrument for instrument in (GPTSCORE, GRADE, EXTRACTION)
}


class ScoreJudges(NamedTuple):
    """The judges of scores; None without a model."""

    gptscore: OpenPanel | None = None
    grade: OpenPanel | None = None
    extraction: OpenPanel | None = None
    variant: GptscoreVariant = "justified"


def find_instrument(name: str, panel: JudgePanel) -> Instrument[Any]:
    """Return the instrument of a scoring panel; for GPTScore its variant."""
    return VARIANTS[panel.variant] if isinstance(panel, GptscorePanel) else INSTRUMENTS[name]


@contextmanager
def open_judges(study: Study) -> Iterator[ScoreJudges]:
    """Open the panels of `score`, each model once.

    Raises:
        ModelError: A panel has an unknown model.
        ParamsError: A prompt file is invalid.
    """
    panels = study.score.panels
    panel_requests = [
        PanelRequest(panel, find_instrument(name, panel), f"score.{PANEL_KEYS[name]}")
        for name, panel in panels.items()
    ]
    variant = study.score.judge.variant if study.score.judge else "justified"
    with open_panels(study, panel_requests) as opened:
        yield _make_judges(dict(zip(panels, opened, strict=True)), variant)


def make_score_judges(judge: Judge) -> ScoreJudges:
    """Return panels with the same judge for all roles, with the built-in prompts."""
    return _make_judges(
        {
            name: OpenPanel([judge], build_prompt(instrument))
            for name, instrument in INSTRUMENTS.items()
        }
    )


def _make_judges(
    panels: Mapping[str, OpenPanel], variant: GptscoreVariant = "justified"
) -> ScoreJudges:
    return ScoreJudges(
        panels.get(GPTSCORE.name), panels.get(GRADE.name), panels.get(EXTRACTION.name), variant
    )
