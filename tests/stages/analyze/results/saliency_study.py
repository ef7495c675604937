"""A study of which two settings were looked into, four problems of two exams each."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from tests.stages.analyze.conftest import study_values

from omibench.params.study import parse_study
from omibench.results.load import Results
from omibench.schemas.problem import Answer, Choice
from omibench.schemas.tables import SALIENCY_VERSION, FrozenManifest, SaliencyRow, write_parquet
from omibench.stages.analyze.analysis import Analysis

CHOICES = [Choice(label=label, text=label) for label in "AB"]
DIRECT = {"l1": -0.5, "l2": -0.4, "n1": -0.9, "n2": -0.2, "n3": -1.0}
COT = {"l1": -0.1, "l2": -0.4005, "n1": -0.3, "n2": -0.25, "n3": -0.2}
"""Problem -> log P of the option B, which is chosen; under `direct` A is right for n3."""


def write_rows(problem: str, logprob: float, drops: list[float], right: str) -> list[SaliencyRow]:
    """Both options of one problem at places side by side; the other option loses half as much."""
    return [
        SaliencyRow(
            id=problem, key="0" * 64, image=0, sha256="0" * 64, x=28 * n, y=0, side=56,
            option=option, logprob=logprob, drop=drop if option == "B" else drop / 2,
            chosen=option == "B", right=option == right, simulated=True, mass=0.75,
            version=SALIENCY_VERSION, reading="final_letter", stride=28,
        )
        for n, drop in enumerate(drops)
        for option in "AB"
    ]  # fmt: skip


def open_saliency_study(folder: Path, baseline: str | None = "direct") -> Analysis:
    """Write the files and open the analysis; the impact of l1 under `direct` is an outlier."""
    block = {"settings": ["direct", "cot"], "models": ["sim-weak"]}
    pairs = {"cot": baseline} if baseline else {}
    values = study_values(baselines={"settings": pairs}) | {"saliency": block}
    study = parse_study(values, "test")
    for setting, logprobs in (("direct", DIRECT), ("cot", COT)):
        rows = [
            row
            for problem, logprob in logprobs.items()
            for row in write_rows(
                problem, logprob,
                [0.1, -2.5 if (problem, setting) == ("l1", "direct") else 0.25],
                "A" if (problem, setting) == ("n3", "direct") else "B",
            )
        ]  # fmt: skip
        write_parquet(folder / f"saliency/sim-weak/{setting}.parquet", rows, SaliencyRow)
    answers = {
        id: Answer(
            id=id, answer=["B"], answer_type="mcq", choices=CHOICES, group="stem" * (id[0] == "l"),
            attributes={"exam": "local" if id[0] == "l" else "national"},
        )
        for id in DIRECT
    }  # fmt: skip
    manifest = FrozenManifest(
        name="sample", version="1.0.0", problems=5, images=0, questions_sha256="",
        answers_sha256="", subjects={},
    )  # fmt: skip
    nothing = pl.DataFrame()
    results = Results(study, manifest, folder / "freeze", {}, answers, nothing, nothing)
    return Analysis(study, results, folder, folder / "analyze/report.html")
