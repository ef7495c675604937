"""Recipe: experts with tiny random weights, built offline in folders that transformers loads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", "?", "line", "circle", "a")


def save_detector(folder: Path) -> None:
    from transformers import (
        BertConfig,
        BertTokenizer,
        GroundingDinoConfig,
        GroundingDinoForObjectDetection,
        GroundingDinoImageProcessor,
        GroundingDinoProcessor,
        SwinConfig,
    )

    (folder / "vocab.txt").write_text("\n".join(WORDS))
    tokenizer = BertTokenizer(str(folder / "vocab.txt"))
    backbone = SwinConfig(
        image_size=64, window_size=4, embed_dim=8, depths=[1] * 4, num_heads=[1] * 4,
        out_features=["stage2", "stage3", "stage4"],
    )  # fmt: skip
    text = BertConfig(
        vocab_size=len(WORDS), hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=16,
    )  # fmt: skip
    config = GroundingDinoConfig(
        backbone_config=backbone, text_config=text, d_model=32, encoder_layers=1, decoder_layers=2,
        encoder_ffn_dim=16, decoder_ffn_dim=16, encoder_attention_heads=2,
        decoder_attention_heads=2, num_queries=10, max_text_len=32,
    )  # fmt: skip
    GroundingDinoForObjectDetection(config).save_pretrained(folder)
    images = GroundingDinoImageProcessor(size={"shortest_edge": 64, "longest_edge": 96})
    GroundingDinoProcessor(images, tokenizer).save_pretrained(folder)


def save_segmenter(folder: Path) -> None:
    from transformers import (
        Sam2Config,
        Sam2HieraDetConfig,
        Sam2ImageProcessor,
        Sam2MaskDecoderConfig,
        Sam2Model,
        Sam2Processor,
        Sam2PromptEncoderConfig,
        Sam2VisionConfig,
    )

    sizes = [12, 24, 48, 96]
    backbone = Sam2HieraDetConfig(
        hidden_size=12, num_attention_heads=1, image_size=[128, 128], blocks_per_stage=[1] * 4,
        embed_dim_per_stage=sizes, num_attention_heads_per_stage=[1, 2, 4, 8],
        window_size_per_stage=[8] * 4, global_attention_blocks=[],
    )  # fmt: skip
    vision = Sam2VisionConfig(
        backbone_config=backbone, backbone_channel_list=sizes[::-1], fpn_hidden_size=32,
        backbone_feature_sizes=[[32, 32], [16, 16], [8, 8]],
    )  # fmt: skip
    prompts = Sam2PromptEncoderConfig(
        hidden_size=32, image_size=128, patch_size=16, mask_input_channels=8
    )
    decoder = Sam2MaskDecoderConfig(
        hidden_size=32, mlp_dim=32, num_hidden_layers=1, num_attention_heads=2,
        iou_head_hidden_dim=32, iou_head_depth=2,
    )  # fmt: skip
    config = Sam2Config(
        vision_config=vision, prompt_encoder_config=prompts, mask_decoder_config=decoder
    )
    Sam2Model(config).save_pretrained(folder)
    images = Sam2ImageProcessor(
        size={"height": 128, "width": 128}, mask_size={"height": 32, "width": 32}
    )
    Sam2Processor(images, target_size=128).save_pretrained(folder)


def save_depth(folder: Path) -> None:
    from transformers import (
        DepthAnythingConfig,
        DepthAnythingForDepthEstimation,
        Dinov2Config,
        DPTImageProcessor,
    )

    backbone = Dinov2Config(
        hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=16,
        image_size=28, patch_size=14, out_features=["stage1", "stage2"],
        reshape_hidden_states=False,
    )  # fmt: skip
    config = DepthAnythingConfig(
        backbone_config=backbone, reassemble_hidden_size=16, patch_size=14,
        reassemble_factors=[1, 0.5], neck_hidden_sizes=[8, 8], fusion_hidden_size=8,
        head_hidden_size=8,
    )  # fmt: skip
    DepthAnythingForDepthEstimation(config).save_pretrained(folder)
    size = {"height": 56, "width": 56}
    DPTImageProcessor(size=size, ensure_multiple_of=14, keep_aspect_ratio=True).save_pretrained(
        folder
    )


def save_reader(folder: Path) -> None:
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from transformers import (
        GotOcr2Config,
        GotOcr2ForConditionalGeneration,
        GotOcr2ImageProcessor,
        GotOcr2Processor,
        GotOcr2VisionConfig,
        PreTrainedTokenizerFast,
        Qwen2Config,
    )

    marks = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<img>", "</img>", "<imgpad>"]
    words = {word: n for n, word in enumerate([*marks, *WORDS])}
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(WordLevel(words, unk_token="[UNK]")),
        pad_token=marks[0], eos_token=marks[2], additional_special_tokens=marks,
    )  # fmt: skip
    vision = GotOcr2VisionConfig(
        hidden_size=16, output_channels=16, num_hidden_layers=1, num_attention_heads=2,
        image_size=1024, patch_size=16, mlp_dim=16, window_size=14, global_attn_indexes=[],
    )  # fmt: skip
    text = Qwen2Config(
        vocab_size=len(words), hidden_size=16, intermediate_size=16, num_hidden_layers=1,
        num_attention_heads=2, num_key_value_heads=2,
    )  # fmt: skip
    config = GotOcr2Config(
        vision_config=vision, text_config=text, image_token_index=words["<imgpad>"],
        image_seq_length=256, eos_token_id=2, pad_token_id=0,
    )  # fmt: skip
    images = GotOcr2ImageProcessor(size={"height": 1024, "width": 1024})
    GotOcr2ForConditionalGeneration(config).save_pretrained(folder)
    GotOcr2Processor(images, tokenizer).save_pretrained(folder)


RECIPES: dict[str, Callable[[Path], Any]] = {
    "detect": save_detector,
    "segment": save_segmenter,
    "depth": save_depth,
    "read_text": save_reader,
}


def build(name: str, folder: Path) -> str:
    """Save the tiny expert of a tool; the folder as its id."""
    import torch

    torch.manual_seed(0)
    folder.mkdir(parents=True)
    RECIPES[name](folder)
    return str(folder)
