"""Rehearse the study of each paper whole, export its tables and figures, and check each of them.

Every study of the four papers runs with simulated models, judges and made-up people: all models and
settings, its overlays, problems that hold every value that a table is cut by. The cells run in this
process, so that it takes minutes. Each item of `published/papers.yaml` must then be made, or be
named there as what omibench lacks; `--record FILE` writes what became of each, for docs/papers.md.

    python benchmarks/paper_studies.py --work DIR                       # all papers
    python benchmarks/paper_studies.py --work DIR --paper emma          # one
    python benchmarks/paper_studies.py --work DIR --paper emma --keep   # analyze and export again

The exit code is 1 when an item is neither made nor named, or differs from the paper's form.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
from paper_forms import check_items

from omibench.datasets.synthetic import list_problems
from omibench.files.yaml_file import read_yaml
from omibench.models.synthetic.items import CLEAN, describe_item, make_random
from omibench.papers.catalogue import (
    RehearsalItem,
    RehearsalRecord,
    find_paper,
    hash_catalogue,
)
from omibench.papers.export.folder import ExportOptions, export_paper
from omibench.papers.export.overview import summarise_entries
from omibench.params.study import Study, parse_study
from omibench.schemas.tables import write_json
from omibench.study.plan.study_file import read_study

ROOT = Path(__file__).resolve().parents[1]


class Rehearsal(NamedTuple):
    """One study of a paper: its files, and how many of its problems are asked."""

    paper: str
    files: Sequence[str]
    problems: int


REHEARSALS = {
    "omibench": Rehearsal("omibench", ["omibench.yaml", "overlays/omibench_reasoning.yaml"], 28),
    "omibench-evaluators": Rehearsal(
        "omibench", ["omibench.yaml", "overlays/omibench_evaluators.yaml"], 28
    ),
    "omibench-five-runs": Rehearsal(
        "omibench", ["omibench.yaml", "overlays/omibench_five_runs.yaml"], 12
    ),
    "emma": Rehearsal("emma", ["emma.yaml"], 40),
    "emma-mini": Rehearsal("emma", ["emma_mini.yaml"], 40),
    "usnco-v": Rehearsal("usnco-v", ["usnco_v.yaml"], 40),
    "usnco-v-saliency": Rehearsal(
        "usnco-v", ["usnco_v.yaml", "overlays/usnco_v_saliency.yaml"], 40
    ),
    "mathreal": Rehearsal("mathreal", ["mathreal.yaml"], 40),
    "mathreal-pairs": Rehearsal("mathreal", ["mathreal.yaml", "overlays/mathreal_pairs.yaml"], 24),
}
PAPERS = [*dict.fromkeys(rehearsal.paper for rehearsal in REHEARSALS.values())]

EXTERNAL = ("MMIU", "OlympiadBench")
PERCENTILES = (50, 80, 95)
EXPERTS = {"expert": 2, "non-expert": 2}


class Outcome(NamedTuple):
    """What became of the items of each paper, and a line for each that is wrong."""

    items: dict[str, dict[str, RehearsalItem]]
    wrong: list[str]


def main(arguments: Sequence[str] | None = None) -> int:
    """Rehearse, export, check, record; 1 if an item is not as its paper prints it."""
    options = _read_options(arguments)
    commit = _find_commit() if options.record else ""
    papers = [options.paper] if options.paper else PAPERS
    outcome = rehearse(papers, options.work, keep=options.keep, export=options.export)
    if options.record and not outcome.wrong:
        write_json(
            options.record,
            RehearsalRecord(
                date=date.today().isoformat(),
                commit=commit,
                catalogue=hash_catalogue(),
                items=outcome.items,
            ),
        )
    elif options.record:
        print(f"{options.record}: not written, since {len(outcome.wrong)} lines are wrong")
    return int(bool(outcome.wrong))


def rehearse(
    papers: Sequence[str], work: Path, *, keep: bool = False, export: bool = False
) -> Outcome:
    """Run the studies of papers, export and check their items, and print what is wrong.

    Args:
        papers: Their names.
        work: The folder for results, their store and the exported files.
        keep: Whether cells that are there are kept.
        export: Whether all studies are there, and are only exported and checked.
    """
    outcome = Outcome({}, [])
    for paper in papers:
        started = time.process_time()
        folders = []
        for name, rehearsal in REHEARSALS.items():
            if rehearsal.paper == paper:
                if not export:
                    run(name, rehearsal, work, keep=keep)
                folders.append(work / f"{name}-simulated")
        out = work / "export" / paper
        entries = export_paper(folders, paper, out, ExportOptions()).entries
        outcome.items[paper] = {e.key: RehearsalItem(kind=e.kind, reason=e.reason) for e in entries}
        found = [*check_items(paper, find_paper(paper).items, entries, out)]
        outcome.wrong.extend(found)
        print(f"{paper}: {summarise_entries(entries)}; {time.process_time() - started:.0f} CPU s")
        print("".join(f"  {line}\n" for line in found), end="", flush=True)
    return outcome


def _find_commit() -> str:
    return _run_git("rev-parse", "--short=12", "HEAD")


def _run_git(*arguments: str) -> str:
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def _read_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--work", type=Path, required=True, help="folder for results and exports")
    parser.add_argument("--paper", choices=PAPERS)
    parser.add_argument("--keep", action="store_true", help="keep cells that are there")
    parser.add_argument("--record", type=Path, help="write what became of each item")
    parser.add_argument("--export", action="store_true", help="only export and check")
    options = parser.parse_args(arguments)
    if options.record and (options.paper or options.keep or options.export):
        parser.error("--record: is of all papers, run anew; leave out --paper, --keep and --export")
    is_kept = options.keep or options.export
    if not is_kept and options.work.exists() and any(options.work.iterdir()):
        parser.error(f"--work {options.work}: is not empty; give another folder, or --keep")
    if options.record and (changes := _run_git("status", "--porcelain")):
        parser.error(
            f"--record: these files differ from the commit that it would name; commit them first\n"
            f"{changes}"
        )
    return options


def run(name: str, rehearsal: Rehearsal, work: Path, *, keep: bool) -> Path:
    """Run one study from its problems to its tables; returns its results folder."""
    from omibench.results.study_record import record_study
    from omibench.stages.analyze import analyze_study
    from omibench.stages.certify import certify_judges

    study = make_study(name, rehearsal, work)
    results = Path(study.study.results)
    if not (results / "freeze/manifest.json").is_file():
        from omibench.stages.freeze import freeze_dataset

        freeze_dataset(None, results / "freeze", study)
    run_cells(study, results, keep=keep)
    study = add_people(name, study, results)
    if study.certify.labels:
        certify_judges(Path(study.certify.labels), results, results / "certify", study)
    record_study(study, results)
    analyze_study(results, results / "analyze", study)
    return results


def make_study(name: str, rehearsal: Rehearsal, work: Path) -> Study:
    """Return the rehearsal of a study with its overlays, limited to problems of every kind."""
    from snakemake.utils import update_config

    values: dict[str, Any] = {}
    for file in rehearsal.files:
        update_config(values, read_yaml(ROOT / "studies" / file))
    folders = {"results": str(work / name), "store": str(work / "store")}
    update_config(
        values,
        {"study": folders, "data": "none", "simulated": True, "analyze": {"explorer": False}},
    )
    study = read_study(values)
    chosen = choose_problems(study, rehearsal.problems)
    return _change(study, {"study": {"limit": {"ids": chosen}}})


def _change(study: Study, changes: dict[str, Any]) -> Study:
    from snakemake.utils import update_config

    values = study.model_dump(mode="json", exclude_defaults=True)
    update_config(values, changes)
    return parse_study(values, "rehearsal")


def choose_problems(study: Study, count: int) -> list[str]:
    """Return problems such that values of attributes are there twice, the rarest first."""
    benchmark = study.benchmark
    kinds = {
        item.id: _list_kinds(item, describe_item(item, benchmark.like, benchmark.seed))
        for item in list_problems(benchmark)
    }
    seen: dict[object, int] = {}
    chosen: list[str] = []
    left = sorted(kinds, key=lambda name: make_random("choose", name).random())
    while len(chosen) < count:
        best = max(
            left,
            key=lambda name: (
                sum(seen.get(kind, 0) == 0 for kind in kinds[name]) * 9
                + sum(seen.get(kind, 0) == 1 for kind in kinds[name])
            ),
        )
        left.remove(best)
        chosen.append(best)
        for kind in kinds[best]:
            seen[kind] = seen.get(kind, 0) + 1
        other = best.removesuffix(CLEAN) if best.endswith(CLEAN) else best + CLEAN
        if other in left:  # the same problem with its other picture
            left.remove(other)
            chosen.append(other)
    return chosen


def _list_kinds(item: Any, attributes: dict[str, Any]) -> list[object]:
    category = attributes.get("task") or attributes.get("category")
    return [
        ("subject", item.subject, category),
        ("exam", attributes.get("exam"), category),
        ("type", attributes.get("type"), category),
        ("year", attributes.get("exam"), attributes.get("year")),
        ("stage", attributes.get("stage")),
        ("pair", attributes.get("pair")),
        ("source", item.subject, attributes.get("source")),
        ("images", min(len(item.drawings), 6)),
        ("answer", item.subject, item.answer_type),
    ]


def run_cells(study: Study, results: Path, *, keep: bool) -> None:
    """Get, score, judge and aggregate the responses of all cells that are not there."""
    from omibench.stages.aggregate import aggregate_cell
    from omibench.stages.infer import infer_cell
    from omibench.stages.judge import CellFiles, judge_cell
    from omibench.stages.saliency.stage import saliency_cell
    from omibench.stages.score.stage import ScoreFiles, score_cell

    questions, answers = results / "freeze/questions.jsonl", results / "freeze/answers.jsonl"

    def place(stage: str, cell: Any) -> Path:
        path = results / stage / cell.model / f"{cell.setting}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def is_left(stage: str, cell: Any) -> bool:
        return not (keep and place(stage, cell).is_file())

    for cell in study.cells:
        responses, verdicts = place("infer", cell), place("score", cell)
        if is_left("infer", cell):
            infer_cell(questions, responses, study, cell)
        if is_left("score", cell):
            score_cell(ScoreFiles(responses, answers, questions), verdicts, study)
    for cell in study.judged_cells:
        if is_left("judge", cell):
            files = CellFiles(place("infer", cell), place("score", cell), answers, questions)
            judge_cell(files, place("judge", cell), study)
    for cell in study.aggregated_cells:
        if is_left("aggregate", cell):
            aggregate_cell(results, place("aggregate", cell), study, cell)
    for cell in study.salient_cells:
        if is_left("saliency", cell):
            saliency_cell(results, place("saliency", cell), study, cell)


def add_people(name: str, study: Study, results: Path) -> Study:
    """Write made-up files of what people give: answers, labels, cut-offs, other benchmarks."""
    folder = results / "people"
    folder.mkdir(parents=True, exist_ok=True)
    analyze: dict[str, Any] = {}
    changes: dict[str, Any] = {"analyze": analyze}
    if name == "omibench":
        analyze["people_subset"] = None  # the few problems that are asked
        analyze["external_scores"] = _write(folder / "scores.csv", _score_elsewhere(study))
    if name in ("omibench", "omibench-evaluators"):
        labels = _write(folder / "labels.csv", _label_responses(study, results))
        changes["certify"] = {"labels": labels}
    if name in ("omibench", "emma-mini"):
        analyze["people"] = _write(folder / "people.csv", _answer(study, results))
    if name == "usnco-v":
        analyze["people_cutoffs"] = _write(folder / "cutoffs.csv", _list_cutoffs())
    if study.judge.errors and study.judged_cells:
        labels = _write(folder / "errors.csv", _label_errors(study, results))
        changes["judge"] = {"errors": {"labels": labels}}
    return _change(study, changes)


def _write(path: Path, rows: Iterator[dict[str, Any]]) -> str:
    listed = [row | {"simulated": "true"} for row in rows]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(listed[0]))
        writer.writeheader()
        writer.writerows(listed)
    return str(path)


def _read_verdicts(study: Study, results: Path, cell: Any) -> pl.DataFrame:
    frame = pl.read_parquet(results / "score" / cell.model / f"{cell.setting}.parquet")
    rules = study.judge.wrong_by or study.score.scorers[0]
    return frame.filter(pl.col("rules") == rules)


def _answer(study: Study, results: Path) -> Iterator[dict[str, Any]]:
    """Four people's answers, of whom the experts are right four times in five."""
    asked = {*study.study.limit.ids} if study.study.limit else {*()}
    lines = (results / "freeze/answers.jsonl").read_text("utf-8").splitlines()
    for answer in map(json.loads, lines):
        if answer["id"] not in asked:
            continue
        for group, count in EXPERTS.items():
            for number in range(count):
                rng = make_random("person", group, number, answer["id"])
                right = rng.random() < (0.8 if group == "expert" else 0.6)
                yield {
                    "person": f"{group}-{'ab'[number]}",
                    "group": group,
                    "problem": answer["id"],
                    "answer": "; ".join(answer["answer"]) if right else "0",
                    "seconds": rng.randrange(60, 600),
                }


def _score_elsewhere(study: Study) -> Iterator[dict[str, Any]]:
    for model, block in study.models.items():
        for benchmark in EXTERNAL:
            value = make_random(benchmark, model).uniform(30, 80)
            yield {
                "model": block.label or model,
                "benchmark": benchmark,
                "metric": "accuracy",
                "value": round(value, 2),
                "source": "invented",
            }


def _label_responses(study: Study, results: Path) -> Iterator[dict[str, Any]]:
    """A person's labels, who disagrees with the rules on one response in ten."""
    for cell in study.cells[:40]:
        for row in _read_verdicts(study, results, cell).filter(pl.col("index") == 0).to_dicts():
            rng = make_random("label", *cell, row["id"])
            right = (row["verdict"] or 0) >= 0.5
            yield {
                "id": row["id"],
                "model": cell.model,
                "setting": cell.setting,
                "index": 0,
                "label": "right" if right != (rng.random() < 0.1) else "wrong",
                "source": rng.choice(["reasoning_error", "rule_match_error"]),
            }


def _label_errors(study: Study, results: Path) -> Iterator[dict[str, Any]]:
    from omibench.answers.judges.taxonomies import load_taxonomy

    types = [*load_taxonomy(study.judge.errors.taxonomy).types] if study.judge.errors else []
    for cell in study.judged_cells:
        for row in _read_verdicts(study, results, cell).filter(pl.col("verdict") < 1).to_dicts():
            yield {
                "id": row["id"],
                "model": cell.model,
                "setting": cell.setting,
                "index": row["index"],
                "error_type": make_random("error", *cell, row["id"]).choice(types),
            }


def _list_cutoffs() -> Iterator[dict[str, Any]]:
    for year in range(1999, 2026, 2):
        for percentile in PERCENTILES:
            score = round(make_random("cut-off", year).uniform(0.9, 1.1) * percentile * 0.5)
            yield {
                "exam": "national",
                "year": year,
                "percentile": percentile,
                "score": score,
                "of": 60,
            }


if __name__ == "__main__":
    sys.exit(main())
