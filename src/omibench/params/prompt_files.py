"""Expands a study's folder of prompts: each file at the place where its prompt is sent.

So a job's slice lists its files, and a changed file reruns the jobs that use it. Files set in a
block take precedence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from omibench.schemas.validation import suggest_name
from omibench.settings.prompts.names import list_prompt_files

if TYPE_CHECKING:
    from omibench.params.panel import JudgePanel
    from omibench.params.setting import Images, Setting
    from omibench.params.stages.filter import FilterParams, PhotographScreen, ScreenParams
    from omibench.params.stages.judge import JudgeParams
    from omibench.params.stages.ocr import OcrParams
    from omibench.params.stages.rationale import RationaleParams
    from omibench.params.stages.saliency import SaliencyParams
    from omibench.params.stages.score import ScoreParams
    from omibench.params.study import Study


Files = Mapping[str, str]
"""Paths of text files by the names of the prompts that they replace."""
P = TypeVar("P", bound="JudgePanel")
S = TypeVar("S", bound="ScreenParams")
_PAGE_PROMPTS: Mapping[str | None, tuple[str, ...]] = {
    None: ("page-text", "page-figures"),
    "olmocr": ("page-olmocr",),
}
"""The prompts for pages by `ocr.preset`; MinerU's tasks are not prompts."""


def spread_prompts(study: Study) -> Study:
    """Return a study in which every block lists its files from the folder of prompts.

    Raises:
        ParamsError: The folder cannot be listed, or contains a file without the name of a prompt.
    """
    if study.prompts is None:
        return study
    files = list_prompt_files(study.prompts)
    heads = {name for name, model in study.models.items() if model.gives_reward}
    settings = {
        name: _fill_setting(setting, files, heads) for name, setting in study.settings.items()
    }
    blocks = {
        "ocr": _fill_ocr(study.ocr, files),
        "filter": _fill_filter(study.filter, files),
        "rationale": _fill_rationale(study.rationale, files),
        "settings": settings,
        "score": _fill_score(study.score, files),
        "judge": _fill_judge(study.judge, files),
        "saliency": _fill_saliency(study.saliency, files),
    }
    return study.model_copy(update=blocks)


def list_setting_prompts(setting: Setting) -> Iterator[str]:
    """Return the prompt names of a setting, without those of its captioner and judges."""
    yield from (setting.prompt, f"{setting.prompt}-open")
    if setting.examples:
        yield "example"
    if setting.perception and setting.perception.reads:
        yield "read-text"
        if "DM" in setting.perception.given:
            yield "read-figures"
    if tools := setting.tools:
        yield from ("tools", f"tools-{tools.style}", f"tools-{tools.manner}")
        yield from (f"tools-{tools.manner}-{number}" for number in (1, 2, 3))
        yield from ("tools-end", "tools-end-step", "tools-left-out")


def _fill_setting(setting: Setting, files: Files, heads: Set[str]) -> Setting:
    """Return the setting with its files; a reward head takes no prompt."""
    prompts = {name: files[name] for name in list_setting_prompts(setting) if name in files}
    aggregate = setting.aggregate
    captions = files.get("caption") if aggregate.captions else None
    judge = aggregate.judge
    if judge and heads.isdisjoint(judge.models):
        judge = _fill_panel(judge, aggregate.prompt_name, files)
    chosen = {
        "judge": judge,
        "caption_prompt": aggregate.caption_prompt or captions,
    }
    return setting.model_copy(
        update={
            "prompts": {**prompts, **setting.prompts},
            "images": _fill_images(setting.images, files),
            "aggregate": aggregate.model_copy(update=chosen),
        }
    )


def _fill_images(images: Images, files: Files) -> Images:
    if images.show != "captions" or images.prompt:
        return images
    return images.model_copy(update={"prompt": files.get("caption")})


def _fill_panel(panel: P | None, name: str, files: Files) -> P | None:
    if panel is None or panel.prompt or name not in files:
        return panel
    return panel.model_copy(update={"prompt": files[name]})


def _fill_ocr(ocr: OcrParams, files: Files) -> OcrParams:
    names = _PAGE_PROMPTS.get(ocr.preset, ()) if ocr.engine == "vision" else ()
    if ocr.formula_model and not ocr.formula_preset:
        names += ("formula", "formula-line")
    return ocr.model_copy(update={"prompts": _select(names, files) | ocr.prompts})


def _fill_rationale(rationale: RationaleParams, files: Files) -> RationaleParams:
    names = [
        *(("rationale", "rationale-given", "rationale-sketched") if rationale.writer else ()),
        *rationale.label_prompts,
    ]
    return rationale.model_copy(update={"prompts": _select(names, files) | rationale.prompts})


def _fill_filter(params: FilterParams, files: Files) -> FilterParams:
    translation = params.translation
    if translation and not translation.prompt:
        translation = translation.model_copy(update={"prompt": files.get("translation")})
    captions = _fill_screen(params.captions, files)
    if captions and not captions.caption_prompt:
        captions = captions.model_copy(update={"caption_prompt": files.get("caption")})
    return params.model_copy(
        update={
            "translation": translation,
            "photographs": _fill_photographs(params.photographs, files),
            "completeness": _fill_panel(params.completeness, "completeness", files),
            "one_image": _fill_screen(params.one_image, files),
            "captions": captions,
            "difficulty": _fill_screen(params.difficulty, files),
        }
    )


def _fill_photographs(screen: PhotographScreen | None, files: Files) -> PhotographScreen | None:
    if screen is None:
        return None
    prompt = screen.prompt or files.get("photograph-class")
    vote = screen.completeness_prompt or files.get("photograph-completeness")
    return screen.model_copy(update={"prompt": prompt, "completeness_prompt": vote})


def _fill_screen(screen: S | None, files: Files) -> S | None:
    if screen is None:
        return None
    names = (screen.prompt, f"{screen.prompt}-open")
    return screen.model_copy(update={"prompts": _select(names, files) | screen.prompts})


def _fill_score(score: ScoreParams, files: Files) -> ScoreParams:
    graders, extractors = score.grader, score.extractor
    if "mathreal" in score.rules:  # the judges' are listed only if they are replaced
        graders = _fill_panel(score.graders, "grade", files) if "grade" in files else graders
        if "extraction" in files:
            extractors = _fill_panel(score.extractors, "extraction", files)
    name = score.judge.prompt_name if score.judge else ""
    panels = {"judge": _fill_panel(score.judge, name, files)}
    return score.model_copy(update=panels | {"grader": graders, "extractor": extractors})


def _fill_judge(judge: JudgeParams, files: Files) -> JudgeParams:
    return judge.model_copy(
        update={
            "quality": _fill_panel(judge.quality, "quality", files),
            "alignment": _fill_panel(judge.alignment, "alignment", files),
            "errors": _fill_panel(judge.errors, "error_type", files),
            "transcripts": _fill_panel(judge.transcripts, "transcript", files),
            "others": {n: _fill_panel(panel, n, files) for n, panel in judge.others.items()},
        }
    )


def _fill_saliency(saliency: SaliencyParams, files: Files) -> SaliencyParams:
    asks = saliency.settings and saliency.reading == "before_answer"
    names = ["letter"] if asks else []
    return saliency.model_copy(update={"prompts": _select(names, files) | saliency.prompts})


def _select(names: tuple[str, ...] | list[str], files: Files) -> dict[str, str]:
    return {name: files[name] for name in names if name in files}


# Lists the custom prompt files of a study, and the prompts that they replace.


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


def list_evaluation_uses(study: Study) -> list[PromptUse]:
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


def _list_of_evaluation(study: Study) -> Iterator[PromptUse]:
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
