"""The names of the prompts, each with the module that describes it on import.

A new prompt is an entry at its definition, and one line here.
"""

from __future__ import annotations

from typing import Final

from omibench.plugins.registry import known_names

_JUDGES, _SETTINGS = "omibench.judges", "omibench.settings"
_STAGES = "omibench.stages"

PROMPT_HOMES: Final[dict[str, str]] = {
    "page-text": f"{_STAGES}.ocr.engines.vision",
    "page-figures": f"{_STAGES}.ocr.engines.vision",
    "page-olmocr": f"{_STAGES}.ocr.engines.presets.olmocr",
    "formula": f"{_STAGES}.ocr.formulas.rereading.asking",
    "formula-line": f"{_STAGES}.ocr.formulas.rereading.asking",
    "translation": f"{_STAGES}.filter.translating",
    "photograph-class": f"{_STAGES}.filter.photographs",
    "photograph-completeness": f"{_STAGES}.filter.photographs",
    "completeness": f"{_STAGES}.filter.completeness",
    "rationale": f"{_STAGES}.rationale.prompts",
    "rationale-given": f"{_STAGES}.rationale.prompts",
    "rationale-sketched": f"{_STAGES}.rationale.prompts",
    "topic": f"{_STAGES}.rationale.prompts",
    "open-topic": f"{_STAGES}.rationale.label_prompts",
    "cluster-name": f"{_STAGES}.rationale.label_prompts",
    "subfield": f"{_STAGES}.rationale.label_prompts",
    "skill": f"{_STAGES}.rationale.label_prompts",
    "cot": f"{_SETTINGS}.prompts_built_in",
    "least-to-most": f"{_SETTINGS}.prompts_built_in",
    "plan-and-solve": f"{_SETTINGS}.prompts_built_in",
    "visualization-of-thought": f"{_SETTINGS}.prompts_built_in",
    "direct": f"{_SETTINGS}.prompts_built_in",
    "in-context": f"{_SETTINGS}.prompts_built_in",
    "emma-cot": f"{_SETTINGS}.prompts_built_in",
    "emma-cot-open": f"{_SETTINGS}.prompts_built_in",
    "emma-direct": f"{_SETTINGS}.prompts_built_in",
    "emma-direct-open": f"{_SETTINGS}.prompts_built_in",
    "usnco-v": f"{_SETTINGS}.prompts_built_in",
    "usnco-v-cot": f"{_SETTINGS}.prompts_built_in",
    "mathreal": f"{_SETTINGS}.prompts_built_in",
    "mathreal-iuer": f"{_SETTINGS}.prompts_built_in",
    "example": f"{_SETTINGS}.examples",
    "caption": f"{_SETTINGS}.captions",
    "read-text": f"{_SETTINGS}.perception",
    "read-figures": f"{_SETTINGS}.perception",
    "tools": f"{_SETTINGS}.tools.words",
    "tools-native": f"{_SETTINGS}.tools.words",
    "tools-text": f"{_SETTINGS}.tools.words",
    "tools-sketch": f"{_SETTINGS}.tools.words",
    "tools-slow": f"{_SETTINGS}.tools.words",
    "tools-slow-1": f"{_SETTINGS}.tools.words",
    "tools-slow-2": f"{_SETTINGS}.tools.words",
    "tools-flow": f"{_SETTINGS}.tools.words",
    "tools-flow-1": f"{_SETTINGS}.tools.words",
    "tools-flow-2": f"{_SETTINGS}.tools.words",
    "tools-flow-3": f"{_SETTINGS}.tools.words",
    "tools-end-step": f"{_SETTINGS}.tools.words",
    "tools-end": f"{_SETTINGS}.tools.words",
    "tools-left-out": f"{_SETTINGS}.tools.words",
    "letter": f"{_STAGES}.saliency.context",
    "gptscore": f"{_JUDGES}.gptscore",
    "gptscore-bare-answers": f"{_JUDGES}.gptscore",
    "grade": f"{_JUDGES}.grade",
    "extraction": f"{_JUDGES}.extraction",
    "quality": f"{_JUDGES}.quality",
    "alignment": f"{_JUDGES}.alignment",
    "error_type": f"{_JUDGES}.error_type",
    "transcript": f"{_JUDGES}.transcript",
    "mark": f"{_STAGES}.aggregate.judges",
    "joint_marks": f"{_STAGES}.aggregate.judges",
    "comparison": f"{_STAGES}.aggregate.judges",
}
"""Prompts in the order of the graph: name -> module."""


def list_prompt_names() -> list[str]:
    """List the names of all prompts: built-in ones, then those of plug-ins' settings and judges."""
    return list(dict.fromkeys([*PROMPT_HOMES, *known_names("prompts"), *known_names("judges")]))
