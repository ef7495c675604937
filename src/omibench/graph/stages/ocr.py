"""ocr: exam papers in, problems out."""

from __future__ import annotations

from omibench.graph.stage import GraphJob, ResultFile, Stage, list_model_files
from omibench.params.study import Study
from omibench.schemas.pages import OcrReport, PagePicture, PageText
from omibench.schemas.problem import Problem


def _models(study: Study, job: GraphJob) -> list[str]:
    readers = (study.ocr.reader, study.ocr.formula_model)
    return list(dict.fromkeys(name for name in readers if name))


def _files(study: Study, job: GraphJob) -> list[str]:
    # The papers are in the manifest, which the rule reads.
    models = study.ocr.models
    return [*study.ocr.prompts.values(), *list_model_files(study, models)] if models else []


OCR = Stage(
    "ocr",
    target="freeze",
    params=("study", "models", "ocr"),
    plugins=("engines", "benchmarks", "generators", "providers"),
    hashed_separately=("read_ahead", "waiting"),
    models=_models,
    files=_files,
    outputs=(
        ResultFile("ocr/problems.jsonl", Problem, "every problem extracted from the papers"),
        ResultFile("ocr/pages.jsonl", PageText, "text of every page"),
        ResultFile("ocr/report.json", OcrReport, "status of every file"),
        ResultFile("ocr/images/{paper}/{figure}.png", None, "figures cropped from the pages"),
        ResultFile(
            "ocr/formulas/{paper}/{formula}.png",
            None,
            "crops of formulas with a doubtful reading",
        ),
        ResultFile("ocr/page_pictures.jsonl", PagePicture, "rendered pages and their sizes"),
        ResultFile("ocr/pages/{paper}/{page}.jpg", None, "pages with problems"),
    ),
)
