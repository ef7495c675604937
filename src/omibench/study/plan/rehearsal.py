"""A rehearsal: the same study with simulated models, complete and without a key.

A pure function from a study to a study, except for the tables of published results that it reads: a
simulated model has the published ability of its model, or else one drawn by the model's name. All
results are marked SIMULATED.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from omibench.errors import OmibenchError, ParamsError
from omibench.files.locations import find_local_or_shipped
from omibench.models.simulated.answers import OracleRow, load_oracle
from omibench.models.synthetic.items import make_random, solve_ability
from omibench.models.synthetic.profiles import LIKES, Like, Made
from omibench.papers.layouts import AVERAGE, TOTAL
from omibench.papers.tables import ACC, read_table
from omibench.params.models.base import ModelBlock
from omibench.params.models.providers import SimulatedModel
from omibench.params.roles import Role, select_fields
from omibench.params.study import Study, parse_study

APART = "-simulated"
IMAGE_PENALTY = 0.1
SLIPS = {
    "no_box": 0.03, "letter_in_sentence": 0.02, "units": 0.02, "two_boxes": 0.02,
    "refusal": 0.005, "truncation": 0.01, "repetition": 0.005,
}  # fmt: skip
WITHOUT_ANSWER = SLIPS["refusal"] + SLIPS["truncation"] + SLIPS["repetition"]
TYPICAL, SPREAD = 0.35, 0.5
"""Mean accuracy of the abilities of unpublished models, and their spread (logits)."""
JUDGE = {"true_positive_rate": 0.95, "false_positive_rate": 0.05, "error_rate": 0.1}
_EMMA, _MATHREAL = ("published/emma_main.csv",), (
    "published/mathreal_main.csv", "published/mathreal_six_settings.csv",
)  # fmt: skip
_TABLES: dict[Like, tuple[str, ...]] = {
    "omibench": tuple(
        f"published/omibench_{name}.csv"
        for name in ("main", "thinking_vs_instruct", "sft", "external_tools")
    ),
    "emma": _EMMA,
    "emma-mini": _EMMA,
    "usnco-v": ("published/usnco_v_proprietary.csv", "published/usnco_v_open.csv"),
    "mathreal": _MATHREAL,
    "mathreal-testmini": _MATHREAL,
}
"""The published tables of abilities, in addition to `analyze.published`."""

Printed = Mapping[tuple[str, str], float]
"""The published accuracy by label and setting; the setting is empty if the table has none."""


def rehearse(study: Study) -> Study:
    """Return the study itself, or its rehearsal if it sets `simulated`.

    Models, judges and helpers are replaced with simulated ones; problems are synthetic if `data` is
    not set; results and store are separate from the real ones; parts that depend on real models or
    people (published verdicts, labels, reviews, watches, the budget) are omitted. Papers are read
    on this machine, by no model.
    """
    if not study.simulated:
        return study
    values = study.model_dump(mode="json", exclude_defaults=True)
    is_built = study.benchmark.name == "papers"
    like = study.benchmark.like if is_built else find_shape(study)
    made = Made(like, study.benchmark.seed)
    results = study.study.results + APART
    if is_made_up(study):
        values.pop("data", None)
        values["benchmark"] = {
            "name": "synthetic", "like": like, "seed": made.seed,
            "pictures": study.benchmark.pictures,
        }  # fmt: skip
        oracle = str(made)
    elif is_built:
        oracle = f"{results}/ocr/problems.jsonl"
        remote = {"reader", "preset", "formula_reader", "formula_preset"}
        remote |= {"engine"} if study.ocr.is_remote else set()
        values["ocr"] = study.ocr.model_dump(mode="json", exclude_defaults=True, exclude=remote)
    else:
        oracle = f"{results}/freeze/answers.jsonl"
    if study.rationale.embedder:  # topics become vectors without a model
        values["rationale"]["taxonomy"].pop("embedder")
    for key in ("simulated", "certify", "reevaluate", "review", "tune"):
        values.pop(key, None)
    folders = {"results": results, "store": study.study.store + APART}
    values["study"] = {**values.get("study", {}), **folders}
    values["study"].pop("budget_usd", None)
    scorers = [name for name in study.score.scorers if name != "published"] or ["robust"]
    values["score"] = {**values.get("score", {}), "scorers": scorers}
    if study.analyze.main_scorer == "published":
        values["analyze"].pop("main_scorer")
    rows = list(load_oracle(str(made)).rows.values())
    abilities = _abilities(study, like, rows)
    values["models"] = {
        name: _make_stand_in(name, model, abilities[name], oracle, study)
        for name, model in study.models.items()
    }
    return parse_study(values, "simulated")


def is_made_up(study: Study) -> bool:
    """Return whether the problems are synthetic: of a known shape, without a folder in `data`."""
    benchmark = study.benchmark
    if benchmark.name in ("papers", "synthetic"):
        return benchmark.name == "synthetic"
    has_shape = benchmark.name in LIKES or "like" in benchmark.model_fields_set
    return has_shape and not (study.data and Path(study.data).is_dir())


def find_shape(study: Study) -> Like:
    """Return the published study whose shape the problems take. Raises ParamsError if not set."""
    benchmark = study.benchmark
    if "like" in benchmark.model_fields_set or benchmark.name == "synthetic":
        return benchmark.like
    shape = next((like for like in LIKES if like == benchmark.name), None)
    if shape is None:
        raise ParamsError(
            f"simulated: set `benchmark.like` to the study whose shape {benchmark.name!r} takes: "
            f"{', '.join(LIKES)}"
        )
    return shape


def _make_stand_in(
    name: str, model: ModelBlock, ability: Mapping[str, float], oracle: str, study: Study
) -> dict[str, Any]:
    if isinstance(model, SimulatedModel):
        return model.model_dump(mode="json", exclude_defaults=True) | {"oracle": oracle}
    values = model.model_dump(mode="json", exclude_none=True)
    display = select_fields(type(model), values, (Role.DISPLAY,))
    main = ability[""]
    effects = {s: round(a - main, 4) for s, a in ability.items() if s and a != main}
    return {
        "provider": "simulated",
        "oracle": oracle,
        "seed": make_random("stand-in", name).randrange(2**31),
        "ability": main,
        "setting_effects": {s: effect for s, effect in effects.items() if effect},
        "image_penalty": IMAGE_PENALTY,
        "slips": SLIPS,
        **({"reward": True} if model.gives_reward else {}),
        **({"draws": values["draws"]} if values.get("draws") else {}),
        **JUDGE,
        **display,
    }


def _abilities(study: Study, like: Like, rows: Sequence[OracleRow]) -> dict[str, dict[str, float]]:
    """Return the abilities of each model, by setting if published so; the main one first."""
    printed = _read_printed(study, like)
    difficulties = [
        (IMAGE_PENALTY * (row.n_images - 2) + row.difficulty,
         1 / len(row.choices) if row.choices else 0.0)
        for row in rows
    ]  # fmt: skip
    typical = solve_ability(TYPICAL, difficulties)
    abilities: dict[str, dict[str, float]] = {}
    for name, model in study.models.items():
        by_setting = {
            setting: solve_ability(value / (1 - WITHOUT_ANSWER), difficulties)
            for (label, setting), value in printed.items()
            if label == (model.label or name)
        }
        drawn = round(make_random("ability", name).gauss(typical, SPREAD), 4)
        abilities[name] = {"": by_setting.get("", next(iter(by_setting.values()), drawn))}
        for key, setting in study.settings.items():
            # A table's strategy is a setting's label or name, or the name before its first hyphen.
            texts = (setting.label, key, key.partition("-")[0])
            if printed_as := next((text for text in texts if text and text in by_setting), None):
                abilities[name][key] = by_setting[printed_as]
    return abilities


def _read_printed(study: Study, like: Like) -> Printed:
    """Read published accuracies as shares, over the whole dataset or as averages of its parts.

    Tables that cannot be read are left out: the report names them.
    """
    shares: dict[tuple[str, str], float] = {}
    for path in map(find_local_or_shipped, [*study.analyze.published, *_TABLES.get(like, ())]):
        try:
            cells = read_table(path).cells
        except OmibenchError:
            continue
        datasets = {cell.dataset for cell in cells}
        dataset = like if like in datasets or len(datasets) != 1 else datasets.pop()
        for cell in cells:
            is_whole = cell.dataset == dataset and cell.subject in (TOTAL, AVERAGE)
            if is_whole and cell.short_metric == ACC:
                shares.setdefault((cell.model, cell.full_setting), cell.number.value / 100)
    return shares


@contextmanager
def made_up_questions(study: Study) -> Iterator[tuple[Like, Path]]:
    """Yield the shape of the study, and synthetic questions of that shape in a temporary folder.

    Raises ParamsError if no shape is known.
    """
    from omibench.stages.freeze import freeze_dataset

    like = find_shape(study)
    benchmark = {"name": "synthetic", "like": like, "seed": study.benchmark.seed}
    with TemporaryDirectory(prefix="omibench-synthetic-") as folder:
        freeze = study.freeze.model_dump(mode="json", exclude_defaults=True)
        frozen_study = parse_study({"benchmark": benchmark, "freeze": freeze}, "synthetic")
        freeze_dataset(None, Path(folder), frozen_study)
        yield like, Path(folder) / "questions.jsonl"
