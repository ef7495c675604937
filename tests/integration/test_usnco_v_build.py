"""USNCO-V's dataset from exams that a user has: papers, a list of questions, labels, freeze."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
import yaml
from tests.conftest import Build
from tests.integration.conftest import fill_checkout, runner

from omibench.schemas.curation import LabelRow, Reject
from omibench.schemas.problem import Answer, Example, Question
from omibench.schemas.tables import read_jsonl, read_parquet

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

EXAMS = {"chemistry": ("local", 2003), "physics": ("national", 2003)}
"""Papers of the sample, as if they were exams of the American Chemical Society."""
LISTED = [
    (2003, "Local", "01", "D", "Molecular Structure"),
    (2003, "local", "9", "A", ""),
    (2003, "local", "10", "D", "chart"),
    (2003, "national", "1", "B", "apparatus"),
    (2003, "national", "2", "B", "table"),
    (2003, "national", "9", "b", ""),
    (2009, "national", "3", "C", "table"),
]
TYPES = {"table", "chart", "molecular structure", "apparatus", "other"}
OVER = """
simulated: true
rationale: {topics: {physics: [mechanics, optics]}}
settings: {examples-1-sampled: {decoding: {samples: 2}}}
infer: {models: [gpt-4.1-mini], settings: [zero-shot-5, examples-1-sampled]}
"""


def write_exams(checkout: Path, folder: Path) -> None:
    """Write sources.yaml and metadata.csv over the papers of the sample in `checkout`."""
    folder.mkdir(parents=True)
    sources = []
    for source in yaml.safe_load((checkout / "sample/sources.yaml").read_text("utf-8"))["sources"]:
        if source["name"] in EXAMS:
            exam, year = EXAMS[source["name"]]
            paper = str(checkout / "sample" / source["paper"])
            key = str(checkout / "sample" / source["key"])
            sources.append(
                {"name": source["name"], "paper": paper, "key": key, "year": year,
                 "subject": "chemistry", "attributes": {"exam": exam}}
            )  # fmt: skip
    (folder / "sources.yaml").write_text(yaml.safe_dump({"sources": sources}))
    with (folder / "metadata.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["year", "exam", "number", "answer", "category", "summary"])
        rows.writerows([*row, "a summary that no attribute could hold " * 9] for row in LISTED)


@pytest.fixture(scope="module")
def results(build_once: Build, root: Path) -> Path:
    """The results of the study with its overlay, run as its first lines say, simulated."""

    def fill(folder: Path) -> None:
        checkout = fill_checkout(root, folder)
        write_exams(checkout, checkout / "data/usnco-v-build")
        (checkout / "over.yaml").write_text(OVER)
        files = ["studies/usnco_v.yaml", "studies/overlays/usnco_v_build.yaml", "over.yaml"]
        runner(checkout)("snakemake", "--cores", "2", "--configfile", *files)

    return build_once("usnco-v-build", fill) / "results/usnco-v-build-simulated"


def test_the_dataset_is_what_the_list_names_and_the_exams_hold(results: Path) -> None:
    answers = read_jsonl(results / "freeze/answers.jsonl", Answer)
    stated = {a.id: (a.answer, a.attributes["exam"], a.attributes["year"]) for a in answers}
    assert stated == {
        "chemistry-1": (["D"], "local", "2003"),
        "chemistry-9": (["A"], "local", "2003"),  # the paper's key says B
        "chemistry-10": (["D"], "local", "2003"),  # and here B or D
        "physics-1": (["B"], "national", "2003"),
        "physics-9": (["B"], "national", "2003"),
    }
    questions = {q.id: q for q in read_jsonl(results / "freeze/questions.jsonl", Question)}
    assert all(q.subset == stated[name][1] for name, q in questions.items())
    assert all(q.images and len(q.choices or []) == 4 for q in questions.values())


def test_listed_types_are_kept_and_the_others_are_labelled(results: Path) -> None:
    found = {
        a.id: a.attributes["category"] for a in read_jsonl(results / "freeze/answers.jsonl", Answer)
    }
    assert found["chemistry-1"] == "molecular structure"
    assert (found["chemistry-10"], found["physics-1"]) == ("chart", "apparatus")
    assert set(found.values()) <= TYPES
    rows = read_jsonl(results / "rationale/labels.jsonl", LabelRow)
    labelled = {row.id: row for row in rows if row.kind == "class"}
    assert set(labelled) == {"chemistry-9", "physics-9"}
    assert all(found[name] == row.labels[0] for name, row in labelled.items())
    assert all(row.simulated and row.by == "gpt-4o" for row in labelled.values())


def test_what_is_left_out_is_told(results: Path) -> None:
    rejects = read_parquet(results / "filter/rejects.parquet", Reject)
    reasons = dict(rejects.select("id", "reason").rows())
    assert reasons["physics-2"] == "out_of_scope", "it is listed, but has no choices"
    others = {id_: reason for id_, reason in reasons.items() if id_ != "physics-2"}
    assert len(others) == 14
    assert set(others.values()) == {"not_selected"}
    log = results.parents[1] / "logs/usnco-v-build-simulated/filter/filter.log"
    assert "no problem was read for national, 2009: 3;" in log.read_text("utf-8")


def test_examples_come_from_the_other_exam(results: Path) -> None:
    rows = read_jsonl(results / "freeze/examples.jsonl", Example)
    assert {row.take for row in rows} == {"window"}
    assert {row.id.partition("-")[0] for row in rows} == set(EXAMS)
    assert (results / "analyze/report.html").is_file()
