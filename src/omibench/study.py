"""The Study: params.yaml as one typed object, its cells, and the slice each job depends on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self

from pydantic import ValidationError, model_validator

from omibench.aggregate_params import SELF
from omibench.blocks import Block, Name
from omibench.certify_params import CertifyParams
from omibench.errors import ParamsError
from omibench.explain import did_you_mean, explain
from omibench.filter_params import FilterParams
from omibench.infer_params import InferParams
from omibench.judge_params import JudgePanel, JudgeParams
from omibench.model_params import TOLD, Model
from omibench.operating import OPERATING, with_operating
from omibench.params import (
    AnalyzeParams,
    BenchmarkParams,
    FreezeParams,
    OcrParams,
    RationaleParams,
    ReviewParams,
    ScoreParams,
    StudyParams,
)
from omibench.presentation_params import FreezeExamples
from omibench.reevaluate_params import ReevaluateParams
from omibench.setting_params import Setting
from omibench.synthetic.address import Made, is_made_up


class Cell(NamedTuple):
    """One model under one setting: the unit of inference and scoring."""

    model: str
    setting: str


class Study(Block):
    """One study, from raw papers to report. Every block may be left out."""

    study: StudyParams = StudyParams()
    simulated: bool = False
    """Rehearse it: every model is exchanged for a seeded stand-in, the problems for made-up ones
    where `data` names none, and results and store lie apart."""
    data: str | None = None
    """Folder with a benchmark's own files, where it has any."""
    benchmark: BenchmarkParams = BenchmarkParams()
    ocr: OcrParams = OcrParams()
    filter: FilterParams = FilterParams()
    rationale: RationaleParams = RationaleParams()
    review: ReviewParams = ReviewParams()
    freeze: FreezeParams = FreezeParams()
    models: dict[Name, Model] = {}
    settings: dict[Name, Setting] = {}
    infer: InferParams = InferParams()
    score: ScoreParams = ScoreParams()
    certify: CertifyParams = CertifyParams()
    judge: JudgeParams = JudgeParams()
    analyze: AnalyzeParams = AnalyzeParams()
    reevaluate: ReevaluateParams = ReevaluateParams()

    @property
    def cells(self) -> list[Cell]:
        """Every (model, setting) pair to evaluate, in the order of `infer`."""
        return [
            Cell(model, setting)
            for model in self.infer.models
            for setting in self.infer.settings
            if self.infer.holds(model, setting)
        ]

    def panels(self, stage: str) -> dict[str, JudgePanel]:
        """The judges that a job of `score` or `judge` asks, by instrument; none at other stages."""
        asked = {"score": self.score.panels, "judge": self.judge.panels}
        return asked.get(stage, {})

    def judges(self, stage: str) -> list[str]:
        """The models of those panels, each once."""
        return list(dict.fromkeys(m for p in self.panels(stage).values() for m in p.models))

    @property
    def aggregated_cells(self) -> list[Cell]:
        """The cells with several samples of a problem."""
        return [c for c in self.cells if self.settings[c.setting].decoding.samples > 1]

    @property
    def judged_cells(self) -> list[Cell]:
        """The cells whose reasoning is judged: none where `judge` names nobody."""
        settings = self.judge.settings
        cells = [c for c in self.cells if settings is None or c.setting in settings]
        return cells if self.judge.panels else []

    @model_validator(mode="after")
    def _nothing_is_named_twice(self) -> Self:
        lists: dict[str, list[Any]] = {
            "infer.models": self.infer.models,
            "infer.settings": self.infer.settings,
            "score.rules": self.score.rules,
            **{where: panel.models for where, panel in self._panels()},
            **dict(self.filter.named()),
        }
        for where, names in lists.items():
            twice = next((name for name in names if names.count(name) > 1), None)
            if twice:
                raise ValueError(f"{where} names {twice!r} twice")
        return self

    @model_validator(mode="after")
    def _references_exist(self) -> Self:
        for where, names, known in self._references():
            for name in names:
                if name not in known:
                    hint = did_you_mean(name, known)
                    raise ValueError(f"{where} names {name!r}, which is not defined{hint}")
        return self

    @model_validator(mode="after")
    def _oracles_know_the_problems(self) -> Self:
        if self.benchmark.name != "synthetic":
            return self
        made = str(Made(self.benchmark.like, self.benchmark.seed))
        for name, model in self.models.items():
            oracle = getattr(model, "oracle", made)
            if is_made_up(oracle) and oracle != made:
                raise ValueError(f"models.{name}.oracle is {oracle!r}, and the problems are {made}")
        return self

    def _references(self) -> list[tuple[str, Iterable[str], Iterable[str]]]:
        roles = {
            "rationale.writer": self.rationale.writer,
            "rationale.labeller": self.rationale.labeller,
        }
        found: list[tuple[str, Iterable[str], Iterable[str]]] = [
            *((where, [name], self.models) for where, name in roles.items() if name),
            *((where, panel.models, self.models) for where, panel in self._panels()),
            *((where, names, self.models) for where, names in self.filter.named()),
            ("infer.models", self.infer.models, self.models),
            ("infer.settings", self.infer.settings, self.settings),
            ("infer.only", self.infer.only, self.infer.models),
            *(("infer.only", only, self.infer.settings) for only in self.infer.only.values()),
            *self._printed(),
        ]
        for name, watch in self.reevaluate.watch.items():
            found.append((f"reevaluate.watch.{name}.settings", watch.settings, self.infer.settings))
        for name, setting in self.settings.items():
            found.append((f"settings.{name}", setting.helpers, self.models))
            panel = setting.aggregate.judge
            if panel and self.infer.models:
                known = [*self.models, SELF]
                found.append((f"settings.{name}.aggregate.judge", panel.models, known))
        if self.analyze.main_rules:
            found.append(("analyze.main_rules", [self.analyze.main_rules], self.score.rules))
            if setting.examples and self.infer.models:
                _check_examples(name, setting, self.freeze.examples)
        if self.infer.models:  # a whole study, not the slice of one job
            for name, model in self.models.items():
                settings = getattr(model, "setting_effects", getattr(model, "responses", {}))
                known = [*self.settings, *self.filter.screens]
                found.append((f"models.{name}", settings, known))
            found.append(("judge.settings", self.judge.settings or [], self.settings))
            books = [*self.score.rules, *(["gptscore"] if self.score.judge else [])]
            found.append(("judge.wrong_by", [n for n in [self.judge.wrong_by] if n], books))
        return found

    def _printed(self) -> Iterator[tuple[str, Iterable[str], Iterable[str]]]:
        for name, crossings in self.infer.printed.items():
            for crossed in crossings if self.infer.models else []:
                yield f"infer.printed.{name}", crossed.models, self.models
                yield f"infer.printed.{name}", crossed.settings, self.settings
        for name, model in self.models.items():
            if model.base and self.infer.models:
                yield f"models.{name}.base", [model.base], self.models

    def _panels(self) -> list[tuple[str, JudgePanel]]:
        blocks = {
            "score": {n: getattr(self.score, n) for n in ("judge", "grader", "extractor")},
            "judge": {n: getattr(self.judge, n) for n in ("quality", "alignment", "errors")},
        }
        return [
            (f"{block}.{name}", panel)
            for block, panels in blocks.items()
            for name, panel in panels.items()
            if panel
        ]


def _check_examples(name: str, setting: Setting, frozen: FreezeExamples) -> None:
    wanted = setting.examples
    if wanted is None:
        return
    slides = wanted.take == "window"
    key, held = ("first", frozen.first) if slides else ("set_aside", frozen.set_aside)
    needed = wanted.k + (setting.decoding.samples - 1 if slides and wanted.k else 0)
    if held < max(1, needed):
        raise ValueError(
            f"settings.{name}.examples needs freeze.examples.{key}: {max(1, needed)} or more, "
            f"and it is {held}"
        )


def parse_study(values: object, where: str) -> Study:
    """Check plain values (from YAML or Snakemake's config) and return the Study.

    Raises ParamsError with one line naming `where`, the key, the value and the remedy.
    """
    if not isinstance(values, Mapping):
        raise ParamsError(f"{where}: holds {type(values).__name__}, not a mapping of blocks")
    try:
        return Study.model_validate(values)
    except ValidationError as error:
        raise ParamsError(f"{where}: {explain(error, Study)}") from None


def load_study(
    params: str | Path,
    overrides: Mapping[str, object] | None = None,
    options: Mapping[str, Mapping[str, object]] | None = None,
) -> Study:
    """Read a Study from a YAML file, or from JSON text that begins with a brace.

    `overrides` replace top-level keys; `options` replace keys inside blocks. Raises ParamsError
    when the file is missing, is no YAML, or does not hold a valid Study.
    """
    text, where = str(params), "--params"
    if not text.lstrip().startswith("{"):
        where = text
        try:
            text = Path(params).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ParamsError(f"{where}: cannot be read: {error}") from None
    try:
        is_slice = where == "--params"
        values = with_operating(json.loads(text)) if is_slice else _from_yaml(text)
    except ValueError as error:
        line = " ".join(str(error).split())
        raise ParamsError(f"{where}: is not valid YAML: {line}") from None
    if values is None or isinstance(values, dict):
        values = {**(values or {}), **(overrides or {})}
        for block, given in (options or {}).items():
            if isinstance(inner := values.get(block) or {}, dict):
                values[block] = {**inner, **given}
    return parse_study(values, where)


def _from_yaml(text: str) -> Any:
    import yaml  # a job is given its parameters as JSON and need not pay for this import

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None


def local_models(study: Study) -> list[str]:
    """The respondents that are loaded on this machine: all their settings are asked in one job."""
    kinds = ("vllm", "transformers")
    return [name for name in study.infer.models if study.models[name].provider in kinds]


def slice_for(study: Study, stage: str, cell: Cell | None = None) -> dict[str, Any]:
    """The part of the Study that one job of `stage` depends on: itself a valid Study.

    A job is run with this slice and reruns when it changes, so a changed setting reruns only its
    own cells and a changed label or title reruns only the report. A cell without a setting stands
    for all cells of its model.
    """
    full = study.model_dump(mode="json", exclude_defaults=True)
    keep = {key: full[key] for key in _SLICES[stage] if key in full}
    names: set[str] = set()
    if stage == "filter":
        names = set(study.filter.models)
    if stage == "rationale":
        names = {n for n in (study.rationale.writer, study.rationale.labeller) if n}
    if stage in ("score", "judge"):
        names = set(study.judges(stage))
    if stage == "judge" and "judge" in keep:
        # Which cells there are is nothing that one of them depends on.
        keep["judge"] = {k: v for k, v in keep["judge"].items() if k != "settings"}
    if stage == "infer" and cell:
        theirs = [c.setting for c in study.cells if c.model == cell.model]
        names = {cell.model}
        settings = full.get("settings", {})
        wanted = [cell.setting] if cell.setting else theirs
        keep["settings"] = {name: dict(settings.get(name, {})) for name in wanted}
        for block in keep["settings"].values():
            for key in ("label", "aggregate"):
                block.pop(key, None)
        names |= {m for name in wanted for m in study.settings[name].helpers}
    if stage == "aggregate" and cell:
        panel = study.settings[cell.setting].aggregate.judge
        names = {cell.model if n == SELF else n for n in (panel.models if panel else [])}
        keep["settings"] = {cell.setting: dict(full["settings"][cell.setting])}
        keep["settings"][cell.setting].pop("label", None)
        keep["score"] = _only(full.get("score", {}), ("rules",))
        keep["study"] = _only(full.get("study", {}), ("seed",))
    if stage == "certify":
        keep = {block: _only(keep.get(block, {}), keys) for block, keys in _CERTIFIED.items()} | {
            "infer": keep.get("infer", {}),
            "score": keep.get("score", {}),
            "settings": {
                name: _only(block, ("decoding", "aggregate"))
                for name, block in keep.get("settings", {}).items()
            },
            "models": {n: _what_answers(block) for n, block in keep.get("models", {}).items()},
        }
    if names:
        keep["models"] = {name: _what_answers(full["models"][name]) for name in sorted(names)}
        keep["study"] = {k: v for k, v in full.get("study", {}).items() if k in _ASKING}
    return keep


_SLICES = {
    "ocr": ("ocr",),
    "filter": ("filter",),
    "rationale": ("rationale",),
    "freeze": ("benchmark", "data", "review", "freeze"),
    "infer": ("data",),
    "score": ("score",),
    "judge": ("judge",),
    "aggregate": ("score",),
    "certify": ("study", "models", "settings", "infer", "score", "certify", "analyze"),
    "analyze": (
        "study", "benchmark", "models", "settings", "infer", "score", "judge", "certify", "analyze",
    ),
}  # fmt: skip
_CERTIFIED = {
    "study": ("name", "seed"),
    "certify": ("labels", "disagreements"),
    "analyze": ("main_rules", "confidence"),
}
_ASKING = ("name", "seed")


def _only(block: dict[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    return {key: block[key] for key in keys if key in block}


def _what_answers(model: dict[str, Any]) -> dict[str, Any]:
    left_out = {*TOLD, *OPERATING}
    return {key: value for key, value in model.items() if key not in left_out}
