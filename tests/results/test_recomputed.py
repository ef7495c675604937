"""Numbers of the sample study, recomputed from its files with pandas, scipy, statsmodels, sklearn.

Nothing of `omibench.results` is used. Taken from the project: the scores of people's answers, the
fields of review tasks, and the seeds of resamples.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from hashlib import sha256
from itertools import combinations, permutations
from math import isnan, nan, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import yaml
from scipy import stats
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import fleiss_kappa
from statsmodels.stats.proportion import proportion_confint
from statsmodels.stats.sandwich_covariance import cov_cluster, cov_cluster_2groups
from tests.conftest import Build
from tests.integration.conftest import fill_checkout, runner

from omibench.params.study import parse_study_file
from omibench.review.kinds import KINDS
from omibench.review.kinds.declaration import is_asked
from omibench.schemas.problem import Answer
from omibench.schemas.tables import read_jsonl
from omibench.stages.analyze.people import score_people
from omibench.stages.analyze.user_files import PersonAnswer

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

Numbers = tuple[float, float, float]
CONFIDENCE = 0.95
Z = stats.norm.ppf((1 + CONFIDENCE) / 2)


@pytest.fixture(scope="module")
def study(build_once: Build, root: Path) -> Path:
    """The sample study after a whole run, to read."""

    def fill(folder: Path) -> None:
        runner(fill_checkout(root, folder))("snakemake", "--cores", "2")

    return build_once("sample", fill)


@pytest.fixture(scope="module")
def items(study: Path) -> pd.DataFrame:
    """One row per problem: its cluster and its slices, and the year of its exam."""
    rows = [
        {
            "id": row["id"], "cluster": row["group"] or row["id"], "subject": row["subject"],
            "n_images": "6+" if row["n_images"] > 5 else str(row["n_images"]),
            "answer_type": row["answer_type"], "year": row["attributes"].get("year"), "": "",
        }
        for row in read_lines(study / "results/freeze/answers.jsonl")
    ]  # fmt: skip
    return pd.DataFrame(rows).set_index("id", drop=False)


@pytest.fixture(scope="module")
def verdicts(study: Path) -> pd.DataFrame:
    """All verdicts; a missing credit, ratio or strict value is that of a wrong answer."""
    rows = read_cells(study / "results/score")
    return fill_measures(rows.rename(columns={"index": "sample"}))


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def read_cells(folder: Path) -> pd.DataFrame:
    """The files of a stage by cell, with the columns `model` and `setting`."""
    return pd.concat(
        pd.read_parquet(path).assign(model=path.parent.name, setting=path.stem)
        for path in sorted(folder.glob("*/*.parquet"))
    )


def read_table(study: Path, name: str) -> pd.DataFrame:
    return pd.read_parquet(study / f"results/analyze/tables/{name}.parquet")


def fill_measures(rows: pd.DataFrame) -> pd.DataFrame:
    """Fill a measure of each scorer that has it: the verdict, or 0 for `strict`."""
    parts = []
    for _, part in rows.groupby("rules", sort=False):
        fill = {
            name: part[name].astype(float).fillna(0.0 if name == "strict" else part["verdict"])
            for name in ("credit", "ratio", "strict")
            if part[name].notna().any()
        }
        parts.append(part.assign(**fill))
    return pd.concat(parts)


def fit_mean(values: Sequence[float]) -> Any:
    """The regression on a constant, whose coefficient is the mean."""
    return sm.OLS(np.asarray(values, dtype=float), np.ones(len(values))).fit()


def estimate_share(values: Sequence[float], clusters: Sequence[Hashable]) -> Numbers:
    """Mean, and Wilson's interval at the effective number of answers."""
    numbers, codes = np.asarray(values, dtype=float), pd.factorize(np.asarray(clusters))[0]
    n, groups, mean = len(numbers), len(set(codes)), float(np.mean(numbers))
    sizes, effect = np.bincount(codes), 1.0
    spread = float(np.var(numbers)) * n
    if n > 1:
        effect = float((sizes**2).sum()) / n
        if groups > 1 and spread > 1e-9:
            fit = fit_mean(numbers)
            effect = max(1.0, float(cov_cluster(fit, codes)[0, 0]) / fit.cov_params()[0, 0])
    worth = n / effect
    if 1 < groups < n:
        worth *= (stats.t.ppf(0.975, n - 1) / stats.t.ppf(0.975, groups - 1)) ** 2
    if groups > 1 and not np.isin(numbers, (0, 1)).all():
        variance = (spread if spread > 1e-9 else mean**2 + (1 - mean) ** 2) * effect / n**2
        answers = mean * (1 - mean) / variance * (Z / stats.t.ppf(0.975, groups - 1)) ** 2
        worth = max(worth, min(answers, n * (1 + n * mean * (1 - mean))))
    return mean, *bound_wilson(mean, worth)


def bound_wilson(share: float, n: float) -> tuple[float, float]:
    low, high = proportion_confint(share * n, n, 1 - CONFIDENCE, method="wilson")
    return float(low), float(high)


def estimate_crossed(
    values: Sequence[float], people: Sequence[str], clusters: Sequence[str], *, is_share: bool
) -> Numbers:
    """Mean of people's answers, with the two-way clustered variance of statsmodels."""
    numbers = np.asarray(values, dtype=float)
    person, cluster = (pd.factorize(np.asarray(codes))[0] for codes in (people, clusters))
    both, one, other = (
        float(matrix[0, 0]) for matrix in cov_cluster_2groups(fit_mean(numbers), person, cluster)
    )
    variance, mean = max(both, one, other), float(numbers.mean())
    least, most = sorted((person.max(), cluster.max()))
    if variance < 1e-15:
        return mean, *(bound_wilson(mean, least + 1) if is_share else (-1.0, 1.0))
    freedom = int(variance**2 / (one**2 / person.max() + other**2 / cluster.max()))
    quantile = stats.t.ppf(0.975, max(1, least, min(freedom, least + most)))
    if is_share:
        return mean, *bound_wilson(mean, mean * (1 - mean) / variance * (Z / quantile) ** 2)
    half = quantile * sqrt(variance)
    return mean, max(-1.0, mean - half), min(1.0, mean + half)


def assert_equal(row: Any, numbers: Iterable[float], names: str = "estimate low high") -> None:
    """A table has six digits; beyond them only rounding may differ."""
    for name, number in zip(names.split(), numbers, strict=True):
        value = getattr(row, name)
        if isnan(number):
            assert pd.isna(value), (name, value, row)
        else:
            assert abs(value - number) <= 5e-7 + 1e-9, (name, value, number, row)


def test_marks_of_rationales(study: Path, items: pd.DataFrame) -> None:
    judged = read_cells(study / "results/judge").query("counts")
    judged["cluster"] = judged["id"].map(items["cluster"])
    table = read_table(study, "rationale-marks")
    cells = judged.groupby(["model", "setting"]).ngroups
    assert len(table) == 7 * cells == table.groupby(["model", "setting", "metric"]).ngroups
    for row in table.itertuples():
        part = judged[
            (judged["model"] == row.model)
            & (judged["setting"] == row.setting)
            & (judged["instrument"] == row.instrument)
        ]
        marks = part.dropna(subset=[row.metric]).groupby("id", sort=False)
        values, clusters = marks[row.metric].mean(), marks["cluster"].first()
        fit = fit_mean(values)
        codes, groups = pd.factorize(clusters)
        error = sqrt(max(cov_cluster(fit, codes)[0, 0], fit.cov_params()[0, 0]))
        half = stats.t.ppf(0.975, len(groups) - 1) * error
        mean = values.mean()
        assert_equal(row, (mean, max(1.0, mean - half), min(5.0, mean + half)))
        assert (row.n, row.clusters) == (len(values), len(groups))
        assert row.judge_failed == (part["outcome"] != "scored").sum()


def test_types_of_errors(study: Path, items: pd.DataFrame) -> None:
    judged = read_cells(study / "results/judge").query("counts and instrument == 'error_type'")
    wrong = judged.dropna(subset=["error_type"]).query("error_type != 'no_error'").copy()
    wrong["subject"], wrong["cluster"] = (
        wrong["id"].map(items[name]) for name in ("subject", "cluster")
    )
    table = read_table(study, "error-types")
    cells, subjects = ["model", "setting"], ["model", "setting", "subject"]
    groups = wrong.groupby(cells).ngroups + wrong.groupby(subjects).ngroups
    assert len(table) == groups * wrong["error_type"].nunique()
    for row in table.itertuples():
        part = wrong[(wrong["model"] == row.model) & (wrong["setting"] == row.setting)]
        part = part[part["subject"] == row.subject] if row.subject else part
        is_type = part["error_type"] == row.error_type
        shares = is_type.astype(float).groupby(part["id"]).mean()
        clusters = part.groupby("id")["cluster"].first()
        assert_equal(row, estimate_share(shares, clusters))
        assert (row.n, row.clusters) == (len(shares), clusters.nunique())
        assert (table.loc[row.Index, "count"], row.classified) == (is_type.sum(), len(part))


@pytest.fixture(scope="module")
def people(study: Path, items: pd.DataFrame) -> pd.DataFrame:
    """People's counted answers with scores: of each person, group, everybody and the majority."""
    subset = read_table(study, "people-subset").set_index("problem")["use"]
    answers = pd.read_csv(study / "sample/people.csv", dtype={"answer": str})
    counted = answers[answers["problem"].map(subset) == "scored"].fillna({"answer": ""})
    golds = {row.id: row for row in read_jsonl(study / "results/freeze/answers.jsonl", Answer)}
    rows = [PersonAnswer.model_validate(row) for row in counted.to_dict("records")]
    scored = fill_measures(score_people(rows, golds, ["robust", "omibench"]).to_pandas())
    scored = scored.merge(
        counted[["person", "problem", "seconds"]],
        left_on=["person", "id"], right_on=["person", "problem"],
    )  # fmt: skip
    votes = scored.groupby(["rules", "id", "cluster"]).filter(lambda part: len(part) >= 3)
    majority = votes.groupby(["rules", "id", "cluster"], as_index=False)[
        [*set(MEASURES.values())]
    ].median()
    return pd.concat(
        [
            scored.assign(kind="person", respondent=scored["person"]),
            scored.assign(kind="group", respondent=scored["group"]),
            scored.assign(kind="everybody", respondent=""),
            majority.assign(kind="majority", respondent="majority", person="majority"),
        ]
    )


def test_the_subset_for_people(study: Path, items: pd.DataFrame) -> None:
    params = yaml.safe_load((study / "params.yaml").read_text("utf-8"))
    seed, wanted = params["study"]["seed"], params["analyze"]["people_subset"]
    ranks = items["id"].map(lambda id: sha256(f"people\0{seed}\0{id}".encode()).hexdigest())
    ranked = items.assign(rank=ranks).sort_values(["subject", "rank"])
    place, subjects = ranked.groupby("subject").cumcount(), ranked["subject"].nunique()
    scored, warm = wanted["size"] // subjects, wanted["familiarisation"] // subjects
    expected = {
        "familiarisation": ranked[(place >= scored) & (place < scored + warm)]["id"].tolist(),
        "scored": ranked[place < scored]["id"].tolist(),
    }
    table = read_table(study, "people-subset")
    assert table.groupby("use")["problem"].apply(list).to_dict() == expected
    assert (table["value"] == table["problem"].map(items["subject"])).all()


MEASURES = {"accuracy": "verdict", "gptscore": "verdict", "credit": "credit", "ratio": "ratio"}


def test_people_and_models_on_the_same_problems(
    study: Path, items: pd.DataFrame, people: pd.DataFrame, verdicts: pd.DataFrame
) -> None:
    table = read_table(study, "people")
    models = verdicts[verdicts["id"].isin(set(people["id"]))]
    models = models.assign(cluster=models["id"].map(items["cluster"]))
    seen = Counter()
    for row in table.itertuples():
        seen[row.kind, row.metric] += 1
        if row.metric == "median seconds":
            part = select(people, row, "kind", "respondent").query("rules == 'robust'")
            assert_equal(row, estimate_median(part["seconds"], part["cluster"]))
        elif row.metric == "difference":
            part = select(people, row, "kind", "rules").query(f"respondent == {row.baseline!r}")
            ours = select(models, row, "model", "setting", "rules").set_index("id")["verdict"]
            deltas = part["id"].map(ours) - part["verdict"]
            if part["person"].nunique() == 1:
                assert_equal(row, [deltas.mean()], "estimate")
                assert row.low <= row.estimate <= row.high
            else:
                both = estimate_crossed(deltas, part["person"], part["cluster"], is_share=False)
                assert_equal(row, both)
        elif row.metric in ("agreement", "ac1"):
            part = select(people, row, "kind", "rules")
            assert_equal(row, [measure_pairs(part)[row.metric == "ac1"]], "estimate")
            assert row.low <= row.estimate <= row.high
            assert row.n == part["id"].nunique()
            continue
        else:
            owner = ("model", "setting") if row.kind == "model" else ("kind", "respondent")
            part = select(models if row.kind == "model" else people, row, "rules", *owner)
            part = part[part["id"].map(items[row.slice]) == row.value]
            values = part[MEASURES[row.metric]]
            alone = estimate_share(values, part["cluster"])
            if row.kind == "model" or part["person"].nunique() == 1:
                assert_equal(row, alone)
            elif part["cluster"].nunique() > 1:
                both = estimate_crossed(values, part["person"], part["cluster"], is_share=True)
                assert_equal(row, both)
            if row.kind != "model":
                assert_equal(row, alone[1:], "problems_low problems_high")
        assert (row.n, row.problems) == (len(part), part["id"].nunique())
        assert row.clusters == part["cluster"].nunique()
        if row.kind != "model":
            assert row.people == part["person"].nunique()
    slices = sum(items.loc[list(set(people["id"])), name].nunique() for name in SLICES)
    respondents = Counter(people.drop_duplicates(["kind", "respondent"])["kind"])
    for kind, number in respondents.items():
        assert seen[kind, "accuracy"] == 2 * seen[kind, "credit"] == 2 * number * slices
        assert seen[kind, "median seconds"] == (0 if kind == "majority" else number)
    cells = verdicts.groupby(["model", "setting"]).ngroups
    assert seen["model", "accuracy"] == 2 * seen["model", "gptscore"] == 2 * cells * slices
    assert seen["group", "difference"] == 2 * cells * respondents["group"]
    assert seen["majority", "difference"] == 2 * cells
    assert seen["everybody", "agreement"] == seen["everybody", "ac1"] == 2


def measure_pairs(part: pd.DataFrame) -> tuple[float, float]:
    """The share of pairs of people that agree on a problem, and Gwet's AC1, of right and wrong."""
    shares, count = part.groupby("id")["verdict"].mean(), part.groupby("id").size()
    pairs = ((count * (shares**2 + (1 - shares) ** 2) - 1) / (count - 1)).mean()
    chance = 2 * shares.mean() * (1 - shares.mean())
    return pairs, (pairs - chance) / (1 - chance)


SLICES = ("", "subject", "n_images", "answer_type")


def select(rows: pd.DataFrame, like: Any, *columns: str) -> pd.DataFrame:
    """The rows with the values of a row of a table."""
    for column in columns:
        rows = rows[rows[column] == getattr(like, column)]
    return rows


def estimate_median(values: pd.Series, clusters: pd.Series) -> Numbers:
    """The quantiles at the bounds of a share of one half, at the effective number of values."""
    n, groups = len(values), clusters.nunique()
    median = values.median()
    below = (values <= median).astype(float)
    fit = fit_mean(below.to_numpy())
    robust = cov_cluster(fit, pd.factorize(clusters)[0])[0, 0]
    worth = n / max(1.0, robust / fit.cov_params()[0, 0])
    if groups < n:
        worth *= (stats.t.ppf(0.975, n - 1) / stats.t.ppf(0.975, groups - 1)) ** 2
    return median, *values.quantile(bound_wilson(0.5, worth))


def test_scores_of_participants_by_cut_offs(
    study: Path, items: pd.DataFrame, verdicts: pd.DataFrame
) -> None:
    cutoffs = pd.read_csv(study / "sample/cutoffs.csv")
    table = read_table(study, "people-estimates")
    values = verdicts[verdicts["rules"] != "gptscore"]
    exams = values[values["id"].map(items["year"]).isin(cutoffs["year"].astype(str))]
    cells = exams.groupby(["model", "setting", "rules"]).ngroups
    assert len(table) == cutoffs["year"].nunique() * (1 + 2 * cells)
    estimates = {}
    for row in table.itertuples():
        if row.kind == "estimated people":
            part = cutoffs[cutoffs["year"] == row.year]
            quantiles = sm.add_constant(stats.norm.ppf(part["percentile"] / 100))
            fit = sm.OLS((part["score"] / part["of"]).to_numpy(), quantiles).fit()
            estimates[row.year] = fit.params[0]
            assert_equal(row, (fit.params[0], *fit.conf_int(1 - CONFIDENCE)[0]))
        else:
            part = select(values, row, "model", "setting", "rules")
            part = part[part["id"].map(items["year"]) == str(row.year)]
            numbers = np.array(estimate_share(part["verdict"], part["id"].map(items["cluster"])))
            people = estimates[row.year] if row.metric == "difference" else 0
            assert_equal(row, numbers - people)
            assert row.n == len(part)


COEFFICIENTS: dict[str, Callable[..., Any]] = {
    "pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau,
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::scipy.stats.ConstantInputWarning")
def test_correlations_with_other_benchmarks(study: Path, verdicts: pd.DataFrame) -> None:
    labels = {
        name: model.label for name, model in parse_study_file(study / "params.yaml").models.items()
    }
    name = json.loads((study / "results/freeze/manifest.json").read_text("utf-8"))["name"]
    ours = verdicts.query("setting == 'cot'").groupby(["rules", "model"])["verdict"].mean()
    series = {
        f"{name}: GPTScore" if rules == "gptscore" else f"{name}: accuracy ({rules})": dict(
            zip(part.index.get_level_values("model"), part, strict=True)
        )
        for rules, part in ours.groupby(level="rules")
    }
    others = pd.read_csv(study / "sample/external_scores.csv")
    others["model"] = others["model"].map({label: name for name, label in labels.items()})
    for (benchmark, metric), part in others.groupby(["benchmark", "metric"]):
        series[f"{benchmark}: {metric}"] = dict(zip(part["model"], part["value"], strict=True))
    table = read_table(study, "correlations")
    assert len(table) == 3 * len(list(combinations(series, 2)))
    for row in table.itertuples():
        models = [model for model in series[row.first] if series[row.second].get(model) is not None]
        x, y = (np.array([series[side][m] for m in models]) for side in (row.first, row.second))
        n, compute = len(models), COEFFICIENTS[row.metric]
        value = compute(x, y).statistic
        # Fisher's interval needs more than three models, and leaving one out more than three.
        assert n == 3, "give the test the interval and the influence of more models"
        assert_equal(row, (value, nan, nan, nan), "estimate low high without")
        p = compute(x, y).pvalue
        if row.metric == "spearman":
            ranks = [abs(compute(x, list(order)).statistic) for order in permutations(y)]
            p = np.mean(np.array(ranks) >= abs(value) - 1e-9)
        draws = np.random.default_rng(n).multinomial(n, np.full(n, 1 / n), 2000)
        resampled = [compute(np.repeat(x, d), np.repeat(y, d)).statistic for d in draws]
        low, high = np.nanpercentile(resampled, [2.5, 97.5])
        assert_equal(row, (p, low, high), "p resampled_low resampled_high")
        assert row.n == n


Rated = list[tuple[str, dict[str, Hashable]]]
"""Problem and values by person, of each unit."""


def read_readings(folder: Path) -> dict[str, list[tuple[str, list[dict[str, Any]]]]]:
    """The first decisions of two people or more on each task of work, by kind."""
    tasks = pd.DataFrame(read_lines(folder / "tasks.jsonl"))
    tasks = tasks[tasks["purpose"] == "work"]
    decisions = pd.DataFrame(read_lines(folder / "decisions.jsonl")).sort_values(["time", "id"])
    joined = decisions.merge(tasks, left_on="task", right_on="id", suffixes=("", "_task"))
    first = joined[
        (joined["content_hash"] == joined["content_hash_task"])
        & joined["role"].isin(["annotator", "auditor"])
    ].drop_duplicates(["task", "person"])
    assert first["simulated"].all()
    read: dict[str, list[tuple[str, list[dict[str, Any]]]]] = {}
    for task in tasks.itertuples():
        part = first[first["task"] == task.id]
        if len(part) > 1:
            read.setdefault(task.kind, []).append((task.problem, part.to_dict("records")))
    return read


def read_units(kind: str, name: str, tasks: Any, who: str) -> Rated:
    """The values of a field by person or role; a field of steps has a unit for each step."""
    field = next(field for field in KINDS[kind].fields if field.name == name)
    units: Rated = []
    for problem, readings in tasks:
        values: dict[str, list[Any]] = {}
        for reading in readings:
            value = reading["fields"].get(name)
            shown = is_asked(field, reading["fields"])
            if field.type == "steps":
                said = list(map(str, value or [])) if shown else [None]
            elif field.type == "choices":
                said = [frozenset(value or []) if shown else None]
            else:
                said = [value if shown else None]
            values.setdefault(reading[who], said)
        for place in range(max(map(len, values.values()))):
            unit = {
                person: said[place]
                for person, said in values.items()
                if place < len(said) and said[place] is not None
            }
            if len(unit) > 1:
                units.append((problem, unit))
    return units


def count_values(units: Rated, order: Sequence[Hashable]) -> np.ndarray:
    return np.array([[list(unit.values()).count(v) for v in order] for _, unit in units], float)


def estimate_alpha(
    counts: np.ndarray, measure: Callable[[np.ndarray], np.ndarray], weights: np.ndarray
) -> float:
    """Krippendorff's alpha from the matrix of coincidences (2019, section 12.3)."""
    sizes = counts.sum(axis=1)
    pairs = np.einsum("uc,uk->uck", counts, counts) - np.stack([np.diag(row) for row in counts])
    coincidences = np.tensordot(weights / (sizes - 1), pairs, axes=1)
    margins = coincidences.sum(axis=1)
    distances = measure(margins)
    expected = (np.outer(margins, margins) * distances).sum() / (margins.sum() - 1)
    return 1 - (coincidences * distances).sum() / expected if expected > 0 else nan


def measure_alpha(name: str, values: Sequence[Any]) -> Callable[[np.ndarray], np.ndarray]:
    """The distances of values, given how frequent each is."""
    if name.endswith("(ordinal)"):
        return lambda m: (np.subtract.outer(*[np.cumsum(m) - m / 2] * 2)) ** 2
    if name.endswith("(interval)"):
        return lambda m: np.subtract.outer(*[np.array(values, float)] * 2) ** 2
    return lambda m: 1 - np.eye(len(m))


def test_agreement_of_reviewers(study: Path) -> None:
    tasks = read_readings(study / "sample/review")
    table = read_table(study, "agreement")
    table = table[table["metric"] != "residual error rate"]
    assert set(table["value"]) == set(tasks)
    for row in table.itertuples():
        by_role = row.between == "annotator and auditor"
        units = read_units(row.value, row.field, tasks[row.value], "role" if by_role else "person")
        assert not row.option
        assert by_role or not row.between
        clusters = np.array([problem for problem, _ in units])
        order = sorted({v for _, unit in units for v in unit.values()}, key=str)
        counts = count_values(units, order)
        sizes = counts.sum(axis=1)
        alike = (counts * (counts - 1)).sum(axis=1) / (sizes * (sizes - 1))
        share = estimate_share(alike, clusters)
        assert row.n == len(units)
        if row.metric == "agreement":
            assert_equal(row, share)
            continue
        if row.metric.startswith("agreement on "):
            place = [str(value) for value in order].index(row.metric.removeprefix("agreement on "))
            parts, wholes = (counts[:, place] * (size - 1) for size in (counts[:, place], sizes))
            assert row.estimate == pytest.approx(parts.sum() / wholes.sum(), abs=1e-6)
            continue
        margins, ones = counts.sum(axis=0) / counts.sum(), np.ones(len(units))
        sides = (
            [[str(unit[side]) for _, unit in units] for side in ("annotator", "auditor")]
            if by_role
            else []
        )
        chance = 1 - (margins**2).sum()
        if row.metric == "cohen kappa":
            value = cohen_kappa_score(*sides)
            first, second = (pd.Series(side).value_counts(normalize=True) for side in sides)
            chance = 1 - (first * second).fillna(0).sum()
        elif row.metric == "fleiss kappa":
            assert len(set(sizes)) == 1 or row.value == "steps"
            value = fleiss_kappa(counts) if len(set(sizes)) == 1 else 1 - (1 - share[0]) / chance
        elif row.metric == "gwet ac1":
            shares = (counts / sizes[:, None]).mean(axis=0)
            chance = 1 - (shares * (1 - shares)).sum() / max(1, len(order) - 1)
            value = 1 - (1 - share[0]) / chance
        elif row.metric == "krippendorff alpha":
            value = estimate_alpha(counts, measure_alpha(row.metric, order), ones)
            chance *= counts.sum() / (counts.sum() - 1)
        else:
            assert_equal(row, resample(row.metric, counts, order, clusters, sides))
            continue
        if value < 1:
            chance = (1 - share[0]) / (1 - value)
        low, high = (1 - (1 - bound) / chance for bound in share[1:])
        assert_equal(row, (value, max(-1.0, low), high))


def resample(
    metric: str, counts: np.ndarray, order: Sequence[Any], clusters: np.ndarray, sides: Any
) -> Numbers:
    """A coefficient of ratings or sets with the percentiles over resampled problems."""
    codes, names = pd.factorize(clusters)
    distance = measure_alpha(metric, order)

    def compute(weights: np.ndarray) -> float:
        if metric == "cohen kappa (quadratic)":
            return float(
                cohen_kappa_score(
                    *(np.array(side, int) for side in sides), labels=range(1, 6),
                    weights="quadratic", sample_weight=weights,
                )
            )  # fmt: skip
        return estimate_alpha(counts, distance, weights)

    value = compute(np.ones(len(codes)))
    if isnan(value):
        return nan, nan, nan
    draws = np.random.default_rng(0).multinomial(
        len(names), np.full(len(names), 1 / len(names)), 2000
    )
    low, high = np.nanpercentile(
        [compute(draw[codes].astype(float)) for draw in draws], [2.5, 97.5]
    )
    return value, min(low, value), max(high, value)


def test_errors_that_remain_in_settled_work(study: Path) -> None:
    tasks = pd.DataFrame(read_lines(study / "sample/review/tasks.jsonl")).set_index(
        "id", drop=False
    )
    decisions = pd.DataFrame(read_lines(study / "sample/review/decisions.jsonl"))
    samples = tasks[tasks["purpose"] == "sample"]
    table = read_table(study, "agreement").query("metric == 'residual error rate'")
    judged = decisions[decisions["task"].isin(samples["id"]) & (decisions["role"] == "senior")]
    kinds = samples.loc[judged["task"].unique(), "of"].map(tasks["kind"]).value_counts()
    assert kinds.to_dict() == table.set_index("value")["n"].to_dict()
    for row in table.itertuples():
        # The invented seniors overturn nothing.
        assert_equal(row, (0.0, *bound_wilson(0.0, row.n)))
