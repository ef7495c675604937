"""Invent people for the sample study, with answers to the problems that the study draws.

    python sample/people.py results      writes sample/people.csv from the frozen problems

Two experts and two others, each with an ability, answer the drawn problems and those for
familiarisation; the difficulty of a problem is in `oracle.jsonl`. Every row is marked simulated.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from random import Random

from omibench.models.simulated.answers import load_oracle
from omibench.models.synthetic.items import chance, make_random
from omibench.params.study import parse_study_file
from omibench.schemas.problem import Answer
from omibench.schemas.tables import read_jsonl
from omibench.stages.analyze.people import draw_subset

HERE = Path(__file__).resolve().parent
COLUMNS = ("person", "group", "problem", "answer", "seconds", "simulated")
PEOPLE = {
    "expert-a": ("expert", 1.9),
    "expert-b": ("expert", 1.5),
    "other-a": ("non-expert", 0.3),
    "other-b": ("non-expert", 0.0),
}
"""Group and ability of each person, on the scale of difficulty in `oracle.jsonl`."""
_FLIPPED = {"TRUE": "FALSE", "FALSE": "TRUE"}


def main() -> None:
    """Read the frozen answers of a results folder and write the people's answers."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path)
    results = parser.parse_args().results
    study, oracle = (
        parse_study_file(HERE.parent / "params.yaml"),
        load_oracle(str(HERE / "oracle.jsonl")),
    )
    golds = {row.id: row for row in read_jsonl(results / "freeze" / "answers.jsonl", Answer)}
    subset = study.analyze.people_subset
    if subset is None:
        parser.error("params.yaml draws no problems for people: it lacks analyze.people_subset")
    draw = draw_subset({id: a.subject for id, a in golds.items()}, subset, study.study.seed)
    rows = []
    for person, (group, ability) in PEOPLE.items():
        for id in (*draw.familiarisation, *draw.scored):
            random = make_random("person", person, id)
            right = random.random() < chance(ability - oracle.row(id).difficulty, 0.0)
            answer = "; ".join(golds[id].answer) if right else make_wrong(golds[id], random)
            seconds = round(random.lognormvariate(5.2 - 0.2 * ability, 0.5))
            rows.append((person, group, id, answer, seconds, "true"))
    with (HERE / "people.csv").open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(rows)


def make_wrong(gold: Answer, random: Random) -> str:
    """Return a wrong answer of the right kind: another option, the opposite, or no answer."""
    if gold.choices:
        return random.choice([c.label for c in gold.choices if [c.label] != gold.answer])
    if set(gold.answer) <= set(_FLIPPED):
        return "; ".join([_FLIPPED[gold.answer[0]], *gold.answer[1:]])
    return random.choice(["", "I cannot tell."])


if __name__ == "__main__":
    main()
