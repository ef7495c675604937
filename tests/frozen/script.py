"""A user's script of version 0.1: every call of the guide to the Python API."""

from __future__ import annotations

import json
import sys
from typing import Any

import omibench


@omibench.scorer("first-letter-of-mine")
def score_first_letter(item: omibench.ScoredItem) -> omibench.Verdict:
    """Compare the first letter."""
    letter = item.prediction.strip()[:1].upper()
    return omibench.Verdict(
        extracted=letter,
        method="letter",
        verdict=float([letter] == item.gold),
        rules="first-letter-of-mine",
        version=1,
    )


def main(folder: str, earlier: str, params: str) -> dict[str, Any]:
    """Return what the calls give, as values that JSON has."""
    results = omibench.load_results(folder)
    means = results.verdicts.filter(rules="robust").group_by("model", "setting").agg(n=len_of("id"))
    pair = results.compare_models("sim-apex", "sim-bravo", setting="cot", rules="robust")
    many = results.compare_settings("cot", "direct", model="sim-apex", comparisons=6)
    runs = omibench.compare_runs(earlier, folder)
    release = omibench.load_release(f"{folder}/freeze")
    question = next(q for q in release.questions.values() if q.images)
    study = omibench.load_study(params, overrides={"study": {"name": "mine"}})
    conversation = omibench.build_conversation(
        question, study.settings["cot"], folder=release.folder
    )
    comparison = omibench.compare_answers(["3", "x = 2"], "x = 2")
    plan = omibench.plan_study(study)
    return {
        "cells": means.height,
        "columns": sorted(results.verdicts.columns),
        "frames": {
            name: getattr(results, name).height
            for name in ("problems", "responses", "judgements", "aggregates", "saliency")
        },
        "main": results.report_table("main").columns,
        "accuracy": results.result_table("accuracy").columns,
        "names": [len(results.report_tables) > 5, len(results.result_names) > 20],
        "estimate": list(results.estimate_accuracy("sim-apex", "cot")),
        "pair": [pair.value, pair.lo, pair.hi, pair.n, pair.distinguishable],
        "many": [many.value, many.lo, many.hi, many.n, many.distinguishable],
        "slice": results.slice(by=["subject"], metric="accuracy", rules="robust").columns,
        "causes": {total.cause: total.change for total in runs.total.causes},
        "changes": runs.items.height,
        "score": omibench.score(r"So it is \boxed{0.5 m}.", "50 cm").verdict,
        "scores": [
            verdict.verdict
            for verdict in omibench.score(
                ["(B)", "I cannot say."], ["B", "C"], choices=["1 N", "2 N", "3 N"]
            )
        ],
        "own": omibench.score("B, it is.", "B", rules="first-letter-of-mine").verdict,
        "parts": [comparison.equal, comparison.reason, comparison.credit, len(comparison.parts)],
        "picture": len(release.read_picture(question.images[0])) > 0,
        "text": bool(conversation.text) and len(conversation.images) == len(question.images),
        "bought": sum(row.to_buy for row in plan.rows),
        "plan": omibench.describe_plan(plan).splitlines()[0],
    }


def len_of(column: str) -> Any:
    """Return the expression that counts a column."""
    import polars as pl

    return pl.col(column).len()


if __name__ == "__main__":
    try:
        print(json.dumps(main(*sys.argv[1:4])))
    except omibench.OmibenchError as error:
        sys.exit(str(error))
