"""The ready-made studies decode as the papers' tables say, model by model."""

from __future__ import annotations

from pathlib import Path

import pytest

from omibench.params.setting import Cell
from omibench.params.study import Study, parse_study_file

GREEDY, WARM = {0.0}, {0.7}
TABLE_6 = {
    # model: provider, id, temperatures of one response, temperatures of several
    "Claude 3.5 Sonnet": ("anthropic", "claude-3-5-sonnet-20241022", GREEDY, None),
    "Gemini 2.0 Flash": ("openai", "gemini-2.0-flash-exp", GREEDY, WARM),
    "GPT-4o": ("openai", "chatgpt-4o-latest", GREEDY, WARM),
    "Gemini 2.0 Flash Thinking-1219": (
        "openai", "gemini-2.0-flash-thinking-exp-1219", GREEDY, GREEDY,
    ),
    "Gemini 2.0 Flash Thinking-0121": (
        "openai", "gemini-2.0-flash-thinking-exp-0121", GREEDY, None,
    ),
    "o1": ("openai", "o1", None, None),
    "Qwen2-VL-72B-Instruct": ("transformers", "Qwen/Qwen2-VL-72B-Instruct", WARM, None),
    "QVQ-72B-Preview": ("transformers", "Qwen/QVQ-72B-Preview", WARM, None),
    "LLaVA-Onevision-72B": (
        "transformers", "llava-hf/llava-onevision-qwen2-72b-ov-hf", WARM, None,
    ),
    "InternVL2-Llama3-76B": ("transformers", "OpenGVLab/InternVL2-Llama3-76B", WARM, None),
    "InternVL2.5-78B": ("transformers", "OpenGVLab/InternVL2_5-78B", WARM, None),
}  # fmt: skip
"""EMMA, table 6 and C.3. The temperature of o1 is not given, and its endpoint takes none."""


def temperatures(study: Study, model: str, *, several: bool) -> set[float]:
    """The temperatures of a model's cells with one response of a problem, or with several."""
    decodings = [study.settings[c.setting].decoding for c in study.cells if c.model == model]
    return {d.temperature for d in decodings if (d.samples > 1) == several}


@pytest.mark.parametrize("name", ["emma", "emma_mini"])
def test_emma_is_decoded_as_in_table_6(root: Path, name: str) -> None:
    study = parse_study_file(root / "studies" / f"{name}.yaml")
    respondents = dict.fromkeys(cell.model for cell in study.cells)
    labels = {study.models[model].label for model in respondents}
    left_out = {"o1", "QVQ-72B-Preview"} if name == "emma" else set()
    assert labels == set(TABLE_6) - left_out
    for model in respondents:
        block = study.models[model]
        provider, served_id, single, several = TABLE_6[str(block.label)]
        assert (block.provider, getattr(block, "id", None)) == (provider, served_id)
        if single is None:
            assert not block.can.temperature  # type: ignore[union-attr]
        else:
            assert temperatures(study, model, several=False) == single
        expected = several if name == "emma_mini" else None
        assert temperatures(study, model, several=True) == (expected or set())


def test_samples_of_thinking_1219_are_those_of_table_3(root: Path) -> None:
    study = parse_study_file(root / "studies" / "emma_mini.yaml")
    cells = [c for c in study.cells if c.model == "gemini-2.0-flash-thinking-1219"]
    assert {
        study.settings[c.setting].aggregate.how: study.settings[c.setting].decoding.samples
        for c in cells if study.settings[c.setting].decoding.samples > 1
    } == {"majority": 16, "tournament": 16}  # fmt: skip


def test_models_of_usnco_v_are_decoded_alike_with_and_without_examples(root: Path) -> None:
    """Methods, few-shot prompting: each k is held against the zero-shot baseline."""
    study = parse_study_file(root / "studies" / "usnco_v.yaml")
    (figure,) = [blocks for name, blocks in study.infer.printed.items() if name == "figure 2"]
    cells = [Cell(m, s) for block in figure for m in block.models for s in block.settings]
    assert len(cells) == 3 * 6
    for model in ("qwen2.5-vl-3b", "qwen2.5-vl-7b", "gpt-4.1-mini"):
        settings = [study.settings[c.setting] for c in cells if c.model == model]
        assert len({(s.decoding.temperature, s.decoding.max_tokens) for s in settings}) == 1
        shots = [s.examples.k for s in settings if s.examples]
        assert shots == [1, 2, 3, 4, 5]
        assert all(s.decoding.samples == 5 for s in settings if s.examples)


def test_open_models_of_usnco_v_are_greedy_and_local(root: Path) -> None:
    study = parse_study_file(root / "studies" / "usnco_v.yaml")
    for cell in study.cells:
        local = study.models[cell.model].provider == "transformers"
        assert study.settings[cell.setting].decoding.temperature == (0.0 if local else 1.0)
