"""A rehearsal: the same study with seeded stand-ins for its models, whole and without a key.

A pure function from a study to a study, but for the table of printed results that it looks into:
a stand-in is as able as its model in print, where the table prints it, and else drawn with the
model's name. Whatever comes of it is marked SIMULATED.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from omibench.errors import ParamsError
from omibench.files.intake import read_csv
from omibench.files.shipped import find_local_or_shipped
from omibench.models.simulated.oracle import OracleRow, load_oracle
from omibench.params.models.registry import Model
from omibench.params.models.simulated import SimulatedModel
from omibench.params.roles import Role, select_fields
from omibench.params.study import Study, parse_study
from omibench.synthetic.address import Made
from omibench.synthetic.chance import solve_ability
from omibench.synthetic.items import make_random
from omibench.synthetic.profiles import LIKES, Like

APART = "-simulated"
IMAGE_PENALTY = 0.1
SLIPS = {
    "no_box": 0.03, "letter_in_sentence": 0.02, "units": 0.02, "two_boxes": 0.02,
    "refusal": 0.005, "truncation": 0.01, "repetition": 0.005,
}  # fmt: skip
WITHOUT_ANSWER = SLIPS["refusal"] + SLIPS["truncation"] + SLIPS["repetition"]
TYPICAL, SPREAD = 0.35, 0.5
"""The accuracy around which abilities of unprinted models are drawn, and how far (logits)."""
JUDGE = {"true_positive_rate": 0.95, "false_positive_rate": 0.05, "error_rate": 0.1}
_TOTALS = ("total_acc", "average", "loose_avg")
_SIX = ("I", "IUER", "I+QM", "I+QG", "I+QM+DM", "I+QG+DG")
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
"""The printed tables that abilities are taken from, beside those of `analyze.published`."""

Printed = Mapping[tuple[str, str], float]
"""The printed accuracy by label and setting; the setting is empty where the table names none."""


def rehearse(study: Study) -> Study:
    """The study itself, or where it says `simulated` the study that rehearses it.

    Models, judges and helpers become stand-ins; the problems are made up where `data` names no
    folder; results and store lie apart from the real ones; what rests on real models or people
    (published verdicts, labels, watches, the budget) is left out. Raises ParamsError for a study
    made from papers, which needs an oracle of its own.
    """
    if not study.simulated:
        return study
    if study.benchmark.name == "papers":
        raise ParamsError(
            "simulated: a study made from papers is rehearsed with an oracle of its papers: see "
            "`models:` in params.yaml of the sample study"
        )
    values = study.model_dump(mode="json", exclude_defaults=True)
    like = find_shape(study)
    made_up = is_made_up(study)
    results = study.study.results + APART
    if made_up:
        values.pop("data", None)
        address = Made(like, study.benchmark.seed)
        values["benchmark"] = {"name": "synthetic", "like": like, "seed": address.seed}
        oracle = str(address)
    else:
        oracle = f"{results}/freeze/answers.jsonl"
    for key in ("simulated", "certify", "reevaluate"):
        values.pop(key, None)
    folders = {"results": results, "store": study.study.store + APART}
    values["study"] = {**values.get("study", {}), **folders}
    values["study"].pop("budget_usd", None)
    rules = [name for name in study.score.rules if name != "published"] or ["robust"]
    values["score"] = {**values.get("score", {}), "rules": rules}
    if study.analyze.main_rules == "published":
        values["analyze"].pop("main_rules")
    rows = list(load_oracle(str(Made(like, study.benchmark.seed))).rows.values())
    abilities = _abilities(study, rows)
    values["models"] = {
        name: _make_stand_in(name, model, abilities[name], oracle, study)
        for name, model in study.models.items()
    }
    return parse_study(values, "simulated")


def is_made_up(study: Study) -> bool:
    """Whether its problems can only be made up: of a known shape, and no folder is in `data`."""
    benchmark = study.benchmark
    if benchmark.name in ("papers", "synthetic"):
        return benchmark.name == "synthetic"
    has_shape = benchmark.name in LIKES or "like" in benchmark.model_fields_set
    return has_shape and not (study.data and Path(study.data).is_dir())


def find_shape(study: Study) -> Like:
    """The published study whose shape the problems have. Raises ParamsError where none is named."""
    benchmark = study.benchmark
    if "like" in benchmark.model_fields_set or benchmark.name == "synthetic":
        return benchmark.like
    shape = next((like for like in LIKES if like == benchmark.name), None)
    if shape is None:
        raise ParamsError(
            f"simulated: name in `benchmark.like` the study that {benchmark.name!r} is rehearsed "
            f"like: {', '.join(LIKES)}"
        )
    return shape


def _make_stand_in(
    name: str, model: Model, ability: Mapping[str, float], oracle: str, study: Study
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
        **JUDGE,
        **display,
    }


def _abilities(study: Study, rows: Sequence[OracleRow]) -> dict[str, dict[str, float]]:
    """For each model its ability, by setting where print tells settings apart; the main first."""
    printed = _read_printed(study)
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


def _read_printed(study: Study) -> Printed:
    """Printed accuracies as shares: of the columns that hold the whole dataset's."""
    like = find_shape(study)
    columns = (f"{like.replace('-', '_')}_overall", *_TOTALS)
    shares: dict[tuple[str, str], float] = {}
    paths = [*study.analyze.published, *_TABLES.get(like, ())]
    for path in map(find_local_or_shipped, paths):
        if not path.is_file():
            continue
        for row in _whole_rows(read_csv(path)):
            value = next((row[c] for c in columns if row.get(c)), None)
            by_setting = {} if value else {c: row[c] for c in _SIX if row.get(c)}
            for setting, share in {row["setting"]: value, **by_setting}.items():
                if share:
                    shares.setdefault((row["model"], setting), float(share) / 100)
    return shares


def _whole_rows(rows: Iterable[dict[str, str]]) -> Iterator[dict[str, str]]:
    """Rows with `model` and `setting`. Below a model, `+ X` is a setting of it and a model."""
    base = ""
    for row in rows:
        name = row.get("model") or row.get("method") or ""
        if not name.startswith("+"):
            base = name
            yield {**row, "model": name, "setting": row.get("strategy") or ""}
            continue
        yield {**row, "model": base, "setting": name}
        yield {**row, "model": f"{base} {name}", "setting": ""}


@contextmanager
def made_up_questions(study: Study) -> Iterator[tuple[Like, Path]]:
    """What the study is shaped like, and made-up questions of that shape in a folder that passes.

    Raises ParamsError where no shape is known.
    """
    from omibench.stages.freeze import freeze_dataset

    like = find_shape(study)
    benchmark = {"name": "synthetic", "like": like, "seed": study.benchmark.seed}
    with TemporaryDirectory(prefix="omibench-synthetic-") as folder:
        freeze = study.freeze.model_dump(mode="json", exclude_defaults=True)
        frozen_study = parse_study({"benchmark": benchmark, "freeze": freeze}, "synthetic")
        freeze_dataset(None, Path(folder), frozen_study)
        yield like, Path(folder) / "questions.jsonl"
