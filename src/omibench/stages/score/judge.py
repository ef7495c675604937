"""What judges add to the scores: verdicts of GPTScore, and those of the rule book `mathreal`.

The verdict that counts bears the rule book's name. Where several judges vote, each one's own
stands beside it as `<rules>/<model>`; a tie is `judge_failed`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from omibench.answers import extract_answer
from omibench.judges.case import Case
from omibench.judges.extraction import EXTRACTION, NO_ANSWER
from omibench.judges.gptscore import GPTSCORE
from omibench.judges.grade import GRADE
from omibench.judges.panel import Opinion, Panel, consult
from omibench.rule_books import mathreal
from omibench.rule_books.outcome import find_finish_reason, passes_through
from omibench.schemas.verdict import ScoredItem, Verdict, VerdictOutcome

NAME = GPTSCORE.name
VERSION = GPTSCORE.version
FAILED: tuple[VerdictOutcome, ...] = ("judge_failed", "provider_error", "budget_stop")
"""The outcomes of a judgement that was asked for and never came."""
T = TypeVar("T")


class JudgedVerdict(NamedTuple):
    """A verdict, and by whom: `judge` is None where no judge was asked."""

    verdict: Verdict
    judge: str | None = None
    judge_key: str | None = None
    prompt_sha256: str | None = None
    simulated: bool = False
    asked: bool = False
    """Whether a judge was asked about this response; a failure is told without one."""


def failed_judgements(told: Sequence[JudgedVerdict]) -> tuple[int, Counter[str]]:
    """How many responses judges were asked about, and how many verdicts never came of it, by why.

    `told` holds the verdicts that count: of several judges that vote, not their own.
    """
    asked = [one.verdict.outcome for one in told if one.asked]
    return len(asked), Counter(outcome for outcome in asked if outcome in FAILED)


def gptscore(
    items: Sequence[ScoredItem], questions: Sequence[str], panel: Panel
) -> list[list[JudgedVerdict]]:
    """GPTScore of every response, in order; the judges' own verdicts behind the one that counts.

    A refused, empty, looping or cut-off response without an answer is not sent to the judges. One
    from which the rules extract nothing for another reason is: a judge may read it.
    """
    outcomes = [before_judging(item) for item in items]
    asked = [i for i, outcome in enumerate(outcomes) if outcome == "scored"]
    cases = [case_of(items[i], questions[i]) for i in asked]
    told = dict(zip(asked, consult(cases, GPTSCORE, panel), strict=True))

    def as_verdict(value: bool | None, outcome: VerdictOutcome, rules: str) -> Verdict:
        return Verdict(
            extracted=None, method="judge", verdict=float(value or 0), outcome=outcome,
            rules=rules, version=VERSION,
        )  # fmt: skip

    return [
        _with_judges(told[i], panel, NAME, as_verdict)
        if i in told
        else _for_all(_not_judged(outcomes[i]), panel)
        for i in range(len(items))
    ]


def graded(
    items: Sequence[ScoredItem], questions: Sequence[str], graders: Panel, extractors: Panel
) -> list[list[JudgedVerdict]]:
    """The rule book `mathreal` with its models: boxes, else extraction; then grades in [0, 1]."""
    alone = [mathreal.score(item) for item in items]
    answers: dict[int, tuple[str, str]] = {
        i: (verdict.extracted, verdict.method)
        for i, verdict in enumerate(alone)
        if verdict.outcome == "unjudged" and verdict.extracted is not None
    }
    unread = [i for i, v in enumerate(alone) if v.outcome == "unjudged" and i not in answers]
    cases = [case_of(items[i], questions[i]) for i in unread]
    found = dict(zip(unread, consult(cases, EXTRACTION, extractors), strict=True))
    by = f"extracted by {extractors.name} ({extractors.prompt.sha256[:8]})"
    answers |= {i: (o.value, by) for i, o in found.items() if o.value}
    wanted = sorted(answers)
    cases = [case_of(items[i], questions[i], answers[i][0]) for i in wanted]
    grades = dict(zip(wanted, consult(cases, GRADE, graders), strict=True))

    def verdicts(i: int) -> list[JudgedVerdict]:
        if i in grades:
            answer, how = answers[i]

            def as_verdict(value: float | None, outcome: VerdictOutcome, rules: str) -> Verdict:
                verdict = mathreal.make_graded_verdict(
                    answer, f"{how} > graded", value or 0.0, rules
                )
                changed = {"outcome": outcome, "credit": value}
                return verdict.model_copy(update=changed)

            return _with_judges(grades[i], graders, mathreal.NAME, as_verdict)
        if i in found:
            told = _for_all(_unfound(items[i], found[i], by), graders, found[i].simulated)
            return [one._replace(asked=True) for one in told]
        return _for_all(alone[i], graders)

    return [verdicts(i) for i in range(len(items))]


def _unfound(item: ScoredItem, opinion: Opinion[str], by: str) -> Verdict:
    """The verdict on a response in which the extracting model found nothing, or failed."""
    outcome = mathreal.no_answer(item) if opinion.value == NO_ANSWER else opinion.outcome
    return Verdict(
        extracted=None, method=by, verdict=0.0, outcome=outcome, rules=mathreal.NAME,
        version=mathreal.VERSION,
    )  # fmt: skip


def before_judging(item: ScoredItem) -> VerdictOutcome:
    """`scored` for what a judge is asked about; else why there is nothing that it could read."""
    blocked = passes_through(item, NAME, VERSION)
    if blocked:
        return blocked.outcome
    found = extract_answer(
        item.prediction, item.answer_type, item.choices, len(item.gold), find_finish_reason(item)
    )
    return "scored" if found.outcome == "unparsed" else found.outcome


def case_of(item: ScoredItem, question: str, answer: str | None = None) -> Case:
    """What a judge of scores is shown of an item."""
    return Case(item.id, question, item.gold, item.prediction, item.choices, answer)


def _with_judges(
    opinion: Opinion[T],
    panel: Panel,
    rules: str,
    as_verdict: Callable[[T | None, VerdictOutcome, str], Verdict],
) -> list[JudgedVerdict]:
    sha256 = panel.prompt.sha256
    counts = JudgedVerdict(
        as_verdict(opinion.value, opinion.outcome, rules), panel.name, opinion.key, sha256,
        opinion.simulated, asked=True,
    )  # fmt: skip
    if len(opinion.said) == 1:
        return [counts]
    own = [
        JudgedVerdict(
            as_verdict(said.value, said.outcome, f"{rules}/{said.judge}"), said.judge, said.key,
            sha256, said.simulated,
        )
        for said in opinion.said
    ]  # fmt: skip
    return [counts, *own]


def _for_all(verdict: Verdict, panel: Panel, simulated: bool = False) -> list[JudgedVerdict]:
    """A verdict that no vote was needed for, for the panel and for each judge of several."""
    names = [(verdict.rules, panel.name)]
    if len(panel.judges) > 1:
        names += [(f"{verdict.rules}/{judge.name}", judge.name) for judge in panel.judges]
    return [
        JudgedVerdict(
            verdict.model_copy(update={"rules": rules}), judge, None, panel.prompt.sha256, simulated
        )
        for rules, judge in names
    ]


def _not_judged(outcome: VerdictOutcome) -> Verdict:
    return Verdict(
        extracted=None, method="not judged", verdict=0.0, outcome=outcome, rules=NAME,
        version=VERSION,
    )  # fmt: skip
