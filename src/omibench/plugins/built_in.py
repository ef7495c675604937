"""The built-in parts of each kind: name -> the module that registers it when it is imported.

A new built-in part is a module of its own and one line here.
"""

from __future__ import annotations

from typing import Final

BUILT_IN: Final[dict[str, dict[str, str]]] = {
    "providers": {
        "simulated": "omibench.models.simulated",
        "recorded": "omibench.models.recorded",
        "openai": "omibench.models.openai",
        "anthropic": "omibench.models.anthropic",
        "vllm": "omibench.models.local",
        "transformers": "omibench.models.local",
        "transformers-reward": "omibench.models.local",
    },
    "rule_books": {
        "omibench": "omibench.rule_books.omibench",
        "omibench-release": "omibench.rule_books.omibench_release",
        "emma": "omibench.rule_books.emma",
        "usnco-v": "omibench.rule_books.usnco_v",
        "usnco-v-last-letter": "omibench.rule_books.usnco_v",
        "mathreal": "omibench.rule_books.mathreal",
        "robust": "omibench.rule_books.robust",
        "published": "omibench.rule_books.published",
    },
    "sections": {
        "main": "omibench.stages.analyze.sections.main",
        "published": "omibench.stages.analyze.sections.published",
        "accuracy": "omibench.stages.analyze.sections.accuracy",
        "images": "omibench.stages.analyze.sections.images",
        "rules": "omibench.stages.analyze.sections.rules",
        "failures": "omibench.stages.analyze.sections.failures",
        "samples": "omibench.stages.analyze.sections.samples",
        "judge": "omibench.stages.analyze.sections.judge",
        "reasoning": "omibench.stages.analyze.sections.reasoning",
        "other-judges": "omibench.stages.analyze.sections.other_judges",
        "saliency": "omibench.stages.analyze.sections.saliency",
        "results": "omibench.stages.analyze.sections.results",
        "provenance": "omibench.stages.analyze.sections.provenance",
    },
    "results": {
        "dataset": "omibench.stages.analyze.results.dataset",
        "question-lengths": "omibench.stages.analyze.results.dataset",
        "accuracy": "omibench.stages.analyze.results.accuracy",
        "slices": "omibench.stages.analyze.results.slices",
        "slice-samples": "omibench.stages.analyze.results.slices",
        "slice-outcomes": "omibench.stages.analyze.results.slices",
        "slice-lengths": "omibench.stages.analyze.results.slices",
        "macro": "omibench.stages.analyze.results.macro",
        "models": "omibench.stages.analyze.results.studied",
        "settings": "omibench.stages.analyze.results.studied",
        "accuracy-by-budget": "omibench.stages.analyze.results.curves.budgets",
        "accuracy-by-k": "omibench.stages.analyze.results.curves.samples",
        "accuracy-by-parameters": "omibench.stages.analyze.results.curves.parameters",
        "saturation": "omibench.stages.analyze.results.curves.parameters",
        "accuracy-by-shots": "omibench.stages.analyze.results.curves.shots",
        "accuracy-by-year": "omibench.stages.analyze.results.curves.years",
        "ranks": "omibench.stages.analyze.results.comparisons.ranks",
        "pairs": "omibench.stages.analyze.results.comparisons.ranks",
        "baselines": "omibench.stages.analyze.results.comparisons.baselines",
        "run-tests": "omibench.stages.analyze.results.comparisons.run_tests",
        "regression": "omibench.stages.analyze.results.comparisons.regression",
        "real-clean": "omibench.stages.analyze.results.comparisons.pictures",
        "chance": "omibench.stages.analyze.results.chance",
        "saliency-gains": "omibench.stages.analyze.results.saliency",
        "saliency-gain-histogram": "omibench.stages.analyze.results.saliency",
        "saliency-impact": "omibench.stages.analyze.results.saliency",
        "saliency-maps": "omibench.stages.analyze.results.saliency",
        "people": "omibench.stages.analyze.results.people",
        "people-subset": "omibench.stages.analyze.results.people",
    },
    "figures": {
        "dataset-composition": "omibench.stages.analyze.figures.dataset",
        "question-lengths": "omibench.stages.analyze.figures.dataset",
        "saliency-confidence": "omibench.stages.analyze.figures.saliency",
        "saliency-gains": "omibench.stages.analyze.figures.saliency",
        "saliency-wins": "omibench.stages.analyze.figures.saliency",
        "saliency-impact": "omibench.stages.analyze.figures.saliency",
        "people": "omibench.stages.analyze.figures.people",
    },
    "benchmarks": {
        "omibench": "omibench.datasets.omibench",
        "emma": "omibench.datasets.emma",
        "emma-mini": "omibench.datasets.emma",
        "usnco-v": "omibench.datasets.usnco_v",
        "mathreal": "omibench.datasets.mathreal",
        "olympiadbench": "omibench.datasets.olympiadbench",
        "mv-math": "omibench.datasets.mv_math",
        "mmmu-pro": "omibench.datasets.mmmu_pro",
        "mmmu-pro-4": "omibench.datasets.mmmu_pro",
        "mmmu-pro-vision": "omibench.datasets.mmmu_pro",
        "mathvista": "omibench.datasets.mathvista",
        "frozen": "omibench.datasets.frozen",
        "folder": "omibench.datasets.folder",
        "synthetic": "omibench.datasets.synthetic",
    },
    "engines": {
        "rapidocr": "omibench.stages.ocr.engines.rapidocr",
        "tesseract": "omibench.stages.ocr.engines.tesseract",
    },
    "reasons": {
        "out_of_scope": "omibench.stages.filter.reasons.one_problem",
        "statement_incomplete": "omibench.stages.filter.reasons.one_problem",
        "statement_illegible": "omibench.stages.filter.reasons.one_problem",
        "answer_missing": "omibench.stages.filter.reasons.one_problem",
        "answer_ambiguous": "omibench.stages.filter.reasons.one_problem",
        "too_few_images": "omibench.stages.filter.reasons.one_problem",
        "image_not_referred_to": "omibench.stages.filter.reasons.one_problem",
        "exact_duplicate": "omibench.stages.filter.reasons.duplicates",
        "near_duplicate": "omibench.stages.filter.reasons.duplicates",
        "ocr_error": "omibench.stages.filter.reasons.one_problem",
    },
    "prompts": {
        "cot": "omibench.settings.prompts_built_in",
        "least-to-most": "omibench.settings.prompts_built_in",
        "plan-and-solve": "omibench.settings.prompts_built_in",
        "visualization-of-thought": "omibench.settings.prompts_built_in",
        "direct": "omibench.settings.prompts_built_in",
        "in-context": "omibench.settings.prompts_built_in",
        "emma-cot": "omibench.settings.prompts_built_in",
        "emma-direct": "omibench.settings.prompts_built_in",
        "usnco-v": "omibench.settings.prompts_built_in",
        "usnco-v-cot": "omibench.settings.prompts_built_in",
        "mathreal": "omibench.settings.prompts_built_in",
        "mathreal-iuer": "omibench.settings.prompts_built_in",
    },
    "judges": {
        "quality": "omibench.judges.quality",
        "alignment": "omibench.judges.alignment",
        "error_type": "omibench.judges.error_type",
        "transcript": "omibench.judges.transcript",
    },
    "conditions": {
        "all": "omibench.settings.conditions",
        "first": "omibench.settings.conditions",
        "none": "omibench.settings.conditions",
        "captions": "omibench.settings.conditions",
        "composite": "omibench.settings.conditions",
        "labelled-composite": "omibench.settings.conditions",
        "shuffled": "omibench.settings.conditions",
        "degraded": "omibench.settings.conditions",
        "occluded": "omibench.settings.conditions",
    },
}
"""Kinds are named as the groups of entry points: `rule_books` is `omibench.rule_books`."""

REGISTRY_MODULES: Final[dict[str, str]] = {
    "providers": "omibench.models.registry",
    "rule_books": "omibench.rule_books.registry",
    "benchmarks": "omibench.datasets.registry",
    "sections": "omibench.stages.analyze.sections.section",
    "results": "omibench.stages.analyze.results.result",
    "figures": "omibench.stages.analyze.figures.figure",
    "engines": "omibench.stages.ocr.engines.registry",
    "reasons": "omibench.stages.filter.reasons.registry",
    "prompts": "omibench.settings.registry",
    "conditions": "omibench.settings.registry",
    "judges": "omibench.judges.registry",
}
"""The module that holds the registry of a kind: code that imports it uses every built-in part, so
that the hash of this code covers them."""


def built_in_modules(registry: str) -> list[str]:
    """The modules of the built-in parts whose registry is the module of that name."""
    kinds = [kind for kind, home in REGISTRY_MODULES.items() if home == registry]
    return [module for kind in kinds for module in BUILT_IN.get(kind, {}).values()]
