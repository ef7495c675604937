"""Recipe: a tiny random-weight model that answers by `chat` of its own code."""

from __future__ import annotations

import importlib
import json
import shutil
from pathlib import Path

from tests.models.tiny_vlm import VOCABULARY, make_tokenizer

CODE = Path(__file__).parent / "chat_code"
CLASSES = {
    "AutoConfig": "configuration_talker.TalkerConfig",
    "AutoModel": "modeling_talker.TinyTalker",
}


def build_talker(folder: Path, seed: int = 0) -> Path:
    """Write the checkpoint into `folder`, made if needed, and return it."""
    import torch

    folder.mkdir(parents=True, exist_ok=True)
    for name in ("configuration_talker", "modeling_talker"):
        shutil.copy(CODE / f"{name}.py", folder)
    make_tokenizer().save_pretrained(folder)
    configuration, modeling = (
        importlib.import_module(f"tests.models.chat_code.{name}_talker")
        for name in ("configuration", "modeling")
    )
    torch.manual_seed(seed)
    modeling.TinyTalker(configuration.TalkerConfig(vocab_size=VOCABULARY)).save_pretrained(folder)
    config = folder / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"auto_map": CLASSES}, indent=1))
    return folder
