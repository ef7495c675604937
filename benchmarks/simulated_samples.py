"""Compare the similarity of several simulated samples with that of the printed ones.

Draws simulated samples as a rehearsal does, over the synthetic problems of EMMA-mini and
OMIBench, and chooses among them by votes and by simulated reward models. Print is EMMA, table 3
(N = 1 to 16); OMIBench prints figure 5c, whose numbers are in no text.

    python benchmarks/simulated_samples.py
    python benchmarks/simulated_samples.py --independent  # independent samples

Shares are in per cent. `rms` is the root of the mean squared distance from print, in points.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import sqrt
from pathlib import Path
from typing import NamedTuple

from omibench.models.simulated.provider import SimulatedProvider
from omibench.models.simulated.roles import is_right, name_final_answer
from omibench.params.models.providers import SimulatedModel
from omibench.params.study import Study, parse_study_file
from omibench.results.statistics.samples import pass_at_k
from omibench.schemas.request import Conversation, Decoding, Message, Request, Role, Tags, TextPart
from omibench.stages.aggregate.choose import Match, bracket, choose_best, play
from omibench.stages.aggregate.votes import Sample, majority, make_generator
from omibench.study.plan.rehearsal import rehearse
from omibench.text.fences import Section, fence_sections

ROOT = Path(__file__).resolve().parents[1]
SAMPLES = 16
PROMPT = "Think step by step. Give the answer in \\boxed{ANSWER}."
SEED = 0
JUDGE = "gemini-2.0-flash-thinking-1219"
Curve = Mapping[int, float]
"""N -> per cent right."""
PRINT: Mapping[str, Mapping[str, Curve]] = {
    "gpt-4o": {
        "pass": {1: 36.0, 2: 45.0, 4: 53.25, 8: 65.75, 16: 74.0},
        "majority": {4: 37.25, 8: 36.25, 16: 38.25},
        "best-of-n": {2: 40.75, 4: 36.25, 8: 36.5},
        "tournament": {2: 40.75, 4: 39.25, 8: 41.25, 16: 35.25},
    },
    "gemini-2.0-flash": {
        "pass": {1: 36.25, 2: 45.25, 4: 56.25, 8: 64.5, 16: 75.0},
        "majority": {4: 37.75, 8: 39.25, 16: 39.75},
        "best-of-n": {2: 36.75, 4: 37.0, 8: 40.25},
        "tournament": {2: 36.75, 4: 37.25, 8: 40.75, 16: 38.75},
    },
    "gemini-2.0-flash-thinking-1219": {
        "pass": {1: 43.5, 2: 53.75, 4: 64.5, 8: 71.5, 16: 81.5},
        "majority": {4: 48.0, 8: 49.0, 16: 50.75},
        "tournament": {2: 45.5, 4: 47.25, 8: 47.25, 16: 48.0},
    },
}
"""EMMA, table 3: EMMA-mini, reward model Gemini 2.0 Flash Thinking."""


class Drawn(NamedTuple):
    """All samples of one model: problem -> samples, and the text of each."""

    samples: dict[str, list[Sample]]
    texts: dict[tuple[str, int], str]


def main() -> None:
    """Print the curves of both studies."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--independent", action="store_true", help="samples that share nothing")
    change = {"lasting_share": 0.0, "usual_mistake": 0.0} if parser.parse_args().independent else {}
    emma = open_stand_ins(rehearse(_simulated("emma_mini")), change)
    errors: dict[str, list[float]] = {}
    print("EMMA-mini, table 3: measured (print)")
    for name, printed in PRINT.items():
        drawn = draw_samples(emma[name])
        for metric, curve in printed.items():
            measured = {n: 100 * measure(metric, drawn, n, emma[JUDGE]) for n in curve}
            errors.setdefault(metric, []).extend(measured[n] - curve[n] for n in curve)
            cells = "  ".join(f"N={n}: {measured[n]:.1f} ({curve[n]:.1f})" for n in curve)
            print(f"  {name:<31} {metric:<10} {cells}")
    for metric, distances in errors.items():
        rms = sqrt(sum(d * d for d in distances) / len(distances))
        print(f"  rms of {metric}: {rms:.1f} points over {len(distances)} cells")
    print("OMIBench, figure 5c: qwen3-vl-32b-instruct")
    drawn = draw_samples(open_stand_ins(rehearse(_simulated("omibench")), change)[MODEL_5C])
    for metric in ("pass", "majority"):
        shares = {k: 100 * measure(metric, drawn, k, None) for k in (1, 3, 4, 8, 16)}
        print(f"  {metric:<10}", "  ".join(f"k={k}: {share:.1f}" for k, share in shares.items()))


MODEL_5C = "qwen3-vl-32b-instruct"


def open_stand_ins(study: Study, change: Mapping[str, float]) -> dict[str, SimulatedProvider]:
    """The stand-ins of a rehearsal, with other values of some fields."""
    return {
        name: SimulatedProvider(name, model.model_copy(update=dict(change)))
        for name, model in study.models.items()
        if isinstance(model, SimulatedModel)
    }


def draw_samples(provider: SimulatedProvider) -> Drawn:
    """Every problem answered `SAMPLES` times."""
    samples: dict[str, list[Sample]] = {}
    texts: dict[tuple[str, int], str] = {}
    for row in provider.oracle.rows.values():
        for index in range(SAMPLES):
            response = provider.respond(_ask(row.id, PROMPT, "respondent", index))
            right = response.outcome == "answered" and is_right(
                response.text, row.answer, bool(row.choices)
            )
            boxed = "\\boxed" in response.text or right
            answer = name_final_answer(response.text, len(row.answer)) if boxed else None
            samples.setdefault(row.id, []).append(Sample(index, answer, float(right)))
            texts[row.id, index] = response.text
    return Drawn(samples, texts)


def measure(metric: str, drawn: Drawn, n: int, judge: SimulatedProvider | None) -> float:
    """The share of problems that are right by `metric` over the first n samples."""
    firsts = {problem: samples[:n] for problem, samples in drawn.samples.items()}
    if metric == "pass":
        rights = (sum(s.verdict == 1 for s in samples) for samples in drawn.samples.values())
        return sum(pass_at_k(SAMPLES, right, n) for right in rights) / len(firsts)
    if metric == "majority":
        chosen = (
            majority(samples, str.__eq__, make_generator(SEED, "majority", problem))
            for problem, samples in firsts.items()
        )
        return sum(sample.verdict for sample in chosen) / len(firsts)
    assert judge is not None
    choose = _best_of if metric == "best-of-n" else _win
    return sum(sample.verdict for sample in choose(drawn, firsts, judge)) / len(firsts)


def _best_of(
    drawn: Drawn, firsts: Mapping[str, list[Sample]], judge: SimulatedProvider
) -> Iterator[Sample]:
    """The candidate with the highest mark, all marked in one prompt."""
    for problem, samples in firsts.items():
        reply = _consult(judge, "marker", drawn, problem, samples)
        marks = [float(mark) for mark in reply.removeprefix("MARKS: ").split(", ")]
        yield choose_best(samples, marks, make_generator(SEED, "best-of-n", problem))


def _win(
    drawn: Drawn, firsts: Mapping[str, list[Sample]], judge: SimulatedProvider
) -> Sequence[Sample]:
    """The winners of tournaments."""

    def compare(matches: Sequence[Match]) -> list[bool | None]:
        replies = (
            _consult(judge, "referee", drawn, match.problem, [match.first, match.second])
            for match in matches
        )
        return [reply == "BETTER: A" for reply in replies]

    entrants = {p: bracket(s, make_generator(SEED, "bracket", p)) for p, s in firsts.items()}
    return list(play(entrants, compare, partial(make_generator, SEED)).values())


def _consult(
    judge: SimulatedProvider, role: Role, drawn: Drawn, problem: str, samples: Sequence[Sample]
) -> str:
    letters = "ABCDEFGHIJKLMNOP"
    sections = [
        Section(f"RESPONSE {letter}", drawn.texts[problem, sample.index])
        for letter, sample in zip(letters, samples, strict=False)
    ]
    return judge.respond(_ask(problem, fence_sections(sections), role)).text


def _ask(problem: str, prompt: str, role: Role, index: int = 0) -> Request:
    message = Message(role="user", parts=(TextPart(text=prompt),))
    return Request(
        conversation=Conversation(messages=(message,)),
        decoding=Decoding(max_tokens=4096),
        index=index,
        tags=Tags(role=role, problem=problem, setting="samples"),
    )


def _simulated(name: str) -> Study:
    study = parse_study_file(ROOT / "studies" / f"{name}.yaml")
    return study.model_copy(update={"simulated": True})


if __name__ == "__main__":
    main()
