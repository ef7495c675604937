"""Recipe: a tiny random-weight LLaVA-OneVision, built offline in a folder, that real engines load.

SigLIP's tower before a Qwen2, as EMMA's LLaVA-OneVision-72B: pictures are cut into tiles, and their
tokens are counted otherwise than in the family of Qwen-VL (`tiny_vlm`).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.models.tiny_vlm import CHAT_TEMPLATE, VOCABULARY, make_tokenizer

SIDE, PATCH = 28, 14
"""Pixels of a tile's side, and of a patch's."""
IMAGE, VIDEO = "<|image_pad|>", "<|video_pad|>"
TEMPLATE = CHAT_TEMPLATE.replace("<|vision_start|><|image_pad|><|vision_end|>", IMAGE)


def build_llava(folder: Path, seed: int = 0) -> Path:
    """Write the checkpoint into `folder`, made if needed, and return it."""
    import torch
    import transformers

    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = make_tokenizer()
    tokenizer.init_kwargs |= {"image_token": IMAGE, "video_token": VIDEO}
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(folder)
    (folder / "chat_template.jinja").write_text(TEMPLATE)
    config = transformers.LlavaOnevisionConfig(
        vision_config={
            "model_type": "siglip_vision_model", "hidden_size": 32, "intermediate_size": 64,
            "num_hidden_layers": 2, "num_attention_heads": 2, "image_size": SIDE,
            "patch_size": PATCH, "vision_use_head": False,
        },
        text_config={
            "model_type": "qwen2", "vocab_size": VOCABULARY, "hidden_size": 64,
            "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2,
            "num_key_value_heads": 1, "max_position_embeddings": 4096,
            "eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.pad_token_id,
        },
        image_token_index=tokenizer.convert_tokens_to_ids(IMAGE),
        video_token_index=tokenizer.convert_tokens_to_ids(VIDEO),
        image_grid_pinpoints=[[SIDE, SIDE], [SIDE, 2 * SIDE], [2 * SIDE, SIDE], [2 * SIDE] * 2],
        tie_word_embeddings=False,
    )  # fmt: skip
    torch.manual_seed(seed)
    model = transformers.LlavaOnevisionForConditionalGeneration(config).to(torch.bfloat16)
    model.generation_config = transformers.GenerationConfig(
        eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id
    )
    model.save_pretrained(folder)
    _save_processors(folder, config.image_grid_pinpoints)
    return folder


def _save_processors(folder: Path, pinpoints: Any) -> None:
    half = [0.5, 0.5, 0.5]
    pictures = {
        "image_processor_type": "LlavaOnevisionImageProcessor",
        "processor_class": "LlavaOnevisionProcessor",
        "image_grid_pinpoints": pinpoints,
        "size": {"height": SIDE, "width": SIDE},
        "image_mean": half,
        "image_std": half,
    }
    whole = {
        "processor_class": "LlavaOnevisionProcessor",
        "num_image_tokens": (SIDE // PATCH) ** 2,
        "vision_feature_select_strategy": "full",
        "image_token": IMAGE,
        "video_token": VIDEO,
    }
    videos = {
        "video_processor_type": "LlavaOnevisionVideoProcessor",
        "processor_class": "LlavaOnevisionProcessor",
        "size": {"height": SIDE, "width": SIDE},
        "image_mean": half,
        "image_std": half,
    }
    files = {
        "preprocessor_config.json": pictures,
        "processor_config.json": whole,
        "video_preprocessor_config.json": videos,
    }
    for name, values in files.items():
        (folder / name).write_text(json.dumps(values, indent=1))
