"""Recipe: a tiny random-weight Qwen2 with a scalar head, built offline in a folder."""

from __future__ import annotations

import importlib
import json
import shutil
from pathlib import Path
from typing import Any, Literal

from tests.models.tiny_vlm import CHAT_TEMPLATE, VOCABULARY, build_text_model, make_tokenizer

CODE = Path(__file__).parent / "own_reward_code" / "reward_code.py"

Head = Literal["one_layer", "two_layers"]
HEADS: tuple[Head, ...] = ("one_layer", "two_layers")


def build_reward_model(folder: Path, head: Head, labels: int = 1, seed: int = 0) -> Path:
    """Write the checkpoint into `folder`, made if needed, and return it.

    `two_layers` has the head and the name of architecture that Qwen2.5-Math-RM has.
    """
    import torch
    import transformers

    build_text_model(folder)
    config = transformers.AutoConfig.from_pretrained(folder)
    config.num_labels = labels
    config.max_position_embeddings = 512
    torch.manual_seed(seed)
    model: Any = transformers.Qwen2ForSequenceClassification(config)
    if head == "two_layers":
        width = config.hidden_size
        model.score = torch.nn.Sequential(
            torch.nn.Linear(width, width), torch.nn.ReLU(), torch.nn.Linear(width, labels)
        )
    assert config.vocab_size == VOCABULARY
    model.save_pretrained(folder)
    if head == "two_layers":
        config.architectures = ["Qwen2ForRewardModel"]
        config.save_pretrained(folder)
    return folder


def build_own_reward_code(folder: Path, numbers: int = 1, seed: int = 0) -> Path:
    """Write a reward model with code of its own into `folder`, made if needed, and return it."""
    import torch

    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(CODE, folder)
    tokenizer = make_tokenizer()
    tokenizer.save_pretrained(folder)
    (folder / "chat_template.jinja").write_text(CHAT_TEMPLATE)
    code = importlib.import_module("tests.models.own_reward_code.reward_code")
    torch.manual_seed(seed)
    code.TinyReward(code.TinyRewardConfig(numbers=numbers)).save_pretrained(folder)
    path = folder / "config.json"
    classes = {"AutoConfig": "TinyRewardConfig", "AutoModel": "TinyReward"}
    auto_map = {name: f"reward_code.{kind}" for name, kind in classes.items()}
    path.write_text(json.dumps(json.loads(path.read_text()) | {"auto_map": auto_map}))
    return folder
