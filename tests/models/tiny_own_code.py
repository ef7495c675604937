"""Recipe: a tiny random-weight model of an architecture that comes with its own code.

The code is that of `tests/models/own_code`, copied beside the weights and named by `auto_map`.
"""

from __future__ import annotations

import importlib
import json
import shutil
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.models.tiny_vlm import CHAT_TEMPLATE, VOCABULARY, make_tokenizer

CODE = Path(__file__).parent / "own_code"
IMAGE = "<|image_pad|>"
SIDE = 28


def build_own_code(folder: Path, seed: int = 0) -> Path:
    """Write the checkpoint into `folder`, made if needed, and return it."""
    import torch

    folder.mkdir(parents=True, exist_ok=True)
    for file in CODE.glob("*.py"):
        shutil.copy(file, folder)
    tokenizer = make_tokenizer()
    tokenizer.save_pretrained(folder)
    (folder / "chat_template.jinja").write_text(CHAT_TEMPLATE)
    configuration, modeling = _import_code("configuration_tiny"), _import_code("modeling_tiny")
    config = configuration.TinyReaderConfig(
        vocab_size=VOCABULARY,
        image_token_id=tokenizer.convert_tokens_to_ids(IMAGE),
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    torch.manual_seed(seed)
    modeling.TinyReader(config).save_pretrained(folder)
    _add(folder / "config.json", {
        "auto_map": {
            "AutoConfig": "configuration_tiny.TinyReaderConfig",
            "AutoModelForCausalLM": "modeling_tiny.TinyReader",
        }
    })  # fmt: skip
    pictures = {
        "image_processor_type": "ViTImageProcessor",
        "size": {"height": SIDE, "width": SIDE},
        "image_mean": [0.5] * 3,
        "image_std": [0.5] * 3,
    }
    processor = {
        "processor_class": "TinyReaderProcessor",
        "auto_map": {"AutoProcessor": "processing_tiny.TinyReaderProcessor"},
    }
    (folder / "preprocessor_config.json").write_text(json.dumps(pictures))
    (folder / "processor_config.json").write_text(json.dumps(processor))
    return folder


def _add(path: Path, values: dict[str, Any]) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | values, indent=1))


def _import_code(name: str) -> ModuleType:
    return importlib.import_module(f"tests.models.own_code.{name}")
