"""Lists the custom prompt files of a study, and the prompts that they replace."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from omibench.params.wordings.folder import list_setting_prompts
from omibench.schemas.validation import suggest_name

if TYPE_CHECKING:
    from omibench.params.setting import Setting
    from omibench.params.stage_params import ResultsParams
    from omibench.params.study import Study


class PromptUse(NamedTuple):
    """A custom prompt file: its key in params.yaml, and the prompt.

    `prompt` is empty for a setting's prompt that replaces none.
    """

    key: str
    prompt: str
    file: str


def list_prompt_uses(study: Study) -> list[PromptUse]:
    """List every custom prompt file of a study, including its folder of prompts.

    Args:
        study: The study from params.yaml.

    Returns:
        One entry per key and prompt, in the order of the graph.
    """
    building = [use for use in _list_of_building(study) if use.file]
    saliency = _list_mapping("saliency.prompts", study.saliency.prompts)
    return [*building, *list_evaluation_uses(study), *saliency]


def list_evaluation_uses(study: ResultsParams) -> list[PromptUse]:
    """List the files of settings and judges only: the wording behind the numbers of a report."""
    return [use for use in _list_of_evaluation(study) if use.file]


def find_idle_prompt(study: Study) -> str | None:
    """Find a prompt file in a block that never sends that prompt.

    Args:
        study: The study, with its folder of prompts not yet expanded.

    Returns:
        A line that begins with the key, or None.
    """
    blocks = [
        (f"settings.{name}.prompts", setting.prompts, list_setting_prompts(setting))
        for name, setting in study.settings.items()
    ]
    blocks += [
        (f"filter.{name}.prompts", screen.prompts, iter((screen.prompt, f"{screen.prompt}-open")))
        for name, screen in study.filter.screens.items()
    ]
    for key, prompts, sent in blocks:
        names = [*sent]
        if idle := next((name for name in prompts if name not in names), None):
            return f"{key}: the prompt {idle!r} is not sent here{suggest_name(idle, names)}"
    return None


def _list_of_building(study: Study) -> Iterator[PromptUse]:
    yield from _list_mapping("ocr.prompts", study.ocr.prompts)
    if translation := study.filter.translation:
        yield PromptUse("filter.translation.prompt", "translation", translation.prompt or "")
    if photographs := study.filter.photographs:
        key = "filter.photographs"
        yield PromptUse(f"{key}.prompt", "photograph-class", photographs.prompt or "")
        file = photographs.completeness_prompt or ""
        yield PromptUse(f"{key}.completeness_prompt", "photograph-completeness", file)
    if completeness := study.filter.completeness:
        yield PromptUse("filter.completeness.prompt", "completeness", completeness.prompt or "")
    if captions := study.filter.captions:
        yield PromptUse("filter.captions.caption_prompt", "caption", captions.caption_prompt or "")
    for name, screen in study.filter.screens.items():
        yield from _list_mapping(f"filter.{name}.prompts", screen.prompts)
        yield PromptUse(f"filter.{name}.prompt", "", _find_file(screen.prompt))
    yield from _list_mapping("rationale.prompts", study.rationale.prompts)


def _list_of_evaluation(study: ResultsParams) -> Iterator[PromptUse]:
    for name, setting in study.settings.items():
        yield from _list_of_setting(f"settings.{name}", setting)
    judge = study.score.judge
    for name, panel in study.score.panels.items():
        key = {"gptscore": "judge", "grade": "grader", "extraction": "extractor"}[name]
        prompt = judge.prompt_name if judge and name == "gptscore" else name
        yield PromptUse(f"score.{key}.prompt", prompt, panel.prompt or "")
    for name, key, panel in study.judge.named_panels:
        yield PromptUse(f"{key}.prompt", name, panel.prompt or "")


def _list_of_setting(key: str, setting: Setting) -> Iterator[PromptUse]:
    yield PromptUse(f"{key}.prompt", "", _find_file(setting.prompt))
    yield from _list_mapping(f"{key}.prompts", setting.prompts)
    yield PromptUse(f"{key}.images.prompt", "caption", setting.images.prompt or "")
    aggregate = setting.aggregate
    yield PromptUse(f"{key}.aggregate.caption_prompt", "caption", aggregate.caption_prompt or "")
    if aggregate.judge:
        file = aggregate.judge.prompt or ""
        yield PromptUse(f"{key}.aggregate.judge.prompt", aggregate.prompt_name, file)


def _list_mapping(key: str, prompts: dict[str, str]) -> Iterator[PromptUse]:
    for name, file in prompts.items():
        yield PromptUse(f"{key}.{name}", name, file)


def _find_file(prompt: str) -> str:
    """Return the path in `prompt` of a setting; empty for the name of a prompt."""
    return prompt if "/" in prompt or Path(prompt).suffix else ""
