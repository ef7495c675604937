"""Recipe: a tiny random-weight Emu3, built offline in a folder, that transformers loads.

Its vocabulary has tokens of pictures, so it draws within its replies.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.models.tiny_vlm import CHAT_TEMPLATE, make_tokenizer

CODES = 32
"""Visual tokens."""
MARKS = (
    "<image>", "<|image start|>", "<|image end|>", "<|image token|>", "<|extra_200|>",
    "<|extra_201|>",
)  # fmt: skip
TEMPLATE = CHAT_TEMPLATE.replace("<|vision_start|><|image_pad|><|vision_end|>", "<image>")


def build_emu3(folder: Path, seed: int = 0) -> Path:
    """Write the checkpoint into `folder`, made if needed, and return it."""
    import torch
    import transformers
    from tokenizers import AddedToken

    folder.mkdir(parents=True, exist_ok=True)
    tokenizer: Any = make_tokenizer()
    names = (*MARKS, *(f"<|visual token {number:06}|>" for number in range(CODES)))
    tokenizer.add_tokens([AddedToken(name, special=True, normalized=False) for name in names])
    tokenizer.init_kwargs |= {
        "image_token": "<image>", "boi_token": "<|image start|>", "eoi_token": "<|image end|>",
        "image_wrapper_token": "<|image token|>", "eof_token": "<|extra_201|>",
    }  # fmt: skip
    tokenizer.bos_token = "<|endoftext|>"
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(folder)
    (folder / "chat_template.jinja").write_text(TEMPLATE)
    config = transformers.Emu3Config(
        text_config={
            "vocab_size": len(tokenizer), "hidden_size": 64, "intermediate_size": 128,
            "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1,
            "max_position_embeddings": 4096, "bos_token_id": tokenizer.bos_token_id,
            "eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.pad_token_id,
        },
        vq_config={
            "codebook_size": CODES, "base_channels": 32, "channel_multiplier": [1, 1, 1, 1],
            "num_res_blocks": 1, "hidden_size": 32, "attn_resolutions": [],
            "temporal_downsample_factor": 1, "embed_dim": 4, "latent_channels": 4,
        },
        vocabulary_map={name: tokenizer.convert_tokens_to_ids(name) for name in names},
    )  # fmt: skip
    torch.manual_seed(seed)
    model = transformers.Emu3ForConditionalGeneration(config)
    model.generation_config = transformers.GenerationConfig(
        eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id
    )
    model.save_pretrained(folder)
    pictures = {
        "image_processor_type": "Emu3ImageProcessor", "processor_class": "Emu3Processor",
        "min_pixels": 16 * 16, "max_pixels": 64 * 64, "spatial_factor": 8,
        "image_mean": [0.5] * 3, "image_std": [0.5] * 3,
    }  # fmt: skip
    (folder / "preprocessor_config.json").write_text(json.dumps(pictures, indent=1))
    return folder
