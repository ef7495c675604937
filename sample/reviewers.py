"""Invent reviewers for the sample study: tasks from its results, and decisions.

    python sample/reviewers.py results      writes sample/review from the results of the study

`readers.py` defines them and their decisions. The same results give the same files. All people,
tasks and decisions are marked simulated.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from pathlib import Path

import yaml
from readers import PEOPLE, find_truth, play

from omibench.files.outputs import write_csv
from omibench.models.simulated.answers import Oracle, load_oracle
from omibench.params.review import DECISIONS, REVIEWERS, TASKS
from omibench.params.study import Study, parse_study_file
from omibench.review.check import check_fields
from omibench.review.exports import LABEL_COLUMNS, list_labels
from omibench.review.folder import append_decisions, read_tasks
from omibench.review.kinds import find_kind
from omibench.review.people import read_reviewers
from omibench.review.sampling.weekly import SamplePlan, draw_samples, make_faulty, read_week
from omibench.review.tasks.assign import assign_tasks, describe_assignment
from omibench.review.tasks.drafts import PictureKeeper, write_tasks
from omibench.review.tasks.photographs import draft_study_problems
from omibench.review.tasks.request import AssignOptions, TaskRequest
from omibench.schemas.review import ReviewDecision

HERE = Path(__file__).resolve().parent
FOLDER = HERE / "review"
WEEK = "2026-W46"
"""The round of the readers' work, of which a share is judged again."""
TRAINED = ("reader-a", "reader-b")
KINDS: Mapping[str, AssignOptions] = {
    "translation": AssignOptions(only=TRAINED),
    "rationale": AssignOptions(only=TRAINED, limit=8),
    "label": AssignOptions(only=TRAINED),
    "item": AssignOptions(),
    "disagreement": AssignOptions(only=TRAINED, draw=4),
    "steps": AssignOptions(only=TRAINED, draw=4),
}
"""The kinds of tasks in order of creation, with their numbers."""
ON_SCORES = ("disagreement", "steps")
"""Tasks on responses: without scores, existing ones are kept."""


def main() -> None:
    """Write sample/review again: reviewers, tests, tasks of every kind, and decisions."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("results", type=Path)
    results = parser.parse_args().results
    study, oracle = (
        parse_study_file(HERE.parent / "params.yaml"),
        load_oracle(str(HERE / "oracle.jsonl")),
    )
    is_scored = (results / "score").is_dir()
    kept = [] if is_scored else [t for t in read_tasks(FOLDER / TASKS).rows if t.kind in ON_SCORES]
    for name in (TASKS, DECISIONS):
        (FOLDER / name).unlink(missing_ok=True)
    write_people(FOLDER / REVIEWERS)
    write_tests(study, results, oracle)
    for kind, options in KINDS.items():
        if kind in ON_SCORES and not is_scored:
            continue
        write_decisions(play(read_tasks(FOLDER / TASKS).rows, oracle))
        done = assign_tasks(kind, study, results, FOLDER, options)
        print("\n".join(describe_assignment(done)))
    tasks = (*read_tasks(FOLDER / TASKS).rows, *(task for task in kept if task.purpose == "work"))
    plan = SamplePlan(read_week(WEEK), seed=study.study.seed)
    sample = draw_samples(tasks, play(tasks, oracle), plan, read_reviewers(FOLDER / REVIEWERS))
    tasks = (*tasks, *sample.tasks)
    decisions = play(tasks, oracle)
    write_tasks(FOLDER, tasks)
    write_decisions(decisions)
    write_csv(FOLDER / "labels.csv", list_labels(tasks, decisions), LABEL_COLUMNS)


def write_people(path: Path) -> None:
    """Write the reviewers."""
    people = [{"name": p.name, "roles": list(p.roles), "simulated": True} for p in PEOPLE]
    header = "# Invented, as all people of the sample study are: sample/reviewers.py\n"
    path.parent.mkdir(exist_ok=True)
    path.write_text(header + yaml.safe_dump(people, sort_keys=False), encoding="utf-8")


def write_decisions(decisions: Iterable[ReviewDecision]) -> None:
    """Write the decisions again, without those of another round."""
    (FOLDER / DECISIONS).unlink(missing_ok=True)
    append_decisions(FOLDER, [("readers.py", decision) for decision in decisions])


def write_tests(study: Study, results: Path, oracle: Oracle) -> None:
    """Write the tasks of the calibration test, with the right decisions; a third has a fault."""
    rule = study.review.calibration
    if rule is None:
        raise SystemExit("params.yaml has no test: it lacks review.calibration")
    request = TaskRequest("item", study, results, FOLDER, limit=rule.items)
    kind, keeper, tests = find_kind("item"), PictureKeeper(FOLDER), []
    drawn = [keeper.keep_pictures(draft) for draft in draft_study_problems(request)]
    for place, task in enumerate(drawn):
        faulty = make_faulty(task, drawn, study.study.seed) if place % 3 == 0 else None
        gold = faulty.gold if faulty else check_fields(kind, task, find_truth(task, kind, oracle))
        changes = {"id": f"{task.id}@test", "of": task.id, "purpose": "calibration", "gold": gold}
        tests.append((faulty or task).model_copy(update=changes))
    write_tasks(FOLDER, tests)


if __name__ == "__main__":
    main()
