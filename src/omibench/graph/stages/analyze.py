"""analyze: tables, figures, report and explorer."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from omibench.graph.stage import (
    Blocks,
    GraphJob,
    ResultFile,
    Stage,
    drop,
    list_layout_files,
    pick,
    prompt_file,
)
from omibench.params.study import Study
from omibench.review.folder import DECISIONS, REVIEWERS, TASKS

CELL_FILES: Final = ("infer", "score", "aggregate")
"""The stages whose files say what is right in a cell."""


def _files(study: Study, job: GraphJob) -> list[str | None]:
    errors = study.judge.errors
    labels = [errors.labels or study.certify.labels, prompt_file(errors.taxonomy)] if errors else []
    analyze = study.analyze
    layouts = list_layout_files(analyze.published)
    others = (analyze.people, analyze.people_cutoffs, analyze.external_scores)
    certify = study.certify
    people = [certify.labels, certify.sources, *labels]
    tables = [*analyze.published, *layouts, *others, *certify.certificates]
    full = _list_full_results(analyze.full_results)
    return [*dict.fromkeys([*tables, *people, *full, *_list_review_files(study)])]


def _list_full_results(folder: str | None) -> list[str]:
    """Files of `analyze.full_results`: the dataset, and the verdicts of each cell."""
    if folder is None:
        return []
    cells = (path for part in CELL_FILES for path in sorted(Path(folder, part).glob("*/*.parquet")))
    return [str(Path(folder, "freeze", "manifest.json")), *map(str, cells)]


def _list_review_files(study: Study) -> list[str]:
    """Existing tasks, decisions and reviewers of the review."""
    folder = study.review.folder
    paths = [Path(folder) / name for name in (TASKS, DECISIONS, REVIEWERS)] if folder else []
    return [str(path) for path in paths if path.is_file()]


def _select_blocks(study: Study, job: GraphJob, blocks: Blocks) -> Blocks:
    """Saliency only if it is measured; of the review its folder and what settles a task."""
    if not study.salient_cells:
        blocks = drop(blocks, ("saliency",))
    review = blocks.get("review", {})
    review = pick(review, ("folder", "reviewers")) if "folder" in review else {}
    others = {name: block for name, block in blocks.items() if name != "review"}
    return {**others, "review": review} if review else others


ANALYZE = Stage(
    "analyze",
    target="analyze",
    params=(
        "study", "benchmark", "models", "tune", "settings", "infer", "score", "judge", "saliency",
        "certify", "review", "analyze",
    ),
    inputs=("freeze", "tune", "infer", "score", "judge", "saliency", "aggregate", "certify"),
    plugins=("sections", "results", "figures", "scorers"),
    files=_files,
    select_blocks=_select_blocks,
    outputs=(
        ResultFile("analyze/report.html", None, "the report; open it in a browser"),
        ResultFile(
            "analyze/headline.txt", None, "its path and the three main numbers"
        ),
        ResultFile("analyze/metrics.json", None, "accuracies by cell, for DVC and the leaderboard"),
        ResultFile(
            "analyze/main.csv",
            None,
            "accuracy and GPTScore by cell and subject, with intervals",
        ),
        ResultFile("analyze/by_images.csv", None, "accuracy by number of images"),
        ResultFile("analyze/failures.csv", None, "outcomes without an answer"),
        ResultFile("analyze/differences.csv", None, "results compared with printed ones"),
        ResultFile("analyze/audit.csv", None, "consistency checks of printed tables"),
        ResultFile("analyze/rationales.csv", None, "marks of reasoning, if judges gave any"),
        ResultFile("analyze/errors.csv", None, "types of errors, if judges identified any"),
        ResultFile("analyze/samples.csv", None, "pass@k, consistency@k and the chosen sample"),
        ResultFile(
            "analyze/saliency.csv", None, "dependence of choices on patches of the pictures"
        ),
        ResultFile("analyze/{section}.csv", None, "the table of another section of the report"),
        ResultFile("analyze/written.json", None, "names of its tables; others are not removed"),
        ResultFile(
            "analyze/tables/{result}.parquet",
            None,
            "a result of the study: one row per number, with its interval (docs/results.md)",
        ),
        ResultFile("analyze/tables/{result}.csv", None, "the same as CSV"),
        ResultFile("analyze/figures/{figure}.svg", None, "figures of the report and of results"),
        ResultFile("analyze/figures/{figure}.vl.json", None, "the same as Vega-Lite"),
        ResultFile("analyze/plots/{plot}/{model}.csv", None, "the same numbers for `dvc plots`"),
        ResultFile(
            "analyze/explorer/index.html", None, "index from each number to its responses"
        ),
        ResultFile(
            "analyze/explorer/pages/{problem}.html", None, "one problem and all its responses"
        ),
        ResultFile(
            "analyze/explorer/cells/{model}@{setting}.html", None, "one cell, problem by problem"
        ),
        ResultFile("analyze/explorer/images/{sha256}.{kind}", None, "pictures drawn by models"),
        ResultFile("analyze/explorer/formulas/{file}", None, "script and style of the pages"),
        ResultFile("analyze/explorer/formulas/fonts/{file}", None, "its fonts"),
    ),
)  # fmt: skip
