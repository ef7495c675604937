"""All parameters of a study, and the checks between its blocks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BeforeValidator, ValidationError, model_validator

from omibench.errors import ParamsError, PluginError, reason_of
from omibench.files.locations import find_study
from omibench.files.reading import read_text
from omibench.files.yaml_file import YAML_BYTES, list_dates, locate_key, read_mapping
from omibench.models.synthetic.profiles import Made, is_made_up
from omibench.params.benchmark import BenchmarkParams
from omibench.params.blocks import Block, Name, PlainPath
from omibench.params.cells import (
    list_aggregated_cells,
    list_cells,
    list_judged_cells,
    list_salient_cells,
)
from omibench.params.models.providers import LocalModel
from omibench.params.models.registry import Model
from omibench.params.pairs import drop_given, list_paths, merge_blocks
from omibench.params.panel import JudgePanel
from omibench.params.plugins import NamedPlugin, list_data_folders, load_plugins
from omibench.params.prompt_files import find_idle_prompt, spread_prompts
from omibench.params.reevaluate import ReevaluateParams
from omibench.params.review import ReviewParams
from omibench.params.runtime import merge_runtime
from omibench.params.setting import SELF, Cell, Setting
from omibench.params.stages.analyze import AnalyzeParams, CertifyParams
from omibench.params.stages.filter import SCREENS, FilterParams
from omibench.params.stages.freeze import FreezeParams
from omibench.params.stages.infer import InferParams
from omibench.params.stages.judge import JudgeParams
from omibench.params.stages.ocr import OcrParams
from omibench.params.stages.rationale import RationaleParams
from omibench.params.stages.saliency import SaliencyParams
from omibench.params.stages.score import ScoreParams
from omibench.params.stages.tune import TuneParams, add_tuned_models
from omibench.params.study_checks import (
    Reference,
    check_heads_mark_alone,
    check_looks,
    check_reward_models,
    check_tools,
    find_foreign_code,
)
from omibench.params.study_params import StudyParams
from omibench.plugins.allowance import find_places, require_allowed
from omibench.plugins.registry import runs_files
from omibench.schemas.validation import explain, suggest_name

# The Study: params.yaml as one typed object, its cells, and the checks across its blocks.

OnOff = Literal["true", "false"]


def _as_is(value: object) -> object:
    """Accept Snakemake's `--config simulated=true`, which is a text."""
    return value


Switch = Annotated[bool, BeforeValidator(_as_is, json_schema_input_type=bool | OnOff)]

COMMAND_LINE = "the command line"


class Study(Block):
    """One study, from raw papers to report. Every block is optional."""

    study: StudyParams = StudyParams()
    plugins: list[NamedPlugin] = []
    """Your Python files with scorers, prompts, benchmarks and other parts."""
    prompts: PlainPath | None = None
    """Folder of your wordings: `NAME.txt` in it replaces the prompt NAME wherever the study
    sends it (docs/prompts.md)."""
    simulated: Switch = False
    """Rehearse the study: every model is replaced with a simulated one, the problems with
    synthetic ones if `data` is not set, and results and store are separate."""
    data: PlainPath | None = None
    """Folder with a benchmark's own files, if any."""
    benchmark: BenchmarkParams = BenchmarkParams()
    ocr: OcrParams = OcrParams()
    filter: FilterParams = FilterParams()
    rationale: RationaleParams = RationaleParams()
    review: ReviewParams = ReviewParams()
    freeze: FreezeParams = FreezeParams()
    models: dict[Name, Model] = {}
    tune: dict[Name, TuneParams] = {}
    """Models to fine-tune; each key is also a model, with the block of its `base`."""
    settings: dict[Name, Setting] = {}
    infer: InferParams = InferParams()
    score: ScoreParams = ScoreParams()
    certify: CertifyParams = CertifyParams()
    judge: JudgeParams = JudgeParams()
    saliency: SaliencyParams = SaliencyParams()
    analyze: AnalyzeParams = AnalyzeParams()
    reevaluate: ReevaluateParams = ReevaluateParams()

    @model_validator(mode="before")
    @classmethod
    def _tuned_models_are_models(cls, values: Any) -> Any:
        return add_tuned_models(values)

    @property
    def cells(self) -> list[Cell]:
        """Every (model, setting) pair to evaluate, in the order of `infer`."""
        return list_cells(self.infer)

    def panels(self, stage: str) -> dict[str, JudgePanel]:
        """Return the judges of a job of `score` or `judge`, by instrument; else none."""
        by_stage = {"score": self.score.panels, "judge": self.judge.panels}
        return by_stage.get(stage, {})

    def judges(self, stage: str) -> list[str]:
        """Return the models of those panels, each once."""
        return list(dict.fromkeys(m for p in self.panels(stage).values() for m in p.models))

    @property
    def asked_models(self) -> set[str]:
        """The models in use, as respondent or in another role."""
        models = set(self.models)
        references = self._references()
        return models & {
            n for _, names, defined in references if models <= {*defined} for n in names
        }

    @property
    def aggregated_cells(self) -> list[Cell]:
        """The cells with several samples per problem."""
        return list_aggregated_cells(self.cells, self.settings)

    @property
    def judged_cells(self) -> list[Cell]:
        """The cells with judged reasoning: none if `judge` is empty."""
        return list_judged_cells(self.cells, self.judge, self.settings)

    @property
    def salient_cells(self) -> list[Cell]:
        """The cells with a saliency analysis: none if `saliency` lists no setting."""
        return list_salient_cells(self.cells, self.saliency)

    @model_validator(mode="after")
    def _nothing_is_named_twice(self) -> Self:
        lists: dict[str, list[Any]] = {
            "infer.models": self.infer.models,
            "infer.settings": self.infer.settings,
            "score.scorers": self.score.scorers,
            **{key: panel.models for key, panel in self._panels()},
            **dict(self.filter.list_references()),
        }
        for key, names in lists.items():
            twice = next((name for name in names if names.count(name) > 1), None)
            if twice:
                raise ValueError(f"{key}: {twice!r} is listed twice")
        return self

    @model_validator(mode="after")
    def _references_exist(self) -> Self:
        for key, names, defined in self._references():
            for name in names:
                if name not in defined:
                    hint = suggest_name(name, defined)
                    raise ValueError(f"{key}: {name!r} is not defined{hint}")
        return self

    @model_validator(mode="after")
    def _tuned_models_fit(self) -> Self:
        for name in self.tune:
            if getattr(self.models.get(name), "adapter", None) is None and self.infer.models:
                raise ValueError(
                    f"models.{name}: is also a key of `tune`; remove the block, or set its "
                    f"`adapter` to {self.study.results}/tune/{name}"
                )
        return self

    @model_validator(mode="after")
    def _reward_models_fit(self) -> Self:
        if self.infer.models:  # a whole study, not the slice of one job
            check_heads_mark_alone(self.models, self._references())
            check_reward_models(self.models, self.settings, self.aggregated_cells)
        return self

    @model_validator(mode="after")
    def _tools_are_carried_out(self) -> Self:
        check_tools(self.models, self.settings, self._references())
        return self

    @model_validator(mode="after")
    def _looks_are_possible(self) -> Self:
        adaptive = self.infer.adaptive
        if adaptive is not None and self.infer.models:
            check_looks(
                adaptive,
                cells=self.cells,
                settings=self.settings,
                batches=[name for name in self.infer.models if self.models[name].is_batch],
                asks_graders=bool(self.score.graders),
            )
        return self

    @model_validator(mode="after")
    def _oracles_know_the_problems(self) -> Self:
        if self.benchmark.name != "synthetic":
            return self
        address = str(Made(self.benchmark.like, self.benchmark.seed))
        for name, model in self.models.items():
            oracle = getattr(model, "oracle", address)
            if is_made_up(oracle) and oracle != address:
                raise ValueError(
                    f"models.{name}.oracle: is {oracle!r}, but the problems are {address}"
                )
        return self

    def _references(self) -> list[Reference]:
        roles = {
            "ocr.reader": self.ocr.reader,
            "ocr.formula_reader": self.ocr.formula_model,
            "rationale.writer": self.rationale.writer,
            "rationale.labeller": self.rationale.labeller,
            "rationale.taxonomy.embedder": self.rationale.embedder,
        }
        references: list[Reference] = [
            *((key, [name], self.models) for key, name in roles.items() if name),
            *((key, panel.models, self.models) for key, panel in self._panels()),
            *((key, names, self.models) for key, names in self.filter.list_references()),
            *(
                (f"tune.{name}.base", [block.base], self.models)
                for name, block in self.tune.items()
            ),
            ("infer.models", self.infer.models, self.models),
            ("infer.settings", self.infer.settings, self.settings),
            ("infer.only", self.infer.only, self.infer.models),
            *(
                ("infer.only", settings, self.infer.settings)
                for settings in self.infer.only.values()
            ),
            *self._list_printed_references(),
        ]
        for name, watch in self.reevaluate.watch.items():
            references.append(
                (f"reevaluate.watch.{name}.settings", watch.settings, self.infer.settings)
            )
        if drift := self.reevaluate.drift:
            settings, models = self.infer.settings, self.infer.models
            references.append(("reevaluate.drift.setting", [drift.setting], settings))
            references.append(("reevaluate.drift.models", drift.models, models))
        for name, setting in self.settings.items():
            references.append((f"settings.{name}", setting.helpers, self.models))
            panel, captioner = setting.aggregate.judge, setting.aggregate.captions
            if captioner and self.infer.models:
                references.append((f"settings.{name}.aggregate.captions", [captioner], self.models))
            if panel and self.infer.models:
                defined = [*self.models, SELF]
                references.append((f"settings.{name}.aggregate.judge", panel.models, defined))
        if self.analyze.main_scorer:
            references.append(
                ("analyze.main_scorer", [self.analyze.main_scorer], self.score.scorers)
            )
        if self.infer.models:  # a whole study, not the slice of one job
            if looks := self.infer.adaptive:
                references.append(("infer.adaptive.keep", looks.keep, self.infer.models))
                scorer = [looks.scorer]
                references.append(("infer.adaptive.scorer", scorer, self.score.scorers))
            for name, model in self.models.items():
                defined = [*self.settings, *SCREENS]
                references.append((f"models.{name}", model.named_settings, defined))
            references.append(("judge.settings", self.judge.settings or [], self.settings))
            references.append(("saliency.settings", self.saliency.settings, self.infer.settings))
            references.append(("saliency.models", self.saliency.models or [], self.infer.models))
            scorers = [*self.score.scorers, *(["gptscore"] if self.score.judge else [])]
            references += self._list_baseline_references()
            references.append(("judge.wrong_by", [n for n in [self.judge.wrong_by] if n], scorers))
        return references

    def _list_baseline_references(self) -> list[Reference]:
        """Keep the defined names of a comparison: an overlay can use only part of them."""
        analyze, infer = self.analyze, self.infer
        models, settings = analyze.baselines.models, analyze.baselines.settings
        return [
            ("analyze.baselines.models", [*models, *models.values()], self.models),
            ("analyze.full_settings", analyze.full_settings or [], infer.settings),
            ("analyze.baselines.settings", [*settings, *settings.values()], self.settings),
            ("analyze.reference_setting", analyze.reference_setting, self.settings),
        ]

    def _list_printed_references(self) -> Iterator[Reference]:
        for name, crossings in self.infer.printed.items():
            for crossed in crossings if self.infer.models else []:
                yield f"infer.printed.{name}", crossed.models, self.models
                yield f"infer.printed.{name}", crossed.settings, self.settings
        for name, model in self.models.items():
            if model.base and self.infer.models:
                yield f"models.{name}.base", [model.base], self.models

    def _panels(self) -> list[tuple[str, JudgePanel]]:
        named = [*self.score.named_panels, *self.judge.named_panels]
        return [(key, panel) for _, key, panel in named]


def parse_study(
    values: object,
    source: str,
    whole_study: bool = True,
    files: Sequence[str | Path] = (),
    overrides: Mapping[str, str] | None = None,
) -> Study:
    """Parse plain values (from YAML or Snakemake's config) into a Study.

    Set `whole_study` to False for the slice of a job, which lacks referenced blocks. `files` are
    the sources of the values, later ones overriding earlier ones; `overrides` describes other
    sources of keys: `the command line`. Raises ParamsError on one line with the file and line, or
    else `source`, the key, the value and a remedy; PluginError in the same form for a plug-in that
    does not load; UntrustedError for code that was not allowed on this machine.
    """
    if not isinstance(values, Mapping):
        raise ParamsError(f"{source}: contains {type(values).__name__}, not a mapping of blocks")
    values = rename_keys(values)[0]
    try:
        load_plugins(values, whole_study, files)
        study = Study.model_validate(values)
        idle = find_idle_prompt(study) if whole_study else None
        study = spread_prompts(study)
        wrong = find_foreign_code(study.models, files, list_data_folders(values))
        wrong = wrong or idle or (_wrong_examples(study) if whole_study else None)
    except ValidationError as error:
        wrong = explain(error, Study)
    except PluginError as error:
        raise PluginError(
            f"{_locate(str(error), files, overrides or {}) or source}: {error}"
        ) from error
    except ParamsError as error:
        wrong = f"prompts: {error}"
    if wrong:
        for file in files:  # the key as the file has it
            for key, name in rename_keys(read_mapping(file))[1].items():
                wrong = re.sub(rf"^{re.escape(name)}\b", key, wrong)
        place = _locate(wrong, files, overrides or {}) or source
        raise ParamsError(f"{place}: {wrong}")
    if runs_files():
        require_allowed(values, files)
    return study


def _locate(message: str, files: Sequence[str | Path], overrides: Mapping[str, str]) -> str | None:
    """Return the location of a message's key: an override or a line of a file."""
    path = message.split(maxsplit=1)[0].removesuffix(":")
    for key, source in overrides.items():
        if path == key or path.startswith(f"{key}."):
            return source
    return locate_key(message, files)


def _wrong_examples(study: Study) -> str | None:
    for name in study.infer.settings if study.infer.models else []:
        setting = study.settings[name]
        lack = setting.examples and setting.examples.lacking(
            setting.decoding.samples, study.freeze.examples
        )
        if lack:
            return f"settings.{name}.examples {lack}"
    return None


def parse_study_file(
    params: str | Path,
    overrides: Mapping[str, object] | None = None,
    options: Mapping[str, Mapping[str, object]] | None = None,
    source: str = COMMAND_LINE,
    pairs: Mapping[str, object] | None = None,
) -> Study:
    """Read a Study from a YAML file, or from JSON text that begins with a brace.

    `overrides` replace top-level keys; `options` replace keys inside blocks; `pairs` are merged
    into blocks, as Snakemake merges `--config`; `source` is their name in messages. Raises
    ParamsError if the file is missing, is not YAML, or is not a valid Study.
    """
    text = str(params)
    is_slice = text.lstrip().startswith("{")
    written = _from_json(text) if is_slice else read_mapping(params)
    given = rename_keys(pairs or {})[0]
    values = merge_blocks({**rename_keys(written)[0], **(overrides or {})}, given)
    changed_keys = [*(overrides or {}), *list_paths(given)]
    for block, keys in (options or {}).items():
        changed_keys += [f"{block}.{key}" for key in keys]
        if isinstance(inner := values.get(block) or {}, dict):
            values[block] = {**inner, **keys}
    if is_slice:
        return parse_study(
            values, "--params", whole_study=False, overrides=dict.fromkeys(changed_keys, source)
        )
    study = parse_study(
        values,
        text,
        files=[params],
        overrides=dict.fromkeys(changed_keys, source),
    )
    if runs_files():  # what the caller gives is its own choice
        chosen = {key: value for key, value in written.items() if key not in (overrides or {})}
        find = partial(find_places, folder=find_study(text).folder)
        require_allowed(drop_given(chosen, given), [params], find)
    return study


FORMER_KEYS: Final = {
    ("score", "rules"): "scorers",
    ("analyze", "main_rules"): "main_scorer",
    ("rationale", "rules"): "scorer",
}
"""Block and former name of a key -> its name; former names are read, with a remark."""


def rename_keys(values: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the blocks with the names of today, and the former names among their keys.

    Raises ParamsError for a key with both names.
    """
    renamed, former = {**values}, {}
    for (name, old), new in FORMER_KEYS.items():
        block = renamed.get(name)
        if isinstance(block, Mapping) and old in block:
            if new in block:
                raise ParamsError(f"{name}.{old}: is the former name of `{new}`; remove it")
            renamed[name] = {new if key == old else key: value for key, value in block.items()}
            former[f"{name}.{old}"] = f"{name}.{new}"
    return renamed, former


def _from_json(text: str) -> dict[str, Any]:
    try:
        return merge_runtime(json.loads(text))
    except ValueError as error:
        raise ParamsError(f"--params: is not valid JSON: {reason_of(error)}") from None


def local_models(study: Study) -> list[str]:
    """Return the respondents on this machine of which one job runs all settings.

    Under `infer.adaptive` there are none: which cells answer is known only from look to look.
    """
    if study.infer.adaptive is not None:
        return []
    return [name for name in study.infer.models if _is_local(study, name)]


def local_helpers(study: Study, model: str, settings: Iterable[str]) -> list[str]:
    """Return the local models that describe or read pictures for `model` under the settings.

    Each is loaded in a separate job, before those that depend on it.
    """
    names = dict.fromkeys(h for name in settings for h in study.settings[name].helpers)
    return [name for name in names if name != model and _is_local(study, name)]


def list_settings(study: Study, stage: str, model: str) -> list[str]:
    """Return the settings of a model's cells; at the stage `help`, of the cells that it helps."""
    if stage != "help":
        return [cell.setting for cell in study.cells if cell.model == model]
    candidates = (cell.setting for cell in study.cells if cell.model != model)
    return list(dict.fromkeys(n for n in candidates if model in study.settings[n].helpers))


def _is_local(study: Study, model: str) -> bool:
    return isinstance(study.models[model], LocalModel)


# Finds models and settings that a study defines but never uses.


def describe_unused(study: Study) -> str | None:
    """Return a line with the unused models and settings and a remedy; else None.

    Otherwise a study without `infer` would silently end with its dataset.
    """
    models = [name for name in study.models if name not in study.asked_models]
    settings = [name for name in study.settings if name not in study.infer.settings]
    if not models and not settings:
        return None
    ends = "" if study.cells else ", and the study ends with its dataset"
    names = [*_describe_names("model", models), *_describe_names("setting", settings)]
    block = f"infer: {{{_infer(study, models, settings)}}}"
    return f"{' and '.join(names)}: never used{ends}; add `{block}`, or remove them"


def _describe_names(kind: str, names: Sequence[str]) -> list[str]:
    return [f"the {kind}{'s' if len(names) > 1 else ''} {', '.join(names)}"] if names else []


def _infer(study: Study, models: Sequence[str], settings: Sequence[str]) -> str:
    lists = {
        "models": [*study.infer.models, *models] or ["..."],
        "settings": [*study.infer.settings, *settings] or ["..."],
    }
    return ", ".join(f"{key}: [{', '.join(names)}]" for key, names in lists.items())


# Remarks on probable mistakes in a study, shown before it is planned or run.


def list_remarks(study: Study, files: Sequence[str] = (), today: date | None = None) -> list[str]:
    """List remarks on a study, one line each.

    Args:
        study: The study.
        files: Its parameter files.
        today: The day for which retired models are listed; default: today.

    Returns:
        A model without requests, retired models, a missing grader, former names of keys, dates
        that DVC cannot read.
    """
    remarks = (
        describe_unused(study),
        describe_retired(study, today or date.today()),
        describe_missing_grader(study),
    )
    place = f"{', '.join(files)}: " if files else ""
    dates = [line for file in files for line in describe_dates(file)]
    renamed = [
        f"{file}: `{old}` is now called `{new}`"
        for file in files
        for old, new in rename_keys(read_mapping(file))[1].items()
    ]
    return [*(f"{place}{remark}" for remark in remarks if remark), *renamed, *dates]


def describe_dates(file: str) -> list[str]:
    """Return a line for each date without quotes in a parameter file."""
    return [
        f"{file}, line {line}: {text} is a date of YAML, which DVC cannot read (`dvc status`, "
        f'`dvc repro`); put it in quotes: "{text}"'
        for line, text in list_dates(read_text(file, YAML_BYTES))
    ]


def describe_retired(study: Study, today: date) -> str | None:
    """Return a line on the models whose endpoints do not answer any more; None without any."""
    blocks = {name: study.models[name] for name in sorted(study.asked_models)}
    retired = [
        f"{name} ({block.retired})"
        for name, block in blocks.items()
        if block.retired and block.retired <= today.isoformat()
        if not (block.is_simulated or block.is_recorded)
    ]
    if not retired:
        return None
    return (
        f"models: the endpoints of {', '.join(retired)} are shut down, so that requests to them "
        "fail; replay published responses (`provider: recorded`), or evaluate other models"
    )


def describe_missing_grader(study: Study) -> str | None:
    """Return a line if the scorer `mathreal` has no grading model; else None."""
    if "mathreal" not in study.score.scorers or study.score.graders or not study.cells:
        return None
    return (
        "score.scorers: 'mathreal' has no grading model, so its answers stay unjudged and count as "
        "wrong; set `score.grader`"
    )
