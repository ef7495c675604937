"""Simulated judges: each reads the sections of its prompt, and errs at its configured rates.

`true_positive_rate` and `false_positive_rate` apply to judge and grader; `error_rate` applies to
the others, whose flawed replies are wrong but well-formed. Judges that choose among samples are in
`choosing`.
"""

from __future__ import annotations

import json
import re
from random import Random

from omibench.models.simulated.equality import final_answers, is_right, same_answer
from omibench.models.simulated.oracle import Oracle, OracleRow
from omibench.models.simulated.prose import pick
from omibench.params.models.simulated import SimulatedModel
from omibench.schemas.marks import QUALITY_MARKS
from omibench.text.fences import read_fenced

MARKS = tuple(name.replace("_", "-") for name in QUALITY_MARKS)
_TYPE = re.compile(r"^- ([a-z][a-z0-9_]*): ", re.MULTILINE)
_SCALE = re.compile(r"N a (whole )?number from (-?[\d.]+) to (-?[\d.]+):\nMARK: N")
_STEPS = 4
"""Minimum sentences of a simulated rationale that counts as detailed."""


def judge(model: SimulatedModel, row: OracleRow, oracle: Oracle, prompt: str, rng: Random) -> str:
    """Return the line of GPTScore (OMIBench, C.2), right at the two configured rates."""
    right = is_right(read_section(prompt, "RESPONSE"), row.answer, bool(row.choices))
    return f"ANSWER: {'consistent' if _called_right(model, right, rng) else 'inconsistent'}"


def grade(model: SimulatedModel, row: OracleRow, oracle: Oracle, prompt: str, rng: Random) -> str:
    """Return the share of parts that are right (MathReal): all of them at the configured rates.

    A right answer that is rejected scores nothing; a wrong one otherwise scores its right parts.
    """
    answer, letters = read_section(prompt, "MODEL ANSWER"), bool(row.choices)
    parts = len(row.answer)
    right = same_answer(answer, row.answer, letters) or is_right(answer, row.answer, letters)
    if _called_right(model, right, rng):
        return f"SCORE: {parts}/{parts}"
    answer_parts = re.split(r"\s*[;,]\s+", answer)
    pairs = zip(answer_parts, row.answer, strict=False) if not (right or letters) else []
    right_count = sum(same_answer(part, [gold], letters) for part, gold in pairs)
    return f"SCORE: {min(right_count, parts - 1) if parts > 1 else 0}/{parts}"


def extract(model: SimulatedModel, row: OracleRow, oracle: Oracle, prompt: str, rng: Random) -> str:
    """Return the final answer of a response (MathReal); a flaw finds none."""
    answers = final_answers(read_section(prompt, "RESPONSE"), max(1, len(row.answer)))
    answer = " ".join(answers[-1].split()) if answers else ""
    return f"EXTRACTED: {answer if answer and not _is_flawed(model, rng) else 'null'}"


def rate(model: SimulatedModel, row: OracleRow, oracle: Oracle, prompt: str, rng: Random) -> str:
    """Return marks of a rationale (OMIBench, B.2): one less for a wrong answer or a brief text.

    A flaw draws all of them at random. For a transcript, the shares of the printed text that it
    keeps.
    """
    if "TRANSCRIPT" in (sections := read_fenced(prompt)):
        return _compare_transcripts(model, sections["PRINTED TEXT"], sections["TRANSCRIPT"], rng)
    response = read_section(prompt, "RESPONSE")
    best = 5 - (not is_right(response, row.answer, bool(row.choices)))
    best -= response.count(". ") + response.count(".\n") < _STEPS
    if _is_flawed(model, rng):
        return json.dumps({mark: 1 + int(rng.random() * 5) for mark in MARKS})
    return json.dumps({mark: best - int(rng.random() * 2) for mark in MARKS})


def _compare_transcripts(model: SimulatedModel, printed: str, transcript: str, rng: Random) -> str:
    from rapidfuzz import fuzz

    near = round(fuzz.ratio(printed, transcript))
    share = int(rng.random() * 101) if _is_flawed(model, rng) else near
    return json.dumps({"key-terms": share, "semantics": share})


def align(model: SimulatedModel, row: OracleRow, oracle: Oracle, prompt: str, rng: Random) -> str:
    """Return the alignment with the reference (OMIBench, B.2): 4 or 5 if right, else 1 or 2.

    A flaw draws it at random.
    """
    right = is_right(read_section(prompt, "RESPONSE"), row.answer, bool(row.choices))
    mark = (4 if right else 1) + int(rng.random() * 2)
    return json.dumps({"score": 1 + int(rng.random() * 5) if _is_flawed(model, rng) else mark})


def classify(
    model: SimulatedModel, row: OracleRow, oracle: Oracle, prompt: str, rng: Random
) -> str:
    """Return one of the error types in the prompt, `no_error` if the answer is right.

    The type of a wrong answer is drawn from the others; a flaw draws from all.
    """
    types = tuple(_TYPE.findall(prompt.rpartition("<<<END")[2]))
    right = is_right(read_section(prompt, "RESPONSE"), row.answer, bool(row.choices))
    if _is_flawed(model, rng):
        return f"ERROR TYPE: {pick(types, rng)}"
    return f"ERROR TYPE: {types[-1] if right else pick(types[:-1], rng)}"


def assess(model: SimulatedModel, row: OracleRow, oracle: Oracle, prompt: str, rng: Random) -> str:
    """Return a value of the scale at the end of the prompt: in the upper half for a right answer.

    For labels, the first for a right answer and the last for a wrong one; a flaw draws any.
    """
    closing = prompt.rpartition("<<<END")[2]
    right = is_right(read_section(prompt, "RESPONSE"), row.answer, bool(row.choices))
    flawed = _is_flawed(model, rng)
    if labels := tuple(_TYPE.findall(closing)):
        return f"LABEL: {pick(labels, rng) if flawed else labels[0 if right else -1]}"
    scale = _SCALE.search(closing)
    if scale is None:
        return "I cannot tell."
    lowest, highest = float(scale.group(2)), float(scale.group(3))
    share = rng.random()
    value = lowest + (share if flawed else (share + right) / 2) * (highest - lowest)
    return f"MARK: {round(value) if scale.group(1) else round(value, 2)}"


def _called_right(model: SimulatedModel, right: bool, rng: Random) -> bool:
    rate = model.true_positive_rate if right else model.false_positive_rate
    return rng.random() < rate


def _is_flawed(model: SimulatedModel, rng: Random) -> bool:
    return rng.random() < model.error_rate


def read_section(prompt: str, name: str) -> str:
    """Return a section of the material, or the whole prompt if it has no sections."""
    return read_fenced(prompt).get(name, prompt)
