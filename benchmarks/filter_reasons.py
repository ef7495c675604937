"""Count the problems of a published benchmark that each filter reason rejects, by preset.

    python benchmarks/filter_reasons.py omibench FOLDER
    python benchmarks/filter_reasons.py omibench FOLDER --preset emma --reason ocr_error --list 10

The benchmark was accepted by its authors, so that each of its problems that a reason rejects is a
defect of the problem or of the rule: `--list` names some, drawn with a fixed seed, with the
evidence. A picture that is not in FOLDER is drawn as noise from its name: then two pictures look
alike only if they have the same name, and the last column counts duplicates by their texts alone,
which is what they could be at most.
"""

from __future__ import annotations

import argparse
import hashlib
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

from PIL import Image

from omibench.datasets.registry import BENCHMARKS, load_benchmark
from omibench.params.benchmark import BenchmarkParams
from omibench.params.stages.filter import FilterParams, PresetName
from omibench.schemas.curation import Reject
from omibench.schemas.problem import Answer, Figure, Problem, Question
from omibench.stages.filter.reasons.registry import REASONS
from omibench.stages.filter.stage import sift

SIDE, ANY_LOOK, SEED = 9, 64, 7  # pixels of noise; bits of a hash that may differ; of the draw


def main() -> None:
    """Print the table, and the problems that were asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("benchmark", choices=sorted(BENCHMARKS))
    parser.add_argument("folder", help="its files, as in `data`")
    parser.add_argument("--preset", choices=get_args(PresetName), default="default")
    parser.add_argument(
        "--reason", action="append", default=[], help="a reason beside the preset's"
    )
    parser.add_argument("--list", type=int, default=0, help="how many problems of each to name")
    options = parser.parse_args()
    with TemporaryDirectory() as scratch:
        problems = read_problems(options.benchmark, options.folder, Path(scratch))
        params = FilterParams(preset=options.preset, reasons=options.reason)
        kept, rejects = sift(problems, Path(scratch), params)
        lax = params.model_copy(update={"near_duplicate_images": ANY_LOOK})
        _, by_text = sift(problems, Path(scratch), lax)
    print(f"{len(problems)} problems, preset {options.preset}: {len(kept)} kept\n")
    print_table(params.active_reasons, rejects, by_text)
    for name in params.active_reasons if options.list else []:
        print_some(name, rejects, options.list)


def read_problems(name: str, folder: str, scratch: Path) -> list[Problem]:
    """The problems of a benchmark with pictures in `scratch`."""
    dataset = load_benchmark(BenchmarkParams(name=name), folder, scratch)
    pairs = zip(dataset.questions, dataset.answers, strict=True)
    return [
        make_problem(name, question, answer, dataset.folder, scratch) for question, answer in pairs
    ]


def make_problem(
    name: str, question: Question, answer: Answer, folder: Path, scratch: Path
) -> Problem:
    """Question and answer as the filter reads them."""
    shared = {field: getattr(question, field) for field in ("id", "question", "choices", "subject")}
    return Problem(
        **shared, language=question.language, group=question.group, source=name, source_sha256="",
        number=question.id, pages=[], answer=answer.answer, solution=answer.solution,
        images=[find_picture(figure, folder, scratch) for figure in question.images],
    )  # fmt: skip


def find_picture(figure: Figure, folder: Path, scratch: Path) -> Figure:
    """A picture as it is, or as noise that its name decides where it is not there."""
    if figure.sha256:
        return figure.model_copy(update={"file": str((folder / figure.file).absolute())})
    digest = hashlib.sha256(figure.file.encode()).hexdigest()
    path = scratch / f"{digest}.png"
    if not path.exists():
        noise = random.Random(digest).randbytes(SIDE * SIDE)  # noqa: S311
        Image.frombytes("L", (SIDE, SIDE), noise).save(path)
    return figure.model_copy(update={"file": str(path), "sha256": digest})


def print_table(
    reasons: Sequence[str], rejects: Sequence[Reject], by_text: Sequence[Reject]
) -> None:
    """A row a reason: rejected by it first, spoken against in all, the same by text alone."""
    first = Counter(reject.reason for reject in rejects)
    every, lax = (
        Counter(reason for reject in rows for reason in reject.reasons)
        for rows in (rejects, by_text)
    )
    print("| reason | first | in all | whatever the pictures |\n|---|---|---|---|")
    for name in [name for name in REASONS.built_in_names if name in reasons]:
        print(f"| `{name}` | {first[name]} | {every[name]} | {lax[name]} |")
    print(f"| any | {len(rejects)} | | {len(by_text)} |\n")


def print_some(name: str, rejects: Sequence[Reject], count: int) -> None:
    """Some problems that a reason speaks against, with its evidence."""
    found = [reject for reject in rejects if name in reject.reasons]
    for reject in random.Random(SEED).sample(found, min(count, len(found))):  # noqa: S311
        print(f"{name}: {reject.id}: {reject.evidences[reject.reasons.index(name)]}")


if __name__ == "__main__":
    main()
