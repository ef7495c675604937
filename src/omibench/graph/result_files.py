"""Every kind of file that a study writes under its results folder: where it stands, what it holds.

docs/files.md is generated from `FILES`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from pydantic import BaseModel

from omibench.graph.provenance.provenance import Provenance
from omibench.schemas.certificate import Certificate, DisagreementRow, ReasoningCertificates
from omibench.schemas.example import Example
from omibench.schemas.problem import Answer, Problem, Question
from omibench.schemas.rejects import FilterJudgement, Reject
from omibench.schemas.saliency_row import SaliencyRow
from omibench.schemas.tables import (
    AggregateRow,
    FrozenManifest,
    Journal,
    JudgementRow,
    OcrReport,
    PageText,
    ResponseRow,
    VerdictRow,
)


class File(NamedTuple):
    """One kind of file. `row` is the type of its rows, None where they have none of ours."""

    path: str
    """Below the results folder; what stands in braces differs from file to file."""
    row: type[BaseModel] | None
    meaning: str


FILES: tuple[File, ...] = (
    File("ocr/problems.jsonl", Problem, "every problem that was read from the papers"),
    File("ocr/pages.jsonl", PageText, "the text of every page"),
    File("ocr/report.json", OcrReport, "what became of every file"),
    File("ocr/images/{paper}/{figure}.png", None, "the figures, cut out of the pages"),
    File("filter/problems.jsonl", Problem, "the problems that survive the filter"),
    File("filter/rejects.parquet", Reject, "the problems that do not, with reason and evidence"),
    File("filter/rejects.html", None, "the same with their pictures, to be opened in a browser"),
    File("filter/judgements.parquet", FilterJudgement, "what models said of them, if any did"),
    File("rationale/problems.jsonl", Problem, "the same with rationale and topic"),
    File("freeze/questions.jsonl", Question, "what inference reads: no answer, no solution"),
    File("freeze/answers.jsonl", Answer, "what scoring reads: gold and reference rationale"),
    File("freeze/examples.jsonl", Example, "solved problems that settings may show as examples"),
    File("freeze/manifest.json", FrozenManifest, "name, version and content hashes"),
    File("freeze/README.md", None, "the dataset's card"),
    File("freeze/images/{sha256}.{kind}", None, "its pictures, each once"),
    File("infer/{model}/{setting}.parquet", ResponseRow, "the responses of one cell"),
    File("infer/{model}/filled.txt", None, "a local model was asked under all its settings"),
    File("infer/{model}/helped.txt", None, "a helper was asked all that several cells share"),
    File("score/{model}/{setting}.parquet", VerdictRow, "the verdicts of one cell"),
    File("aggregate/{model}/{setting}.parquet", AggregateRow, "what several samples are worth"),
    File("certify/certificate.json", Certificate, "the judge against people's labels"),
    File("certify/reasoning.json", ReasoningCertificates, "judges of reasoning against them"),
    File("certify/disagreements.jsonl", DisagreementRow, "where rules and judge disagree, to read"),
    File("judge/{model}/{setting}.parquet", JudgementRow, "what judges say of its reasoning"),
    File(
        "saliency/{model}/{setting}.parquet",
        SaliencyRow,
        "what covering a place of a picture does to each option",
    ),
    File("saliency/{model}/{setting}/{map}.png", None, "the same over the picture, as a heat map"),
    File("analyze/report.html", None, "the report, to be opened in a browser"),
    File("analyze/headline.txt", None, "its path and the three numbers that matter most"),
    File("analyze/metrics.json", None, "accuracies by cell, for DVC and the board"),
    File("analyze/main.csv", None, "accuracy and GPTScore by cell and subject, with intervals"),
    File("analyze/by_images.csv", None, "accuracy by number of images"),
    File("analyze/failures.csv", None, "outcomes that are no answers"),
    File("analyze/differences.csv", None, "ours beside printed results"),
    File("analyze/rationales.csv", None, "marks of the reasoning, where judges gave some"),
    File("analyze/errors.csv", None, "types of errors, where judges named some"),
    File("analyze/samples.csv", None, "pass@k, consistency@k and the chosen sample"),
    File("analyze/saliency.csv", None, "how much choices rest on places of the pictures"),
    File("analyze/figures/{figure}.svg", None, "the figures of the report"),
    File("analyze/plots/{plot}/{model}.csv", None, "the same numbers for `dvc plots`"),
    File("analyze/explorer/index.html", None, "the way from each number to its responses"),
    File("analyze/explorer/pages/{problem}.html", None, "one problem and all that was answered"),
    File("analyze/explorer/cells/{model}@{setting}.html", None, "one cell, problem by problem"),
    File("analyze/explorer/images/{sha256}.{kind}", None, "pictures that models drew"),
    File(
        "pictures/{recipe}/{picture}.{kind}",
        None,
        "pictures that settings made; drawn again if lost",
    ),
    File("reevaluate/journal.json", Journal, "what became of each model that a watch found"),
    File("runs/{run}.jsonl", None, "starts and ends of a run's jobs, for `omibench status`"),
    File("cache/verdicts.sqlite", None, "known verdicts; deleting them costs time alone"),
    File("{stage}/provenance.json", Provenance, "what made the stage's files, and their hashes"),
)


def file_of(path: str) -> File | None:
    """The kind of the file at `path` below the results folder; None for one that is not named."""
    return next((file for file in FILES if _pattern(file.path).fullmatch(path)), None)


def _pattern(path: str) -> re.Pattern[str]:
    parts = re.split(r"(\{\w+\})", path)
    return re.compile("".join("[^/]+" if p.startswith("{") else re.escape(p) for p in parts))
