"""freeze: the reviewed dataset, with questions and answers in separate files."""

from __future__ import annotations

from pathlib import Path

from omibench.graph.stage import Blocks, GraphJob, ResultFile, Stage
from omibench.params.study import Study
from omibench.review.folder import DECISIONS, TASKS
from omibench.schemas.problem import Answer, Example, OriginalRow, Question
from omibench.schemas.tables import FrozenManifest

_SUFFIXES = (".parquet", ".jsonl", ".json", ".csv")


def _files(study: Study, job: GraphJob) -> list[str | None]:
    return [study.review.decisions, *_review_files(study), *_benchmark_files(study)]


def _review_files(study: Study) -> list[str]:
    """Existing tasks and decisions.

    Tasks are made from the output of earlier stages, so these run without them; freeze then
    reports how to make them.
    """
    if study.review.folder is None or study.benchmark.name != "papers":
        return []
    files = [Path(study.review.folder) / name for name in (TASKS, DECISIONS)]
    return [str(file) for file in files if file.is_file()]


def _benchmark_files(study: Study) -> list[str]:
    if study.benchmark.name == "papers" or not study.data:
        return []
    folder = Path(study.data)
    files = [path for path in folder.glob("*") if path.suffix in _SUFFIXES]
    return [str(path) for path in sorted([*files, *folder.glob("*/*.parquet")])]


def _select_blocks(study: Study, job: GraphJob, blocks: Blocks) -> Blocks:
    """A qualification test of reviewers does not change their decisions."""
    if "review" not in blocks:
        return blocks
    review = {name: value for name, value in blocks["review"].items() if name != "calibration"}
    others = {name: block for name, block in blocks.items() if name != "review"}
    return {**others, "review": review} if review else others


FREEZE = Stage(
    "freeze",
    target="freeze",
    params=("benchmark", "data", "review", "freeze"),
    inputs=("rationale",),
    plugins=("benchmarks",),
    files=_files,
    select_blocks=_select_blocks,
    outputs=(
        ResultFile(
            "freeze/questions.jsonl", Question, "input of inference: no answer, no solution"
        ),
        ResultFile(
            "freeze/answers.jsonl", Answer, "input of scoring: gold answer and reference rationale"
        ),
        ResultFile(
            "freeze/examples.jsonl", Example, "solved problems that settings can show as examples"
        ),
        ResultFile(
            "freeze/originals.jsonl",
            OriginalRow,
            "original texts of translated problems; often empty",
        ),
        ResultFile("freeze/manifest.json", FrozenManifest, "name, version and content hashes"),
        ResultFile("freeze/README.md", None, "the dataset card"),
        ResultFile("freeze/images/{sha256}.{kind}", None, "its pictures, each once"),
    ),
)
