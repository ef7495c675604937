"""The block `tune`: models fine-tuned on multi-image data before they are evaluated."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import Field, model_validator

from omibench.params.blocks import Block, Name, PlainPath, Rate
from omibench.params.models.providers import JobResources

RELEASES: Final[Mapping[str, str]] = {"cmmcot": "cmmcot_260k.json", "mmdu": "mmdu-45k.json"}
"""Released training sets and the names of their files (Zhang et al. 2026; Liu et al. 2024)."""
RECORD: Final = "tuned.json"
"""The file that marks finished weights, in the folder of a tuned model."""
TRAINED_BY: Final = ("vllm", "transformers")
"""The providers whose models can be fine-tuned."""
Count = Annotated[int, Field(ge=1)]
Positive = Annotated[float, Field(gt=0)]


class TuneParams(Block):
    """One fine-tuned model (OMIBench, 6.4 and table 9). Its key is the name of the model."""

    base: Name
    """The model to start from: a key of `models` with the provider `vllm` or `transformers`."""
    data: PlainPath
    """`cmmcot` or `mmdu`, the released file in the study's `data` folder; or a JSON or JSON Lines
    file of conversations (docs/reference/tuning.md)."""
    pictures: PlainPath | None = None
    """Folder of the pictures; default: that of the file."""
    label: str | None = None
    """Name in tables; default: that of the base, `+` and the data."""
    method: Literal["lora", "full"] = "lora"
    rank: Count = 16
    alpha: Positive | None = None
    """Scale of the adapter, divided by the rank; default: twice the rank."""
    dropout: Rate = 0.0
    targets: list[str] = []
    """Names of the layers that get an adapter; default: all linear layers of the language model."""
    epochs: Positive = 1.0
    lr: Positive = 1e-4
    """Peak learning rate; it rises over `warmup` and falls with a cosine."""
    warmup: Rate = 0.03
    """Share of the steps."""
    batch: Count = 1
    """Conversations in memory at once, per GPU."""
    accumulation: Count = 16
    """Batches of one step."""
    max_pixels: Annotated[int, Field(ge=784)] | None = None
    """Maximum pixels of a picture; default: that of the base."""
    max_tokens: Count = 8192
    """A conversation with more tokens, pictures included, is left out."""
    limit: Count | None = None
    """Only so many conversations, drawn by `seed`."""
    drop_leaks: bool = False
    """Leave out conversations that share a text or picture with the frozen problems."""
    save_steps: Count = 200
    """Steps from one checkpoint to the next, from which a stopped run goes on."""
    sharding: Literal["fsdp", "deepspeed"] | None = None
    """How several GPUs share the model; default: each holds a copy."""
    seed: Annotated[int, Field(ge=0)] = 0
    gpus: Count = 1
    """Number of GPUs of one machine to train on; a step has a batch of each."""
    resources: JobResources = JobResources()

    def locate_data(self, data: str | None) -> str:
        """Return the file of conversations; `data` is the study's folder."""
        return str(Path(data or ".", RELEASES[self.data])) if self.data in RELEASES else self.data

    @model_validator(mode="after")
    def _fits(self) -> Self:
        adapter = {"rank", "alpha", "dropout", "targets"} & self.model_fields_set
        if self.method == "full" and adapter:
            raise ValueError(f"{min(adapter)} belongs to the method lora, not to full; remove it")
        if self.sharding and self.gpus < 2:
            raise ValueError(
                f"sharding: {self.sharding} shares a model among GPUs; set gpus to 2 or more, or "
                "remove it"
            )
        if self.resources.gpus is not None and self.resources.gpus < self.gpus:
            raise ValueError(
                f"gpus is {self.gpus}, but resources.gpus is {self.resources.gpus}; raise it, or "
                "remove it"
            )
        return self


def add_tuned_models(values: Any) -> Any:
    """Add a block under `models` for each key of `tune`: that of its base, with its weights.

    Args:
        values: The blocks of params.yaml as plain values; anything else is returned unchanged.

    Raises:
        ValueError: A base is of another provider, or is tuned or has an adapter itself.
    """
    tune = values.get("tune") if isinstance(values, Mapping) else None
    models = values.get("models") if isinstance(values, Mapping) else None
    if not isinstance(tune, Mapping) or not isinstance(models, Mapping):
        return values
    study = values.get("study")
    results = (study.get("results") if isinstance(study, Mapping) else None) or "results"
    added = {}
    for name, block in tune.items():
        base = models.get(block.get("base")) if isinstance(block, Mapping) else None
        if isinstance(block, Mapping) and block.get("base") in tune:
            raise ValueError(
                f"tune.{name}.base: {block['base']!r} is a key of `tune` itself; a tuned model "
                "cannot be tuned again"
            )
        if isinstance(base, Mapping) and base.get("adapter"):
            raise ValueError(
                f"tune.{name}.base: {block['base']!r} has an adapter, which a second one would "
                "replace; merge it into the weights first"
            )
        if isinstance(base, Mapping) and base.get("provider") not in TRAINED_BY:
            raise ValueError(
                f"tune.{name}.base: {block['base']!r} is not a model of the provider "
                f"{' or '.join(TRAINED_BY)}, whose weights are here"
            )
        if name not in models and isinstance(base, Mapping):
            data = Path(str(block.get("data"))).stem
            twins = [other for other in tune.values() if _names_same(other, block)]
            label = f"{base.get('label') or block['base']} + {data}"
            label += f" ({name})" if len(twins) > 1 else ""
            added[name] = {
                **base,
                "adapter": f"{results}/tune/{name}",
                "base": block["base"],
                "label": block.get("label") or label,
            }
    return {**values, "models": {**models, **added}}


def _names_same(one: object, other: object) -> bool:
    """Return whether two blocks have the same base and data."""
    blocks = [block if isinstance(block, Mapping) else {} for block in (one, other)]
    return all(blocks[0].get(key) == blocks[1].get(key) for key in ("base", "data"))
