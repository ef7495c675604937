"""Options of one conversation under many patches: the pictures are preprocessed once.

Patches are laid over the picture after it was scaled and normalised, and the result is packed into
the model's rows again, so that no position costs a pass of the processor. That is exact where the
processor leaves the size of the picture as it is; elsewhere `occluded_logprobs` declines.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from omibench.models.local_images import decode
from omibench.models.local_transformers import TransformersEngine
from omibench.request import Conversation, ImagePart, Message


class Packing(NamedTuple):
    """How the processors of Qwen's family pack a picture into rows of one patch each."""

    patch: int
    merge: int
    frames: int

    def unpack(self, rows: Any, height: int, width: int) -> Any:
        """Rows (height * width, 3 * frames * patch^2) to a picture (3, frames, H, W).

        `height` and `width` count patches; H and W are pixels.
        """
        side, merge = self.patch, self.merge
        blocks = rows.view(height // merge, width // merge, merge, merge, 3, -1, side, side)
        whole = blocks.permute(4, 5, 0, 2, 6, 1, 3, 7)
        return whole.reshape(3, -1, height * side, width * side)

    def pack(self, picture: Any) -> Any:
        """A picture (3, frames, H, W) to its rows."""
        side, merge = self.patch, self.merge
        high, wide = picture.shape[-2] // side, picture.shape[-1] // side
        blocks = picture.view(3, -1, high // merge, merge, side, wide // merge, merge, side)
        return blocks.permute(2, 5, 3, 6, 0, 1, 4, 7).reshape(high * wide, -1)


def bare(conversation: Conversation) -> Conversation:
    """The conversation without its patches: equal for all that differ in these alone."""
    return conversation.model_copy(
        update={"messages": tuple(map(_without_patches, conversation.messages))}
    )


def _without_patches(message: Message) -> Message:
    parts = (
        part.model_copy(update={"patch": None}) if isinstance(part, ImagePart) else part
        for part in message.parts
    )
    return message.model_copy(update={"parts": tuple(parts)})


def occluded_logprobs(
    engine: TransformersEngine,
    conversations: Sequence[Conversation],
    options: Sequence[Sequence[int]],
    thinking: bool | None,
) -> list[list[float]] | None:
    """As `option_logprobs`, for conversations that differ in their patches alone.

    None where the model packs pictures in another way, or scales one that a patch lies on.
    """
    packing = _packing(engine)
    if packing is None:
        return None
    batch = engine.inputs([bare(conversations[0])], thinking)
    if not {"pixel_values", "image_grid_thw"} <= set(batch):
        return None
    rows, grid = batch.pop("pixel_values"), batch.pop("image_grid_thw")
    ends = grid.prod(-1).cumsum(0).tolist()
    whole = [rows[a:b] for a, b in zip([0, *ends[:-1]], ends, strict=True)]
    painted = [_painted(engine, packing, c.images, whole, grid.tolist()) for c in conversations]
    if any(p is None for p in painted):
        return None
    torch, count = engine.torch, len(conversations)
    shared = {k: v.expand(count, *v.shape[1:]) for k, v in batch.items()}
    with torch.inference_mode():
        logits = engine.model(
            **shared,
            pixel_values=torch.cat([r for each in painted for r in each or ()]),
            image_grid_thw=grid.repeat(count, 1),
            logits_to_keep=1,
        ).logits[:, -1]
        logprobs = logits.float().log_softmax(-1).cpu()
    return [row[list(ids)].tolist() for row, ids in zip(logprobs, options, strict=True)]


def _packing(engine: TransformersEngine) -> Packing | None:
    processor = getattr(engine.processor, "image_processor", None)
    names = ("patch_size", "merge_size", "temporal_patch_size", "image_mean", "image_std")
    if processor is None or any(getattr(processor, name, None) is None for name in names):
        return None
    return Packing(processor.patch_size, processor.merge_size, processor.temporal_patch_size)


def _painted(
    engine: TransformersEngine,
    packing: Packing,
    images: Sequence[ImagePart],
    whole: Sequence[Any],
    grids: Sequence[Sequence[int]],
) -> list[Any] | None:
    """The rows of all pictures of one conversation, its patches laid on."""
    made = []
    for image, rows, (_, height, width) in zip(images, whole, grids, strict=True):
        if image.patch is None:
            made.append(rows)
            continue
        size = (width * packing.patch, height * packing.patch)
        picture = packing.unpack(rows, height, width).clone()
        if decode(image).size != size or not engine.torch.equal(packing.pack(picture), rows):
            return None
        x, y, side = image.patch
        picture[:, :, y : y + side, x : x + side] = _black(engine, picture)
        made.append(packing.pack(picture))
    return made


def _black(engine: TransformersEngine, like: Any) -> Any:
    processor = engine.processor.image_processor
    mean, std = (
        engine.torch.tensor(v, dtype=like.dtype, device=like.device)
        for v in (processor.image_mean, processor.image_std)
    )
    return (-mean / std)[:, None, None, None]
