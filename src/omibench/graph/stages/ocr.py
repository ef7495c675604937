"""ocr: exam papers in, problems out."""

from __future__ import annotations

from omibench.graph.named_files import model_files
from omibench.graph.stage import GraphJob, ResultFile, Stage
from omibench.params.study import Study
from omibench.schemas.pages import OcrReport, PagePicture, PageText
from omibench.schemas.problem import Problem


def _models(study: Study, job: GraphJob) -> list[str]:
    return [study.ocr.reader] if study.ocr.reader else []


def _files(study: Study, job: GraphJob) -> list[str]:
    # The papers stand in the manifest, which the rule reads.
    if study.ocr.engine != "vision":
        return []
    return [*study.ocr.prompts.values(), *model_files(study, study.ocr.reader)]


OCR = Stage(
    "ocr",
    target="freeze",
    params=("study", "models", "ocr"),
    plugins=("engines", "benchmarks", "providers"),
    apart=("read_ahead",),
    models=_models,
    files=_files,
    outputs=(
        ResultFile("ocr/problems.jsonl", Problem, "every problem that was read from the papers"),
        ResultFile("ocr/pages.jsonl", PageText, "the text of every page"),
        ResultFile("ocr/report.json", OcrReport, "what became of every file"),
        ResultFile("ocr/images/{paper}/{figure}.png", None, "the figures, cut out of the pages"),
        ResultFile(
            "ocr/page_pictures.jsonl", PagePicture, "which pages were drawn, and how large they are"
        ),
        ResultFile("ocr/pages/{paper}/{page}.jpg", None, "the pages on which problems stand"),
    ),
)
