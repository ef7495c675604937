"""Solved examples in the graph: only cells that show them depend on them."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from tests.extras import require_extra
from tests.integration.conftest import Run

require_extra("workflow", "snakemake")

pytestmark = [pytest.mark.slow, pytest.mark.long]

CELLS = ["results/infer/sim/cot.parquet", "results/infer/sim/shots.parquet"]
PARAMS: dict[str, Any] = {
    "study": {"name": "shown"},
    "data": "mine",
    "benchmark": {"name": "folder"},
    "freeze": {"examples": {"set_aside": 2}},
    "models": {"sim": {"provider": "simulated", "oracle": "mine/oracle.txt"}},
    "settings": {"cot": {}, "shots": {"prompt": "in-context", "examples": {"k": 1}}},
    "infer": {"models": ["sim"], "settings": ["cot", "shots"]},
}


def write_problems(folder: Path, solution: str) -> None:
    rows = ["id,question,answer,solution", *(f"p{n},What is {n} + 1?,{n + 1}," for n in range(6))]
    rows[1:] = [f"{row}{solution} {n}." for n, row in enumerate(rows[1:])]
    (folder / "mine").mkdir(exist_ok=True)
    known = [json.dumps({"id": f"p{n}", "answer": [str(n + 1)]}) for n in range(6)]
    (folder / "mine" / "oracle.txt").write_text("\n".join(known) + "\n", "utf-8")
    (folder / "mine" / "problems.csv").write_text("\n".join(rows) + "\n", "utf-8")


def done(text: str) -> dict[str, int]:
    rules = re.findall(r"Finished jobid: \d+ \(Rule: (\w+)\)", text)
    return dict(Counter(rules))


def test_only_cells_that_show_examples_depend_on_them(checkout: Path, run: Run) -> None:
    (checkout / "params.yaml").write_text(yaml.safe_dump(PARAMS), "utf-8")
    write_problems(checkout, "Count on from")
    first = run("snakemake", "--cores", "1", *CELLS)
    assert done(first.stdout + first.stderr) == {"freeze": 1, "infer": 2}
    asked = [pl.read_parquet(checkout / cell)["id"].to_list() for cell in CELLS]
    assert asked[0] == [f"p{n}" for n in range(6)]
    assert len(asked[1]) == 4
    assert set(asked[1]) < set(asked[0])

    write_problems(checkout, "Take the one after")
    second = run("snakemake", "--cores", "1", *CELLS)
    assert done(second.stdout + second.stderr) == {"freeze": 1, "infer": 1}
    told = second.stdout + second.stderr
    assert "--setting shots" in told or "infer/sim/shots.parquet" in told
