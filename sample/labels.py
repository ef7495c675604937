"""Label responses of the sample study from the simulation's truth, instead of annotators.

    python sample/labels.py results      draws 240 responses and writes sample/labels.csv

A simulated judge errs at set rates from this truth, so the certificate of these labels must recover
the rates. Each label has the hash of its text: if the simulation changes, stale labels are left out
of the certificate until you run this again.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import random
from pathlib import Path

from omibench.models.simulated.answers import load_oracle
from omibench.models.simulated.roles import is_right
from omibench.params.study import parse_study_file
from omibench.schemas.tables import ResponseRow, read_parquet

HERE = Path(__file__).resolve().parent
LABELS = 240
COLUMNS = ("id", "model", "setting", "label", "response_sha256", "simulated")


def main() -> None:
    """Read every cell of a results folder and write the labels of a seeded draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path)
    results = parser.parse_args().results
    study, oracle = (
        parse_study_file(HERE.parent / "params.yaml"),
        load_oracle(str(HERE / "oracle.jsonl")),
    )
    rows = []
    for cell in study.cells:
        file = results / "infer" / cell.model / f"{cell.setting}.parquet"
        for row in read_parquet(file, ResponseRow).iter_rows(named=True):
            known = oracle.row(row["id"])
            right = is_right(row["text"], known.answer, bool(known.choices))
            digest = hashlib.sha256(row["text"].encode()).hexdigest()
            label = "right" if right else "wrong"
            rows.append((row["id"], *cell, label, digest, "true"))
    drawn = random.Random(study.study.seed).sample(rows, min(LABELS, len(rows)))  # noqa: S311
    with (HERE / "labels.csv").open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(sorted(drawn))


if __name__ == "__main__":
    main()
