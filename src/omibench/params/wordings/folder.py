"""Expands a study's folder of prompts: each file at the place where its prompt is sent.

So a job's slice lists its files, and a changed file reruns the jobs that use it. Files set in a
block take precedence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import TYPE_CHECKING, TypeVar

from omibench.prompts.folder import list_prompt_files

if TYPE_CHECKING:
    from omibench.params.filtering.photographs import PhotographScreen
    from omibench.params.filtering.screens import ScreenParams
    from omibench.params.image import Images
    from omibench.params.panel import JudgePanel
    from omibench.params.setting import Setting
    from omibench.params.stages.filter import FilterParams
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
