"""The places where a study names files of prompts.

A study's folder of prompts is expanded to them, so a job's slice lists its files, and a changed
file reruns the jobs that use it. Files set in a block take precedence.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from omibench.schemas.validation import suggest_name
from omibench.settings.prompt_names import list_prompt_files

if TYPE_CHECKING:
    from omibench.params.setting import Setting
    from omibench.params.stages.ocr import OcrParams
    from omibench.params.study import Study

_PAGE_PROMPTS = {None: ("page-text", "page-figures"), "olmocr": ("page-olmocr",)}
"""The prompts for pages by `ocr.preset`; MinerU's tasks are not prompts."""


class _Place(NamedTuple):
    """A key in params.yaml: of one file, or (`names`) of files by the prompts sent there."""

    key: str
    name: str = ""
    """The prompt that the file replaces; empty for a prompt of a study's own."""
    names: tuple[str, ...] | None = None
    fills: bool = True
    """Whether a file in the folder belongs here."""


class PromptUse(NamedTuple):
    """A custom prompt file: its key in params.yaml, and the prompt.

    `prompt` is empty for a setting's prompt that replaces none.
    """

    key: str
    prompt: str
    file: str


def spread_prompts(study: Study) -> Study:
    """Return a study in which every block lists its files from the folder of prompts.

    Raises:
        ParamsError: The folder cannot be listed, or contains a file without the name of a prompt.
    """
    if study.prompts is None:
        return study
    files = list_prompt_files(study.prompts)
    for key, name, names, fills in [*_list_places(study)]:
        value = _read(study, key)
        if names is not None:
            found = {name: files[name] for name in names if name in files} | value
        else:
            found = value or (files.get(name) if fills else None)
        if found and found != value:
            study = _replace(study, key.split("."), found)
    return study


def list_prompt_uses(study: Study) -> list[PromptUse]:
    """List every custom prompt file of a study, including its folder of prompts.

    Args:
        study: The study from params.yaml.

    Returns:
        One entry per key and prompt, in the order of the graph.
    """
    uses: list[PromptUse] = []
    for key, name, names, _ in _list_places(study):
        value = _read(study, key)
        if names is not None:
            uses += [PromptUse(f"{key}.{prompt}", prompt, file) for prompt, file in value.items()]
        elif value and (name or "/" in value or Path(value).suffix):
            uses.append(PromptUse(key, name, value))
    return uses


def list_evaluation_uses(study: Study) -> list[PromptUse]:
    """List the files of settings and judges only: the wording behind the numbers of a report."""
    blocks = ("settings.", "score.", "judge.")
    return [use for use in list_prompt_uses(study) if use.key.startswith(blocks)]


def list_setting_prompts(setting: Setting) -> Iterator[str]:
    """Return the prompt names of a setting, without those of its captioner and judges."""
    yield from (setting.prompt, f"{setting.prompt}-open")
    if setting.examples:
        yield "example"
    if setting.perception and setting.perception.reads:
        yield "read-text"
        if "DM" in setting.perception.given:
            yield "read-figures"
    if setting.perceiver and not setting.perceiver.bare:
        yield "perceive"
    if tools := setting.tools:
        yield from ("tools", f"tools-{tools.style}", f"tools-{tools.manner}")
        yield from (f"tools-{tools.manner}-{part}" for part in ("one", 1, 2, 3))
        yield from ("tools-end", "tools-end-step", "tools-left-out")


def find_idle_prompt(study: Study) -> str | None:
    """Find a prompt file in a block that never sends that prompt.

    Args:
        study: The study, with its folder of prompts not yet expanded.

    Returns:
        A line that begins with the key, or None.
    """
    for key, _, names, _ in _list_places(study):
        if names is None or not key.startswith(("settings.", "filter.")):
            continue
        if idle := next((name for name in _read(study, key) if name not in names), None):
            return f"{key}: the prompt {idle!r} is not sent here{suggest_name(idle, names)}"
    return None


def _list_places(study: Study) -> Iterator[_Place]:
    yield _Place("ocr.prompts", names=_list_page_prompts(study.ocr))
    params = study.filter
    if params.translation:
        yield _Place("filter.translation.prompt", "translation")
    if params.photographs:
        yield _Place("filter.photographs.prompt", "photograph-class")
        yield _Place("filter.photographs.completeness_prompt", "photograph-completeness")
    if params.completeness:
        yield _Place("filter.completeness.prompt", "completeness")
    if params.captions:
        yield _Place("filter.captions.caption_prompt", "caption")
    for name, screen in params.screens.items():
        sent = (screen.prompt, f"{screen.prompt}-open")
        yield _Place(f"filter.{name}.prompts", names=sent)
        yield _Place(f"filter.{name}.prompt")
    for name in params.model_reasons:
        yield _Place(f"filter.model_reasons.{name}.prompt", name)
    writer = ("rationale", "rationale-given", "rationale-sketched")
    labels = study.rationale.label_prompts
    sent = (*(writer if study.rationale.writer else ()), *labels)
    yield _Place("rationale.prompts", names=sent)
    heads = {name for name, model in study.models.items() if model.gives_reward}
    for name, setting in study.settings.items():
        yield from _list_places_of(f"settings.{name}", setting, heads)
    score = study.score
    keys = {"gptscore": "judge", "grade": "grader", "extraction": "extractor"}
    for name in score.panels:
        sends = score.judge.prompt_name if score.judge and name == "gptscore" else name
        yield _Place(f"score.{keys[name]}.prompt", sends)
    for name, key, _ in study.judge.named_panels:
        yield _Place(f"{key}.prompt", name)
    saliency = study.saliency
    asks = saliency.settings and saliency.reading == "before_answer"
    yield _Place("saliency.prompts", names=("letter",) if asks else ())


def _list_places_of(key: str, setting: Setting, heads: set[str]) -> Iterator[_Place]:
    yield _Place(f"{key}.prompt")
    yield _Place(f"{key}.prompts", names=tuple(list_setting_prompts(setting)))
    yield _Place(f"{key}.images.prompt", "caption", fills=setting.images.show == "captions")
    aggregate = setting.aggregate
    yield _Place(f"{key}.aggregate.caption_prompt", "caption", fills=bool(aggregate.captions))
    if aggregate.judge:  # a reward head takes no prompt
        takes = heads.isdisjoint(aggregate.judge.models)
        yield _Place(f"{key}.aggregate.judge.prompt", aggregate.prompt_name, fills=takes)


def _list_page_prompts(ocr: OcrParams) -> tuple[str, ...]:
    names = _PAGE_PROMPTS.get(ocr.preset, ()) if ocr.engine == "vision" else ()
    reread = ocr.formula_model and not ocr.formula_preset
    return (*names, *(("formula", "formula-line") if reread else ()))


def _open(block: Any, name: str) -> Any:
    if isinstance(block, dict):
        return block[name]
    # Graders and extractors that a study does not list are the models of its judge.
    value = getattr(block, name)
    return getattr(block, f"{name}s", None) if value is None else value


def _read(block: Any, key: str) -> Any:
    for name in key.split("."):
        block = _open(block, name)
    return block


def _replace(block: Any, names: list[str], value: Any) -> Any:
    name, *rest = names
    changed = {name: _replace(_open(block, name), rest, value) if rest else value}
    return block | changed if isinstance(block, dict) else block.model_copy(update=changed)
