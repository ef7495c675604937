"""Recipe: a tiny random-weight Qwen-VL, built offline in a folder, that real engines load.

`build(folder, "qwen2_5_vl" | "qwen3_vl")` trains a byte-level tokenizer on a built-in text, draws
seeded weights in bfloat16 and writes the processor's files by hand: about 1 MB and 0.4 million
parameters. What it says is noise; how it is asked is what a full-size checkpoint sees.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

Family = Literal["qwen2_5_vl", "qwen3_vl"]
FAMILIES: tuple[Family, ...] = ("qwen2_5_vl", "qwen3_vl")

SPECIAL = (
    "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>",
    "<|image_pad|>", "<|video_pad|>", "<|vision_pad|>",
)  # fmt: skip
PLAIN = ("<think>", "</think>")
CORPUS = [
    "Figure 1 shows a lens and a ray of light; Figure 2 shows the screen behind the lens.",
    "Which of the options (A), (B), (C) or (D) is correct? Give the answer in \\boxed{ANSWER}.",
    "The slope of the curve is 2.5 and the mass of the body is 10 kg, so the answer is 25 N.",
    "system user assistant You are a careful reader of diagrams. Think step by step.",
    "Two vessels are joined by a narrow tube; pressure, temperature and volume are marked on both.",
    "From the spectrum we read three peaks, hence three kinds of hydrogen in the molecule.",
    "The pedigree chart lists four generations, and filled squares stand for affected males.",
    "Therefore triangle PQR is similar to triangle XYZ, with ratio one half, since angles agree.",
] * 8
# ChatML. An image part is recognised in every spelling that engines use.
CHAT_TEMPLATE = (
    "{%- for message in messages -%}"
    "<|im_start|>{{ message.role }}\n"
    "{%- if message.content is string -%}{{ message.content }}"
    "{%- else -%}{%- for part in message.content -%}"
    "{%- if part.type in ('image', 'image_url', 'image_pil') or 'image' in part"
    " or 'image_url' in part -%}"
    "<|vision_start|><|image_pad|><|vision_end|>"
    "{%- elif 'text' in part -%}{{ part.text }}{%- endif -%}"
    "{%- endfor -%}{%- endif -%}<|im_end|>\n"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}<|im_start|>assistant\n"
    "{%- if enable_thinking is defined and not enable_thinking -%}<think>\n\n</think>\n\n"
    "{%- endif -%}{%- endif -%}"
)
CLIP = {
    "image_mean": [0.48145466, 0.4578275, 0.40821073],
    "image_std": [0.26862954, 0.26130258, 0.27577711],
}
HALF = {"image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]}
VOCABULARY = 448
"""Rows of the embedding: the tokenizer's vocabulary padded to a multiple of 64."""


def build(folder: Path, family: Family = "qwen2_5_vl", seed: int = 0) -> Path:
    """Write the checkpoint into `folder`, made if needed, and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = make_tokenizer()
    tokenizer.save_pretrained(folder)
    (folder / "chat_template.jinja").write_text(CHAT_TEMPLATE)
    _save_weights(folder, family, tokenizer, seed)
    _save_processors(folder, family)
    return folder


def build_text_model(folder: Path, seed: int = 0) -> Path:
    """Write a tiny random-weight Qwen2, a model of text alone, into `folder` and return it."""
    import torch
    import transformers

    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = make_tokenizer()
    tokenizer.save_pretrained(folder)
    config = transformers.Qwen2Config(
        vocab_size=VOCABULARY,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    torch.manual_seed(seed)
    transformers.Qwen2ForCausalLM(config).to(torch.bfloat16).save_pretrained(folder)
    return folder


def make_tokenizer() -> Any:
    """A byte-level tokenizer, trained on a built-in text."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    size = VOCABULARY - len(SPECIAL) - len(PLAIN)
    trainer = trainers.BpeTrainer(
        vocab_size=size, initial_alphabet=alphabet, special_tokens=[], show_progress=False
    )
    raw.train_from_iterator(CORPUS, trainer)
    raw.add_special_tokens([AddedToken(t, special=True, normalized=False) for t in SPECIAL])
    raw.add_tokens([AddedToken(t, normalized=False) for t in PLAIN])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        model_max_length=131072,
    )
    tokenizer.init_kwargs |= {
        "image_token": "<|image_pad|>",
        "video_token": "<|video_pad|>",
        "vision_start_token": "<|vision_start|>",
        "vision_end_token": "<|vision_end|>",
    }
    tokenizer.chat_template = CHAT_TEMPLATE
    return tokenizer


def _save_weights(folder: Path, family: Family, tokenizer: Any, seed: int) -> None:
    import torch
    import transformers

    ids = tokenizer.convert_tokens_to_ids
    text: dict[str, Any] = {
        "vocab_size": VOCABULARY,
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        # Heads of 32 are the smallest that vLLM's attention on a CPU takes.
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "head_dim": 32,
        "max_position_embeddings": 32768,
        "tie_word_embeddings": False,
        "rope_parameters": {
            "rope_type": "default",
            "rope_theta": 10000.0,
            # Sums to half of a head.
            "mrope_section": [4, 6, 6],
            **({"mrope_interleaved": True} if family == "qwen3_vl" else {}),
        },
        "bos_token_id": ids("<|endoftext|>"),
        "eos_token_id": ids("<|im_end|>"),
        "pad_token_id": ids("<|endoftext|>"),
    }
    tokens = {
        "image_token_id": ids("<|image_pad|>"),
        "video_token_id": ids("<|video_pad|>"),
        "vision_start_token_id": ids("<|vision_start|>"),
        "vision_end_token_id": ids("<|vision_end|>"),
    }
    vision = {
        "depth": 2,
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_heads": 2,
        "spatial_merge_size": 2,
        "temporal_patch_size": 2,
        "out_hidden_size": 64,
    }
    if family == "qwen2_5_vl":
        vision |= {"patch_size": 14, "window_size": 112, "tokens_per_second": 2}
        vision["fullatt_block_indexes"] = [1]  # type: ignore[assignment]
        config = transformers.Qwen2_5_VLConfig(
            text_config=text, vision_config=vision, tie_word_embeddings=False, **tokens
        )
        build_model: Any = transformers.Qwen2_5_VLForConditionalGeneration
    else:
        vision |= {"patch_size": 16, "num_position_embeddings": 256}
        vision["deepstack_visual_indexes"] = [0]  # type: ignore[assignment]
        config = transformers.Qwen3VLConfig(
            text_config=text, vision_config=vision, tie_word_embeddings=False, **tokens
        )
        build_model = transformers.Qwen3VLForConditionalGeneration
    torch.manual_seed(seed)
    model = build_model(config).to(torch.bfloat16)
    model.generation_config = transformers.GenerationConfig(
        eos_token_id=[ids("<|im_end|>"), ids("<|endoftext|>")],
        pad_token_id=ids("<|endoftext|>"),
    )
    model.save_pretrained(folder)


def _save_processors(folder: Path, family: Family) -> None:
    patch = 14 if family == "qwen2_5_vl" else 16
    least, most = 4 * (2 * patch) ** 2, 512 * 28 * 28
    shared = {
        "do_resize": True,
        "do_rescale": True,
        "do_normalize": True,
        "do_convert_rgb": True,
        "rescale_factor": 1 / 255,
        "resample": 3,
        "patch_size": patch,
        "temporal_patch_size": 2,
        "merge_size": 2,
        "size": {"shortest_edge": least, "longest_edge": most},
        "min_pixels": least,
        "max_pixels": most,
        "processor_class": f"{'Qwen2_5_VL' if family == 'qwen2_5_vl' else 'Qwen3VL'}Processor",
        **(CLIP if family == "qwen2_5_vl" else HALF),
    }
    video = f"{'Qwen2VL' if family == 'qwen2_5_vl' else 'Qwen3VL'}VideoProcessor"
    files = {
        "preprocessor_config.json": {"image_processor_type": "Qwen2VLImageProcessor", **shared},
        "video_preprocessor_config.json": {"video_processor_type": video, **shared},
    }
    for name, values in files.items():
        (folder / name).write_text(json.dumps(values, indent=1))
